//! Network in floating point, its gradients, and its conversion to integers.
//!
//! The results do not depend on the number of cores or on the mathematical library of the system. The same samples give
//! the same bytes on all machines.

use shelfish_engine::network::{
    BUCKETS, BYTES, CENTIPAWNS, HIDDEN, INPUT_ONE, INPUTS, MAX_OUTPUT_WEIGHT, OUTPUT_ONE, seal,
};

use super::sample::{NO_RESULT, Sample};
use super::training::RESULT;

/// Number of parameters: weights of inputs, biases, weights of outputs, biases of outputs.
pub const PARAMETERS: usize = INPUTS * HIDDEN + HIDDEN + BUCKETS * 2 * HIDDEN + BUCKETS;
const BIASES: usize = INPUTS * HIDDEN;
const OUTPUTS: usize = BIASES + HIDDEN;
const OUTPUT_BIASES: usize = OUTPUTS + BUCKETS * 2 * HIDDEN;

/// Parameters of the network.
#[derive(Clone)]
pub struct Model(pub Vec<f32>);

type Sums = [f32; HIDDEN];

impl Model {
    /// Creates small random weights.
    pub fn random(random: &mut fastrand::Rng) -> Model {
        let mut parameters = vec![0.0; PARAMETERS];
        let mut fill = |range: std::ops::Range<usize>, width: f32| {
            for parameter in &mut parameters[range] {
                *parameter = (random.f32() * 2.0 - 1.0) * width;
            }
        };
        fill(0..BIASES, 0.08);
        fill(OUTPUTS..OUTPUT_BIASES, 0.08);
        Model(parameters)
    }

    /// Clears the weights of inputs that no sample has, such as a pawn on the first rank. Zeros compress well.
    pub fn clear_unused<'a>(&mut self, samples: impl Iterator<Item = &'a Sample>) {
        let mut is_used = [false; INPUTS];
        for sample in samples {
            let (inputs, count, _) = sample.inputs();
            for input in inputs.iter().flat_map(|inputs| &inputs[..count]) {
                is_used[usize::from(*input)] = true;
            }
        }
        for (weights, is_used) in self.0[..BIASES].chunks_exact_mut(HIDDEN).zip(is_used) {
            if !is_used {
                weights.fill(0.0);
            }
        }
    }

    /// Rounds the parameters as in the format of the engine.
    pub fn rounded(&self) -> Model {
        let parameters = self.0.iter().enumerate();
        Model(
            parameters
                .map(|(index, parameter)| Model::integer(index, *parameter) / Model::scale(index).0)
                .collect(),
        )
    }

    /// Returns the integer of a parameter in the format of the engine.
    fn integer(index: usize, parameter: f32) -> f32 {
        let (one, most) = Model::scale(index);
        (parameter * one).round().clamp(-most, most)
    }

    /// Returns the integer of the parameter 1 in the format of the engine, and the maximum integer.
    fn scale(index: usize) -> (f32, f32) {
        let (one, most) = match index {
            _ if index < BIASES => (INPUT_ONE, 127),
            _ if index < OUTPUTS => (INPUT_ONE, 8_191),
            _ if index < OUTPUT_BIASES => (OUTPUT_ONE, MAX_OUTPUT_WEIGHT),
            _ => (INPUT_ONE * OUTPUT_ONE, 32_767),
        };
        (one as f32, most as f32)
    }

    /// Returns the maximum absolute value of a parameter. Only weights are limited.
    pub fn limit(index: usize) -> f32 {
        let (one, most) = Model::scale(index);
        match index < BIASES || (OUTPUTS..OUTPUT_BIASES).contains(&index) {
            true => most / one,
            false => f32::INFINITY,
        }
    }

    fn sums(&self, inputs: &[u16]) -> Sums {
        let mut sums = [0.0; HIDDEN];
        sums.copy_from_slice(&self.0[BIASES..OUTPUTS]);
        for &input in inputs {
            let weights = &self.0[usize::from(input) * HIDDEN..][..HIDDEN];
            for (sum, weight) in sums.iter_mut().zip(weights) {
                *sum += weight;
            }
        }
        sums
    }

    /// Computes the output for a sample. The sigmoid of the output is the expected score.
    pub fn output(&self, sample: &Sample) -> f32 {
        let (inputs, count, bucket) = sample.inputs();
        let sums = inputs.map(|inputs| self.sums(&inputs[..count]));
        self.weighed(&sums.each_ref().map(squares), bucket)
    }

    /// Returns the first output weight of a bucket.
    fn first_output(bucket: usize) -> usize {
        OUTPUTS + bucket * 2 * HIDDEN
    }

    fn weighed(&self, [us, them]: &[Sums; 2], bucket: usize) -> f32 {
        let weights = &self.0[Model::first_output(bucket)..][..2 * HIDDEN];
        dot(us, &weights[..HIDDEN]) + dot(them, &weights[HIDDEN..]) + self.0[OUTPUT_BIASES + bucket]
    }

    /// Adds the gradient of the squared error of a sample, and returns the squared error.
    pub fn learn(&self, sample: &Sample, target: f32, gradient: &mut [f32]) -> f32 {
        let (sides, count, bucket) = sample.inputs();
        let sums = sides.map(|inputs| self.sums(&inputs[..count]));
        let squared = sums.each_ref().map(squares);
        let first = Model::first_output(bucket);
        let output = self.weighed(&squared, bucket);
        let expected = sigmoid(output);
        let error = expected - target;
        let slope = 2.0 * error * expected * (1.0 - expected);
        gradient[OUTPUT_BIASES + bucket] += slope;
        for side in 0..2 {
            let mut back = [0.0; HIDDEN];
            let out = &mut gradient[first + side * HIDDEN..][..HIDDEN];
            for i in 0..HIDDEN {
                out[i] += slope * squared[side][i];
                let sum = sums[side][i];
                let inside = if sum > 0.0 && sum < 1.0 {
                    2.0 * sum
                } else {
                    0.0
                };
                back[i] = slope * self.0[first + side * HIDDEN + i] * inside;
            }
            let inputs = sides[side][..count]
                .iter()
                .map(|input| usize::from(*input) * HIDDEN);
            for start in inputs.chain([BIASES]) {
                let sums = gradient[start..][..HIDDEN].iter_mut();
                sums.zip(&back).for_each(|(sum, part)| *sum += part);
            }
        }
        error * error
    }

    /// Encodes the network in the format of the engine.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(BYTES);
        for (index, parameter) in self.0.iter().enumerate() {
            let integer = Model::integer(index, *parameter) as i16;
            match index {
                _ if index < BIASES => bytes.push(integer as u8),
                _ => bytes.extend(integer.to_le_bytes()),
            }
        }
        seal(&mut bytes);
        bytes
    }
}

/// Returns the expected score of a sample: its score, mixed with the result if the result is known.
pub fn target(sample: &Sample) -> f32 {
    let score = sigmoid(f32::from(sample.score) / CENTIPAWNS as f32);
    if sample.result == NO_RESULT {
        return score;
    }
    score * (1.0 - RESULT) + f32::from(sample.result) / 2.0 * RESULT
}

/// Computes 1 / (1 + e⁻ˣ) with multiplications and divisions only: eˣ = (e^(x/1024))^1024.
pub fn sigmoid(x: f32) -> f32 {
    let small = f64::from(-x.clamp(-30.0, 30.0)) / 1_024.0;
    let mut power = 1.0 + small * (1.0 + small / 2.0 * (1.0 + small / 3.0 * (1.0 + small / 4.0)));
    for _ in 0..10 {
        power *= power;
    }
    (1.0 / (1.0 + power)) as f32
}

fn squares(sums: &Sums) -> Sums {
    sums.map(|sum| {
        let clipped = sum.clamp(0.0, 1.0);
        clipped * clipped
    })
}

/// Computes a dot product in sixteen partial sums. The compiler may not reorder a single sum.
fn dot(a: &Sums, b: &[f32]) -> f32 {
    let mut lanes = [0.0; 16];
    for (a, b) in a.chunks_exact(16).zip(b.chunks_exact(16)) {
        for i in 0..16 {
            lanes[i] += a[i] * b[i];
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use shelfish_engine::{
        Position,
        network::{Accumulators, Network},
    };

    fn sample(fen: &str) -> (Position, Sample) {
        let position: Position = fen.parse().unwrap();
        let sample = Sample::new(&position, 0, None, false).unwrap();
        (position, sample)
    }

    const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

    #[test]
    fn the_sigmoid_agrees_with_the_formula() {
        for x in [-40.0f32, -8.0, -1.0, 0.0, 0.3, 2.0, 12.0] {
            let expected = 1.0 / (1.0 + (-f64::from(x.clamp(-30.0, 30.0))).exp());
            assert!((f64::from(sigmoid(x)) - expected).abs() < 1e-6, "{x}");
        }
    }

    /// Compares each derivative with a difference quotient.
    #[test]
    fn gradients_are_derivatives() {
        let mut model = Model::random(&mut fastrand::Rng::with_seed(3));
        let (_, sample) = sample(KIWIPETE);
        let mut gradient = vec![0.0; PARAMETERS];
        model.learn(&sample, 0.9, &mut gradient);
        let mut checked = 0;
        for index in (0..PARAMETERS).step_by(37) {
            if gradient[index].abs() < 1e-4 {
                continue;
            }
            let error = |model: &Model| f64::from(sigmoid(model.output(&sample)) - 0.9).powi(2);
            let (before, step) = (model.0[index], 1e-2);
            model.0[index] = before + step;
            let up = error(&model);
            model.0[index] = before - step;
            let down = error(&model);
            model.0[index] = before;
            let quotient = (up - down) / (2.0 * f64::from(step));
            let found = f64::from(gradient[index]);
            assert!(
                (quotient - found).abs() < 0.1 * found.abs() + 1e-4,
                "{index}: {quotient} and {found}"
            );
            checked += 1;
        }
        assert!(checked > 20, "{checked}");
    }

    /// Compares the integer evaluation of the engine with the model, except for rounding.
    #[test]
    fn the_integer_network_agrees_with_the_model() {
        let mut model = Model::random(&mut fastrand::Rng::with_seed(5));
        model.0[BIASES..OUTPUTS].fill(0.1);
        model.0[OUTPUT_BIASES..].fill(0.7);
        let network = Network::from_bytes(&model.to_bytes()).unwrap();
        for fen in [KIWIPETE, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1"] {
            let (position, sample) = sample(fen);
            let exact = model.output(&sample) * CENTIPAWNS as f32;
            let found =
                network.evaluate(&position, &Accumulators::of_position(&network, &position));
            assert!((exact - found as f32).abs() < 8.0, "{exact} and {found}");
        }
    }
}
