//! Perft: the number of positions reached by legal moves equals published counts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::HashMap;

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
    let below = |m| perft(&position.play(m), depth - 1, counts);
    let count = moves.into_iter().map(below).sum();
    counts.insert((position.key(), depth), count);
    count
}

#[test]
fn difficult_positions_have_the_published_counts() {
    for line in include_str!("perft.epd").lines().skip(1) {
        let mut fields = line.split(" ;");
        let position: Position = fields.next().unwrap().parse().unwrap();
        for field in fields {
            let (depth, count) = field[1..].split_once(' ').unwrap();
            let found = perft(&position, depth.parse().unwrap(), &mut HashMap::new());
            assert_eq!(found, count.parse::<u64>().unwrap(), "{line}: {field}");
        }
    }
}
