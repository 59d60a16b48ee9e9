//! Builds on several machines, with commands that any engine can call.
//!
//! `shelfish plan` defines the boundaries of parts. `shelfish partition` converts lines of a dump to keyed records,
//! which the engine sorts. `shelfish encode` writes the shards and a manifest fragment of each part. `shelfish seal`
//! merges the fragments into a manifest.
//!
//! A part depends only on its records and on the plan, so it can be encoded repeatedly and anywhere. The bytes are
//! equal to those of `shelfish build --plan`.

pub mod fragment;
pub mod lines;
pub mod plan;

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

pub use plan::{MAX_PARTS, Plan, PlanError, PlanErrorKind};

use crate::terminal::shown::json;

/// Options of the commands that process parts of a plan.
#[derive(clap::Args, Debug)]
pub struct Verb {
    /// Plan, written by `shelfish plan`
    #[arg(long, value_name = "PLAN")]
    pub plan: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,
    /// Do not print progress
    #[arg(short, long)]
    pub quiet: bool,
}

impl Verb {
    /// Prints a summary.
    pub fn print_report(&self, report: &(impl Serialize + fmt::Display)) -> io::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", json(report)?)
        } else {
            writeln!(out, "{report}")
        }
    }
}
