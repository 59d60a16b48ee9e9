//! `lab fit-moves`: fits the weights of the move model to one half of evaluation dumps, and validates them on the other half.
//!
//! The model is a softmax over the legal moves, fitted with Adagrad. This module stands among the modules of the library, so that
//! the fitted model is the model that the library uses.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use shakmaty::{Chess, Move, Position as _};

use super::board::RelativeBoard;
use super::context::PositionContext;
use super::features::{Mover, WEIGHTS};
use super::line::{COLUMNS, LineColumns, Lines, MOVES, Unit, encode, remembered};
use super::prefix::LinePrefix;
use super::tree::Tree;
use crate::dump;

/// Options of `lab fit-moves`.
#[derive(clap::Args)]
pub struct Args {
    /// Dumps of evaluations, each with a maximum number of records after an @
    #[arg(required = true, value_name = "DUMP[@RECORDS]")]
    dumps: Vec<String>,
    /// Fit weights and write them; otherwise only validate the built-in weights
    #[arg(long)]
    fit: bool,
    /// Number of passes over the records
    #[arg(long, default_value_t = 4)]
    epochs: usize,
    /// File of the fitted weights
    #[arg(long, default_value = "crate/src/moves/weights.bin")]
    weights: PathBuf,
}

/// Fits or validates weights.
pub fn run(args: &Args) -> Result<()> {
    let (mut fitted, mut held_out) = (Vec::new(), Vec::new());
    for source in &args.dumps {
        let (path, max) = source.split_once('@').unwrap_or((source, "1000000000"));
        let max = max
            .parse()
            .with_context(|| format!("expected a number after @ in \"{source}\""))?;
        let [fit, held] = read(Path::new(path), max)?;
        fitted.extend(fit);
        held_out.push((path, held));
    }
    if args.fit {
        std::fs::write(&args.weights, fit(&fitted, args.epochs))?;
        println!(
            "{}: run this command again without --fit to validate the weights",
            args.weights.display()
        );
        return Ok(());
    }
    for (path, records) in &held_out {
        println!("{path}: {}", validate(records));
    }
    Ok(())
}

/// Position with its lines.
struct Record {
    position: Chess,
    lines: Vec<Vec<Move>>,
    /// The records before it in its stream.
    earlier: Vec<Lines>,
}

/// Number of consecutive lines that stay together. They come from few games.
const RUN: usize = 1000;

/// Reads records and splits them into two halves. Runs of neighbouring lines alternate between the halves.
fn read(path: &Path, max: usize) -> Result<[Vec<Record>; 2]> {
    let mut halves = [Vec::new(), Vec::new()];
    let (mut earlier, mut unit): (Vec<Lines>, _) = Default::default();
    for (number, record) in dump::records(path)?.enumerate().take(max) {
        let parsed = record?;
        let pvs = parsed
            .evaluations
            .into_iter()
            .flat_map(|evaluation| evaluation.pvs);
        let lines = pvs.map(|pv| pv.line).collect();
        let position = parsed.position.chess().clone();
        if number % RUN == 0 {
            (earlier, unit) = Default::default();
        }
        let record = Record {
            position: position.clone(),
            lines,
            earlier: earlier.clone(),
        };
        let mut moves = 0;
        choices(&record, &mut Choice::default(), |_| moves += 1);
        earlier.push((position, record.lines.clone()));
        if Unit::add(&mut unit, moves) {
            (earlier, unit) = Default::default();
        }
        halves[number / RUN % 2].push(record);
    }
    Ok(halves)
}

/// Weight of one unit of log-odds: a weight of 8 doubles the odds.
const SCALE: f32 = 8.0 * std::f32::consts::LOG2_E;

/// Shrinks weights with little evidence towards zero. A weight with this sum of squared gradients is halved.
///
/// Little evidence is mostly noise, and zeros compress well.
const SHRINKAGE: f32 = 100.0;

/// Choice of a move in a position: features of all moves, the end of the features of each move, and the played move.
#[derive(Default)]
struct Choice {
    features: Vec<u16>,
    ends: Vec<usize>,
    played: usize,
}

/// Calls `each` for every move that the line codec ranks.
fn choices(record: &Record, choice: &mut Choice, mut each: impl FnMut(&Choice)) {
    let mut history = remembered(&record.position, &record.earlier);
    let mut tree = Tree::default();
    for (i, line) in record.lines.iter().enumerate() {
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
    fn logits(&self, weights: &[f32], logits: &mut Vec<f32>) {
        logits.clear();
        logits.extend(
            (0..self.ends.len())
                .map(|i| self.of(i).iter().map(|f| weights[*f as usize]).sum::<f32>()),
        );
    }
}

struct Model {
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
                self.squares[f] += slope * slope;
                self.weights[f] -= rate * slope / self.squares[f].sqrt();
            }
        }
        loss
    }
}

/// Fits the weights and returns them as signed bytes.
fn fit(records: &[Record], epochs: usize) -> Vec<u8> {
    let mut model = Model {
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
    // The weights are not centred: a constant added to a table changes no probability, and weights of rare features stay near
    // 0.
    let weights = model.weights.iter().zip(&model.squares);
    let weights = weights.map(|(weight, squares)| {
        let learned = squares - 1.0;
        let weight = weight * learned / (learned + SHRINKAGE) * SCALE;
        weight.round().clamp(-127.0, 127.0) as i8 as u8
    });
    weights.collect()
}

/// Returns the order-0 entropy of a column, in bytes.
fn entropy(column: &[u8]) -> f64 {
    let mut counts = [0usize; 256];
    for value in column {
        counts[*value as usize] += 1;
    }
    let sum = column.len() as f64;
    let bits = |n: &usize| -(*n as f64) * (*n as f64 / sum).log2();
    counts.iter().filter(|n| **n > 0).map(bits).sum::<f64>() / 8.0
}

/// Codes the lines with the built-in weights, in blocks of 600 records. Returns the bits of a move, and the entropy of the
/// columns.
fn validate(records: &[Record]) -> String {
    let (mut moves, mut columns) = (0, [0.0; COLUMNS]);
    for block in records.chunks(600) {
        let mut out = LineColumns::default();
        for record in block {
            let lines: Vec<_> = record.lines.iter().map(Vec::as_slice).collect();
            // Records beyond the limits of the format are ignored.
            let _ = encode(&record.position, &lines, &mut out);
        }
        let mut choice = Choice::default();
        for record in block {
            choices(record, &mut choice, |_| moves += 1);
        }
        for (n, (sum, column)) in columns.iter_mut().zip(out.finish()).enumerate() {
            *sum += if n == MOVES {
                column.len() as f64
            } else {
                entropy(&column)
            };
        }
    }
    let bits = 8.0 * columns[MOVES] / moves as f64;
    let bytes = columns
        .map(|sum| format!(" {:.3}", sum / records.len() as f64))
        .concat();
    format!("{moves} moves, {bits:.4} bits each; bytes a record by column:{bytes}")
}
