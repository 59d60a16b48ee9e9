//! Perft: the number of positions reached by legal moves equals published counts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use shelfish_engine::Position;

/// Counts the positions that legal moves reach. Counts are stored by key, so that a wrong key leads to a wrong count.
fn perft(position: &Position, depth: u32, counts: &mut HashMap<(u64, u32), u64>) -> u64 {
    let moves = position.legal_moves();
    if depth == 1 {
        return moves.len() as u64;
    }
    if let Some(count) = counts.get(&(position.key(), depth)) {
        return *count;
    }
    let count = moves
        .iter()
        .map(|&m| perft(&position.play(m), depth - 1, counts))
        .sum();
    counts.insert((position.key(), depth), count);
    count
}

/// Parses the cases of a suite: FEN, depth, count.
fn cases(text: &str) -> Vec<(String, u32, u64)> {
    let mut cases = Vec::new();
    let mut fen = String::new();
    for line in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
    {
        if let Some(rest) = line.strip_prefix("epd ") {
            fen = rest.to_owned();
        } else if let Some((depth, count)) = line
            .strip_prefix("perft ")
            .and_then(|rest| rest.split_once(' '))
        {
            cases.push((fen.clone(), depth.parse().unwrap(), count.parse().unwrap()));
        } else if let Some((fen, counts)) = line.split_once(';') {
            for field in counts.split(';') {
                let (depth, count) = field
                    .trim()
                    .trim_start_matches('D')
                    .split_once(' ')
                    .unwrap();
                cases.push((
                    fen.trim().to_owned(),
                    depth.parse().unwrap(),
                    count.parse().unwrap(),
                ));
            }
        }
    }
    cases
}

fn check(text: &str, max_count: u64) -> usize {
    let cases: Vec<_> = cases(text)
        .into_iter()
        .filter(|case| case.2 <= max_count && case.1 > 0)
        .collect();
    for (fen, depth, count) in &cases {
        let position: Position = fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"));
        assert_eq!(
            perft(&position, *depth, &mut HashMap::new()),
            *count,
            "{fen} at depth {depth}"
        );
    }
    cases.len()
}

#[test]
fn difficult_positions_have_the_published_counts() {
    assert_eq!(check(include_str!("perft.epd"), 200_000), 24);
}

/// Checks the suites of the folder of shared data that exist, with `SHELFISH_LONG` up to 20 million positions each.
#[test]
fn whole_suites_have_the_published_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/suites");
    let max_count = if std::env::var_os("SHELFISH_LONG").is_some() {
        20_000_000
    } else {
        3_000
    };
    for name in [
        "perftsuite.epd",
        "tricky.perft",
        "chess960.perft",
        "random.perft",
    ] {
        let path = folder.join(name);
        match fs::read_to_string(&path) {
            Ok(text) => assert!(check(&text, max_count) > 0, "{name} has no case"),
            Err(_) => eprintln!("SKIPPED: {} does not exist", path.display()),
        }
    }
}
