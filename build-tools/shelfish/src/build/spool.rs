//! The compact form in which positions and their evaluations wait on disk to be merged.
//!
//! A record is a key and a payload, each with its length before it. A payload is a sequence of evaluations, again each
//! with its length, so that records of one position merge by their bytes alone: equal evaluations are equal bytes.
//! A move is 16 bits: origin, target (the rook's square when castling), promotion. Nothing outside this build reads it.

use core::fmt;

use shakmaty::{Board, Chess, Move, Position as _, Role, Square};
use shelfish::eval::{Eval, Evaluation, Pv, Score};
use shelfish::position::{Key, KeyError};

/// Why spooled bytes are not a record. They were written by this process: the disk, or a bug.
#[derive(Debug, PartialEq, Eq)]
pub enum SpoolError {
    /// The bytes end within a record.
    Short,
    /// The key is not that of a position.
    Key(KeyError),
    /// A move cannot be played.
    Move(u16),
}

impl fmt::Display for SpoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SpoolError::Short => f.write_str("a spooled record ends too early"),
            SpoolError::Key(error) => write!(f, "spooled {error}"),
            SpoolError::Move(code) => write!(f, "spooled move {code:#06x} cannot be played"),
        }
    }
}

impl std::error::Error for SpoolError {}

impl From<SpoolError> for std::io::Error {
    fn from(error: SpoolError) -> std::io::Error {
        std::io::Error::new(std::io::ErrorKind::InvalidData, error)
    }
}

/// Appends the record of a position.
pub fn push(record: &mut Vec<u8>, key: &[u8], evaluations: &[Evaluation]) {
    push_bytes(record, key);
    push_measured(record, |payload| evaluations.iter().for_each(|evaluation| push_evaluation(payload, evaluation)));
}

/// Appends a record that is given as key and payload.
pub fn push_parts(record: &mut Vec<u8>, key: &[u8], payload: &[u8]) {
    push_bytes(record, key);
    push_bytes(record, payload);
}

/// Takes the first record off `bytes`: key and payload.
pub fn take_parts<'a>(bytes: &mut &'a [u8]) -> Result<(&'a [u8], &'a [u8]), SpoolError> {
    Ok((take_bytes(bytes)?, take_bytes(bytes)?))
}

/// Takes the first record off `bytes` and decodes it.
pub fn take(bytes: &mut &[u8]) -> Result<Eval, SpoolError> {
    let (key, mut payload) = take_parts(bytes)?;
    let position = Key::decode(key).map_err(SpoolError::Key)?;
    let mut evaluations = Vec::new();
    while !payload.is_empty() {
        let mut evaluation = take_bytes(&mut payload)?;
        evaluations.push(take_evaluation(&mut evaluation, position.chess())?);
    }
    Eval::normalise(&mut evaluations);
    Ok(Eval { position, evaluations })
}

/// The payload of a position that has several: their evaluations, each once.
pub fn merge(payloads: &[u8]) -> Result<Vec<u8>, SpoolError> {
    let mut rest = payloads;
    let mut evaluations = Vec::new();
    while !rest.is_empty() {
        evaluations.push(take_bytes(&mut rest)?);
    }
    evaluations.sort_unstable();
    evaluations.dedup();
    let mut merged = Vec::with_capacity(payloads.len());
    evaluations.iter().for_each(|evaluation| push_bytes(&mut merged, evaluation));
    Ok(merged)
}

/// Appends a number, seven bits a byte, least significant first.
pub fn push_varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

fn push_bytes(record: &mut Vec<u8>, bytes: &[u8]) {
    push_varint(record, bytes.len() as u64);
    record.extend_from_slice(bytes);
}

/// Appends what `push` appends, its length before it.
fn push_measured(bytes: &mut Vec<u8>, push: impl FnOnce(&mut Vec<u8>)) {
    let start = bytes.len();
    push(bytes);
    let end = bytes.len();
    push_varint(bytes, (end - start) as u64);
    let length_bytes = bytes.len() - end;
    bytes[start..].rotate_right(length_bytes);
}

fn push_evaluation(payload: &mut Vec<u8>, evaluation: &Evaluation) {
    push_measured(payload, |bytes| {
        push_varint(bytes, u64::from(evaluation.depth));
        push_varint(bytes, evaluation.knodes);
        push_varint(bytes, evaluation.pvs.len() as u64);
        for pv in &evaluation.pvs {
            let (value, is_mate) = match pv.score {
                Score::Cp(cp) => (cp, 0),
                Score::Mate(moves) => (moves, 1),
            };
            let zigzag = ((value << 1) ^ (value >> 31)) as u32;
            push_varint(bytes, u64::from(zigzag) << 1 | is_mate);
            push_varint(bytes, pv.line.len() as u64);
            for &m in &pv.line {
                bytes.extend_from_slice(&move_code(m).to_le_bytes());
            }
        }
    });
}

fn take_byte(bytes: &mut &[u8]) -> Result<u8, SpoolError> {
    let (&first, rest) = bytes.split_first().ok_or(SpoolError::Short)?;
    *bytes = rest;
    Ok(first)
}

fn take_varint(bytes: &mut &[u8]) -> Result<u64, SpoolError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(bytes)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(SpoolError::Short)
}

fn take_count(bytes: &mut &[u8]) -> Result<usize, SpoolError> {
    usize::try_from(take_varint(bytes)?).ok().filter(|&count| count <= bytes.len()).ok_or(SpoolError::Short)
}

fn take_bytes<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8], SpoolError> {
    let length = take_count(bytes)?;
    let (head, rest) = bytes.split_at(length);
    *bytes = rest;
    Ok(head)
}

fn take_evaluation(bytes: &mut &[u8], chess: &Chess) -> Result<Evaluation, SpoolError> {
    let depth = take_varint(bytes)? as u16;
    let knodes = take_varint(bytes)?;
    let pvs = (0..take_count(bytes)?).map(|_| take_pv(bytes, chess)).collect::<Result<_, _>>()?;
    Ok(Evaluation { depth, knodes, pvs })
}

fn take_pv(bytes: &mut &[u8], chess: &Chess) -> Result<Pv, SpoolError> {
    let score = take_varint(bytes)?;
    let zigzag = (score >> 1) as u32;
    let value = (zigzag >> 1) as i32 ^ -((zigzag & 1) as i32);
    let score = if score & 1 == 0 { Score::Cp(value) } else { Score::Mate(value) };
    let count = take_count(bytes)?;
    let mut line = Vec::with_capacity(count);
    let mut chess = chess.clone();
    for _ in 0..count {
        let code = u16::from_le_bytes([take_byte(bytes)?, take_byte(bytes)?]);
        let m = move_of(code, chess.board()).ok_or(SpoolError::Move(code))?;
        chess.play_unchecked(m);
        line.push(m);
    }
    Ok(Pv { score, line })
}

fn move_code(m: Move) -> u16 {
    let from = m.from().map_or(0, |square| square as u16);
    let promotion = m.promotion().map_or(0, |role| role as u16);
    from | (m.to() as u16) << 6 | promotion << 12
}

/// The move that `code` stands for; it was legal when it was written.
fn move_of(code: u16, board: &Board) -> Option<Move> {
    let from = Square::try_from((code & 63) as u8).ok()?;
    let to = Square::try_from((code >> 6 & 63) as u8).ok()?;
    let promotion = match code >> 12 {
        0 => None,
        role => Some(Role::try_from(role as u8).ok()?),
    };
    let role = board.role_at(from)?;
    let capture = board.role_at(to);
    let friend = board.color_at(from) == board.color_at(to);
    Some(match (role, capture) {
        (Role::King, Some(Role::Rook)) if friend => Move::Castle { king: from, rook: to },
        (Role::Pawn, None) if from.file() != to.file() => Move::EnPassant { from, to },
        _ => Move::Normal { role, from, capture, to, promotion },
    })
}
