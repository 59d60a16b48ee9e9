//! Explanations of bad moves: known positions, and claims about real games that an independent count of material checks.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use proptest::prelude::*;
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Color, Move, Position as _};
use shelfish::position::Position;
use shelfish_analysis::explanation::{Begins, Explanation, explain};
use shelfish_analysis::pgn::{GameTexts, PgnGame, evaluation, read};
use shelfish_analysis::{KnownEval, Score, judge};

fn known(score: &str, line: &str) -> KnownEval {
    let score = evaluation(&format!("[%eval {score}]")).unwrap().0;
    let line = line
        .split_whitespace()
        .map(|m| m.parse().unwrap())
        .collect();
    KnownEval {
        line,
        ..KnownEval::new(score, Some(30))
    }
}

#[test]
fn claims_are_made_only_if_they_are_proven() {
    let mut wrong = Vec::new();
    for line in include_str!("explanations.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let fields: Vec<&str> = line.split('\t').collect();
        let [fen, played, before, best, after, refutation, expected] = fields[..] else {
            panic!("{line}")
        };
        let position: Position = fen.parse().expect(line);
        let played = played
            .parse::<UciMove>()
            .unwrap()
            .to_move(position.chess())
            .expect(line);
        let ply = usize::from(position.chess().turn().is_black());
        let found = explain(
            position.chess(),
            played,
            Some(&known(before, best)),
            Some(&known(after, refutation)),
        );
        let found = found.map_or("-".to_owned(), |found| found.with_line(ply));
        if found != expected {
            wrong.push(format!("{line}\nfound {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Counts the material of a side minus the material of its opponent, by the letters of a FEN.
fn count(position: &Chess, side: Color) -> i32 {
    let text = Position::from_chess(position).to_string();
    let worth = |letter: char| match letter.to_ascii_lowercase() {
        'p' => 1,
        'n' | 'b' => 3,
        'r' => 5,
        'q' => 9,
        _ => 0,
    };
    let sign = |letter: char| {
        if letter.is_uppercase() == side.is_white() {
            1
        } else {
            -1
        }
    };
    text.split(' ')
        .next()
        .unwrap()
        .chars()
        .map(|letter| sign(letter) * worth(letter))
        .sum()
}

fn play<'a>(start: &Chess, line: impl IntoIterator<Item = &'a UciMove>) -> Vec<Chess> {
    let mut positions = vec![start.clone()];
    for m in line {
        let mut next = positions.last().unwrap().clone();
        let Ok(m) = m.to_move(&next) else { break };
        next.play_unchecked(m);
        positions.push(next);
    }
    positions
}

/// Panics if an explanation does not follow from the evaluations.
fn check(before: &Chess, played: Move, known: [&KnownEval; 2], found: &Explanation) {
    let mut after = before.clone();
    after.play_unchecked(played);
    let (start, whole) = match found.begins {
        Begins::Before => (before, &known[0].line),
        Begins::After => (&after, &known[1].line),
    };
    let line: Vec<UciMove> = found.line.iter().map(|m| m.parse().unwrap()).collect();
    let (positions, whole) = (play(start, &line), play(start, whole));
    assert_eq!(positions.len(), line.len() + 1);
    // Castling has two notations.
    let is_same = |(part, whole)| Position::from_chess(part) == Position::from_chess(whole);
    assert!(line.is_empty() || positions.len() <= whole.len());
    assert!(positions.iter().zip(&whole).all(is_same));
    let end = positions.last().unwrap();
    if found.kind == "draws" {
        return assert!(end.is_stalemate() || end.is_insufficient_material());
    }
    let winner = match found.begins {
        Begins::Before => before.turn(),
        Begins::After => before.turn().other(),
    };
    if let Some(moves) = found.mate {
        let score = known[usize::from(found.begins == Begins::After)].score;
        assert_eq!(score, Score::Mate(winner.fold_wb(1, -1) * moves as i32));
        let is_complete = positions.len() == 2 * moves as usize;
        return assert!(is_complete == end.is_checkmate());
    }
    if found.kind.ends_with("Threat") {
        return check_threat(&positions, found);
    }
    if let Some(square) = &found.square {
        let piece = start.board().piece_at(square.parse().unwrap()).unwrap();
        assert_eq!(
            (piece.color == winner, found.role.unwrap()),
            (
                found.kind.ends_with("Promotion"),
                format!("{:?}", piece.role).to_lowercase().as_str()
            )
        );
    }
    // The pieces that the played move takes count too, unless the best move takes the same piece. The rest of the line keeps
    // material whenever the other side moves.
    let won = |position: &Chess| {
        let count = count(position, winner);
        count - self::count(start, winner).min(self::count(before, winner))
    };
    assert!(won(end) > 0, "the line wins {}", won(end));
    for (n, position) in whole.iter().enumerate().skip(line.len()) {
        let is_kept = position.turn() == winner || n == 0 || won(position) > 0;
        assert!(is_kept, "the line keeps {} after {n} moves", won(position));
    }
}

/// Panics if a move does not threaten what an explanation says: its side would mate in 1, or take the piece and win two pawns, even
/// if the capturing piece is lost.
fn check_threat(positions: &[Chess], found: &Explanation) {
    let [start, after] = positions else {
        panic!("a threat is one move: {found:?}")
    };
    let next = after.clone().swap_turn().expect("a threat is no check");
    let side = start.turn();
    assert_eq!(count(start, side), count(after, side));
    let is_carried_out = next.legal_moves().iter().any(|m| {
        let end = &play(&next, [&m.to_uci(shakmaty::CastlingMode::Standard)])[1];
        let Some(square) = &found.square else {
            return end.is_checkmate();
        };
        let role = m.capture().map(|role| format!("{role:?}").to_lowercase());
        // The capturing piece may be lost.
        let price = |answer: &Move| {
            let retaken = &play(end, [&answer.to_uci(shakmaty::CastlingMode::Chess960)])[1];
            count(end, side) - count(retaken, side)
        };
        let answers = end.legal_moves();
        let on_square = answers.iter().filter(|answer| answer.to() == m.to());
        m.to().to_string() == *square
            && role.as_deref() == found.role
            && count(end, side) - on_square.map(price).max().unwrap_or(0) >= count(after, side) + 2
    });
    assert!(is_carried_out, "no threat: {found:?}");
}

/// Explains the bad moves of games, and checks each claim. Returns the number of bad moves and of explanations.
fn explain_all(games: &[PgnGame], known: &HashMap<Position, KnownEval>) -> [usize; 2] {
    let (mut bad, mut explained) = (0, 0);
    for game in games {
        let positions: Vec<Chess> = game.game.positions().collect();
        let found: Vec<_> = positions
            .iter()
            .map(|position| known.get(&Position::from_chess(position)))
            .collect();
        for (n, played) in game.game.moves().iter().enumerate() {
            let [Some(before), Some(after)] = [found[n], found[n + 1]] else {
                continue;
            };
            if judge(before.score.into(), after.score.into(), positions[n].turn()).is_none() {
                continue;
            }
            bad += 1;
            let Some(found) = explain(&positions[n], *played, Some(before), Some(after)) else {
                continue;
            };
            explained += 1;
            check(&positions[n], *played, [before, after], &found);
        }
    }
    [bad, explained]
}

/// Reads the games of a file. Games with errors are left out.
fn games(text: &[u8]) -> Vec<PgnGame> {
    let games = GameTexts::new(text).map(|text| read(&text.unwrap().text, 1));
    games.filter(|game| game.error.is_none()).collect()
}

/// Reads the deepest evaluation of each position from a file, as Lichess recommends.
fn evaluations(text: &[u8]) -> HashMap<Position, KnownEval> {
    let parse = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let position: Position = record["fen"].as_str().unwrap().parse().unwrap();
        let evaluation = record["evals"]
            .as_array()
            .unwrap()
            .iter()
            .max_by_key(|evaluation| evaluation["depth"].as_u64())
            .unwrap();
        let pv = &evaluation["pvs"][0];
        let score = match pv["cp"].as_i64() {
            Some(cp) => Score::Cp(cp as i32),
            None => Score::Mate(pv["mate"].as_i64().unwrap() as i32),
        };
        let line = pv["line"]
            .as_str()
            .unwrap()
            .split(' ')
            .map(|m| m.parse::<UciMove>().unwrap())
            .collect();
        let depth = evaluation["depth"].as_u64().map(|depth| depth as u16);
        (
            position,
            KnownEval {
                line,
                ..KnownEval::new(score, depth)
            },
        )
    };
    std::str::from_utf8(text)
        .unwrap()
        .lines()
        .map(parse)
        .collect()
}

#[test]
fn claims_about_famous_games_are_true() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../static-shards");
    let file = |name: &str| std::fs::read(format!("{folder}/{name}")).unwrap();
    let known = evaluations(&zstd::decode_all(&file("famous.jsonl.zst")[..]).unwrap());
    let [bad, explained] = explain_all(&games(&file("famous.pgn")), &known);
    println!("{explained} of {bad} bad moves are explained");
    assert!(bad > 100 && explained > 20);
}

/// Plays random moves. Half of them are captures, if there are captures.
fn walk(position: &mut Chess, choices: &[(usize, bool)]) -> Vec<UciMove> {
    let mut line = Vec::new();
    for (choice, captures) in choices {
        let mut moves = position.legal_moves();
        if *captures && moves.iter().any(|m| m.is_capture()) {
            moves.retain(|m| m.is_capture());
        }
        if moves.is_empty() {
            break;
        }
        let m = moves[choice % moves.len()];
        line.push(m.to_uci(shakmaty::CastlingMode::Chess960));
        position.play_unchecked(m);
    }
    line
}

fn choices(length: usize) -> impl Strategy<Value = Vec<(usize, bool)>> {
    prop::collection::vec((any::<usize>(), any::<bool>()), 0..length)
}

fn score() -> impl Strategy<Value = Score> {
    prop_oneof![8 => (-1500..1500).prop_map(Score::Cp), 1 => (1..9).prop_map(Score::Mate), 1 => (-9..-1).prop_map(Score::Mate)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn claims_about_random_lines_are_true(
        game in choices(80), played in any::<usize>(), best in choices(14), refutation in choices(14), scores in (score(), score()),
    ) {
        let mut before = Chess::default();
        walk(&mut before, &game);
        let moves = before.legal_moves();
        prop_assume!(!moves.is_empty());
        let played = moves[played % moves.len()];
        let mut after = before.clone();
        after.play_unchecked(played);
        let known = |mut position: Chess, choices: &[(usize, bool)], score: Score| KnownEval {
            line: walk(&mut position, choices),
            ..KnownEval::new(score, Some(30))
        };
        let known = [known(before.clone(), &best, scores.0), known(after, &refutation, scores.1)];
        if let Some(found) = explain(&before, played, Some(&known[0]), Some(&known[1])) {
            check(&before, played, [&known[0], &known[1]], &found);
        }
    }
}
