//! The sums of the first layer, updated move by move.

use shakmaty::{Color, Move, Position as _, Role};

use super::{HIDDEN, Network, Perspective};
use crate::{Position, position::Changes};

/// The sums of both perspectives.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Accumulators {
    sums: [[i16; HIDDEN]; 2],
}

impl Accumulators {
    /// Computes the sums of a position.
    pub fn of_position(network: &Network, position: &Position) -> Accumulators {
        let sums = [Color::White, Color::Black].map(|color| fresh(network, position, color));
        Accumulators { sums }
    }

    /// Returns the sums of a colour's perspective.
    pub fn of(&self, color: Color) -> &[i16; HIDDEN] {
        &self.sums[index(color)]
    }

    /// Returns the sums after the move `m` from `before` to `after`.
    pub fn after(&self, network: &Network, before: &Position, m: Move, after: &Position) -> Accumulators {
        let us = before.turn();
        let changes = Changes::of(us, m);
        let mut next = self.clone();
        for color in [Color::White, Color::Black] {
            let perspective = Perspective::on(after.chess().board(), color);
            if color == us && m.role() == Role::King && perspective != Perspective::on(before.chess().board(), color) {
                next.sums[index(color)] = fresh(network, after, color);
                continue;
            }
            let sums = &mut next.sums[index(color)];
            for (color, role, square) in changes.removed.into_iter().flatten() {
                subtract(sums, &network.inputs[perspective.input(color, role, square)]);
            }
            for (color, role, square) in changes.added.into_iter().flatten() {
                add(sums, &network.inputs[perspective.input(color, role, square)]);
            }
        }
        next
    }
}

fn index(color: Color) -> usize {
    usize::from(color == Color::Black)
}

fn fresh(network: &Network, position: &Position, color: Color) -> [i16; HIDDEN] {
    let board = position.chess().board();
    let perspective = Perspective::on(board, color);
    let mut sums = network.biases;
    for (square, piece) in board {
        add(&mut sums, &network.inputs[perspective.input(piece.color, piece.role, square)]);
    }
    sums
}

/// Adds weights. The weights are bytes and a board has 64 squares, so that no sum overflows.
fn add(sums: &mut [i16; HIDDEN], weights: &[i16; HIDDEN]) {
    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = sum.wrapping_add(*weight));
}

fn subtract(sums: &mut [i16; HIDDEN], weights: &[i16; HIDDEN]) {
    sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum = sum.wrapping_sub(*weight));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(network: &Network, position: &Position, sums: &Accumulators, depth: u32) {
        assert_eq!(*sums, Accumulators::of_position(network, position), "{:?}", position.chess());
        if depth > 0 {
            for m in position.legal_moves() {
                let after = position.play(m);
                walk(network, &after, &sums.after(network, position, m, &after), depth - 1);
            }
        }
    }

    #[test]
    fn updated_sums_equal_sums_of_new_positions() {
        let network = Network::embedded();
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            "1r2k1r1/8/8/8/8/8/8/1R2K1R1 b GBgb - 0 1",
        ] {
            let position: Position = fen.parse().unwrap();
            walk(network, &position, &Accumulators::of_position(network, &position), 2);
        }
    }
}
