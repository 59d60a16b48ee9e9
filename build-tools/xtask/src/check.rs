//! `cargo xtask check`: the checks to run before each commit, which take at most two minutes once everything is built.

use anyhow::{Result, bail};

use crate::{
    docs, npm,
    shell::{build_for_tests, cargo},
    tally::{Tally, cargo_tests},
    test::{self, Step, Summary, clippy, clippy_wasm, fmt, site_types, test_types},
    tools,
};

/// Options of `cargo xtask check`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask check                      # every step
  cargo xtask check --list               # names of the steps
  cargo xtask check --only fmt,clippy    # two steps

`cargo xtask test` also runs the integration tests, in Node and in browsers.")]
pub struct Args {
    /// Run only these steps, separated by commas
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    only: Vec<String>,
    /// Print the names of the steps and exit
    #[arg(long)]
    list: bool,
}

const STEPS: &[Step] = &[
    Step::new("fmt", "formatting", fmt),
    Step::new("clippy", "lints, native", clippy),
    Step::new("clippy-wasm", "lints, wasm32", clippy_wasm),
    Step::new("types", "types of the npm package and of the tests", types),
    Step::new("site", "types and unit tests of the site", |_| site_types()),
    Step::new(
        "docs",
        "types of the documentation's scripts, its links and anchors",
        |_| docs::check(),
    ),
    Step::new("unit", "unit tests in Rust", unit),
];

/// Runs the steps.
pub fn run(args: &Args) -> Result<()> {
    if args.list {
        test::list(STEPS);
        return Ok(());
    }
    if let Some(unknown) = args
        .only
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != *name))
    {
        bail!(
            "there is no step {unknown}; `cargo xtask check --list` prints the names of the steps"
        );
    }
    tools::components()?;
    build_for_tests();
    let mut summary = Summary::default();
    let is_asked =
        |step: &&Step| args.only.is_empty() || args.only.iter().any(|name| name == step.name);
    summary.run(STEPS.iter().filter(is_asked), &test::Args::default());
    summary.end()
}

fn types(_: &test::Args) -> Result<Tally> {
    npm::types()?;
    Ok(Tally::passed(1).and(test_types()?))
}

fn unit(_: &test::Args) -> Result<Tally> {
    cargo_tests(
        cargo().args(["test", "--workspace", "--lib", "--bins", "--no-fail-fast"]),
        None,
    )
}
