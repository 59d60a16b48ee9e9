//! Builds larger than one machine, by verbs that any engine can call: `shelfish plan` says where keys are cut into parts,
//! `shelfish partition` turns lines of a dump into keyed records, the engine sorts them, `shelfish encode` makes shards and a fragment of
//! the manifest of each part, and `shelfish seal` makes the manifest of the fragments.
//!
//! What a part becomes depends on its records and the plan alone, so that it can be made twice, and anywhere. The bytes are
//! those of `shelfish build --plan`.

pub mod fragment;
pub mod lines;
pub mod plan;

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

pub use plan::{MAX_PARTS, Plan, PlanError, PlanFault};

use crate::terminal::shown::json;

/// Options of the verbs that make files of a plan's parts.
#[derive(clap::Args, Debug)]
pub struct Verb {
    /// The plan, of `shelfish plan`
    #[arg(long, value_name = "PLAN")]
    pub plan: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Say nothing before the summary
    #[arg(short, long)]
    pub quiet: bool,
}

impl Verb {
    /// Prints a summary.
    pub fn tell(&self, report: &(impl Serialize + fmt::Display)) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json { writeln!(out, "{}", json(report)?) } else { writeln!(out, "{report}") }
    }
}
