//! Finds the positions of a book. A hash alone does not identify a position.

use shakmaty::{Chess, Move, Position as _};

use super::{Entry, PolyglotBook, add, decode, keys};
use crate::position::Position;

/// An iterator over the positions of a book, each with its moves and their weights, in a deterministic order.
///
/// Tries all legal moves of each position. After a book move that leads out of the book, all replies are tried,
/// because many books contain the moves of one side only.
///
/// The number of positions on the way never exceeds the number of keys in the book.
pub struct Walk<B> {
    book: PolyglotBook<B>,
    /// For each first entry of a key: whether a position with this key was reached.
    reached: Vec<bool>,
    next: Vec<Position>,
    entries: usize,
    illegal: usize,
}

impl<B: AsRef<[u8]>> Walk<B> {
    /// Begins at positions.
    pub fn new(book: PolyglotBook<B>, starts: &[Position]) -> Walk<B> {
        let reached = vec![false; book.len()];
        let mut walk = Walk {
            book,
            reached,
            next: Vec::new(),
            entries: 0,
            illegal: 0,
        };
        for start in starts.iter().rev() {
            walk.reach(start.clone());
        }
        walk
    }

    /// Entries of all positions, reached or not.
    pub fn total(&self) -> usize {
        self.book.len()
    }

    /// Entries of the positions that were reached by now.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// Returns the number of illegal moves among the reached entries.
    pub fn illegal(&self) -> usize {
        self.illegal
    }

    /// Queues a position if it is in the book and was not reached before. Returns whether it is in the book.
    fn reach(&mut self, position: Position) -> bool {
        let (mut is_known, mut is_new) = (false, false);
        for key in keys(&position) {
            let found = self.book.find(key);
            is_known |= !found.is_empty();
            if !found.is_empty() && !self.reached[found.start] {
                self.reached[found.start] = true;
                self.entries += found.len();
                is_new = true;
            }
        }
        if is_new {
            self.next.push(position);
        }
        is_known
    }

    /// Returns the moves of a position. The book may contain the position under several hashes. If their moves and
    /// weights are equal, they count once.
    fn moves(&mut self, position: &Position) -> Vec<(Move, u32)> {
        let mut moves: Vec<(Move, u32)> = Vec::new();
        let mut known: Vec<Vec<(u16, u16)>> = Vec::new();
        for key in keys(position) {
            let entries = self.book.entries(self.book.find(key));
            let mut entries: Vec<(u16, u16)> = entries
                .map(|Entry { code, weight, .. }| (code, weight))
                .collect();
            entries.sort_unstable();
            let is_known = known.contains(&entries);
            for (code, weight) in &entries {
                match decode(position.chess(), *code) {
                    Some(m) if !is_known => add(&mut moves, m, (*weight).into()),
                    Some(_) => {}
                    None => self.illegal += 1,
                }
            }
            known.push(entries);
        }
        moves
    }
}

impl<B: AsRef<[u8]>> Iterator for Walk<B> {
    type Item = (Position, Vec<(Move, u32)>);

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.next.pop()?;
        let moves = self.moves(&position);
        for m in position.chess().legal_moves() {
            let (chess, after) = play(position.chess(), m);
            if !self.reach(after) && moves.iter().any(|(of_book, _)| *of_book == m) {
                for answer in chess.legal_moves() {
                    self.reach(play(&chess, answer).1);
                }
            }
        }
        Some((position, moves))
    }
}

fn play(chess: &Chess, m: Move) -> (Chess, Position) {
    let mut chess = chess.clone();
    chess.play_unchecked(m);
    let position = Position::from_chess(&chess);
    (chess, position)
}
