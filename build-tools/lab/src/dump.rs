//! Records of dumps of evaluations, and their statistics.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use shakmaty::Position as _;
use shelfish::eval::{PositionEval, Score};
use shelfish_cli::evaluations::record::{Record, parse};
use shelfish_cli::input::{Dump, Input};

/// Reads the records of a dump. The deepest evaluation of a record is the first.
pub fn records(path: &Path) -> Result<impl Iterator<Item = Result<Record>>> {
    let name = path.display().to_string();
    let text = Dump::text_of(&Input::File(path.to_owned())).with_context(|| name.clone())?;
    let record = move |(number, line): (usize, io::Result<String>)| {
        let mut record = parse(line?.as_bytes())
            .map_err(|reject| anyhow!("{name}: line {}: {}", number + 1, reject.fact))?;
        PositionEval::normalise(&mut record.evaluations);
        Ok(record)
    };
    Ok(BufReader::new(text).lines().enumerate().map(record))
}

/// Options of `lab describe`.
#[derive(clap::Args)]
pub struct Args {
    /// Dumps of evaluations
    #[arg(required = true)]
    dumps: Vec<PathBuf>,
}

/// Prints statistics of dumps that decide on the size of a database.
pub fn describe(args: &Args) -> Result<()> {
    println!(
        "| dump | positions | pieces | evaluations | PVs | moves of a PV | of ten moves | bits of a length, given the depth \
         | kilonodes, mean of log2 | mates |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    for path in &args.dumps {
        let mut lengths: BTreeMap<(u16, usize), f64> = BTreeMap::new();
        let [
            mut positions,
            mut pieces,
            mut evaluations,
            mut octaves,
            mut mates,
        ] = [0.0; 5];
        for record in records(path)? {
            let record = record?;
            positions += 1.0;
            pieces += record.position.chess().board().occupied().count() as f64;
            for evaluation in record.evaluations {
                evaluations += 1.0;
                octaves += (evaluation.knodes.max(1) as f64).log2();
                for pv in evaluation.pvs {
                    *lengths
                        .entry((evaluation.depth, pv.line.len()))
                        .or_default() += 1.0;
                    mates += f64::from(u8::from(matches!(pv.score, Score::Mate(_))));
                }
            }
        }
        let mut depths: BTreeMap<u16, f64> = BTreeMap::new();
        for ((depth, _), count) in &lengths {
            *depths.entry(*depth).or_default() += count;
        }
        let pvs: f64 = depths.values().sum();
        let bits =
            |((depth, _), count): (&(u16, usize), &f64)| count * (depths[depth] / count).log2();
        let moves = lengths
            .iter()
            .map(|((_, length), count)| *length as f64 * count);
        let ten = lengths.iter().filter(|((_, length), _)| *length == 10);
        println!(
            "| `{}` | {positions} | {:.1} | {:.2} | {:.2} | {:.2} | {:.1} % | {:.2} | {:.1} | {:.1} % |",
            path.display(),
            pieces / positions,
            evaluations / positions,
            pvs / positions,
            moves.sum::<f64>() / pvs,
            100.0 * ten.map(|(_, count)| count).sum::<f64>() / pvs,
            lengths.iter().map(bits).sum::<f64>() / pvs,
            octaves / evaluations,
            100.0 * mates / pvs,
        );
    }
    Ok(())
}
