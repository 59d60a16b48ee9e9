//! Databases of evaluations: their records, and the build of their tables.

pub mod fit;
mod json;
pub mod kind;
pub mod merged;
pub mod parts;
pub mod payload;
pub mod record;
pub mod selection;
pub mod share;
mod summary;

use std::time::Instant;

use shelfish::eval::PositionEval;
use shelfish::table::{WriteError, page_blocks};

pub use crate::build::spool::OverLimit;
pub use selection::Selection;
pub use summary::{Counts, Summary};

use crate::build::base::Base;
use crate::build::gather::gather;
use crate::build::runs::RunFiles;
use crate::build::write::{Content, Join, write};
use crate::build::{BuildError, Files, Options};
use crate::input::DumpKind;
use fit::{Cut, Depths};
use kind::{Evaluations, selection_of};

/// Builds a database of evaluations.
///
/// The previous database stays intact if the build fails.
pub fn build(options: &Options, selection: &Selection) -> Result<Summary, BuildError> {
    let start = Instant::now();
    let dumps = options.open_dumps(DumpKind::Evaluations)?;
    let downloads = dumps.downloads();
    let workspace = options.open_workspace::<PositionEval>()?;
    let bases = options
        .bases
        .iter()
        .map(Base::open)
        .collect::<Result<Vec<_>, _>>()?;
    let selections = bases
        .iter()
        .map(selection_of)
        .collect::<Result<Vec<_>, _>>()?;
    // The result may not contain evaluations that a base leaves out, so the selection of a base also applies to the inputs.
    let selection = selections
        .iter()
        .fold(selection.clone(), |all, base| all.and(base));
    let kind = Evaluations::new(selection.clone());
    let base_positions = bases.iter().map(Base::positions).sum();
    let run_files = RunFiles::new(workspace.dir());
    let (mut runs, input) = gather(
        &kind,
        options,
        dumps,
        &workspace,
        &run_files,
        options.create_rejects()?,
    )?;
    // Neither the memory nor the number of runs changes this estimate, so that they do not change the bytes of the database.
    let page_blocks = options
        .page_blocks
        .unwrap_or_else(|| page_blocks(input.records.max(base_positions)));
    let mut content_from = |Cut { min_depth, share }: Cut, min_bytes| -> Result<_, BuildError> {
        let kind = kind.from_depth(min_depth, share);
        let each = bases.iter().zip(&selections);
        let each = each
            .map(|(base, selection)| base.clone().read(kind.narrow(selection), options.threads));
        // With a maximum size the runs may be read again. Otherwise they are removed while they are read.
        let runs = if options.max_bytes.is_some() {
            runs.clone()
        } else {
            std::mem::take(&mut runs)
        };
        // Before a base is read: its requests wait for their reader.
        let kept = options.kept_shards(&bases, &workspace)?;
        Ok(Content {
            runs,
            bases: each.collect::<Result<_, _>>()?,
            base_positions,
            info: kind.selection.describe(),
            kept,
            page_blocks,
            min_bytes,
            kind,
        })
    };
    let least = Cut {
        min_depth: selection.min_depth,
        share: selection.share,
    };
    let depths = match options.max_bytes {
        Some(_) => {
            let join = Join::new(options, &run_files, content_from(least, 0)?);
            let depths = join.and_then(|join| Depths::count(join, least));
            Some(depths.map_err(|error| error.in_workspace(&workspace))?)
        }
        None => None,
    };
    let mut write_from = |cut, min_bytes| {
        let content = content_from(cut, min_bytes)?;
        write(options, &workspace, &run_files, content)
            .map_err(|error| error.in_workspace(&workspace))
    };
    let written = match (&depths, options.max_bytes) {
        (Some(depths), Some(max_bytes)) => depths
            .fit(max_bytes, write_from)
            .map(|(written, fitted)| (written, Some(fitted))),
        _ => write_from(least, 0).map(|written| (written, None)),
    };
    let (written, fitted) = written.map_err(|error| match error {
        BuildError::Write(WriteError::Empty) if input.are_foreign() => {
            BuildError::no_evaluations(&options.inputs, input.lines)
        }
        BuildError::Write(WriteError::Empty) => {
            BuildError::Other(format!("nothing to write: {}", input.report_empty()))
        }
        error => error,
    })?;
    let cut = fitted.as_ref().map_or(least, |fitted| fitted.cut);
    let selection = Selection {
        min_depth: cut.min_depth,
        share: cut.share,
        ..selection
    };
    Ok(Summary {
        files: Files::of::<PositionEval>(
            &written,
            base_positions,
            selection.describe(),
            &downloads,
        )?,
        evaluations: written.manifest.total("evaluations"),
        pvs: written.manifest.total("pvs"),
        input,
        over_limit: written.over_limit,
        fitted,
        seconds: start.elapsed().as_secs_f64(),
    })
}
