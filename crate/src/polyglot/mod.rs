//! Engine books in the format of Polyglot: big-endian entries of 16 bytes, in order of their keys.
//!
//! An entry consists of a key of 8 bytes, a move of 2, a weight of 2 and 4 bytes for data of learning engines. The key is a
//! 64-bit hash ([`key`]) with the numbers and rules of Polyglot (<http://hgm.nubati.net/book_format.html>). Castling is
//! the move of the king to its own rook, even in standard chess.
//!
//! ```
//! use shelfish::polyglot::{PolyglotBook, Entry, code, key};
//! use shelfish::position::Position;
//! use shelfish::shakmaty::{Position as _, uci::UciMove};
//!
//! let start: Position = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -".parse()?;
//! let m = "e2e4".parse::<UciMove>()?.to_move(start.chess())?;
//! let entry = Entry { key: key(start.chess()), code: code(m), weight: 7, learn: 0 };
//! let book = PolyglotBook::open(&entry.to_bytes())?;
//! assert_eq!(book.moves(start.chess()), [(m, 7)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use core::cmp::Reverse;

use shakmaty::zobrist::Zobrist64;
use shakmaty::{
    CastlingMode, Chess, EnPassantMode, FromSetup, Move, Position as _, Rank, Role, attacks,
};

use crate::position::Position;

/// The move of a book to a position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The hash of the position, see [`key`].
    pub key: u64,
    /// The move, see [`code`].
    pub code: u16,
    /// Weight of the move relative to other moves of the position. A move of weight 0 is never played.
    pub weight: u16,
    /// Data of a learning engine, in a format that differs between engines.
    pub learn: u32,
}

impl Entry {
    /// Bytes of an entry.
    pub const BYTES: usize = 16;

    /// Returns the entry as bytes of a file.
    pub fn to_bytes(self) -> [u8; Entry::BYTES] {
        let bits = u128::from(self.key) << 64
            | u128::from(self.code) << 48
            | u128::from(self.weight) << 32
            | u128::from(self.learn);
        bits.to_be_bytes()
    }

    fn from_bytes(bytes: [u8; Entry::BYTES]) -> Entry {
        let bits = u128::from_be_bytes(bytes);
        Entry {
            key: (bits >> 64) as u64,
            code: (bits >> 48) as u16,
            weight: (bits >> 32) as u16,
            learn: bits as u32,
        }
    }
}

/// Returns the Polyglot hash of a position. A double pawn push counts if an enemy pawn is next to the pawn, even if the
/// capture is illegal. So the hash depends on the last move.
pub fn key(chess: &Chess) -> u64 {
    chess
        .zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal)
        .0
}

/// Returns all possible hashes of a canonical position, usually one. A second hash exists if a pawn may have made a
/// double push past a pinned pawn, which cannot capture it.
pub fn keys(position: &Position) -> Vec<u64> {
    let chess = position.chess();
    let mut keys = vec![key(chess)];
    if chess.legal_ep_square().is_some() {
        return keys;
    }
    let (us, them) = (chess.turn(), !chess.turn());
    let (board, occupied) = (chess.board(), chess.board().occupied());
    let fourth = them.fold_wb(Rank::Fourth, Rank::Fifth);
    for pawn in board.pawns() & board.by_color(them) & fourth {
        let behind = |steps: i32| {
            pawn.offset(them.fold_wb(-8, 8) * steps)
                .filter(|square| !occupied.contains(*square))
        };
        let (Some(target), Some(_)) = (behind(1), behind(2)) else {
            continue;
        };
        if (attacks::pawn_attacks(them, target) & board.pawns() & board.by_color(us)).is_empty() {
            continue;
        }
        let mut setup = chess.to_setup(EnPassantMode::Legal);
        setup.ep_square = Some(target);
        if let Ok(other) = Chess::from_setup(setup, CastlingMode::Chess960)
            && other.legal_ep_square().is_none()
            && !keys.contains(&key(&other))
        {
            keys.push(key(&other));
        }
    }
    keys
}

/// Returns the code of a move. From the lowest bits: file and rank of the target, file and rank of the origin (three
/// bits each), and the promotion (1 to 4: knight, bishop, rook, queen). The target of castling is the rook's square.
pub fn code(m: Move) -> u16 {
    let from = m.from().map_or(0, |square| square as u16);
    let promotion = m
        .promotion()
        .map_or(0, |role| role as u16 - Role::Pawn as u16);
    m.to() as u16 | from << 6 | promotion << 12
}

/// Returns the legal move that a code stands for. Castling may also be written as two steps of the king.
pub fn decode(chess: &Chess, found: u16) -> Option<Move> {
    let two_steps = |m: &Move| {
        let (from, side) = (m.from()?, m.castling_side()?);
        Some(side.king_to(chess.turn()) as u16 | (from as u16) << 6)
    };
    let legal = chess.legal_moves();
    let exact = legal.iter().find(|m| code(**m) == found);
    let castling = || legal.iter().find(|m| two_steps(m) == Some(found));
    exact.or_else(castling).copied()
}

/// Reasons why bytes are not a book.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolyglotError {
    /// There are none.
    #[error("a Polyglot book without an entry")]
    Empty,
    /// They are not whole entries.
    #[error(
        "{bytes} bytes are no Polyglot book: entries have 16 bytes each, {} are over; it was cut, or is another file",
        bytes % Entry::BYTES
    )]
    Length {
        /// So many bytes.
        bytes: usize,
    },
    /// An entry stands behind one with a greater key.
    #[error(
        "entry {entry} of a Polyglot book (bytes {}-{}) has key {key:016x}, less than {before:016x} before it: \
         entries stand in order of their keys, so engines would not find moves in it; it is another file, or \
         whatever wrote it did not sort it",
        (entry - 1) * Entry::BYTES, entry * Entry::BYTES - 1
    )]
    Order {
        /// Its number, from 1.
        entry: usize,
        /// The key.
        key: u64,
        /// The key of the one before.
        before: u64,
    },
}

/// A book, its length and order checked.
#[derive(Clone, Debug)]
pub struct PolyglotBook(Vec<Entry>);

impl PolyglotBook {
    /// Reads the bytes of a file.
    ///
    /// # Errors
    ///
    /// They are not a book.
    pub fn open(bytes: &[u8]) -> Result<PolyglotBook, PolyglotError> {
        let length = bytes.len();
        if length == 0 {
            return Err(PolyglotError::Empty);
        }
        let (slots, []) = bytes.as_chunks() else {
            return Err(PolyglotError::Length { bytes: length });
        };
        let entries: Vec<Entry> = slots.iter().copied().map(Entry::from_bytes).collect();
        for (n, pair) in entries.windows(2).enumerate() {
            let [before, key] = [pair[0].key, pair[1].key];
            if key < before {
                let entry = n + 2;
                return Err(PolyglotError::Order { entry, key, before });
            }
        }
        Ok(PolyglotBook(entries))
    }

    /// Returns the entries with a key.
    pub fn find(&self, key: u64) -> &[Entry] {
        let start = self.0.partition_point(|entry| entry.key < key);
        let end = self.0.partition_point(|entry| entry.key <= key);
        &self.0[start..end]
    }

    /// Returns the legal moves of a position with their weights, the heaviest first. If no entry has the hash of the
    /// position with its history, the other possible hashes of the position are used.
    pub fn moves(&self, chess: &Chess) -> Vec<(Move, u32)> {
        let mut moves: Vec<(Move, u32)> = Vec::new();
        let others = || keys(&Position::from_chess(chess));
        let found = [key(chess)]
            .into_iter()
            .chain(core::iter::once_with(others).flatten())
            .map(|key| self.find(key))
            .find(|found| !found.is_empty());
        for &Entry { code, weight, .. } in found.unwrap_or_default() {
            let Some(m) = decode(chess, code) else {
                continue;
            };
            match moves.iter_mut().find(|(other, _)| *other == m) {
                Some((_, sum)) => *sum = sum.saturating_add(weight.into()),
                None => moves.push((m, weight.into())),
            }
        }
        moves.sort_by_key(|(_, weight)| Reverse(*weight));
        moves
    }
}
