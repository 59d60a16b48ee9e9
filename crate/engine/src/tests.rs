use std::{cell::Cell, time::Duration};

use shakmaty::{Move, Position as _};

use super::*;
use crate::Silent;

fn game(fen: &str) -> Game {
    Game::new(fen.parse().unwrap())
}

fn find_in(game: &Game, limits: &Limits) -> Vec<Line> {
    search(
        game,
        &Table::new(1 << 20),
        &mut Histories::default(),
        limits,
        &mut Silent,
    )
}

fn find(fen: &str, limits: &Limits) -> Vec<Line> {
    find_in(&game(fen), limits)
}

fn depth(depth: usize) -> Limits {
    Limits::to_depth(depth)
}

fn nodes(nodes: u64) -> Limits {
    Limits::to_nodes(nodes)
}

fn legal(game: &Game, text: &str) -> Move {
    game.position().legal_move(text).unwrap()
}

fn play(game: &mut Game, moves: &str) {
    for text in moves.split_whitespace() {
        game.play(legal(game, text));
    }
}

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

#[test]
fn mates_are_found_and_counted() {
    for line in include_str!("../tests/mates.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let (fen, moves) = line.split_once('\t').unwrap();
        let lines = find(fen, &depth(14));
        match moves.parse::<i32>().unwrap() {
            0 => assert!(lines.is_empty(), "{line}: {lines:?}"),
            moves => {
                // Pruning may miss the shortest of longer mates, but the search never reports too short a mate.
                let UciScore::Mate(found) = lines[0].score else {
                    panic!("{line}: {lines:?}")
                };
                assert!(
                    found.signum() == moves.signum() && found.abs() >= moves.abs(),
                    "{line}: {found}"
                );
                assert!(moves.abs() > 2 || found == moves, "{line}: {found}");
            }
        }
    }
}

#[test]
fn a_stalemate_has_no_line_and_scores_zero() {
    assert!(find("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", &depth(3)).is_empty());
    let game = game("7k/8/6K1/8/8/8/8/5Q2 w - - 0 1");
    let stalemate = legal(&game, "f1f7");
    assert_eq!(
        find_in(
            &game,
            &Limits {
                moves: vec![stalemate],
                ..depth(6)
            }
        )[0]
        .score,
        UciScore::Cp(0)
    );
    assert!(matches!(
        find_in(&game, &depth(6))[0].score,
        UciScore::Mate(1..)
    ));
}

#[test]
fn a_losing_side_gives_perpetual_check() {
    // White threatens mate, but Black has perpetual check: Qe1+ Kh2 Qh4+ Kg1.
    let lines = find("1Q6/R5pk/7p/8/7q/8/6P1/6K1 b - - 0 1", &depth(10));
    assert_eq!(lines[0].score, UciScore::Cp(0), "{lines:?}");
}

#[test]
fn a_third_occurrence_of_a_position_is_a_draw() {
    // White is a queen ahead, but the start occurs a third time.
    let mut game = game("7k/8/8/8/8/8/8/KQ6 w - - 0 1");
    play(&mut game, "b1b2 h8g8 b2b1 g8h8 b1b2 h8g8 b2b1");
    let lines = find_in(
        &game,
        &Limits {
            moves: vec![legal(&game, "g8h8")],
            ..depth(5)
        },
    );
    assert_eq!(lines[0].score, UciScore::Cp(0));
}

#[test]
fn fifty_moves_without_progress_are_a_draw_unless_the_last_move_mates() {
    let score = |fen| find(fen, &depth(5))[0].score;
    assert_eq!(score("7k/8/8/8/8/8/8/KQ6 w - - 99 80"), UciScore::Cp(0));
    assert_eq!(score("7k/8/5K2/8/8/8/8/1Q6 w - - 99 80"), UciScore::Cp(0));
    assert_eq!(score("7k/5K2/8/8/8/8/8/1Q6 w - - 99 80"), UciScore::Mate(1));
}

#[test]
fn searches_respect_their_limits() {
    for most in [1, 2, 100, 5_000] {
        let lines = find(KIWIPETE, &nodes(most));
        assert!(
            lines[0].nodes <= most && !lines[0].moves.is_empty(),
            "{most}: {lines:?}"
        );
    }
    assert_eq!(find(KIWIPETE, &depth(3))[0].depth, 3);

    struct Late(Cell<u64>);
    impl Control for Late {
        fn elapsed(&self) -> Duration {
            self.0.set(self.0.get() + 1);
            Duration::from_millis(self.0.get())
        }
    }
    let mut late = Late(Cell::new(0));
    let limits = Limits {
        deadline: Some(Duration::from_millis(5)),
        ..Limits::default()
    };
    let lines = search(
        &game(KIWIPETE),
        &Table::new(0),
        &mut Histories::default(),
        &limits,
        &mut late,
    );
    assert!(lines[0].nodes < 10_000 && late.0.get() < 20);
}

#[test]
fn lines_are_distinct_and_ordered_and_can_be_played() {
    let lines = find(
        KIWIPETE,
        &Limits {
            lines: 5,
            ..depth(7)
        },
    );
    let value = |line: &Line| match line.score {
        UciScore::Cp(cp) => cp,
        UciScore::Mate(moves) => 100_000 * moves.signum() - moves,
    };
    assert!(
        lines
            .windows(2)
            .all(|pair| value(&pair[0]) >= value(&pair[1])),
        "{lines:?}"
    );
    let firsts: std::collections::HashSet<Move> = lines.iter().map(|line| line.moves[0]).collect();
    assert_eq!(firsts.len(), 5);
    for line in &lines {
        let mut position = game(KIWIPETE).position().chess().clone();
        line.moves
            .iter()
            .for_each(|&m| position = position.clone().play(m).unwrap());
    }
}

#[test]
fn only_the_moves_in_the_limits_are_searched() {
    let rook_move = game(KIWIPETE)
        .position()
        .legal_moves()
        .into_iter()
        .find(|m| m.role() == shakmaty::Role::Rook);
    // Illegal moves are ignored.
    let illegal = Move::Put {
        role: shakmaty::Role::Pawn,
        to: shakmaty::Square::A1,
    };
    let limits = Limits {
        moves: rook_move.into_iter().chain([illegal]).collect(),
        lines: 4,
        ..depth(5)
    };
    let lines = find(KIWIPETE, &limits);
    assert_eq!((lines.len(), Some(lines[0].moves[0])), (1, rook_move));
}

/// Legal positions that no game reaches, with limits that stop the search at any point.
#[test]
fn odd_positions_are_searched_without_panic() {
    let positions = [
        "QQQQQQQQ/QQQQQQQQ/QQQQQQQQ/8/8/8/5k2/K7 b - - 0 1",
        "qqqqkqqq/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQKQQQ w - - 0 1",
        "rnbqkbnr/pppppppp/pppppppp/8/8/PPPPPPPP/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "8/PPPPPPPP/8/2k5/5K2/8/pppppppp/8 w - - 0 1",
        "k7/8/8/8/8/8/8/K7 w - - 0 1",
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
        "4k3/8/8/8/8/8/8/RR2K1RR w HA - 98 70",
        "1r2k1r1/8/8/8/8/8/8/1R2K1R1 b GBgb - 0 1",
    ];
    for fen in positions {
        for most in [1, 50, 3_000] {
            let lines = find(
                fen,
                &Limits {
                    lines: 2,
                    ..nodes(most)
                },
            );
            let legal = game(fen).position().legal_moves();
            assert!(
                lines.iter().all(|line| legal.contains(&line.moves[0])),
                "{fen}"
            );
            assert_eq!(lines.is_empty(), legal.is_empty(), "{fen}");
        }
    }
}
