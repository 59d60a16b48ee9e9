//! Training: Adam (Kingma and Ba 2015) on batches, with a rate that falls to nothing.

use std::thread;

use shelfish_engine::network::CENTIPAWNS;

use crate::{
    model::{Model, PARAMETERS, sigmoid, target},
    sample::{NO_RESULT, Sample},
};

/// Samples between two steps.
const BATCH: usize = 2_048;
/// A batch is cut into so many parts, whose gradients are added in order: the sum is the same on any number of cores.
const PARTS: usize = 2;
const RATE: f32 = 0.001;
const DECAY: f32 = 0.01;
const MOMENTUM: f32 = 0.9;
const SCALE: f32 = 0.999;

/// How to train.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct Plan {
    /// How often every sample is seen
    #[arg(long, default_value_t = 20)]
    pub epochs: usize,
    /// How much a result counts beside a score, from 0 to 1
    #[arg(long, default_value_t = 0.3)]
    pub result: f32,
    /// The seed of the first weights and of the order of samples
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Trains a model and prints the error of each epoch, on what it was trained on and on what was held out. In which order
/// the samples are given does not matter.
pub fn train(mut samples: Vec<Sample>, plan: Plan) -> Model {
    samples.sort_unstable();
    let mut random = fastrand::Rng::with_seed(plan.seed);
    let mut model = Model::random(&mut random);
    let mut order: Vec<u32> = (0..samples.len() as u32).filter(|&index| !samples[index as usize].held_out).collect();
    let (mut first, mut second) = (vec![0.0; PARAMETERS], vec![0.0; PARAMETERS]);
    let mut gradients = vec![vec![0.0; PARAMETERS]; PARTS];
    let steps = plan.epochs * order.len().div_ceil(BATCH);
    let (mut step, mut powers) = (0, (1.0, 1.0));
    for epoch in 1..=plan.epochs {
        random.shuffle(&mut order);
        let mut error = 0.0;
        for batch in order.chunks(BATCH) {
            error += learn(&model, &samples, batch, plan.result, &mut gradients);
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
                let (mean, spread) = (first[index] / (1.0 - powers.0), second[index] / (1.0 - powers.1));
                let limit = Model::limit(index);
                let parameter = &mut model.0[index];
                *parameter -= rate * (mean / (spread.sqrt() + 1e-8) + DECAY * *parameter);
                *parameter = parameter.clamp(-limit, limit);
            }
        }
        let held = held_out(&model, &samples, plan.result);
        println!("epoch {epoch}: error {:.6}, held out {held:.6}", error / order.len().max(1) as f64);
    }
    model
}

/// From 1 to nearly 0, as half a wave of a cosine, by its square's polynomial: 1 − 3x² + 2x³.
fn falling(step: usize, steps: usize) -> f32 {
    let x = step as f32 / steps.max(1) as f32;
    (1.0 - x * x * (3.0 - 2.0 * x)).max(0.001)
}

/// Fills the gradients of the parts of a batch; the sum of errors comes back.
fn learn(model: &Model, samples: &[Sample], batch: &[u32], share: f32, gradients: &mut [Vec<f32>]) -> f64 {
    let parts = batch.chunks(batch.len().div_ceil(PARTS)).chain(std::iter::repeat(&[][..]));
    thread::scope(|scope| {
        let work = gradients.iter_mut().zip(parts).map(|(gradient, part)| {
            scope.spawn(move || {
                gradient.fill(0.0);
                let error = |index: &u32| {
                    let sample = &samples[*index as usize];
                    f64::from(model.learn(sample, target(sample, share), gradient))
                };
                part.iter().map(error).sum::<f64>()
            })
        });
        let threads: Vec<_> = work.collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(f64::NAN)).sum()
    })
}

/// The mean error on what was held out.
pub fn held_out(model: &Model, samples: &[Sample], share: f32) -> f64 {
    let errors = samples.iter().filter(|sample| sample.held_out).map(|sample| {
        let error = sigmoid(model.output(sample)) - target(sample, share);
        f64::from(error) * f64::from(error)
    });
    let (sum, count) = errors.fold((0.0, 0usize), |(sum, count), error| (sum + error, count + 1));
    sum / count.max(1) as f64
}

/// How many centipawns fit an expected score of a sigmoid of 1 best, by the results of games.
pub fn fitting_scale(samples: &[Sample]) -> Option<i32> {
    let known: Vec<&Sample> = samples.iter().filter(|sample| sample.result != NO_RESULT).collect();
    let error = |scale: i32| -> f64 {
        let one = |sample: &&Sample| {
            let error = sigmoid(f32::from(sample.score) / scale as f32) - f32::from(sample.result) / 2.0;
            f64::from(error * error)
        };
        known.iter().step_by(known.len() / 200_000 + 1).map(one).sum()
    };
    if known.is_empty() {
        return None;
    }
    (60..=400).step_by(10).min_by(|&a, &b| error(a).total_cmp(&error(b))).or(Some(CENTIPAWNS))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use shelfish_engine::Position;

    use super::*;

    #[test]
    fn the_same_samples_in_any_order_give_the_same_bytes_and_are_learnt() {
        let pawns = "k7/8/8/8/8/8/PPPP4/K7 w - - 0 1";
        let queen = "k7/8/8/8/8/8/8/KQ6 w - - 0 1";
        let none = "k7/8/8/8/8/8/8/K7 w - - 0 1";
        let known = [(pawns, 400), (queen, 900), (none, 0)];
        let sample = |(fen, score): (&str, i32), held| {
            Sample::new(&fen.parse::<Position>().unwrap(), score, None, held).unwrap()
        };
        let samples: Vec<Sample> = known.map(|one| sample(one, false)).repeat(100);
        let held: Vec<Sample> = known.map(|one| sample(one, true)).to_vec();
        let plan = Plan { epochs: 200, result: 0.3, seed: 1 };
        let model = train(samples.clone(), plan);
        let turned = train(samples.into_iter().rev().collect(), plan);
        assert!(model.to_bytes() == turned.to_bytes());
        let start = Model::random(&mut fastrand::Rng::with_seed(1));
        let [before, after] = [&start, &model].map(|model| held_out(model, &held, plan.result));
        assert!(after < before / 2.0, "{before} {after}");
    }
}
