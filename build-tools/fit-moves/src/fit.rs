//! Softmax over the legal moves, fitted with Adagrad.

use shakmaty::Position as _;

use super::board::RelativeBoard;
use super::context::PositionContext;
use super::features::{Mover, NAMES, SIZES, WEIGHTS};
use super::history::History;
use super::prefix::LinePrefix;
use super::tree::Tree;
use crate::data::Record;

/// Weight of one unit of log-odds. A finer scale saves 0.01 bits per move but adds 2 kB of weights.
pub(crate) const SCALE: f32 = 8.0;

/// Shrinks weights with little evidence towards zero. A weight with this sum of squared gradients is halved.
///
/// Little evidence is mostly noise, and zeros compress well.
/// few moves teach is noise, and zeros compress well.
const SHRINKAGE: f32 = 100.0;

/// Choice of a move in a position: features of all moves, the end of the features of each move, and the played move.
#[derive(Default)]
pub(crate) struct Choice {
    features: Vec<u16>,
    ends: Vec<usize>,
    played: usize,
}

/// Calls `each` for every move that the line codec ranks.
pub(crate) fn choices(record: &Record, choice: &mut Choice, mut each: impl FnMut(&Choice)) {
    let mut history = History::default();
    let mut tree = Tree::default();
    for (i, (_, line)) in record.lines.iter().enumerate() {
        let (node, shared) = tree.follow(line);
        let barred = tree.children(node);
        let mut position = record.position.clone();
        let mut prefix = LinePrefix::default();
        for (ply, m) in line.iter().enumerate() {
            if ply >= shared {
                let board = RelativeBoard::new(&position);
                let context = PositionContext::new(&board, position.turn(), &prefix);
                let history_here = history.at(position.turn(), &prefix);
                choice.features.clear();
                choice.ends.clear();
                for legal in &position.legal_moves() {
                    if legal == m {
                        choice.played = choice.ends.len();
                    } else if ply == shared && barred.contains(legal) {
                        continue;
                    }
                    let mover = Mover::new(&context, *legal);
                    mover.piece_features(|feature| choice.features.push(feature as u16));
                    mover.move_features(*legal, history_here.of_move(*legal), |feature| {
                        choice.features.push(feature as u16)
                    });
                    choice.ends.push(choice.features.len());
                }
                each(choice);
            }
            position.play_unchecked(*m);
            prefix.push(*m);
        }
        history.add(record.position.turn(), line);
        tree.insert(node, &line[shared..], i);
    }
}

impl Choice {
    fn of(&self, i: usize) -> &[u16] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.features[start..self.ends[i]]
    }

    /// Computes the score of each legal move as log-odds.
    pub(crate) fn logits(&self, weights: &[f32], logits: &mut Vec<f32>) {
        logits.clear();
        logits.extend(
            (0..self.ends.len())
                .map(|i| self.of(i).iter().map(|f| weights[*f as usize]).sum::<f32>()),
        );
    }

    pub(crate) fn played(&self) -> usize {
        self.played
    }
}

struct Model {
    /// Whether a weight belongs to an omitted table and stays 0.
    fixed: Vec<bool>,
    weights: Vec<f32>,
    squares: Vec<f32>,
    logits: Vec<f32>,
}

impl Model {
    fn learn(&mut self, choice: &Choice, rate: f32) -> f32 {
        choice.logits(&self.weights, &mut self.logits);
        let max = self.logits.iter().copied().fold(f32::MIN, f32::max);
        let mut sum = 0.0;
        for logits in &mut self.logits {
            *logits = (*logits - max).exp();
            sum += *logits;
        }
        let loss = -(self.logits[choice.played] / sum).log2();
        for i in 0..choice.ends.len() {
            let slope = self.logits[i] / sum - if i == choice.played { 1.0 } else { 0.0 };
            if slope.abs() < 1e-4 {
                continue;
            }
            for f in choice.of(i) {
                let f = *f as usize;
                if self.fixed[f] {
                    continue;
                }
                self.squares[f] += slope * slope;
                self.weights[f] -= rate * slope / self.squares[f].sqrt();
            }
        }
        loss
    }
}

/// Fits the weights and returns them as signed bytes.
pub(crate) fn fit(records: &[Record], epochs: usize, without: &[String]) -> Vec<u8> {
    let mut fixed = Vec::new();
    for (name, size) in NAMES.iter().zip(SIZES) {
        fixed.resize(fixed.len() + size, without.iter().any(|w| w == name));
    }
    let mut model = Model {
        fixed,
        weights: vec![0.0; WEIGHTS],
        squares: vec![1.0; WEIGHTS],
        logits: Vec::new(),
    };
    let mut order: Vec<usize> = (0..records.len()).collect();
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut choice = Choice::default();
    for epoch in 0..epochs {
        for i in (1..order.len()).rev() {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            order.swap(i, (seed >> 33) as usize % (i + 1));
        }
        let rate = 0.12 * (1.0 - epoch as f32 / epochs as f32);
        let (mut loss, mut count) = (0.0, 0usize);
        for i in &order {
            choices(&records[*i], &mut choice, |choice| {
                loss += f64::from(model.learn(choice, rate));
                count += 1;
            });
        }
        eprintln!(
            "epoch {epoch}: {count} moves, {:.4} bits",
            loss / count as f64
        );
    }
    // The weights are not centred: a constant added to a table changes no rank, and weights of rare features stay near
    // 0.
    let weights = model
        .weights
        .iter()
        .zip(&model.squares)
        .map(|(weight, squares)| {
            let learned = squares - 1.0;
            weight * learned / (learned + SHRINKAGE) * SCALE
        });
    weights
        .map(|weight| weight.round().clamp(-127.0, 127.0) as i8 as u8)
        .collect()
}
