//! The compact form of records in temporary files.
//!
//! A record is a key and a payload, each after its length. A kind of record (`Kind`) defines its payload. A move
//! takes two bytes, its origin and its target (the rook's square when castling), whose upper bits encode the promotion. This
//! form compresses better than 15 bits.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};
use shakmaty::{Board, Move, Role, Square};
use shelfish::leb128;
use shelfish::position::KeyError;

/// An error of bytes that are not a record, because of the disk, a bug or a foreign writer.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpoolError {
    /// The bytes end inside a record or a number.
    #[error("a record ends too early")]
    Short,
    /// The key is not that of a position.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The code is not a move of the position.
    #[error("the move {0:02x?} cannot be played")]
    Move([u8; 2]),
    /// A number exceeds the limits of records; the text names it.
    #[error("a record has {0} outside the limits")]
    Number(&'static str),
}

impl From<SpoolError> for std::io::Error {
    fn from(error: SpoolError) -> std::io::Error {
        std::io::Error::new(std::io::ErrorKind::InvalidData, error)
    }
}

/// Maximum size of the lengths of a record's key and payload, in bytes.
pub const MAX_LENGTHS: usize = 20;

/// Appends a record.
pub fn push_parts(record: &mut Vec<u8>, key: &[u8], payload: &[u8]) {
    push_bytes(record, key);
    push_bytes(record, payload);
}

/// Removes the first record from `bytes` and returns its key and payload.
pub fn take_parts<'a>(bytes: &mut &'a [u8]) -> Result<(&'a [u8], &'a [u8]), SpoolError> {
    Ok((take_bytes(bytes)?, take_bytes(bytes)?))
}

/// Appends bytes after their length.
pub fn push_bytes(record: &mut Vec<u8>, bytes: &[u8]) {
    leb128::push(record, bytes.len() as u64);
    record.extend_from_slice(bytes);
}

/// Appends the bytes that `push` appends, after their length.
pub fn push_measured(bytes: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    push(bytes);
    let end = bytes.len();
    leb128::push(bytes, (end - start) as u64);
    let length_bytes = bytes.len() - end;
    bytes[start..].rotate_right(length_bytes);
}

/// Removes a number.
pub fn take_number(bytes: &mut &[u8]) -> Result<u64, SpoolError> {
    leb128::take(bytes).ok_or(SpoolError::Short)
}

/// Removes a number of items, each of at least one byte.
pub fn take_count(bytes: &mut &[u8]) -> Result<usize, SpoolError> {
    usize::try_from(take_number(bytes)?)
        .ok()
        .filter(|&count| count <= bytes.len())
        .ok_or(SpoolError::Short)
}

/// Removes bytes after their length.
pub fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], SpoolError> {
    let length = take_count(bytes)?;
    let (head, rest) = bytes.split_at(length);
    *bytes = rest;
    Ok(head)
}

/// Returns the code of a move.
pub fn move_code(m: Move) -> [u8; 2] {
    let from = m.from().map_or(0, |square| square as u8);
    let promotion = m.promotion().map_or(0, |role| role as u8);
    [from | promotion << 6, m.to() as u8 | (promotion >> 2) << 6]
}

/// Returns the move of a code, if the board has the pieces for it. The move may be illegal.
pub fn move_of([low, high]: [u8; 2], board: &Board) -> Option<Move> {
    let from = Square::try_from(low & 63).ok()?;
    let to = Square::try_from(high & 63).ok()?;
    let promotion = match low >> 6 | (high >> 6) << 2 {
        0 => None,
        role => Some(Role::try_from(role).ok()?),
    };
    let role = board.role_at(from)?;
    let capture = board.role_at(to);
    let friend = board.color_at(from) == board.color_at(to);
    Some(match (role, capture) {
        (Role::King, Some(Role::Rook)) if friend => Move::Castle {
            king: from,
            rook: to,
        },
        (Role::Pawn, None) if from.file() != to.file() => Move::EnPassant { from, to },
        _ => Move::Normal {
            role,
            from,
            capture,
            to,
            promotion,
        },
    })
}

/// Counts of evaluations that were left out because a record has no room, see `PositionEval::fit`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverLimit {
    /// Number of positions.
    pub positions: u64,
    /// Number of evaluations left out. An evaluation of several lines may count several times.
    pub evaluations: u64,
    /// Number of their PVs.
    pub pvs: u64,
}

impl AddAssign for OverLimit {
    fn add_assign(&mut self, other: OverLimit) {
        self.positions = self.positions.saturating_add(other.positions);
        self.evaluations = self.evaluations.saturating_add(other.evaluations);
        self.pvs = self.pvs.saturating_add(other.pvs);
    }
}
