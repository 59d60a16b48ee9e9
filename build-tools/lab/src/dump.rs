//! Records of dumps of evaluations.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};
use shelfish::eval::PositionEval;
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
