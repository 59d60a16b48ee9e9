//! Zobrist keys of positions.

use shakmaty::{Color, Role, Square};

/// SplitMix64 (Steele, Lea, Flood 2014). Its numbers are equal on every target.
pub const fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

const fn numbers<const N: usize>(first: u64) -> [u64; N] {
    let mut table = [0; N];
    let mut i = 0;
    while i < N {
        table[i] = split_mix(first + i as u64);
        i += 1;
    }
    table
}

static PIECES: [u64; 768] = numbers(1);
static CASTLING: [u64; 64] = numbers(1_001);
static EN_PASSANT: [u64; 8] = numbers(2_001);

/// Key of Black to move.
pub const BLACK: u64 = split_mix(3_001);

/// Returns the key of a piece on a square.
pub fn piece(color: Color, role: Role, square: Square) -> u64 {
    PIECES[(color as usize * 6 + role as usize - 1) * 64 + square.to_usize()]
}

/// Returns the key of the right to castle with the rook of a square.
pub fn castling(rook: Square) -> u64 {
    CASTLING[rook.to_usize()]
}

/// Returns the key of an en-passant square.
pub fn en_passant(square: Square) -> u64 {
    EN_PASSANT[square.file().to_usize()]
}
