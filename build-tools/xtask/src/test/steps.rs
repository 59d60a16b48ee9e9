//! The steps of `cargo xtask test` and `cargo xtask check`.

use std::process::Command;

use anyhow::{Result, bail};

use super::Args;
use crate::{
    docs, fuzz, npm,
    shell::{cargo, command, npm as npm_command, program, programs, root, target_dir, which},
    site,
    tally::{Tally, check, counted},
    tools,
};

/// The command that runs a step unless `--only` names the step.
pub(super) enum When {
    Check,
    Test,
    /// Check and test.
    Always,
    /// `cargo xtask test --all`.
    All,
}

pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) when: When,
    pub(super) run: fn(&Args) -> Result<Tally>,
    /// Whether the step runs in the background. It needs no result of another step.
    pub(super) background: bool,
}

const fn step(
    name: &'static str,
    about: &'static str,
    when: When,
    run: fn(&Args) -> Result<Tally>,
) -> Step {
    Step {
        name,
        about,
        when,
        run,
        background: false,
    }
}

const fn aside(
    name: &'static str,
    about: &'static str,
    when: When,
    run: fn(&Args) -> Result<Tally>,
) -> Step {
    Step {
        background: true,
        ..step(name, about, when, run)
    }
}

pub(super) const STEPS: &[Step] = &[
    aside("fmt", "formatting", When::Always, fmt),
    aside("clippy", "lints, native and wasm32", When::Always, clippy),
    aside(
        "doc",
        "documentation of the crates without warnings",
        When::Test,
        doc,
    ),
    aside(
        "fuzz",
        "fuzz targets of the parsers, for a few seconds",
        When::Test,
        fuzz,
    ),
    step(
        "types",
        "types of the npm package and of the tests",
        When::Check,
        types,
    ),
    step(
        "docs",
        "types of the documentation's scripts, its links and anchors",
        When::Check,
        |_| docs::check(),
    ),
    step("unit", "unit tests in Rust", When::Check, unit),
    step(
        "rust",
        "unit, property and integration tests",
        When::Test,
        rust,
    ),
    step(
        "module",
        "the npm package: build, types, tests in Node",
        When::Test,
        module,
    ),
    step(
        "toolchains",
        "the npm package, packed, by a bundler and Node; by all bundlers with --all",
        When::Test,
        toolchains,
    ),
    step(
        "site",
        "types and unit tests of the site",
        When::Always,
        site_types,
    ),
    step(
        "browser",
        "end to end in Chromium, Firefox and WebKit",
        When::Test,
        browser,
    ),
    step(
        "faults",
        "a host with faults and every reader",
        When::All,
        faults,
    ),
    step(
        "lighthouse",
        "Lighthouse's audits of the site and of the documentation",
        When::All,
        lighthouse,
    ),
    step(
        "data",
        "whole data sets, if they are on this machine",
        When::All,
        |args| ignored_tests(args, &["spark::"]),
    ),
    step(
        "spark",
        "parts built by PySpark with two workers",
        When::All,
        spark,
    ),
    step(
        "systems",
        "lints for Windows, macOS and Linux on ARM",
        When::All,
        systems,
    ),
    step(
        "packages",
        "the crates can be packaged",
        When::All,
        packages,
    ),
];

/// Crates that are published.
const PUBLISHED: [&str; 5] = [
    "shelfish",
    "shelfish-analysis",
    "shelfish-endgames",
    "shelfish-engine",
    "shelfish-cli",
];

/// Minutes after which a file of tests is stopped and fails, so that a test without an end does not stop the whole run. Tests with
/// `--all` or `--only` may be long.
const FILE_LIMITS: [u64; 2] = [15, 240];

/// Adds options of cargo that select packages.
fn select<'a>(cargo: &'a mut Command, packages: &[&str]) -> &'a mut Command {
    cargo.args(packages.iter().flat_map(|name| ["--package", name]))
}

fn fmt(_: &Args) -> Result<Tally> {
    tools::npm_ci("tests")?;
    let mut scripts = command(tools::node()?);
    scripts.arg("tests/node_modules/prettier/bin/prettier.cjs");
    scripts.args(["--check", "--log-level", "warn", "**/*.{ts,tsx,js,mjs,css}"]);
    let mut fuzz = cargo();
    fuzz.args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]);
    let workspace = check(cargo().args(["fmt", "--all", "--check"]))?;
    Ok(workspace.and(check(&mut fuzz)?).and(check(&mut scripts)?))
}

fn clippy(_: &Args) -> Result<Tally> {
    let native = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    // The fuzz targets have a lock file of their own. A new dependency of the workspace makes that file stale.
    let lock = [
        "update",
        "--workspace",
        "--locked",
        "--quiet",
        "--manifest-path",
        "fuzz/Cargo.toml",
    ];
    let tally = check(cargo().args(native))?.and(check(cargo().args(lock))?);
    tools::wasm_target()?;
    let mut wasm = cargo();
    wasm.args([
        "clippy",
        "--workspace",
        "--lib",
        "--target",
        "wasm32-unknown-unknown",
    ]);
    let native = ["shelfish-cli", "shelfish-lab", "shelfish-attack", "xtask"];
    wasm.args(native.iter().flat_map(|name| ["--exclude", name]));
    wasm.args(["--", "-D", "warnings"]);
    Ok(tally.and(check(&mut wasm)?))
}

/// Lints code that only other systems compile.
fn systems(_: &Args) -> Result<Tally> {
    let mut tally = Tally::default();
    for target in [
        "x86_64-pc-windows-gnu",
        "aarch64-apple-darwin",
        "aarch64-unknown-linux-musl",
    ] {
        let mut clippy = tools::zigbuild(target)?;
        select(clippy.arg("clippy"), &["shelfish-cli", "xtask"]);
        tally += check(clippy.args(["--target", target, "--", "-D", "warnings"]))?;
    }
    Ok(tally)
}

fn doc(_: &Args) -> Result<Tally> {
    let mut doc = cargo();
    select(doc.arg("doc"), &PUBLISHED);
    check(doc.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings"))
}

fn packages(_: &Args) -> Result<Tally> {
    let mut package = cargo();
    check(select(
        package.args(["package", "--allow-dirty", "--quiet"]),
        &PUBLISHED,
    ))
}

fn types(_: &Args) -> Result<Tally> {
    npm::types()?;
    Ok(Tally::passed(1).and(checked("tests")?))
}

fn unit(_: &Args) -> Result<Tally> {
    counted(cargo().args(["test", "--workspace", "--lib", "--bins", "--no-fail-fast"]))
}

fn rust(args: &Args) -> Result<Tally> {
    tools::stores();
    tools::disturbers();
    let mut tests = cargo();
    tests
        .args(["test", "--workspace", "--no-fail-fast", "--"])
        .args(&args.filter);
    if args.all {
        tests.env("SHELFISH_LONG", "1");
    }
    counted(&mut tests)
}

fn fuzz(args: &Args) -> Result<Tally> {
    fuzz::run(&fuzz::Args::of_seconds(if args.all { 600 } else { 2 }))
}

fn spark(args: &Args) -> Result<Tally> {
    if which(["java"]).is_none() {
        bail!("Spark needs Java 17 or later; on Debian, install openjdk-17-jre-headless");
    }
    tools::python("spark")?;
    ignored_tests(args, &["data::", "soak::"])
}

/// Runs the ignored tests of the program. Leaves out tests whose names contain a text of `except`.
fn ignored_tests(args: &Args, except: &[&str]) -> Result<Tally> {
    let mut tests = cargo();
    // One after another: each test uses all memory and all cores that it can get.
    tests.args([
        "test",
        "--package",
        "shelfish-cli",
        "--test",
        "program",
        "--",
    ]);
    tests.args(["--ignored", "--test-threads=1"]);
    counted(
        tests
            .args(except.iter().flat_map(|name| ["--skip", name]))
            .args(&args.filter),
    )
}

/// Checks the types of a folder's scripts.
fn checked(folder: &str) -> Result<Tally> {
    tools::npm_ci(folder)?;
    check(
        npm_command()
            .args(["run", "check"])
            .current_dir(root().join(folder)),
    )
}

fn module(args: &Args) -> Result<Tally> {
    npm::build()?;
    Ok(checked("tests")?.and(node_tests(args, "tests/npm", &[])?))
}

fn toolchains(args: &Args) -> Result<Tally> {
    npm::build()?;
    let folder = target_dir().join("toolchains").display().to_string();
    node_tests(args, "tests/toolchains", &[("SHELFISH_TOOLCHAINS", folder)])
}

fn site_types(_: &Args) -> Result<Tally> {
    npm::build()?;
    let types = checked("www")?;
    Ok(types.and(counted(
        npm_command().arg("test").current_dir(root().join("www")),
    )?))
}

fn browser(args: &Args) -> Result<Tally> {
    tools::engines();
    let app = npm::web_app()?.display().to_string();
    on_site(args, "tests/browser", &[("SHELFISH_WEB_APP", app)])
}

/// Asks readers about databases of a host with faults.
fn faults(args: &Args) -> Result<Tally> {
    tools::engines();
    on_site(args, "tests/faults", &[])
}

fn lighthouse(args: &Args) -> Result<Tally> {
    tools::npm_ci("tests/lighthouse")?;
    on_site(args, "tests/lighthouse", &[])
}

/// Runs tests of the site with the sample database.
fn on_site(args: &Args, directory: &str, variables: &[(&str, String)]) -> Result<Tally> {
    let site = site::sample()?.display().to_string();
    node_tests(
        args,
        directory,
        &[variables, &[("SHELFISH_SITE", site)]].concat(),
    )
}

/// Runs the `*.test.mjs` files of a directory by Node's own test runner.
fn node_tests(args: &Args, directory: &str, variables: &[(&str, String)]) -> Result<Tally> {
    tools::npm_ci("tests")?;
    programs(&["shelfish-cli", "shelfish-attack"])?;
    let entries = std::fs::read_dir(root().join(directory))?.flatten();
    let mut files: Vec<String> = entries
        .map(|entry| entry.path().display().to_string())
        .collect();
    files.retain(|path| path.ends_with(".test.mjs"));
    files.sort();
    // One file more than cores: browsers and slow networks leave a core idle now and then.
    let files_at_a_time = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    let limit = FILE_LIMITS[usize::from(args.all || !args.choice.only.is_empty())];
    let mut node = command(tools::node()?);
    node.args(["--test", "--test-reporter=spec"]).args([
        format!("--test-concurrency={files_at_a_time}"),
        format!("--test-timeout={}", limit * 60_000),
    ]);
    node.args(
        args.filter
            .iter()
            .map(|filter| format!("--test-name-pattern={filter}")),
    )
    .args(files);
    // Databases and folders that several files read are built once.
    let fixtures = tempfile::tempdir()?;
    node.env("SHELFISH_FIXTURES", fixtures.path())
        .env("CHROMIUM", tools::chromium()?);
    node.env("SHELFISH", program("shelfish"))
        .env("SHELFISH_ATTACK", program("attack"));
    node.env("PATH", tools::path())
        .envs(variables.iter().map(|(name, value)| (name, value)));
    if args.all {
        node.env("SHELFISH_LONG", "1");
    }
    counted(&mut node)
}
