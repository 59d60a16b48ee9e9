//! `cargo xtask test`: runs every check that a change must pass. A step that fails does not stop the other steps.

mod steps;

use std::{env, fs, process::Child, time::Instant};

use anyhow::{Result, bail};
use tempfile::NamedTempFile;

use self::steps::{BACKGROUND, STEPS, Step, When};
use crate::{
    shell::{build_for_tests, command, say, which},
    tools,
};

/// Options of `cargo xtask test`.
#[derive(clap::Args, Default)]
#[command(after_help = "Examples:
  cargo xtask test                                  # every step
  cargo xtask test --list                           # names of the steps
  cargo xtask test --only rust,module               # two steps
  cargo xtask test --only browser --filter gaps     # tests of one step, by a part of their names
  cargo xtask test --all                            # also large data sets, Spark, all bundlers, a host with faults

The last lines of the output are the steps with their results and minutes, and the failed tests. A test is skipped if its server, its
browser or its data are missing; the output names the reason after NOT TESTED or SKIPPED.")]
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
    steps.retain(|step| !BACKGROUND.contains(&step.name));
    run_steps(
        &steps,
        args,
        Some(Background::start(&BACKGROUND.join(","))?),
    )
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

/// Runs steps one after the other. Prints a line for each step at the end, and the errors again.
fn run_steps(steps: &[&Step], args: &Args, background: Option<Background>) -> Result<()> {
    tools::components()?;
    build_for_tests();
    let (mut lines, mut errors) = (Vec::new(), Vec::new());
    for Step {
        name, about, run, ..
    } in steps
    {
        say(format!("{name}: {about}"));
        let start = Instant::now();
        let done = run(args);
        let minutes = start.elapsed().as_secs_f64() / 60.0;
        let result = if done.is_ok() { "ok" } else { "FAILED" };
        lines.push(format!("{name:12} {result:7} {minutes:5.1} min"));
        if let Err(error) = done {
            let error = format!("{name}: {error:#}");
            eprintln!("error: {error}");
            errors.push(error);
        }
    }
    if let Some(background) = background
        && let Err(error) = background.end()
    {
        errors.push(format!("{error:#}"));
    }
    println!("\n{}", lines.join("\n"));
    if !errors.is_empty() {
        bail!("{} failed\n{}", errors.len(), errors.join("\n"));
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
            Some(nice) => {
                let mut command = command(nice);
                command.arg(xtask);
                command
            }
            None => command(xtask),
        };
        command.args(["test", "--only", names]);
        let file = output.reopen()?;
        let process = command.stdout(file.try_clone()?).stderr(file).spawn()?;
        Ok(Background { process, output })
    }

    /// Waits for the end of the steps and prints their output, which ends with their lines.
    fn end(mut self) -> Result<()> {
        let status = self.process.wait()?;
        say("Output of the steps in the background");
        print!("{}", fs::read_to_string(self.output.path())?);
        if !status.success() {
            bail!("a step in the background failed");
        }
        Ok(())
    }
}
