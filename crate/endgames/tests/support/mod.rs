//! Positions of endgame tables, and the tables of the repository.
#![allow(dead_code, reason = "each test uses some of the functions")]

pub mod table;

use std::path::PathBuf;

use shakmaty::{
    CastlingMode, Chess, Color, File, FromSetup as _, Piece, Position as _, Rank, Role, Setup,
    Square,
};

/// Returns the folder of the repository.
pub fn root() -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "..", ".."].iter().collect()
}

/// SplitMix64.
pub struct Numbers(pub u64);

impl Numbers {
    /// Returns a number below the limit.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }
}

/// Returns the position. `None` if it is not legal or the game is over.
pub fn position(
    material: &str,
    squares: &[u64],
    turn: Color,
    is_swapped: bool,
    ep_file: Option<u64>,
) -> Option<Chess> {
    let white = material.find('v')?;
    let mut setup = Setup::empty();
    for (n, (letter, square)) in material
        .chars()
        .filter(|&letter| letter != 'v')
        .zip(squares)
        .enumerate()
    {
        let square = Square::new(*square as u32);
        if setup.board.piece_at(square).is_some() {
            return None;
        }
        let piece = Piece {
            color: Color::from_white((n < white) != is_swapped),
            role: Role::from_char(letter)?,
        };
        setup.board.set_piece_at(square, piece);
    }
    setup.turn = turn;
    let rank = turn.fold_wb(Rank::Sixth, Rank::Third);
    setup.ep_square = ep_file.map(|file| Square::from_coords(File::new(file as u32), rank));
    let chess = Chess::from_setup(setup, CastlingMode::Standard).or_else(|error| {
        // python-chess accepts that two knights or pawns check at a time.
        let chess = error.ignore_impossible_check().map_err(drop)?;
        let checkers = chess.checkers() & (chess.board().knights() | chess.board().pawns());
        if checkers.count() == 2 {
            Ok(chess)
        } else {
            Err(())
        }
    });
    let chess = chess.ok()?;
    (!chess.legal_moves().is_empty()).then_some(chess)
}

/// Calls `with` with all positions of a table.
pub fn every(material: &str, mut with: impl FnMut(Chess)) {
    let pieces = material.len() - 1;
    let mut squares = vec![0; pieces];
    for number in 0..64_u64.pow(pieces as u32) {
        for (n, square) in squares.iter_mut().rev().enumerate() {
            *square = number >> (6 * n) & 63;
        }
        for turn in Color::ALL {
            position(material, &squares, turn, false, None)
                .into_iter()
                .for_each(&mut with);
        }
    }
}

/// Calls `with` with random positions of a table. Half of them have exchanged colours.
pub fn random(material: &str, seed: u64, count: usize, mut with: impl FnMut(Chess)) {
    let mut numbers = Numbers(seed);
    let mut found = 0;
    while found < count {
        let squares: Vec<u64> = (1..material.len()).map(|_| numbers.below(64)).collect();
        let turn = Color::from_white(numbers.below(2) == 0);
        let is_swapped = numbers.below(2) == 0;
        let ep = numbers.below(16);
        let of = |ep| position(material, &squares, turn, is_swapped, ep);
        if let Some(chess) = of((ep < 8).then_some(ep)).or_else(|| of(None)) {
            found += 1;
            with(chess);
        }
    }
}
