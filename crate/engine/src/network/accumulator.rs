//! The sums of the first layer, updated move by move.

use shakmaty::{Color, Position as _, Square};

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
    // Not inlined, for a small module.
    #[inline(never)]
    pub fn of_position(network: &Network, position: &Position) -> Accumulators {
        let sums = [Color::White, Color::Black].map(|color| fresh(network, position, color));
        Accumulators { sums }
    }

    /// Returns the sums of a colour's perspective.
    pub fn of(&self, color: Color) -> &[i16; HIDDEN] {
        &self.sums[index(color)]
    }
}

/// The sums of the positions of a line. They are computed when they are needed.
#[derive(Debug)]
pub struct AccumulatorStack {
    layers: Vec<Layer>,
    /// Number of positions of the line.
    length: usize,
}

/// The sums of a position of the line.
#[derive(Clone, Debug)]
struct Layer {
    sums: Accumulators,
    /// Whether the sums of each perspective are computed.
    is_computed: [bool; 2],
    /// Pieces that the last move removed and added.
    changes: Changes,
    perspectives: [Perspective; 2],
}

impl AccumulatorStack {
    /// Creates a stack for lines of at most `most` positions.
    pub fn new(most: usize) -> AccumulatorStack {
        let layer = Layer {
            sums: Accumulators {
                sums: [[0; HIDDEN]; 2],
            },
            is_computed: [false; 2],
            changes: Changes::default(),
            perspectives: [Color::White, Color::Black]
                .map(|color| Perspective::new(color, Square::A1)),
        };
        AccumulatorStack {
            layers: vec![layer; most],
            length: 0,
        }
    }

    /// Starts a line at a position.
    pub fn start(&mut self, network: &Network, position: &Position) {
        self.length = 0;
        self.push(Changes::default(), position);
        let layer = &mut self.layers[0];
        layer.sums = Accumulators::of_position(network, position);
        layer.is_computed = [true; 2];
    }

    /// Adds the position after a move, with the changes by the move.
    ///
    /// # Panics
    ///
    /// Panics if the line is longer than the stack.
    pub fn push(&mut self, changes: Changes, after: &Position) {
        let board = after.chess().board();
        let layer = &mut self.layers[self.length];
        layer.is_computed = [false; 2];
        layer.changes = changes;
        layer.perspectives =
            [Color::White, Color::Black].map(|color| Perspective::on(board, color));
        self.length += 1;
    }

    /// Removes the last position.
    pub fn pop(&mut self) {
        self.length -= 1;
    }

    /// Returns the sums of the last position of the line, which is `position`.
    pub fn last(&mut self, network: &Network, position: &Position) -> &Accumulators {
        for color in [Color::White, Color::Black] {
            self.compute(network, position, color);
        }
        &self.layers[self.length - 1].sums
    }

    /// Computes the sums of a perspective from the last computed sums. Starts from the biases if the perspective changed.
    fn compute(&mut self, network: &Network, position: &Position, color: Color) {
        let (side, last) = (index(color), self.length - 1);
        let perspective = self.layers[last].perspectives[side];
        let mut known = last;
        while !self.layers[known].is_computed[side] {
            if known == 0 || self.layers[known - 1].perspectives[side] != perspective {
                self.layers[last].sums.sums[side] = fresh(network, position, color);
                self.layers[last].is_computed[side] = true;
                return;
            }
            known -= 1;
        }
        for n in known..last {
            let (before, after) = self.layers.split_at_mut(n + 1);
            let (before, after) = (&before[n].sums.sums[side], &mut after[0]);
            update(
                network,
                perspective,
                &after.changes,
                before,
                &mut after.sums.sums[side],
            );
            after.is_computed[side] = true;
        }
    }
}

/// Computes the sums after a move from the sums before the move.
fn update(
    network: &Network,
    perspective: Perspective,
    changes: &Changes,
    before: &[i16; HIDDEN],
    after: &mut [i16; HIDDEN],
) {
    let weights = |(color, role, square)| &network.inputs[perspective.input(color, role, square)];
    let ([removed, other_removed], [added, other_added]) = (changes.removed, changes.added);
    let (Some(removed), Some(added)) = (removed.map(weights), added.map(weights)) else {
        *after = *before;
        return;
    };
    let (other_removed, other_added) = (other_removed.map(weights), other_added.map(weights));
    // One pass, so that the sums are read and written once.
    if other_removed.or(other_added).is_none() {
        for i in 0..HIDDEN {
            after[i] = before[i].wrapping_add(added[i]).wrapping_sub(removed[i]);
        }
        return;
    }
    let (other_removed, other_added) = (
        other_removed.unwrap_or(&[0; HIDDEN]),
        other_added.unwrap_or(&[0; HIDDEN]),
    );
    for i in 0..HIDDEN {
        after[i] = before[i]
            .wrapping_add(added[i])
            .wrapping_sub(removed[i])
            .wrapping_sub(other_removed[i])
            .wrapping_add(other_added[i]);
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
        let weights = &network.inputs[perspective.input(piece.color, piece.role, square)];
        // The weights are bytes and a board has 64 squares, so that no sum overflows.
        for (sum, weight) in sums.iter_mut().zip(weights) {
            *sum = sum.wrapping_add(*weight);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the sums of a line. With `is_lazy` only the sums of the last positions are computed.
    fn walk(
        network: &Network,
        position: &Position,
        stack: &mut AccumulatorStack,
        depth: u32,
        is_lazy: bool,
    ) {
        if depth == 0 || !is_lazy {
            let expected = Accumulators::of_position(network, position);
            assert_eq!(
                *stack.last(network, position),
                expected,
                "{:?}",
                position.chess()
            );
        }
        if depth > 0 {
            for m in position.legal_moves() {
                let after = position.play(m);
                stack.push(Changes::of(position.turn(), m), &after);
                walk(network, &after, stack, depth - 1, is_lazy);
                stack.pop();
            }
            if let Some(after) = position.pass() {
                stack.push(Changes::default(), &after);
                walk(network, &after, stack, depth - 1, is_lazy);
                stack.pop();
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
            let mut stack = AccumulatorStack::new(4);
            for is_lazy in [false, true] {
                stack.start(network, &position);
                walk(network, &position, &mut stack, 2, is_lazy);
            }
        }
    }
}
