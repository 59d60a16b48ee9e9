//! Move ordering: the move of the table, captures that lose nothing, killers, quiet moves by their histories, losing
//! captures. Moves are generated after the move of the table is searched, and quiet moves are ranked when their turn comes.

use std::ops::Range;

use shakmaty::Move;

use crate::{
    Position,
    generate::{self, is_noisy},
    history::{Histories, PieceTo},
    margins::CAPTURE_HISTORY,
    packed::Packed,
    see,
};

/// Legal moves of the nodes of a line, with the keys of their order. The greatest key comes first.
///
/// A key contains the rank of a move, and in its lowest byte the distance of the move from the end of a list of 256 moves.
/// So keys differ, equal ranks keep the order of the moves, and the maximum of the keys is enough to find a move.
#[derive(Debug, Default)]
pub struct Moves {
    moves: Vec<Move>,
    keys: Vec<i32>,
}

/// Key of a move that was returned or skipped.
const USED: i32 = i32::MIN;
/// Rank of the first killer.
const KILLER: i32 = 1 << 18;
/// Rank of quiet moves before they are ranked by their histories.
const UNRANKED: i32 = 1 << 17;
/// Difference between the ranks of captures that win and captures that lose material.
const LOSING: i32 = 1 << 19;

impl Moves {
    /// Returns the number of moves.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Removes the moves from index `length` on.
    pub fn truncate(&mut self, length: usize) {
        self.moves.truncate(length);
        self.keys.truncate(length);
    }

    /// Adds a move at the end of a list that begins at `start`.
    fn push(&mut self, start: usize, m: Move, rank: i32) {
        self.keys.push(key(rank, self.moves.len() - start));
        self.moves.push(m);
    }

    /// Returns the index and the rank of the next move of a list.
    fn best(&self, list: &Range<usize>) -> Option<(usize, i32)> {
        let best = self.keys[list.clone()].iter().copied().fold(USED, i32::max);
        (best != USED).then(|| (list.start + 255 - (best & 255) as usize, best >> 8))
    }
}

/// Returns the key of the move with index `index` in its list.
fn key(rank: i32, index: usize) -> i32 {
    rank << 8 | ((255 - index as i32) & 255)
}

/// Inputs of the move ordering.
pub struct Hints<'a> {
    /// The move of the transposition table.
    pub table_move: Option<Move>,
    /// Quiet moves that refuted siblings.
    pub killers: [Packed; 2],
    /// Moves played one, two and four plies ago.
    pub before: [PieceTo; 3],
    /// Success of moves so far.
    pub histories: &'a Histories,
}

/// Moves that a node searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// All legal moves.
    All,
    /// Captures, promotions to a queen, and checks.
    Forcing,
    /// Captures and promotions to a queen.
    Noisy,
}

/// Stage of a picker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The move of the transposition table.
    Table,
    /// Captures and promotions to a queen, before they are generated.
    NewNoisy,
    /// Captures and promotions to a queen that lose nothing.
    Noisy,
    /// Quiet moves, before they are generated.
    NewQuiet,
    /// Quiet moves.
    Quiet,
    /// Captures that lose material.
    Losing,
}

/// The moves of a node, in the order of the search. They are a part of a list that all nodes of a line share.
#[derive(Debug)]
pub struct Picker {
    stage: Stage,
    wanted: Wanted,
    /// Captures and promotions to a queen in the list.
    noisy: Range<usize>,
    /// Quiet moves in the list.
    quiet: Range<usize>,
}

/// The move to try next.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// The move.
    pub m: Move,
    /// Whether it is a capture that loses material.
    pub loses: bool,
}

impl Picker {
    /// Creates a picker whose moves begin at the end of the list.
    pub fn new(wanted: Wanted) -> Picker {
        Picker {
            stage: Stage::Table,
            wanted,
            noisy: 0..0,
            quiet: 0..0,
        }
    }

    /// Returns the next move.
    pub fn next(
        &mut self,
        list: &mut Moves,
        position: &Position,
        hints: &Hints<'_>,
    ) -> Option<Next> {
        if self.stage == Stage::Table {
            self.stage = Stage::NewNoisy;
            if let Some(m) = hints
                .table_move
                .filter(|m| self.wanted != Wanted::Noisy || is_noisy(*m))
            {
                return Some(Next { m, loses: false });
            }
        }
        if self.stage == Stage::NewNoisy {
            self.stage = Stage::Noisy;
            self.generate_noisy(list, position, hints);
        }
        if self.stage == Stage::Noisy {
            while let Some((index, rank)) = list.best(&self.noisy).filter(|(_, rank)| *rank > 0) {
                let m = list.moves[index];
                if see::wins(position, m, 0) {
                    list.keys[index] = USED;
                    return Some(Next { m, loses: false });
                }
                // Captures that lose material are detected when their turn comes, and postponed.
                list.keys[index] = key(rank - LOSING, index - self.noisy.start);
            }
            self.stage = if self.wanted == Wanted::Noisy {
                Stage::Losing
            } else {
                Stage::NewQuiet
            };
        }
        if self.stage == Stage::NewQuiet {
            self.stage = Stage::Quiet;
            self.generate_quiet(list, position, hints);
        }
        if self.stage == Stage::Quiet {
            let mut best = list.best(&self.quiet);
            if best.is_some_and(|(_, rank)| rank == UNRANKED) {
                self.rank_quiet(list, position, hints);
                best = list.best(&self.quiet);
            }
            if let Some((index, _)) = best {
                list.keys[index] = USED;
                return Some(Next {
                    m: list.moves[index],
                    loses: false,
                });
            }
            self.stage = Stage::Losing;
        }
        let (index, _) = list.best(&self.noisy)?;
        list.keys[index] = USED;
        Some(Next {
            m: list.moves[index],
            loses: true,
        })
    }

    /// Skips the remaining moves except captures, promotions to a queen and checks.
    pub fn skip_quiet(&mut self, list: &mut Moves, position: &Position) {
        self.wanted = Wanted::Forcing;
        if self.quiet.is_empty() {
            return;
        }
        let squares = position.check_squares();
        for index in self.quiet.clone() {
            let gives_check = match list.moves[index] {
                // The vacated square opens no line from the target to the king. Otherwise the piece would have attacked the
                // king before the move. A pawn that promotes gets new lines, so `checks` decides about promotions.
                Move::Normal {
                    role,
                    to,
                    promotion: None,
                    ..
                } => squares.get(role).contains(to),
                m => position.checks(m),
            };
            if !gives_check {
                list.keys[index] = USED;
            }
        }
    }

    fn generate_noisy(&mut self, list: &mut Moves, position: &Position, hints: &Hints<'_>) {
        let start = list.len();
        generate::for_each_noisy(position, |m| {
            if Some(m) != hints.table_move {
                list.push(start, m, rank_of_noisy(position, m, hints));
            }
        });
        self.noisy = start..list.len();
    }

    fn generate_quiet(&mut self, list: &mut Moves, position: &Position, hints: &Hints<'_>) {
        let start = list.len();
        for m in position.legal_moves() {
            if !is_noisy(m)
                && Some(m) != hints.table_move
                && (self.wanted == Wanted::All || position.checks(m))
            {
                list.push(start, m, rank_of(m.into(), hints));
            }
        }
        self.quiet = start..list.len();
    }

    /// Ranks the quiet moves by their histories.
    fn rank_quiet(&self, list: &mut Moves, position: &Position, hints: &Hints<'_>) {
        let success = hints.histories.success(position, &hints.before);
        for index in self.quiet.clone() {
            if list.keys[index] != USED {
                list.keys[index] = key(success.of(list.moves[index]), index - self.quiet.start);
            }
        }
    }
}

/// Returns the rank of a capture or promotion: its gain in sixteenths of a centipawn, and its history. The rank is positive,
/// because a pawn counts more than the worst history.
fn rank_of_noisy(position: &Position, m: Move, hints: &Hints<'_>) -> i32 {
    let gain = m.capture().map_or(0, see::value) + m.promotion().map_or(0, see::value);
    16 * gain + hints.histories.of_capture(position.turn(), m) / CAPTURE_HISTORY
}

/// Returns the rank of a quiet move before the histories are read.
fn rank_of(packed: Packed, hints: &Hints<'_>) -> i32 {
    match hints.killers.iter().position(|killer| *killer == packed) {
        Some(index) => KILLER - index as i32,
        None => UNRANKED,
    }
}
