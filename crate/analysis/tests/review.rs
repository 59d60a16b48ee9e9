//! Reviews of games with random results of an engine: they end, and settled moves do not change.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use proptest::prelude::*;
use shelfish_analysis::{DEFAULT_NODES, Game, Judgment, KnownEval, Mark, Origin, Review, Score};

/// A game with a repetition and a mate.
const GAME: &str = "g1f3 g8f6 f3g1 f6g8 e2e4 e7e5 g1f3 g8f6 f3g1 f6g8 d1h5 b8c6 f1c4 g8f6 h5f7";

fn game() -> Game {
    Game::from_uci(None, GAME.split(' ')).unwrap()
}

fn score() -> impl Strategy<Value = Score> {
    prop_oneof![6 => (-900..900).prop_map(Score::Cp), 1 => (1..9).prop_map(Score::Mate), 1 => (-9..-1).prop_map(Score::Mate)]
}

fn known(origin: Origin) -> impl Strategy<Value = Option<KnownEval>> {
    prop::option::of(
        (score(), 5..40_u16, 1..5_000_u64).prop_map(move |(score, depth, knodes)| KnownEval {
            knodes: Some(knodes),
            origin,
            ..KnownEval::new(score, Some(depth))
        }),
    )
}

proptest! {
    #[test]
    fn a_review_ends_and_its_settled_moves_do_not_change(
        given in prop::collection::vec(known(Origin::Database), 16),
        scores in prop::collection::vec(score(), 200),
    ) {
        let mut review = Review::new(game(), DEFAULT_NODES);
        review.give(&given).unwrap();
        let mut scores = scores.into_iter().cycle();
        let mut settled = HashMap::new();
        for pass in 0.. {
            for m in review.report().moves.into_iter().filter(|m| m.settled) {
                let before = settled.insert(m.ply, m.clone());
                prop_assert!(before.is_none_or(|before| before.judgment == m.judgment && before.loss == m.loss));
            }
            let sequences = review.next_pass();
            if sequences.is_empty() {
                break;
            }
            prop_assert!(pass < 6);
            for sequence in sequences {
                prop_assert!(sequence.positions.len() <= 10);
                prop_assert_eq!(sequence.lines, if pass < 4 { 1 } else { 2 });
                prop_assert!(sequence.positions.windows(2).all(|pair| pair[0] == pair[1] + 1));
                for index in sequence.positions {
                    let score = scores.next().unwrap();
                    let found = KnownEval { origin: Origin::Engine, ..KnownEval::new(score, Some(12)) };
                    review.answer(index, found).unwrap();
                }
            }
        }
        let report = review.report();
        prop_assert!(report.settled && report.white.judged == 8 && report.black.judged == 7);
        prop_assert_eq!(report.white.provisional + report.black.provisional, 0);
    }
}

/// A defence of Black: after 4. Qxf7+ or 4. Bxf7+ the king has one good square at most.
fn defence() -> Game {
    Game::from_uci(None, "e2e4 e7e5 d1h5 b8c6 f1c4 g7g6".split(' ')).unwrap()
}

/// Answers all searches: 3… g6 is the best move and keeps the draw, every other move loses 600 centipawns.
fn answered(review: &mut Review, second: Option<Score>) -> Vec<(usize, u64)> {
    let mut searches = Vec::new();
    while let sequences @ [_, ..] = &review.next_pass()[..] {
        for sequence in sequences {
            for index in sequence.positions.iter().copied() {
                let line = vec![if index == 5 { "g7g6" } else { "a2a3" }.parse().unwrap()];
                let line = if index == 5 || index.is_multiple_of(2) {
                    line
                } else {
                    Vec::new()
                };
                let second = second.filter(|_| sequence.lines == 2);
                let found = KnownEval {
                    origin: Origin::Uci,
                    line,
                    second,
                    ..KnownEval::new(Score::Cp(10), Some(12))
                };
                review.answer(index, found).unwrap();
                if sequence.lines == 2 {
                    searches.push((index, sequence.nodes));
                }
            }
        }
    }
    searches
}

#[test]
fn two_passes_with_two_lines_mark_the_only_move_that_keeps_the_draw() {
    let mut review = Review::new(defence(), DEFAULT_NODES);
    let searches = answered(&mut review, Some(Score::Cp(700)));
    assert_eq!(searches, [(5, 25_000), (5, 250_000)]);
    let report = review.report();
    let marks: Vec<Option<Mark>> = report.moves.iter().map(|m| m.mark).collect();
    assert_eq!(marks, [None, None, None, None, None, Some(Mark::Great)]);
    assert_eq!(
        (
            report.black.great_moves,
            report.black.only_moves,
            report.white.great_moves
        ),
        (1, 0, 0)
    );
}

#[test]
fn an_equally_good_or_missing_second_line_gives_no_mark() {
    for (second, searches) in [(Some(Score::Cp(30)), 1), (None, 1)] {
        let mut review = Review::new(defence(), DEFAULT_NODES);
        assert_eq!(answered(&mut review, second).len(), searches);
        assert!(review.report().moves.iter().all(|m| m.mark.is_none()));
    }
}

#[test]
fn only_deep_evaluations_with_two_lines_give_a_mark_without_a_search() {
    for (depth, expected) in [(30, Some(Mark::Only)), (12, None)] {
        let mut review = Review::new(defence(), DEFAULT_NODES);
        let known = |n: usize| {
            let line = if n == 5 {
                vec!["g7g6".parse().unwrap()]
            } else {
                Vec::new()
            };
            let second = (n == 5).then_some(Score::Cp(120));
            Some(KnownEval {
                line,
                second,
                ..KnownEval::cp(-80, depth)
            })
        };
        review.give(&(0..7).map(known).collect::<Vec<_>>()).unwrap();
        assert_eq!(review.report().moves[5].mark, expected, "depth {depth}");
    }
}

#[test]
fn repeated_positions_are_searched_once() {
    let mut review = Review::new(game(), DEFAULT_NODES);
    let first: Vec<usize> = review
        .next_pass()
        .into_iter()
        .flat_map(|sequence| sequence.positions)
        .collect();
    // Of 16 positions, the fifth and the eleventh are repeated, and the last is mate.
    assert_eq!(review.positions().len(), 14);
    assert_eq!(first.len(), 13);
}

#[test]
fn a_loss_of_eight_pawns_is_a_blunder_for_all_sources_of_the_scores() {
    let game = Game::from_uci(None, ["e2e4", "e7e5"]).unwrap();
    let mut review = Review::new(game, DEFAULT_NODES);
    let shallow = |cp| {
        Some(KnownEval {
            knodes: Some(3),
            ..KnownEval::cp(cp, 9)
        })
    };
    review
        .give(&[
            Some(KnownEval::cp(20, 40)),
            Some(KnownEval::cp(19, 40)),
            shallow(812),
        ])
        .unwrap();
    let report = review.report();
    assert_eq!(
        (report.moves[1].judgment, report.moves[1].settled),
        (Some(Judgment::Blunder), true)
    );
    assert_eq!(report.black.blunders, 1);
}

#[test]
fn the_deeper_of_two_evaluations_counts_regardless_of_the_origin() {
    let game = Game::from_uci(None, ["e2e4"]).unwrap();
    let mut review = Review::new(game, DEFAULT_NODES);
    let database = KnownEval {
        knodes: Some(3),
        ..KnownEval::cp(90, 9)
    };
    let pgn = KnownEval {
        origin: Origin::Pgn,
        ..KnownEval::new(Score::Cp(10), None)
    };
    review.give(&[Some(database.clone()), None]).unwrap();
    review.give(&[Some(pgn.clone()), None]).unwrap();
    review.give(&[Some(database), None]).unwrap();
    assert_eq!(review.evaluations(), [Some(pgn), None]);
}
