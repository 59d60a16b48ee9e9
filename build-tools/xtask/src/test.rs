//! `cargo xtask test`: every check that a change must pass, one step after the other, whatever fails on the way.

mod aside;
mod node;
mod tally;

use std::{
    io::Write,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use aside::Aside;
use node::{browser_tests, node_tests};
use tally::{Tally, cargo_counts, check, counted, vitest_counts};

use crate::{
    fuzz, npm, release,
    shell::{build_for_tests, call, cargo, command, npm as npm_command, programs, root, say, target_dir, which},
    site as deployed, tools, web_app, workflows,
};

/// Options of `cargo xtask test`.
#[derive(clap::Args)]
pub struct Args {
    /// Run these steps only
    #[arg(long, value_name = "STEP", value_delimiter = ',')]
    only: Vec<String>,
    /// Run the tests whose name contains this only
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// Run what takes longer, too: the largest data sets, random damage a hundred times as often, fuzz targets for
    /// minutes, every bundler
    #[arg(long)]
    all: bool,
    /// Name the steps and stop
    #[arg(long)]
    list: bool,
}

impl Args {
    /// Whether a step of minutes is to run: with all, or because it was named.
    fn takes_long(&self, step: &str) -> bool {
        self.all || self.only.iter().any(|name| name == step)
    }
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Args) -> Result<Tally>,
    /// Whether it keeps the processor busy and needs nothing of the other steps, most of which wait for browsers.
    aside: bool,
}

impl Step {
    const fn new(name: &'static str, about: &'static str, run: fn(&Args) -> Result<Tally>) -> Step {
        Step { name, about, run, aside: false }
    }

    const fn aside(self) -> Step {
        Step { aside: true, ..self }
    }
}

const STEPS: &[Step] = &[
    Step::new("fmt", "formatting", fmt).aside(),
    Step::new("clippy", "lints, native", clippy).aside(),
    Step::new("clippy-wasm", "lints, wasm32", clippy_wasm).aside(),
    Step::new("systems", "lints for Windows, macOS and Linux on ARM, with --all", systems),
    Step::new("doc", "documentation builds without warnings, crates can be packaged", doc).aside(),
    Step::new("rust", "unit, property and integration tests", rust),
    Step::new("fuzz", "fuzz targets of the parsers, for a few seconds", fuzz).aside(),
    Step::new("data", "whole data sets, where they are at hand", data).aside(),
    Step::new("spark", "parts built by PySpark with two workers, with --all", spark),
    Step::new("module", "the npm package: build, types, tests in Node", module),
    Step::new("toolchains", "the npm package, packed, by bundlers and runtimes", toolchains),
    Step::new("site", "the site: types, tests, build", site),
    Step::new(
        "workflows",
        "what GitHub, systemd and releases run, as far as it runs here; archives of the program with --all",
        workflows,
    ),
    Step::new("browser", "end to end in Chromium, Firefox and WebKit", browser),
    Step::new(
        "lighthouse",
        "every page of the site as Lighthouse judges it on a phone; all on a desktop and their performance with --all",
        lighthouse,
    ),
];

/// Runs the steps.
pub fn run(args: &Args) -> Result<()> {
    if args.list {
        STEPS.iter().for_each(|step| println!("{:12} {}", step.name, step.about));
        return Ok(());
    }
    if let Some(unknown) = args.only.iter().find(|name| STEPS.iter().all(|step| step.name != *name)) {
        bail!("there is no step {unknown}; `cargo xtask test --list` names them");
    }
    tools::components()?;
    build_for_tests();
    if args.only.is_empty() {
        tools::install_ahead();
    }
    // With all, some tests measure, and nothing else is to run meanwhile.
    let aside = if args.only.is_empty() && !args.all { Some(Aside::start(args)?) } else { None };

    let mut lines = Vec::new();
    let mut sum = Tally::default();
    let is_asked = |step: &&Step| match args.only.as_slice() {
        [] => !(step.aside && aside.is_some()),
        names => names.iter().any(|name| name == step.name),
    };
    for step in STEPS.iter().filter(is_asked) {
        say(format!("{}: {}", step.name, step.about));
        let (start, before) = (Instant::now(), processor_time());
        let tally = (step.run)(args).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Tally { passed: 0, failed: 1 }
        });
        let verdict = if tally.failed == 0 { "ok" } else { "FAILED" };
        let processor = processor_time().zip(before).map(|(after, before)| after.saturating_sub(before));
        lines.push(line(step.name, verdict, tally, start.elapsed(), processor));
        sum = sum.and(tally);
    }
    if let Some(aside) = aside {
        say("What ran aside");
        sum = sum.and(aside.end()?);
    }

    println!("\n{}", lines.join("\n"));
    println!("{} passed, {} failed", sum.passed, sum.failed);
    std::io::stdout().flush()?;
    if sum.failed > 0 {
        bail!("{} of {} failed", sum.failed, sum.passed + sum.failed);
    }
    Ok(())
}

fn line(name: &str, verdict: &str, tally: Tally, time: Duration, processor: Option<Duration>) -> String {
    let counts = format!("{:4} passed {:3} failed", tally.passed, tally.failed);
    let processor = processor.map(|time| format!(", {:6.1} s of processor time", time.as_secs_f64()));
    format!("{name:12} {verdict:7} {counts} {:6.1} s{}", time.as_secs_f64(), processor.unwrap_or_default())
}

/// What the programs that ran and ended took of all processors together, where the system tells it.
fn processor_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{UsageWho, getrusage};
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN).ok()?;
        let microseconds =
            [usage.user_time(), usage.system_time()].map(|time| nix::sys::time::TimeValLike::num_microseconds(&time));
        Some(Duration::from_micros(microseconds.iter().sum::<i64>().try_into().ok()?))
    }
    #[cfg(not(unix))]
    None
}

fn fmt(_: &Args) -> Result<Tally> {
    let workspace = check(cargo().args(["fmt", "--all", "--check"]))?;
    Ok(workspace.and(check(cargo().args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?))
}

/// Packages, as cargo takes them.
fn selected<'a>(packages: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    packages.into_iter().flat_map(|name| ["--package", name]).collect()
}

fn clippy(_: &Args) -> Result<Tally> {
    check(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn clippy_wasm(_: &Args) -> Result<Tally> {
    tools::wasm_target()?;
    // The reader without the writer's features, which the workspace turns on, is among them.
    let bindings = ["shelfish-wasm", "shelfish-analysis-wasm", "shelfish-engine-wasm", "shelfish-web-app"];
    let packages = selected(["shelfish", "shelfish-engine"].into_iter().chain(bindings));
    let target = ["--lib", "--target", "wasm32-unknown-unknown", "--", "-D", "warnings"];
    let evaluations = check(cargo().arg("clippy").args(packages).args(target))?;
    let books = ["clippy", "--package", "shelfish-wasm", "--features", "moves"];
    Ok(evaluations.and(check(cargo().args(books).args(target))?))
}

/// What only other systems compile of the libraries, the program and the chores.
fn systems(args: &Args) -> Result<Tally> {
    if !args.takes_long("systems") {
        say("NOT TESTED: lints of other systems take minutes and half a gigabyte of packages, see --all");
        return Ok(Tally::default());
    }
    let packages = selected(["shelfish", "shelfish-analysis", "shelfish-engine", "shelfish-cli", "xtask"]);
    let clippy = |target| {
        let mut clippy = tools::zigbuild(target)?;
        check(clippy.arg("clippy").args(&packages).args(["--target", target, "--", "-D", "warnings"]))
    };
    let mut tally = Tally::default();
    for target in ["x86_64-pc-windows-gnu", "aarch64-apple-darwin", "aarch64-unknown-linux-musl"] {
        tally = tally.and(clippy(target).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Tally { passed: 0, failed: 1 }
        }));
    }
    Ok(tally)
}

fn doc(args: &Args) -> Result<Tally> {
    let packages = selected(["shelfish", "shelfish-analysis", "shelfish-engine", "shelfish-cli"]);
    // With the features that the program has, so that what it depends on has been checked for the lints.
    let mut doc = cargo();
    doc.arg("doc").args(&packages).arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings");
    let doc = check(&mut doc)?;
    tools::wasm_target()?;
    let mut web = cargo();
    web.args(["doc", "--package", "shelfish", "--no-deps", "--features", "web", "--target", "wasm32-unknown-unknown"]);
    let doc = doc.and(check(web.env("RUSTDOCFLAGS", "-D warnings"))?);
    // What other crates would get. That it compiles takes minutes.
    let mut package = cargo();
    package.args(["package", "--allow-dirty", "--quiet"]).args(packages);
    if !args.all {
        package.arg("--no-verify");
    }
    Ok(doc.and(check(&mut package)?))
}

fn rust(args: &Args) -> Result<Tally> {
    // What fails to compile is told by the tests; meanwhile, what they need from registries arrives.
    let _ = call(cargo().args(["test", "--workspace", "--no-run", "--quiet"]));
    tools::stores();
    let test = |packages: &[&str]| {
        let mut tests = cargo();
        tests.args(["test", "--no-fail-fast"]).args(packages);
        if args.all {
            tests.env("SHELFISH_LONG", "1");
        }
        counted(tests.args(args.filter.iter().flat_map(|filter| ["--", filter])), cargo_counts)
    };
    let workspace = test(&["--workspace"])?;
    // The reader as browsers run it: in the workspace other packages turn the feature `write` on.
    Ok(workspace.and(test(&["--package", "shelfish"])?))
}

fn fuzz(args: &Args) -> Result<Tally> {
    Ok(Tally { passed: fuzz::run(&fuzz::Args::of_seconds(if args.all { 120 } else { 2 }))?, failed: 0 })
}

fn data(args: &Args) -> Result<Tally> {
    let long = ["evals_sf", "evals_tcec", "threads_and_memory", "a_change", "a_book_of_all_games"];
    ignored_tests(args, ["spark::"].into_iter().chain(long.into_iter().filter(|_| !args.all)))
}

fn spark(args: &Args) -> Result<Tally> {
    if !args.takes_long("spark") {
        say("NOT TESTED: Spark takes minutes and half a gigabyte of packages, see --all");
        return Ok(Tally::default());
    }
    if which(["java"]).is_none() {
        bail!("Spark takes Java 17 or later; on Debian, openjdk-17-jre-headless");
    }
    tools::python("spark")?;
    ignored_tests(args, ["data::"])
}

/// The tests of the program that its other tests leave out, but those whose names have one of these.
fn ignored_tests<'a>(args: &Args, but: impl IntoIterator<Item = &'a str>) -> Result<Tally> {
    let mut tests = cargo();
    tests.args(["test", "--package", "shelfish-cli", "--test", "program", "--", "--ignored", "--nocapture"]);
    // One after another: each takes the memory and the cores that it can get.
    tests.arg("--test-threads=1").args(but.into_iter().flat_map(|name| ["--skip", name]));
    counted(tests.args(&args.filter), cargo_counts)
}

fn module(args: &Args) -> Result<Tally> {
    npm::build()?;
    npm::cache()?;
    tools::npm_ci("tests")?;
    let types = check(npm_command().args(["run", "check"]).current_dir(root().join("tests")))?;
    tested_programs()?;
    let mut node = command(tools::node()?);
    if args.all {
        node.env("SHELFISH_LONG", "1");
    }
    Ok(types.and(node_tests(args, "tests/npm", &mut node)?))
}

fn toolchains(args: &Args) -> Result<Tally> {
    let chromium = tools::chromium()?;
    npm::build()?;
    tools::npm_ci("tests")?;
    let mut node = command(tools::node()?);
    node.env("CHROMIUM", chromium).env("SHELFISH_TOOLCHAINS", target_dir().join("toolchains"));
    if args.all {
        node.env("SHELFISH_LONG", "1");
    }
    node_tests(args, "tests/toolchains", &mut node)
}

fn site(_: &Args) -> Result<Tally> {
    deployed::pages(None, None)?;
    let www = root().join("www");
    let types = check(npm_command().args(["run", "check"]).current_dir(&www))?;
    Ok(types.and(counted(npm_command().arg("test").current_dir(&www), vitest_counts)?))
}

fn workflows(args: &Args) -> Result<Tally> {
    let mut passed = workflows::lint()? + workflows::units()? + workflows::remember()?;
    release::check_now()?;
    passed += 1;
    if args.all {
        release::try_out()?;
        passed += 1;
    }
    Ok(Tally { passed, failed: 0 })
}

fn browser(args: &Args) -> Result<Tally> {
    let chromium = tools::chromium()?;
    tools::engines();
    tools::npm_ci("tests")?;
    tested_programs()?;
    let site = deployed::sample(&deployed::default_out())?;
    let app = web_app::build()?;
    if args.all {
        // Half a gigabyte, of which two files are used.
        tools::npm_ci("tests/deep")?;
    }
    let mut node = command(tools::node()?);
    node.env("CHROMIUM", chromium).env("SHELFISH_SITE", site).env("SHELFISH_WEB_APP", app).env("PATH", tools::path());
    browser_tests(args, "tests/browser", &mut node)
}

fn lighthouse(args: &Args) -> Result<Tally> {
    if let Err(error) = tools::npm_ci("tests/lighthouse") {
        say(format!("NOT TESTED by Lighthouse: {error:#}"));
        return Ok(Tally::default());
    }
    let chromium = tools::chromium()?;
    let site = deployed::sample(&deployed::default_out())?;
    let mut node = command(tools::node()?);
    node.env("CHROMIUM", chromium).env("SHELFISH_SITE", site);
    if args.all {
        node.env("SHELFISH_LONG", "1");
    }
    browser_tests(args, "tests/lighthouse", &mut node)
}

/// The programs that tests in Node use.
fn tested_programs() -> Result<()> {
    programs(&["shelfish-cli", "shelfish-attack"])
}
