//! `cargo xtask test`: every check that a change must pass, one step after the other, whatever fails on the way.

use std::{
    collections::BTreeSet,
    io::Write,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Result, bail};

use crate::{
    fuzz, npm, release,
    shell::{
        build_for_tests, call, cargo, command, npm as npm_command, program, programs, root, say, target_dir, watch,
        which,
    },
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

/// How many tests passed and failed.
#[derive(Clone, Copy, Default)]
struct Tally {
    passed: usize,
    failed: usize,
}

struct Step {
    name: &'static str,
    about: &'static str,
    run: fn(&Args) -> Result<Tally>,
}

const STEPS: &[Step] = &[
    Step { name: "fmt", about: "formatting", run: |_| check(cargo().args(["fmt", "--all", "--check"])) },
    Step { name: "clippy", about: "lints, native", run: clippy },
    Step { name: "clippy-wasm", about: "lints, wasm32", run: clippy_wasm },
    Step { name: "systems", about: "lints for Windows, macOS and Linux on ARM, with --all", run: systems },
    Step { name: "doc", about: "documentation builds without warnings, crates can be packaged", run: doc },
    Step { name: "rust", about: "unit, property and integration tests", run: rust },
    Step { name: "fuzz", about: "fuzz targets of the parsers, for a few seconds", run: fuzz },
    Step { name: "data", about: "whole data sets, where they are at hand", run: data },
    Step { name: "spark", about: "parts built by PySpark with two workers, with --all", run: spark },
    Step { name: "module", about: "the npm package: build, types, tests in Node", run: module },
    Step { name: "toolchains", about: "the npm package, packed, by bundlers and runtimes", run: toolchains },
    Step { name: "site", about: "the site: types, tests, build", run: site },
    Step {
        name: "workflows",
        about: "what GitHub, systemd and releases run, as far as it runs here; archives of the program with --all",
        run: workflows,
    },
    Step { name: "browser", about: "end to end in Chromium, Firefox and WebKit", run: browser },
    Step {
        name: "lighthouse",
        about: "every page of the site as Lighthouse judges it on a phone; all on a desktop and their performance with --all",
        run: lighthouse,
    },
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

    let mut lines = Vec::new();
    let mut sum = Tally::default();
    for step in STEPS.iter().filter(|step| args.only.is_empty() || args.only.iter().any(|name| name == step.name)) {
        say(format!("{}: {}", step.name, step.about));
        let (start, before) = (Instant::now(), processor_time());
        let tally = (step.run)(args).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Tally { passed: 0, failed: 1 }
        });
        let verdict = if tally.failed == 0 { "ok" } else { "FAILED" };
        let processor = processor_time().zip(before).map(|(after, before)| after.saturating_sub(before));
        lines.push(line(step.name, verdict, tally, start.elapsed(), processor));
        sum.passed += tally.passed;
        sum.failed += tally.failed;
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

fn clippy(_: &Args) -> Result<Tally> {
    check(cargo().args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))
}

fn clippy_wasm(_: &Args) -> Result<Tally> {
    tools::wasm_target()?;
    // The reader without the writer's features, which the workspace turns on, is among them.
    let bindings = ["shelfish-wasm", "shelfish-analysis-wasm", "shelfish-engine-wasm", "shelfish-web-app"];
    let packages = ["shelfish", "shelfish-engine"].into_iter().chain(bindings).flat_map(|name| ["--package", name]);
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
    let packages = ["shelfish", "shelfish-analysis", "shelfish-engine", "shelfish-cli", "xtask"];
    let packages: Vec<&str> = packages.into_iter().flat_map(|name| ["--package", name]).collect();
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
    let packages = ["shelfish", "shelfish-analysis", "shelfish-engine", "shelfish-cli"];
    let packages: Vec<&str> = packages.into_iter().flat_map(|name| ["--package", name]).collect();
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
    Ok(Tally { passed: fuzz::run(if args.all { 120 } else { 4 })?, failed: 0 })
}

fn data(args: &Args) -> Result<Tally> {
    let mut tests = cargo();
    tests.args(["test", "--package", "shelfish-cli", "--test", "data", "--", "--ignored", "--nocapture"]);
    // One after another: each takes the memory and the cores that it can get.
    tests.arg("--test-threads=1");
    if !args.all {
        tests.args(
            ["evals_tcec", "threads_and_memory", "a_change", "a_book_of_all_games"]
                .into_iter()
                .flat_map(|long| ["--skip", long]),
        );
    }
    counted(tests.args(&args.filter), cargo_counts)
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
    let mut tests = cargo();
    tests.args(["test", "--package", "shelfish-cli", "--test", "spark", "--", "--ignored", "--nocapture"]);
    counted(tests.arg("--test-threads=1").args(&args.filter), cargo_counts)
}

fn module(args: &Args) -> Result<Tally> {
    npm::build()?;
    npm::cache()?;
    tools::npm_ci("tests")?;
    let types = check(npm_command().args(["run", "check"]).current_dir(root().join("tests")))?;
    tested_programs()?;
    let mut node = command(tools::node()?);
    if args.all {
        node.env("SHELFISH_LARGE", "1");
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

/// Runs Node's own test runner over the `*.test.mjs` of a directory.
fn node_tests(args: &Args, directory: &str, node: &mut Command) -> Result<Tally> {
    // Two files at a time: the tests of slow networks mostly wait.
    Ok(run_node(args, node, &test_files(directory)?, 2)?.0)
}

/// Tests of so many files may fail for the load of the machine; more are no accident.
const MOST_AGAIN: usize = 3;

/// As [`node_tests`]; where few of the files fail, these run again by themselves, and it is said which: on a machine that does
/// other work, a browser may take longer than a test waits. What needs no browser has no such excuse.
fn browser_tests(args: &Args, directory: &str, node: &mut Command) -> Result<Tally> {
    let mut again = copy(node);
    let (first, failed) = run_node(args, node, &test_files(directory)?, 2)?;
    if failed.is_empty() || failed.len() > MOST_AGAIN {
        return Ok(first);
    }
    say(format!("{} failed; again, alone: {}", first.failed, failed.join(", ")));
    let (second, _) = run_node(args, &mut again, &failed, 1)?;
    let mended = first.failed.saturating_sub(second.failed);
    say(format!("PASSED ONLY WHEN RUN AGAIN: {mended}"));
    Ok(Tally { passed: first.passed + mended, failed: second.failed })
}

fn test_files(directory: &str) -> Result<Vec<String>> {
    let entries = std::fs::read_dir(root().join(directory))?.flatten();
    let mut files: Vec<String> = entries.map(|entry| entry.path().display().to_string()).collect();
    files.retain(|path| path.ends_with(".test.mjs"));
    files.sort();
    Ok(files)
}

/// Runs files of tests, some at a time; and says in which of them one failed.
fn run_node(args: &Args, node: &mut Command, files: &[String], at_a_time: usize) -> Result<(Tally, Vec<String>)> {
    node.args(["--test", "--test-reporter=spec"]);
    node.env("SHELFISH", program("shelfish")).env("SHELFISH_ATTACK", program("attack"));
    if let Some(filter) = &args.filter {
        node.arg(format!("--test-name-pattern={filter}"));
    }
    let mut failed = BTreeSet::new();
    let tally = counted(node.arg(format!("--test-concurrency={at_a_time}")).args(files), |line| {
        failed.extend(failed_file(line));
        node_counts(line)
    })?;
    Ok((tally, failed.into_iter().collect()))
}

/// A command with the same program, arguments and environment.
fn copy(command: &Command) -> Command {
    let mut copy = Command::new(command.get_program());
    copy.args(command.get_args()).envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    copy.current_dir(root());
    copy
}

/// `test at tests/browser/board.test.mjs:50:7`, which stands in the list of what failed.
fn failed_file(line: &str) -> Option<String> {
    let (file, _) = line.strip_prefix("test at ")?.split_once(".test.mjs:")?;
    Some(format!("{file}.test.mjs"))
}

/// A command that passes or fails as one.
fn check(command: &mut Command) -> Result<Tally> {
    call(command)?;
    Ok(Tally { passed: 1, failed: 0 })
}

/// A command that says how many of its tests passed; one that fails without a failed test counts as one more failure.
fn counted(command: &mut Command, mut count: impl FnMut(&str) -> Tally) -> Result<Tally> {
    let mut tally = Tally::default();
    // Colours would hide the figures.
    command.env("NO_COLOR", "1").env_remove("FORCE_COLOR");
    let fine = watch(command, |line| tally = tally.and(count(line)))?;
    if !fine && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

/// `test result: ok. 12 passed; 0 failed; ...`
fn cargo_counts(line: &str) -> Tally {
    let number = |before: &str| line.split_once(before)?.0.rsplit(' ').next()?.parse().ok();
    match line.starts_with("test result:") {
        true => Tally { passed: number(" passed;").unwrap_or(0), failed: number(" failed;").unwrap_or(0) },
        false => Tally::default(),
    }
}

/// `ℹ pass 12`, `ℹ fail 0`
fn node_counts(line: &str) -> Tally {
    let number = |word: &str| line.trim_start_matches(['ℹ', '#', ' ']).strip_prefix(word)?.trim().parse().ok();
    match line.starts_with(['ℹ', '#']) {
        true => Tally { passed: number("pass ").unwrap_or(0), failed: number("fail ").unwrap_or(0) },
        false => Tally::default(),
    }
}

/// `Tests  1 failed | 11 passed (12)`
fn vitest_counts(line: &str) -> Tally {
    let words: Vec<&str> = line.split_whitespace().collect();
    let before = |word: &str| words.windows(2).find(|pair| pair[1] == word)?[0].parse().ok();
    match words.first() {
        Some(&"Tests") => Tally { passed: before("passed").unwrap_or(0), failed: before("failed").unwrap_or(0) },
        _ => Tally::default(),
    }
}

impl Tally {
    fn and(self, other: Tally) -> Tally {
        Tally { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_read() {
        let tally = cargo_counts("test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 0 filtered out");
        assert_eq!((tally.passed, tally.failed), (12, 3));
        assert_eq!((node_counts("ℹ pass 7").passed, node_counts("ℹ fail 2").failed), (7, 2));
        assert_eq!(node_counts("ok 7 pass 3").passed, 0);
        let line = "test at tests/browser/board-axe.test.mjs:50:7";
        assert_eq!(failed_file(line).as_deref(), Some("tests/browser/board-axe.test.mjs"));
        assert_eq!(failed_file("✖ failing tests:"), None);
        let tally = vitest_counts("      Tests  1 failed | 11 passed (12)");
        assert_eq!((tally.passed, tally.failed), (11, 1));
    }
}
