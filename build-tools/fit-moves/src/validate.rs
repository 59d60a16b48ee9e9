//! Validation of the fitted weights on other records.

use std::fmt;

use super::fit::{Choice, choices};
use super::line::{COLUMNS, LineColumns, encode};
use crate::data::Record;

pub(crate) struct Validation {
    records: usize,
    moves: usize,
    ranked: usize,
    /// Order-0 entropy of each column over all records, in bytes per record.
    whole: [f64; COLUMNS],
    /// Order-0 entropy of each column in blocks of 600 records, in bytes per record.
    blocks: [f64; COLUMNS],
    seconds: f64,
}

fn entropy(column: &[u8]) -> f64 {
    let mut counts = [0usize; 256];
    for value in column {
        counts[*value as usize] += 1;
    }
    let sum = column.len() as f64;
    counts
        .iter()
        .filter(|n| **n > 0)
        .map(|n| -(*n as f64) * (*n as f64 / sum).log2())
        .sum::<f64>()
        / 8.0
}

impl fmt::Display for Validation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |columns: &[f64; COLUMNS]| columns.iter().sum::<f64>();
        let ranks = self.blocks[super::line::RANK..super::line::WIDE]
            .iter()
            .sum::<f64>();
        let ranks_whole = self.whole[super::line::RANK..super::line::WIDE]
            .iter()
            .sum::<f64>();
        writeln!(
            f,
            "{} moves, {} ranked, {:.0} ns a ranked move",
            self.moves,
            self.ranked,
            self.seconds * 1e9 / self.ranked as f64
        )?;
        writeln!(
            f,
            "  bits a ranked move: {:.4} whole, {:.4} in blocks",
            ranks_whole * 8.0 * self.records as f64 / self.ranked as f64,
            ranks * 8.0 * self.records as f64 / self.ranked as f64
        )?;
        writeln!(
            f,
            "  bytes a record: {:.3} whole, {:.3} in blocks",
            sum(&self.whole),
            sum(&self.blocks)
        )?;
        write!(f, "  by column:")?;
        for column in self.blocks {
            write!(f, " {column:.3}")?;
        }
        Ok(())
    }
}

/// Validates the built-in weights.
pub(crate) fn validate(records: &[Record]) -> Validation {
    let began = std::time::Instant::now();
    let n = records.len() as f64;
    let mut all = LineColumns::default();
    let mut blocks = [0.0; COLUMNS];
    let mut moves = 0;
    for block in records.chunks(600) {
        let mut out = LineColumns::default();
        for record in block {
            let lines: Vec<_> = record
                .lines
                .iter()
                .map(|(info, line)| (*info, line.as_slice()))
                .collect();
            // Records beyond the limits of the format are ignored.
            moves += encode(&record.position, &lines, None, &mut out).unwrap_or_default();
        }
        for (i, column) in out.columns.iter().enumerate() {
            blocks[i] += entropy(column) / n;
            all.columns[i].extend_from_slice(column);
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let ranked = all.columns[super::line::RANK..super::line::WIDE]
        .iter()
        .map(Vec::len)
        .sum();
    let whole = all.columns.each_ref().map(|column| entropy(column) / n);
    Validation {
        records: records.len(),
        moves,
        ranked,
        whole,
        blocks,
        seconds,
    }
}

/// Validates other weights without the codec, by the entropy of the ranks in one column and by cross-entropy.
pub(crate) fn estimate(records: &[Record], weights: &[u8]) -> String {
    let weights: Vec<f32> = weights.iter().map(|w| f32::from(*w as i8)).collect();
    let mut counts = [0usize; 256];
    let mut cross = 0.0;
    let mut choice = Choice::default();
    let mut logits: Vec<f32> = Vec::new();
    for record in records.iter() {
        choices(record, &mut choice, |choice| {
            choice.logits(&weights, &mut logits);
            let played = logits[choice.played()];
            let ahead = logits[..choice.played()]
                .iter()
                .filter(|other| **other >= played)
                .count();
            let after = logits[choice.played()..]
                .iter()
                .filter(|other| **other > played)
                .count();
            counts[(ahead + after).min(255)] += 1;
            let sum: f32 = logits
                .iter()
                .map(|o| ((o - played) / super::fit::SCALE).exp())
                .sum();
            cross += f64::from(sum.log2());
        });
    }
    let n = counts.iter().sum::<usize>() as f64;
    let rank: f64 = counts
        .iter()
        .filter(|c| **c > 0)
        .map(|c| -(*c as f64) / n * (*c as f64 / n).log2())
        .sum();
    format!(
        "{n} ranked, rank entropy {rank:.4}, cross-entropy {:.4}, first {:.1} %, first three {:.1} %",
        cross / n,
        counts[0] as f64 / n * 100.0,
        counts[..3].iter().sum::<usize>() as f64 / n * 100.0
    )
}
