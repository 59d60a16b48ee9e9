//! The exact code of a position, whose order as a byte string is the order of the table: the leaf of the learned order,
//! then pawns, material and pieces.
//!
//! The leaf keeps the positions of a game together. In a leaf, pawn structure is compared first, file by file from the
//! centre, because it changes least during a game. `FORMAT.md` freezes the bytes.

use shakmaty::{
    Bitboard, Board, Chess, Color, EnPassantMode, File, Position as _, PositionErrorKinds, Rank,
    Setup, Square,
};

use super::Position;
use super::fen::unplayable;
use super::order::{self, KINDS};

/// Files in the order in which pawn structures are compared.
pub(crate) const FILES: [File; 8] = [
    File::D,
    File::E,
    File::C,
    File::F,
    File::B,
    File::G,
    File::A,
    File::H,
];

/// Bytes of the number of the leaf.
const LEAF_BYTES: usize = 2;
/// Bytes of the pawn structure: eight file codes of ten bits each.
const PAWN_BYTES: usize = 10;
const MATERIAL_BYTES: usize = 6;
const TAIL_BYTES: usize = 4;
/// The place of the first square.
const AT_SQUARES: usize = LEAF_BYTES + PAWN_BYTES + MATERIAL_BYTES;
/// The leaf, pawns, material, two kings and at most 62 pieces, then side to move, castling rights and en-passant file.
const MAX_BYTES: usize = AT_SQUARES + 64 + TAIL_BYTES;

/// The exact code of a position: equal keys are equal positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Zeros follow the code, so that the order of keys is that of their codes.
    bytes: [u8; MAX_BYTES],
    len: u8,
}

/// Reasons why a byte string is not the key of a position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The string has another length than its material asks for.
    #[error("position key of {found} bytes, expected {expected}")]
    Length {
        /// Bytes that the material asks for.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// A byte has a value that no key has at that place.
    #[error("position key has byte {found:#04x} at {at}")]
    Byte {
        /// Its place in the key.
        at: usize,
        /// Its value.
        found: u8,
    },
    /// The position cannot be played on.
    #[error("position key without legal play: {}", unplayable(*.0))]
    Unplayable(PositionErrorKinds),
    /// The position is written in another way than its canonical one.
    #[error("position key is not in canonical form")]
    NotCanonical,
}

impl Key {
    /// Returns the code of the position of a game, which was reached by legal moves from a canonical position.
    pub fn of_game(chess: &Chess) -> Key {
        Key::from_setup(&chess.to_setup(EnPassantMode::Legal))
    }

    /// Takes the bytes of a key that was made before; `None` if there are too many. They are not checked as
    /// [`Key::decode`] does.
    pub fn of_bytes(bytes: &[u8]) -> Option<Key> {
        let mut key = Key {
            len: bytes.len().try_into().ok()?,
            bytes: [0; MAX_BYTES],
        };
        key.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(key)
    }

    /// Returns the code of `setup`, which must be canonical.
    pub(crate) fn from_setup(setup: &Setup) -> Key {
        let mut key = Key {
            len: 0,
            bytes: [0; MAX_BYTES],
        };
        for byte in order::leaf(&setup.board).to_be_bytes() {
            key.push(byte);
        }
        for byte in pawn_bytes(&setup.board) {
            key.push(byte);
        }
        let material = KINDS.iter().fold(0u64, |code, &kind| {
            (code << 6) | setup.board.by_piece(kind).count() as u64
        });
        for byte in &material.to_be_bytes()[2..] {
            key.push(*byte);
        }
        for color in Color::ALL {
            for square in setup.board.by_piece(color.king()) {
                key.push(square as u8);
            }
        }
        for kind in KINDS {
            for square in setup.board.by_piece(kind) {
                key.push(square as u8);
            }
        }
        key.push(u8::from(setup.turn.is_black()));
        let rights = setup.castling_rights.0;
        key.push((rights & 0xff) as u8);
        key.push((rights >> 56) as u8);
        key.push(setup.ep_square.map_or(0, |square| square.file() as u8 + 1));
        key
    }

    fn push(&mut self, byte: u8) {
        self.bytes[usize::from(self.len)] = byte;
        self.len += 1;
    }

    /// Returns the code as bytes; their order is the order of keys.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Reads a key back into its position.
    ///
    /// # Errors
    ///
    /// Any byte string that [`Position::key`] does not produce.
    pub fn decode(bytes: &[u8]) -> Result<Position, KeyError> {
        let setup = decode_setup(bytes)?;
        let position = Position::from_setup(setup).map_err(KeyError::Unplayable)?;
        if position.key().as_bytes() == bytes {
            Ok(position)
        } else {
            Err(KeyError::NotCanonical)
        }
    }
}

fn decode_setup(bytes: &[u8]) -> Result<Setup, KeyError> {
    let short = |expected| KeyError::Length {
        expected,
        found: bytes.len(),
    };
    // The leaf follows from the rest: the caller compares the whole key.
    let (head, rest) = bytes
        .split_at_checked(AT_SQUARES)
        .ok_or(short(AT_SQUARES))?;
    let (pawns, material) = head[LEAF_BYTES..].split_at(PAWN_BYTES);
    let material = material
        .iter()
        .fold(0u64, |code, &byte| (code << 8) | u64::from(byte));
    let counts: [usize; 8] =
        core::array::from_fn(|kind| (material >> (6 * (7 - kind)) & 63) as usize);
    let expected = AT_SQUARES + 2 + counts.iter().sum::<usize>() + TAIL_BYTES;
    if bytes.len() != expected || expected > MAX_BYTES {
        return Err(short(expected));
    }

    let mut setup = Setup::empty();
    setup.board = pawn_board(pawns)?;
    let kinds = KINDS
        .iter()
        .zip(counts)
        .flat_map(|(&kind, count)| core::iter::repeat_n(kind, count));
    let pieces = [Color::White.king(), Color::Black.king()]
        .into_iter()
        .chain(kinds);
    for (n, (piece, &byte)) in pieces.zip(rest).enumerate() {
        let square = Square::try_from(byte).map_err(|_| KeyError::Byte {
            at: AT_SQUARES + n,
            found: byte,
        })?;
        if setup.board.occupied().contains(square) {
            return Err(KeyError::Byte {
                at: AT_SQUARES + n,
                found: byte,
            });
        }
        setup.board.set_piece_at(square, piece);
    }
    let tail = bytes.len() - TAIL_BYTES;
    setup.turn = match bytes[tail] {
        0 => Color::White,
        1 => Color::Black,
        found => return Err(KeyError::Byte { at: tail, found }),
    };
    setup.castling_rights = Bitboard(u64::from(bytes[tail + 1]) | u64::from(bytes[tail + 2]) << 56);
    setup.ep_square = match bytes[tail + 3] {
        0 => None,
        file @ 1..=8 => {
            let rank = setup.turn.fold_wb(Rank::Sixth, Rank::Third);
            Some(Square::from_coords(File::new(u32::from(file) - 1), rank))
        }
        found => {
            return Err(KeyError::Byte {
                at: tail + 3,
                found,
            });
        }
    };
    Ok(setup)
}

/// Returns the base-3 code of the pawns on `file`: rank 2 is the most significant digit; 0 none, 1 White's, 2 Black's.
pub(crate) fn file_code(board: &Board, file: File) -> u16 {
    let digits = |color: Color| {
        let pawns = (board.pawns() & board.by_color(color)).0 >> u32::from(file);
        // The product has the bits of the file, rank 1 first, in its highest byte.
        let ranks = (pawns & 0x0101_0101_0101_0101).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        DIGITS[ranks as usize]
    };
    digits(Color::White) + 2 * digits(Color::Black)
}

/// The contribution to a file's code of one colour's pawns on these ranks (rank 1 is bit 0).
static DIGITS: [u16; 256] = {
    let mut sums = [0; 256];
    let mut ranks = 0;
    while ranks < sums.len() {
        let mut rank = 1;
        while rank < 7 {
            sums[ranks] = sums[ranks] * 3 + (ranks >> rank & 1) as u16;
            rank += 1;
        }
        ranks += 1;
    }
    sums
};

/// Puts the pawns of a file code on the board; `None` if there is no such code.
pub(crate) fn set_file_code(board: &mut Board, file: File, mut code: u16) -> Option<()> {
    for rank in (1..7).rev() {
        let square = Square::from_coords(file, Rank::new(rank));
        match code % 3 {
            1 => board.set_piece_at(square, Color::White.pawn()),
            2 => board.set_piece_at(square, Color::Black.pawn()),
            _ => {}
        }
        code /= 3;
    }
    (code == 0).then_some(())
}

fn pawn_bytes(board: &Board) -> [u8; PAWN_BYTES] {
    let code = FILES.iter().fold(0u128, |code, &file| {
        (code << 10) | u128::from(file_code(board, file))
    });
    let mut bytes = [0; PAWN_BYTES];
    bytes.copy_from_slice(&code.to_be_bytes()[16 - PAWN_BYTES..]);
    bytes
}

fn pawn_board(bytes: &[u8]) -> Result<Board, KeyError> {
    let code = bytes
        .iter()
        .fold(0u128, |code, &byte| (code << 8) | u128::from(byte));
    let mut board = Board::empty();
    for (n, &file) in FILES.iter().enumerate() {
        let file_code = (code >> (10 * (7 - n)) & 1023) as u16;
        let at = LEAF_BYTES + 10 * n / 8;
        set_file_code(&mut board, file, file_code).ok_or(KeyError::Byte {
            at,
            found: bytes[at - LEAF_BYTES],
        })?;
    }
    Ok(board)
}
