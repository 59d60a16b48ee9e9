//! `cargo xtask test`: runs every check that a change must pass. A step that fails does not stop the other steps.

mod background;
mod node;
mod steps;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use background::Background;
use steps::STEPS;
pub(crate) use steps::{clippy, clippy_wasm, fmt, site_types, test_types};

use crate::{
    shell::{build_for_tests, say},
    tally::Tally,
    tools,
};

/// Options of `cargo xtask test`.
#[derive(clap::Args, Default)]
#[command(after_help = "Examples:
  cargo xtask test                                  # every step
  cargo xtask test --list                           # names of the steps
  cargo xtask test --only rust,module               # two steps
  cargo xtask test --only browser --filter gaps     # tests of one step, by a part of their names
  cargo xtask test --all                            # also large data sets, Spark, other systems, all bundlers

The last line of the output is `N passed, N failed, N skipped`. A test is skipped if its server, its browser or its data
are missing; the output names the reason after NOT TESTED or SKIPPED.")]
pub struct Args {
    /// Run only these steps, separated by commas
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    only: Vec<String>,
    /// Run only the tests whose names contain this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Also run slow tests: large data sets, a hundred times as much random damage, fuzz targets for minutes, every bundler
    #[arg(long)]
    all: bool,
    /// Print the names of the steps and exit
    #[arg(long)]
    list: bool,
}

impl Args {
    /// Returns whether to run a step that takes minutes: with `--all`, or if `--only` names the step.
    fn takes_long(&self, step: &str) -> bool {
        self.all || self.only.iter().any(|name| name == step)
    }
}

/// One part of `cargo xtask test` or `cargo xtask check`.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&Args) -> Result<Tally>,
    /// Whether the step runs in the background. Such a step keeps the processor busy while other steps wait for browsers. It needs no
    /// result of another step.
    background: bool,
}

impl Step {
    pub(crate) const fn new(
        name: &'static str,
        about: &'static str,
        run: fn(&Args) -> Result<Tally>,
    ) -> Step {
        Step {
            name,
            about,
            run,
            background: false,
        }
    }

    const fn background(self) -> Step {
        Step {
            background: true,
            ..self
        }
    }
}

/// Prints the names of steps.
pub(crate) fn list(steps: &[Step]) {
    steps
        .iter()
        .for_each(|step| println!("{:12} {}", step.name, step.about));
}

/// Runs the steps of `cargo xtask test`.
pub fn run(args: &Args) -> Result<()> {
    if args.list {
        list(STEPS);
        return Ok(());
    }
    if let Some(unknown) = args
        .only
        .iter()
        .find(|name| STEPS.iter().all(|step| step.name != *name))
    {
        bail!(
            "there is no step {unknown}; `cargo xtask test --list` prints the names of the steps"
        );
    }
    tools::components()?;
    build_for_tests();
    if args.only.is_empty() {
        tools::install_ahead();
    }
    // With `--all`, some tests measure times: nothing else may run at the same time.
    let background = if args.only.is_empty() && !args.all {
        Some(Background::start(args)?)
    } else {
        None
    };
    let is_asked = |step: &&Step| match args.only.as_slice() {
        [] => !(step.background && background.is_some()),
        names => names.iter().any(|name| name == step.name),
    };
    let mut summary = Summary::default();
    summary.run(STEPS.iter().filter(is_asked), args);
    if let Some(background) = background {
        say("Output of the steps in the background");
        summary.sum += background.end()?;
    }
    summary.end()
}

/// Results of the steps.
#[derive(Default)]
pub(crate) struct Summary {
    lines: Vec<String>,
    sum: Tally,
}

impl Summary {
    /// Runs steps one after the other. A step that cannot run counts as a failure.
    pub(crate) fn run<'a>(&mut self, steps: impl Iterator<Item = &'a Step>, args: &Args) {
        for step in steps {
            say(format!("{}: {}", step.name, step.about));
            let (start, before) = (Instant::now(), processor_time());
            let tally = (step.run)(args).unwrap_or_else(|error| {
                let message = format!("error: {error:#}");
                eprintln!("{message}");
                Tally {
                    failures: vec![message],
                    ..Tally::failed(1)
                }
            });
            let processor = processor_time()
                .zip(before)
                .map(|(after, before)| after.saturating_sub(before));
            self.lines
                .push(line(step.name, &tally, start.elapsed(), processor));
            self.sum += tally;
        }
    }

    /// Prints the failures again, a line for each step, and the sum of all. Returns an error if a test failed.
    pub(crate) fn end(self) -> Result<()> {
        if !self.sum.failures.is_empty() {
            say("Failed tests");
            println!("{}", self.sum.failures.join("\n"));
        }
        println!("\n{}\n{}", self.lines.join("\n"), self.sum);
        std::io::stdout().flush()?;
        if self.sum.failed > 0 {
            bail!(
                "{} of {} failed",
                self.sum.failed,
                self.sum.passed + self.sum.failed
            );
        }
        Ok(())
    }
}

fn line(name: &str, tally: &Tally, time: Duration, processor: Option<Duration>) -> String {
    let result = if tally.failed == 0 { "ok" } else { "FAILED" };
    let Tally {
        passed,
        failed,
        skipped,
        ..
    } = tally;
    let minutes = |time: Duration| time.as_secs_f64() / 60.0;
    let processor = processor.map(|time| format!(", {:5.1} min of processor time", minutes(time)));
    let counts = format!("{passed:5} passed {failed:3} failed {skipped:3} skipped");
    format!(
        "{name:12} {result:7} {counts} {:5.1} min{}",
        minutes(time),
        processor.unwrap_or_default()
    )
}

/// Returns the processor time of all programs that have ended, on systems that report it.
fn processor_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
        let microseconds = [usage.user_time(), usage.system_time()]
            .map(|time| nix::sys::time::TimeValLike::num_microseconds(&time));
        Some(Duration::from_micros(
            microseconds.iter().sum::<i64>().try_into().ok()?,
        ))
    }
    #[cfg(not(unix))]
    None
}
