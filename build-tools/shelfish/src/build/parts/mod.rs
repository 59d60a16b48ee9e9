//! Builds larger than one machine, by verbs that any engine can call: [`plan`] says where keys are cut into parts,
//! [`partition`] turns lines of a dump into keyed records, the engine sorts them, [`encode`] makes shards and a fragment of
//! the manifest of each part, and [`seal`] makes the manifest of the fragments.
//!
//! What a part becomes depends on its records and the plan alone, so that it can be made twice, and anywhere. The bytes are
//! those of `shelfish build --plan`.

pub mod encode;
mod fragment;
pub mod lines;
pub mod partition;
pub mod plan;
mod plan_file;
pub mod seal;

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

pub use plan_file::{MAX_PARTS, Plan, PlanError, PlanFault};

use crate::shown::json;

/// Options of the verbs that make files of a plan's parts.
#[derive(clap::Args, Debug)]
pub struct Verb {
    /// The plan, of `shelfish plan`
    #[arg(long, value_name = "PLAN")]
    plan: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing before the summary
    #[arg(short, long)]
    quiet: bool,
}

impl Verb {
    /// Prints a summary.
    fn tell(&self, report: &(impl Serialize + fmt::Display)) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json { writeln!(out, "{}", json(report)?) } else { writeln!(out, "{report}") }
    }
}
