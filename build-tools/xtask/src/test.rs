//! `cargo xtask test`: runs every check that a change must pass. A step that fails does not stop the other steps.

mod steps;

use std::{
    env, fs,
    fs::File,
    process::Child,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use tempfile::NamedTempFile;

use self::steps::{STEPS, Step, When};
use crate::{
    shell::{build_for_tests, command, say, which},
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
    #[command(flatten)]
    choice: CheckArgs,
    /// Run only the tests whose names contain this text
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Also run the steps and tests that take long
    #[arg(long)]
    all: bool,
}

/// Options of `cargo xtask check`.
#[derive(clap::Args, Default)]
pub struct CheckArgs {
    /// Run only these steps, separated by commas
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    only: Vec<String>,
    /// Print the names of the steps and exit
    #[arg(long)]
    list: bool,
}

/// Runs the steps of `cargo xtask check`.
pub fn check(args: &CheckArgs) -> Result<()> {
    let Some(steps) = chosen(args, |step| matches!(step.when, When::Check | When::Always))? else {
        return Ok(());
    };
    run_steps(&steps, &Args::default(), None)
}

/// Runs the steps of `cargo xtask test`.
pub fn run(args: &Args) -> Result<()> {
    let steps = chosen(&args.choice, |step| match step.when {
        When::Check => false,
        When::Always | When::Test => true,
        When::All => args.all || args.choice.list,
    })?;
    let Some(mut steps) = steps else {
        return Ok(());
    };
    // With `--all`, some tests measure times: nothing else may run at the same time.
    if !args.choice.only.is_empty() || args.all {
        return run_steps(&steps, args, None);
    }
    tools::install_ahead(&["crate/js", "tests", "www", "docs"]);
    let names: Vec<&str> = steps
        .extract_if(.., |step| step.background)
        .map(|step| step.name)
        .collect();
    run_steps(&steps, args, Some(Background::start(&names.join(","))?))
}

/// Returns the chosen steps. Prints them instead with `--list`.
fn chosen(args: &CheckArgs, belongs: impl Fn(&Step) -> bool) -> Result<Option<Vec<&'static Step>>> {
    let known = |name: &String| STEPS.iter().any(|step| step.name == name);
    if let Some(unknown) = args.only.iter().find(|name| !known(name)) {
        bail!("there is no step {unknown}; the option --list prints the names of the steps");
    }
    let is_chosen = |step: &&Step| match args.only.as_slice() {
        [] => belongs(step),
        names => names.iter().any(|name| name == step.name),
    };
    let steps: Vec<&Step> = STEPS.iter().filter(is_chosen).collect();
    if args.list {
        steps
            .iter()
            .for_each(|step| println!("{:12} {}", step.name, step.about));
        return Ok(None);
    }
    Ok(Some(steps))
}

/// Runs steps one after the other, and prints the failures again, a line for each step, the slowest tests, and the sum of all. A step
/// that cannot run counts as a failure.
fn run_steps(steps: &[&Step], args: &Args, background: Option<Background>) -> Result<()> {
    tools::components()?;
    build_for_tests();
    let (mut sum, mut lines) = (Tally::default(), Vec::new());
    for step in steps {
        say(format!("{}: {}", step.name, step.about));
        let (start, before) = (Instant::now(), processor_time());
        let tally = (step.run)(args).unwrap_or_else(|error| {
            let message = format!("error: {}: {error:#}", step.name);
            eprintln!("{message}");
            Tally::failed(message)
        });
        let [time, processor] = [start.elapsed(), processor_time().saturating_sub(before)]
            .map(|time| time.as_secs_f64() / 60.0);
        let result = if tally.failed == 0 { "ok" } else { "FAILED" };
        let name = step.name;
        lines.push(format!(
            "{name:12} {result:7} {time:5.1} min, {processor:5.1} min of processor time, {tally}"
        ));
        sum += tally;
    }
    if let Some(background) = background {
        say("Output of the steps in the background");
        sum += background.end()?;
    }
    if !sum.failures.is_empty() {
        say("Failed tests");
        println!("{}", sum.failures.join("\n"));
    }
    sum.times.sort_by(|a, b| b.cmp(a));
    let slowest = sum
        .times
        .iter()
        .take(10)
        .map(|(time, name)| format!("{time:6} ms {name}"));
    lines.extend(slowest);
    println!("\n{}\n{sum}", lines.join("\n"));
    if sum.failed > 0 {
        bail!("{} of {} failed", sum.failed, sum.passed + sum.failed);
    }
    Ok(())
}

/// A process with a lower priority that runs steps, while the remaining steps wait for browsers.
struct Background {
    process: Child,
    output: NamedTempFile,
}

impl Background {
    fn start(names: &str) -> Result<Background> {
        say(format!("In the background, printed at the end: {names}"));
        let (xtask, output) = (env::current_exe()?, NamedTempFile::new()?);
        let mut command = match which(["nice"]) {
            Some(nice) => command(nice),
            None => command(&xtask),
        };
        if which(["nice"]).is_some() {
            command.args(["-n", "10"]).arg(xtask);
        }
        command.args(["test", "--only", names]);
        let file = File::create(output.path())?;
        let process = command.stdout(file.try_clone()?).stderr(file).spawn()?;
        Ok(Background { process, output })
    }

    /// Waits for the end of the steps and prints their output.
    fn end(mut self) -> Result<Tally> {
        self.process.wait()?;
        let output = fs::read_to_string(self.output.path())?;
        let lines = || output.lines().filter(|line| !line.starts_with("error: "));
        let sum = lines()
            .next_back()
            .context("the steps in the background printed nothing")?;
        print!("{}", output.replace(sum, ""));
        let mut tally = Tally::default();
        tally.read(sum);
        if tally.passed + tally.failed == 0 {
            bail!("the steps in the background ended early: {sum}");
        }
        Ok(tally)
    }
}

/// Returns the processor time of all programs that have ended, on systems that report it.
fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        use nix::sys::{
            resource::{UsageWho, getrusage},
            time::TimeValLike,
        };
        let times = getrusage(UsageWho::RUSAGE_CHILDREN).map(|usage| {
            usage.user_time().num_microseconds() + usage.system_time().num_microseconds()
        });
        Duration::from_micros(times.unwrap_or(0).unsigned_abs())
    }
    #[cfg(not(unix))]
    Duration::ZERO
}
