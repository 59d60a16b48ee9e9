//! Training with Adam (Kingma and Ba 2015) on batches. The learning rate falls to almost zero.

use std::thread;

use super::{
    model::{Model, PARAMETERS, sigmoid, target},
    sample::Sample,
};

/// Number of samples of a batch.
const BATCH: usize = 2_048;
/// Number of parts of a batch. The gradients of the parts are added in order, so the sum does not depend on the number
/// of cores.
const PARTS: usize = 2;
const RATE: f32 = 0.001;
const DECAY: f32 = 0.01;
const MOMENTUM: f32 = 0.9;
const SCALE: f32 = 0.999;

/// Number of passes over the samples.
pub const EPOCHS: usize = 32;
/// Weight of the result relative to the score, from 0 to 1.
pub const RESULT: f32 = 0.1;
/// Seed of the initial weights and of the order of samples.
const SEED: u64 = 1;

/// Trains a model. Prints the errors on training samples and on held-out samples after each epoch.
///
/// The order of `samples` does not matter.
pub fn train(mut samples: Vec<Sample>, epochs: usize) -> Model {
    samples.sort_unstable();
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut model = Model::random(&mut random);
    let mut order: Vec<u32> = (0..samples.len() as u32)
        .filter(|&index| !samples[index as usize].held_out)
        .collect();
    let (mut first, mut second) = (vec![0.0; PARAMETERS], vec![0.0; PARAMETERS]);
    let mut gradients = vec![vec![0.0; PARAMETERS]; PARTS];
    model.clear_unused(order.iter().map(|&index| &samples[index as usize]));
    let steps = epochs * order.len().div_ceil(BATCH);
    let (mut step, mut powers) = (0, (1.0, 1.0));
    for epoch in 1..=epochs {
        random.shuffle(&mut order);
        let mut error = 0.0;
        for batch in order.chunks(BATCH) {
            error += learn(&model, &samples, batch, &mut gradients);
            let rate = RATE * falling(step, steps);
            step += 1;
            powers = (powers.0 * MOMENTUM, powers.1 * SCALE);
            let size = batch.len() as f32;
            let (one, rest) = gradients.split_at_mut(1);
            for index in 0..PARAMETERS {
                let sum: f32 = one[0][index] + rest.iter().map(|part| part[index]).sum::<f32>();
                let gradient = sum / size;
                first[index] = MOMENTUM * first[index] + (1.0 - MOMENTUM) * gradient;
                second[index] = SCALE * second[index] + (1.0 - SCALE) * gradient * gradient;
                let (mean, spread) = (
                    first[index] / (1.0 - powers.0),
                    second[index] / (1.0 - powers.1),
                );
                let limit = Model::limit(index);
                let parameter = &mut model.0[index];
                *parameter -= rate * (mean / (spread.sqrt() + 1e-8) + DECAY * *parameter);
                *parameter = parameter.clamp(-limit, limit);
            }
        }
        let held = held_out(&model, &samples);
        println!(
            "epoch {epoch}: error {:.6}, held out {held:.6}",
            error / order.len().max(1) as f64
        );
    }
    println!(
        "in integers: held out {:.6}",
        held_out(&model.rounded(), &samples)
    );
    model
}

/// Returns a factor that falls from 1 to almost 0, like half a wave of a cosine: 1 − 3x² + 2x³.
fn falling(step: usize, steps: usize) -> f32 {
    let x = step as f32 / steps.max(1) as f32;
    (1.0 - x * x * (3.0 - 2.0 * x)).max(0.001)
}

/// Computes the gradients of the parts of a batch, and returns the sum of the squared errors.
fn learn(model: &Model, samples: &[Sample], batch: &[u32], gradients: &mut [Vec<f32>]) -> f64 {
    let parts = batch
        .chunks(batch.len().div_ceil(PARTS))
        .chain(std::iter::repeat(&[][..]));
    thread::scope(|scope| {
        let work = gradients.iter_mut().zip(parts).map(|(gradient, part)| {
            scope.spawn(move || {
                gradient.fill(0.0);
                let error = |index: &u32| {
                    let sample = &samples[*index as usize];
                    f64::from(model.learn(sample, target(sample), gradient))
                };
                part.iter().map(error).sum::<f64>()
            })
        });
        let threads: Vec<_> = work.collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or(f64::NAN))
            .sum()
    })
}

/// Returns the mean squared error on held-out samples.
fn held_out(model: &Model, samples: &[Sample]) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for sample in samples.iter().filter(|sample| sample.held_out) {
        sum += f64::from(sigmoid(model.output(sample)) - target(sample)).powi(2);
        count += 1;
    }
    sum / count.max(1) as f64
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use shelfish_engine::Position;

    use super::*;

    #[test]
    fn the_order_of_samples_does_not_matter_and_the_error_decreases() {
        let pawns = "k7/8/8/8/8/8/PPPP4/K7 w - - 0 1";
        let queen = "k7/8/8/8/8/8/8/KQ6 w - - 0 1";
        let none = "k7/8/8/8/8/8/8/K7 w - - 0 1";
        let known = [(pawns, 400), (queen, 900), (none, 0)];
        let sample = |(fen, score): (&str, i32), held| {
            Sample::new(&fen.parse::<Position>().unwrap(), score, None, held).unwrap()
        };
        let samples: Vec<Sample> = known.map(|one| sample(one, false)).repeat(100);
        let held: Vec<Sample> = known.map(|one| sample(one, true)).to_vec();
        let model = train(samples.clone(), 200);
        let turned = train(samples.into_iter().rev().collect(), 200);
        assert!(model.to_bytes() == turned.to_bytes());
        let start = Model::random(&mut fastrand::Rng::with_seed(SEED));
        let [before, after] = [&start, &model].map(|model| held_out(model, &held));
        assert!(after < before / 2.0, "{before} {after}");
    }
}
