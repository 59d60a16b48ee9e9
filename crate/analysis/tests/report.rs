//! Reports of games: missing evaluations, ends, castling, and games that Lichess has judged.
#![allow(clippy::unwrap_used)]

use shelfish_analysis::pgn::{GameTexts, Note, PgnGame, read};
use shelfish_analysis::{Game, Judgment, KnownEval, ReportError, Score, report};

fn game(fen: Option<&str>, moves: &str) -> Game {
    Game::from_uci(fen, moves.split_whitespace()).unwrap()
}

fn with_line(mut known: KnownEval, line: &str) -> KnownEval {
    known.line = line.split(' ').map(|m| m.parse().unwrap()).collect();
    known
}

#[test]
fn figures_are_missing_if_evaluations_are_unknown() {
    let game = game(None, "e2e4 e7e5 g1f3 b8c6");
    let known = [
        Some(KnownEval::cp(20, 30)),
        Some(KnownEval::cp(25, 30)),
        None,
        Some(KnownEval::cp(-200, 30)),
        None,
    ];
    let report = report(&game, &known).unwrap();
    assert_eq!((report.positions, report.known), (5, 3));
    assert_eq!(
        report
            .moves
            .iter()
            .map(|m| m.loss.is_some())
            .collect::<Vec<_>>(),
        [true, false, false, false]
    );
    assert_eq!(
        (report.white.moves, report.white.judged, report.black.judged),
        (2, 1, 0)
    );
    // Half of White's moves are settled, which is too few for a figure of the whole game.
    assert_eq!((report.white.accuracy, report.black.accuracy), (None, None));
    assert_eq!(
        (
            report.white.average_centipawn_loss,
            report.black.average_centipawn_loss
        ),
        (None, None)
    );
    assert_eq!(
        (report.moves[0].accuracy, report.moves[0].centipawns),
        (Some(100.0), Some(0))
    );
}

#[test]
fn only_the_starting_position_has_a_default_evaluation() {
    let known = [None, Some(KnownEval::cp(-50, 20))];
    let start = report(&game(None, "g2g4"), &known).unwrap();
    assert_eq!((start.known, start.moves[0].centipawns), (2, Some(65)));
    let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";
    assert_eq!(report(&game(Some(fen), "g2g4"), &known).unwrap().known, 1);
}

#[test]
fn finished_games_are_evaluated_by_the_rules() {
    // The mating move is never a mistake and counts in no average.
    let mate = report(
        &game(Some("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), "a1a8"),
        &[Some(KnownEval::cp(700, 20)), None],
    )
    .unwrap();
    assert_eq!(
        (mate.known, mate.moves[0].accuracy, mate.moves[0].judgment),
        (2, Some(100.0), None)
    );
    assert_eq!((mate.white.judged, mate.white.accuracy), (1, None));
    // A stalemate in a won position is a blunder.
    let fen = "7k/8/5K2/8/8/8/8/6Q1 w - - 0 1";
    let stalemate = report(
        &game(Some(fen), "g1g6"),
        &[Some(KnownEval::mate(2, 20)), None],
    )
    .unwrap();
    assert_eq!(stalemate.moves[0].judgment, Some(Judgment::Blunder));
    // An evaluation of a position that is over is ignored.
    let stalemate = report(
        &game(Some(fen), "g1g6"),
        &[Some(KnownEval::mate(2, 20)), Some(KnownEval::cp(900, 20))],
    )
    .unwrap();
    assert_eq!(stalemate.moves[0].judgment, Some(Judgment::Blunder));
}

#[test]
fn a_game_that_starts_in_checkmate_has_no_judgments() {
    let game = game(Some("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1"), "");
    let report = report(&game, &[None]).unwrap();
    assert_eq!(
        (report.positions, report.known, report.moves.len()),
        (1, 1, 0)
    );
    for side in [report.white, report.black] {
        assert_eq!(
            (
                side.moves,
                side.judged,
                side.accuracy,
                side.average_centipawn_loss
            ),
            (0, 0, None, None)
        );
    }
}

#[test]
fn a_bad_move_has_a_better_move_and_the_best_move_has_no_judgment() {
    let known = [
        with_line(KnownEval::cp(30, 20), "d2d4 d7d5"),
        with_line(KnownEval::cp(-40, 20), "e7e5"),
    ]
    .map(Some);
    let played = report(&game(None, "g2g4"), &known).unwrap();
    assert_eq!(
        (played.moves[0].judgment, played.moves[0].best.as_deref()),
        (Some(Judgment::Inaccuracy), Some("d2d4"))
    );
    let played = report(&game(None, "d2d4"), &known).unwrap();
    assert_eq!(
        (played.moves[0].judgment, played.moves[0].best.as_deref()),
        (None, None)
    );
    assert_eq!(
        (played.moves[0].settled, played.moves[0].loss),
        (true, Some(0.0))
    );
    assert_eq!((played.white.provisional, played.white.judged), (0, 1));
}

#[test]
fn both_notations_of_castling_are_the_same_move() {
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    for line in ["e1g1", "e1h1"] {
        for played in ["e1g1", "e1h1"] {
            let known = [Some(with_line(KnownEval::cp(0, 20), line)), None];
            assert_eq!(
                report(&game(Some(fen), played), &known).unwrap().moves[0].best,
                None
            );
        }
        let known = [Some(with_line(KnownEval::cp(0, 20), line)), None];
        assert_eq!(
            report(&game(Some(fen), "a1a2"), &known).unwrap().moves[0]
                .best
                .as_deref(),
            Some("e1g1")
        );
    }
    let chess960 = "4k3/8/8/8/8/8/P7/RK5R w HA - 0 1";
    let known = [Some(with_line(KnownEval::cp(0, 20), "b1h1")), None];
    assert_eq!(
        report(&game(Some(chess960), "a2a3"), &known).unwrap().moves[0]
            .best
            .as_deref(),
        Some("b1h1")
    );
}

#[test]
fn evaluations_of_other_positions_are_errors() {
    let played = game(None, "e2e4");
    assert_eq!(
        report(&played, &[None]),
        Err(ReportError::Count {
            expected: 2,
            found: 1
        })
    );
    let error = report(
        &played,
        &[Some(with_line(KnownEval::cp(0, 20), "e7e5")), None],
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "evaluations[0].line: expected a line of this position, found the illegal move e7e5"
    );
    assert!(Game::from_uci(Some("8/8/8/8/8/8/8/8 w - -"), []).is_err());
    let error = Game::from_uci(None, ["e2e4", "e2e4"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "moves[1]: expected a legal move in UCI such as e2e4, found e2e4"
    );
}

#[test]
fn a_game_can_start_with_black_to_move() {
    let fen = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
    let known = [30, 300, 300].map(|cp| Some(KnownEval::cp(cp, 20)));
    let report = report(&game(Some(fen), "f7f6 d2d4"), &known).unwrap();
    assert_eq!(
        (
            report.black.blunders,
            report.black.moves,
            report.white.moves
        ),
        (1, 1, 1)
    );
    assert_eq!(report.black.average_centipawn_loss, Some(270.0));
    assert_eq!(report.white.accuracy, Some(100.0));
}

/// Returns the decompressed text of a file of the shared data sets, if the file exists.
fn shared(name: &str) -> Option<Vec<u8>> {
    let path = format!("{}/../../../shared/data/{name}", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path)
        .inspect_err(|_| eprintln!("SKIPPED: {path} is not there"))
        .ok()?;
    Some(if name.ends_with(".zst") {
        zstd::decode_all(&bytes[..]).unwrap()
    } else {
        bytes
    })
}

/// Reads the games of a file. Games with errors are left out.
fn games(text: &[u8]) -> Vec<PgnGame> {
    let games = GameTexts::new(text).map(|text| read(&text.unwrap().text, 1));
    games.filter(|game| game.error.is_none()).collect()
}

/// Returns whether Lichess judged a move, by its glyph.
fn is_judged(notes: &[Note]) -> bool {
    notes
        .iter()
        .any(|note| matches!(note, Note::Nag(2 | 4 | 6)))
}

/// All moves that Lichess judges are judged, in games that have evaluations and glyphs of Lichess. A move or two more are judged:
/// Lichess does not judge the best move of its search, and the PGN does not contain that move.
#[test]
fn moves_are_judged_as_by_lichess() {
    let Some(text) = shared("games-lichess.pgn.zst") else {
        return;
    };
    let games = games(&text);
    let analysed = games
        .iter()
        .filter(|game| game.line.moves.iter().any(|step| is_judged(&step.notes)));
    let (mut count, mut moves, mut glyphs, mut others) = (0, 0, 0, Vec::new());
    for game in analysed {
        let known = game.evaluations();
        let report = report(&game.game, &known).unwrap();
        count += 1;
        for (n, (found, step)) in report.moves.iter().zip(&game.line.moves).enumerate() {
            // The mating move has no evaluation.
            let (before, Some(after)) = (&known[n], &known[n + 1]) else {
                continue;
            };
            let before = before.as_ref().map_or(Score::Cp(15), |known| known.score);
            let theirs = is_judged(&step.notes);
            moves += 1;
            glyphs += usize::from(theirs);
            if found.judgment.is_some() != theirs {
                others.push(format!(
                    "{} {}. {} {before} to {}",
                    game.tag("Site").unwrap_or_default(),
                    n / 2 + 1,
                    found.san,
                    after.score
                ));
            }
        }
    }
    println!(
        "{count} games, {moves} moves, {glyphs} with glyphs: all but {} judged alike: {others:#?}",
        others.len()
    );
    assert!(count >= 30 && glyphs >= 450);
    assert!(others.len() <= 2, "{others:#?}");
}

/// Six plies of Kasparov against Topalov, evaluated at depth 20. The scores alternate by three pawns.
#[test]
fn alternating_scores_of_kasparov_against_topalov_cause_no_judgments() {
    let mut lines = include_str!("contradiction.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'));
    let fen = lines.next().unwrap();
    let (mut moves, mut known) = (Vec::new(), Vec::new());
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let [played, cp, depth, best] = fields[..] else {
            panic!("{line}")
        };
        known.push(Some(with_line(
            KnownEval::cp(cp.parse().unwrap(), depth.parse().unwrap()),
            best,
        )));
        moves.extend((played != "-").then_some(played));
    }
    let report = report(&game(Some(fen), &moves.join(" ")), &known).unwrap();
    assert!(report.settled, "{report:#?}");
    assert_eq!(
        report.moves.iter().filter(|m| m.judgment.is_some()).count(),
        0,
        "{report:#?}"
    );
}
