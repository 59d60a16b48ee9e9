//! From positions on through a book: a hash alone does not tell its position.

use shakmaty::{Chess, Move, Position as _};

use super::{Entry, PolyglotBook, add, decode, keys};
use crate::position::Position;

/// The positions of a book, each once, with its moves and their weights. The order is the same each time.
///
/// From a position all legal moves are tried, and all answers to a move of the book that leads out of it: many books have the
/// moves of one side alone.
///
/// There are never more positions on the way than keys in the book.
pub struct Walk<B> {
    book: PolyglotBook<B>,
    /// By number of an entry whose key is new: whether it was reached.
    reached: Vec<bool>,
    next: Vec<Position>,
    entries: usize,
    illegal: usize,
}

impl<B: AsRef<[u8]>> Walk<B> {
    /// Begins at positions.
    pub fn new(book: PolyglotBook<B>, starts: &[Position]) -> Walk<B> {
        let reached = vec![false; book.len()];
        let mut walk = Walk { book, reached, next: Vec::new(), entries: 0, illegal: 0 };
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

    /// Of these, entries whose move is not legal.
    pub fn illegal(&self) -> usize {
        self.illegal
    }

    /// Remembers a position, if the book has it and nobody was there. False if the book does not have it.
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

    /// The moves to a position. It may be in the book by several hashes; where they have the same moves with the same
    /// weights, that is one position written twice.
    fn moves(&mut self, position: &Position) -> Vec<(Move, u32)> {
        let mut moves: Vec<(Move, u32)> = Vec::new();
        let mut known: Vec<Vec<(u16, u16)>> = Vec::new();
        for key in keys(position) {
            let entries = self.book.entries(self.book.find(key));
            let mut entries: Vec<(u16, u16)> = entries.map(|Entry { code, weight, .. }| (code, weight)).collect();
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
