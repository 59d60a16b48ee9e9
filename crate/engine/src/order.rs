//! Move ordering: the move of the table, captures that lose nothing, killers, quiet moves by their histories, losing
//! captures.

use shakmaty::{Color, Move, Role};

use crate::{
    Position,
    history::{Histories, PieceTo},
    packed::Packed,
    see,
};

/// A move with its rank. Moves of a higher rank come first.
#[derive(Clone, Copy, Debug)]
pub struct Ranked {
    /// The move.
    pub m: Move,
    rank: i32,
}

const TABLE: i32 = 1 << 30;
const GOOD_CAPTURE: i32 = 1 << 26;
const KILLER: i32 = 1 << 24;
const BAD_CAPTURE: i32 = -(1 << 26);

/// Inputs of the move ordering.
pub struct Hints<'a> {
    /// The move of the transposition table.
    pub table_move: Packed,
    /// Quiet moves that refuted siblings.
    pub killers: [Packed; 2],
    /// Moves played one, two and four plies ago.
    pub before: [Option<PieceTo>; 3],
    /// Success of moves so far.
    pub histories: &'a Histories,
}

/// Returns whether a move is a capture or a promotion to a queen.
pub fn is_noisy(m: Move) -> bool {
    m.is_capture() || m.promotion() == Some(Role::Queen)
}

/// Appends the legal moves to a list, ranked, all or only the noisy moves.
pub fn rank(list: &mut Vec<Ranked>, position: &Position, hints: &Hints<'_>, noisy_only: bool) {
    let color = position.turn();
    let moves = position.legal_moves();
    let moves = moves.iter().filter(|&&m| !noisy_only || is_noisy(m));
    list.extend(moves.map(|&m| Ranked { m, rank: rank_of(m, color, hints) }));
}

fn rank_of(m: Move, color: Color, hints: &Hints<'_>) -> i32 {
    let packed = Packed::from(m);
    if packed == hints.table_move {
        TABLE
    } else if is_noisy(m) {
        let gain = m.capture().map_or(0, see::value) + m.promotion().map_or(0, see::value);
        GOOD_CAPTURE + gain
    } else if packed == hints.killers[0] {
        KILLER
    } else if packed == hints.killers[1] {
        KILLER - 1
    } else {
        hints.histories.quiet(color, m, &hints.before)
    }
}

/// Moves the next move to the front and returns it. Captures that lose material are detected when their turn comes, and
/// postponed.
pub fn next(rest: &mut [Ranked], position: &Position) -> Option<Next> {
    loop {
        let mut best = 0;
        for i in 1..rest.len() {
            if rest[i].rank > rest[best].rank {
                best = i;
            }
        }
        let Ranked { m, rank } = *rest.get(best)?;
        if (GOOD_CAPTURE / 2..TABLE).contains(&rank) && !see::wins(position, m, 0) {
            rest[best].rank = rank - GOOD_CAPTURE + BAD_CAPTURE;
            continue;
        }
        rest.swap(0, best);
        return Some(Next { m, loses: rank < BAD_CAPTURE / 2 });
    }
}

/// Moves captures, promotions to a queen and checks to the front and returns their number.
pub fn forcing_first(rest: &mut [Ranked], position: &Position) -> usize {
    let mut kept = 0;
    for i in 0..rest.len() {
        if is_noisy(rest[i].m) || position.checks(rest[i].m) {
            rest.swap(kept, i);
            kept += 1;
        }
    }
    kept
}

/// The move to try next.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// The move.
    pub m: Move,
    /// Whether it is a capture that loses material.
    pub loses: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(fen: &str, table_move: &str, killer: &str) -> Vec<String> {
        let position: Position = fen.parse().unwrap();
        let packed = |text: &str| Packed::from(position.legal_move(text));
        let hints = Hints {
            table_move: packed(table_move),
            killers: [packed(killer), Packed::NONE],
            before: [None; 3],
            histories: &Histories::default(),
        };
        let mut list = Vec::new();
        rank(&mut list, &position, &hints, false);
        let mut names = Vec::new();
        for i in 0..list.len() {
            let next = next(&mut list[i..], &position).unwrap();
            names.push(next.m.to_uci(shakmaty::CastlingMode::Standard).to_string());
        }
        names
    }

    #[test]
    fn the_move_of_the_table_is_first_and_killers_are_before_quiet_moves() {
        let fen = "4k3/8/3p4/4n3/3P4/8/8/R3K3 w Q - 0 1";
        let names = ordered(fen, "a1a8", "e1e2");
        assert_eq!(names[..3], ["a1a8", "d4e5", "e1e2"]);
    }

    #[test]
    fn a_capture_that_loses_material_is_last() {
        let names = ordered("4k3/8/3p4/4n3/8/8/4Q3/4K3 w - - 0 1", "", "");
        assert_eq!(names.last().map(String::as_str), Some("e2e5"));
    }
}
