//! The evaluation: an efficiently updatable network (<https://www.chessprogramming.org/NNUE>) in integers.
//!
//! The first layer maps 768 inputs (colour, role, square) to [`HIDDEN`] sums for each perspective, White's and Black's.
//! Each perspective is mirrored so that its king is on the files a to d. The second layer maps the clipped and squared sums
//! to one output. Its weights depend on the number of pieces.
//!
//! All arithmetic is exact, so that evaluations are equal on every target.

mod accumulator;
mod features;

use std::sync::LazyLock;

use shakmaty::Position as _;
use thiserror::Error;
use twox_hash::XxHash64;
use wide::{i16x8, i32x4};

use crate::{Position, score::MAX_EVAL};

pub use accumulator::{AccumulatorStack, Accumulators};
pub use features::{INPUTS, Perspective};

/// Sums of each perspective.
pub const HIDDEN: usize = 128;
/// Sets of output weights.
pub const BUCKETS: usize = 8;
/// Fixed-point 1 of input weights and sums.
pub const INPUT_ONE: i32 = 64;
/// Fixed-point 1 of output weights.
pub const OUTPUT_ONE: i32 = 128;
/// Maximum output weight. Its product with a clipped sum fits into 16 bits.
pub const MAX_OUTPUT_WEIGHT: i32 = 511;
/// Centipawns of an output of 1. The sigmoid of the output is the expected score.
pub const CENTIPAWNS: i32 = 200;

/// Length of a network file. It contains the input weights (a byte each), the biases of the sums, the output weights of each
/// bucket (first of the side to move), the output biases (16 bits each, little-endian), and the checksum.
pub const BYTES: usize = INPUTS * HIDDEN + 2 * (HIDDEN + BUCKETS * 2 * HIDDEN + BUCKETS) + CHECKSUM;
/// Length of the checksum: XXH64 of all bytes before it, little-endian.
const CHECKSUM: usize = 8;

/// The weights.
#[derive(Clone, PartialEq, Eq)]
pub struct Network {
    inputs: Vec<[i16; HIDDEN]>,
    biases: [i16; HIDDEN],
    outputs: [[[i16; HIDDEN]; 2]; BUCKETS],
    output_biases: [i16; BUCKETS],
}

/// Error of a network file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// The length is not [`BYTES`].
    #[error("expected a network of {BYTES} bytes, found {found}")]
    Length {
        /// The length.
        found: usize,
    },
    /// The checksum at the end does not match.
    #[error("the checksum does not match: the network is damaged")]
    Checksum,
    /// An output weight is too large.
    #[error("expected output weights within ±{MAX_OUTPUT_WEIGHT}, found {found}")]
    Weight {
        /// The weight.
        found: i16,
    },
}

static EMBEDDED: LazyLock<Network> = LazyLock::new(|| {
    Network::from_bytes(include_bytes!("../../network.bin"))
        .expect("a test reads the network of the crate")
});

impl Network {
    /// Returns the network of this crate.
    pub fn embedded() -> &'static Network {
        &EMBEDDED
    }

    /// Reads a network file.
    ///
    /// # Errors
    ///
    /// The length or the checksum is wrong, or an output weight is too large.
    pub fn from_bytes(bytes: &[u8]) -> Result<Network, NetworkError> {
        if bytes.len() != BYTES {
            return Err(NetworkError::Length { found: bytes.len() });
        }
        let (weights, sum) = bytes.split_at(BYTES - CHECKSUM);
        if checksum(weights) != sum {
            return Err(NetworkError::Checksum);
        }
        let (inputs, rest) = weights.split_at(INPUTS * HIDDEN);
        let mut inputs = inputs.iter().map(|&byte| i16::from(byte as i8));
        let mut numbers = rest
            .chunks_exact(2)
            .map(|pair| i16::from_le_bytes([pair[0], pair[1]]));
        let mut next = || numbers.next().unwrap_or_default();
        let network = Network {
            inputs: (0..INPUTS)
                .map(|_| std::array::from_fn(|_| inputs.next().unwrap_or_default()))
                .collect(),
            biases: std::array::from_fn(|_| next()),
            outputs: std::array::from_fn(|_| {
                std::array::from_fn(|_| std::array::from_fn(|_| next()))
            }),
            output_biases: std::array::from_fn(|_| next()),
        };
        let weights = network.outputs.iter().flatten().flatten();
        match weights
            .copied()
            .find(|&weight| i32::from(weight).abs() > MAX_OUTPUT_WEIGHT)
        {
            Some(found) => Err(NetworkError::Weight { found }),
            None => Ok(network),
        }
    }

    /// Evaluates a position, in centipawns from the point of view of the side to move.
    // Not inlined, for a small module.
    #[inline(never)]
    pub fn evaluate(&self, position: &Position, accumulators: &Accumulators) -> i32 {
        let us = position.turn();
        let bucket = bucket(position.chess().board().occupied().count());
        let [ours, theirs] = &self.outputs[bucket];
        let sum = weigh(accumulators.of(us), ours) + weigh(accumulators.of(!us), theirs);
        let output = sum / INPUT_ONE + i32::from(self.output_biases[bucket]);
        (output * CENTIPAWNS / (INPUT_ONE * OUTPUT_ONE)).clamp(-MAX_EVAL, MAX_EVAL)
    }
}

fn checksum(weights: &[u8]) -> [u8; CHECKSUM] {
    XxHash64::oneshot(0, weights).to_le_bytes()
}

/// Appends the checksum to the weights of a network file.
pub fn seal(weights: &mut Vec<u8>) {
    let sum = checksum(weights);
    weights.extend(sum);
}

/// Returns the index of the output weights for a number of pieces.
pub fn bucket(pieces: usize) -> usize {
    (pieces.saturating_sub(2) / 4).min(BUCKETS - 1)
}

/// Returns the weighted sum of the squared clipped sums. The factors have 16 bits, for the SIMD instructions that multiply
/// such numbers and add the products in 32 bits.
fn weigh(sums: &[i16; HIDDEN], weights: &[i16; HIDDEN]) -> i32 {
    let products = sums
        .as_chunks()
        .0
        .iter()
        .zip(weights.as_chunks().0)
        .map(|(&sums, &weights)| {
            let clipped = i16x8::new(sums)
                .max(i16x8::ZERO)
                .min(i16x8::splat(INPUT_ONE as i16));
            clipped.dot(clipped * i16x8::new(weights))
        });
    products
        .fold(i32x4::ZERO, |total, products| total + products)
        .reduce_add()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_network_is_valid_and_small() {
        let bytes = include_bytes!("../../network.bin");
        assert!(Network::from_bytes(bytes).is_ok());
        assert!(bytes.len() <= 101 << 10);
    }

    #[test]
    fn malformed_networks_are_errors() {
        assert_eq!(
            Network::from_bytes(&[0; 3]).err(),
            Some(NetworkError::Length { found: 3 })
        );
        assert_eq!(
            Network::from_bytes(&[0; BYTES]).err(),
            Some(NetworkError::Checksum)
        );
        let mut bytes = vec![0; BYTES - CHECKSUM];
        bytes[INPUTS * HIDDEN + 2 * HIDDEN + 1] = 2;
        seal(&mut bytes);
        assert_eq!(
            Network::from_bytes(&bytes).err(),
            Some(NetworkError::Weight { found: 512 })
        );
    }

    /// Sums and weights at their limits do not overflow: 64-bit arithmetic gives the same result.
    #[test]
    fn sums_are_weighed_exactly() {
        let mut state = 1_u32;
        let mut random = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 16) as i16
        };
        for _ in 0..1_000 {
            let sums: [i16; HIDDEN] = std::array::from_fn(|_| random() % 400);
            let weights: [i16; HIDDEN] =
                std::array::from_fn(|_| random() % (MAX_OUTPUT_WEIGHT as i16 + 1));
            let exact = |(&sum, &weight): (&i16, &i16)| {
                i64::from(sum.clamp(0, INPUT_ONE as i16)).pow(2) * i64::from(weight)
            };
            let expected: i64 = sums.iter().zip(&weights).map(exact).sum();
            assert_eq!(i64::from(weigh(&sums, &weights)), expected);
        }
    }

    #[test]
    fn a_position_with_swapped_colours_has_the_same_evaluation() {
        let network = Network::embedded();
        for (fen, changed) in [
            (
                "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
                "r3k2r/pppbbppp/2n2q1P/1P2p3/3pn3/BN2PNP1/P1PPQPB1/R3K2R b KQkq - 0 1",
            ),
            (
                "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
                "8/4p1p1/8/1r3P1K/kp5R/3P4/2P5/8 b - - 0 1",
            ),
        ] {
            let value = |fen: &str| {
                let position: Position = fen.parse().unwrap();
                network.evaluate(&position, &Accumulators::of_position(network, &position))
            };
            assert_eq!(value(fen), value(changed));
        }
    }
}
