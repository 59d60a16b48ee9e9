//! The steps of `cargo xtask test` and `cargo xtask check`.

use std::{fs, process::Command};

use anyhow::{Result, bail};

use super::Args;
use crate::{
    docs, fuzz, npm,
    shell::{
        call, cargo, command, npm as npm_command, program, programs, root, run_tests, target_dir,
        which,
    },
    site, tools,
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
    pub(super) run: fn(&Args) -> Result<()>,
}

const fn step(
    name: &'static str,
    when: When,
    run: fn(&Args) -> Result<()>,
    about: &'static str,
) -> Step {
    Step {
        name,
        about,
        when,
        run,
    }
}

pub(super) const STEPS: &[Step] = &[
    step("fmt", When::Always, fmt, "formatting"),
    step("clippy", When::Always, clippy, "lints, native and wasm32"),
    step(
        "doc",
        When::Test,
        doc,
        "documentation of the crates without warnings",
    ),
    step(
        "fuzz",
        When::Test,
        fuzz,
        "fuzz targets of the parsers, for a few seconds",
    ),
    step(
        "types",
        When::Check,
        types,
        "types of the npm package and of the tests",
    ),
    step(
        "docs",
        When::Check,
        |_| docs::check(),
        "types of the documentation's scripts, its links and anchors",
    ),
    step("unit", When::Check, unit, "unit tests in Rust"),
    step(
        "rust",
        When::Test,
        rust,
        "unit, property and integration tests",
    ),
    step(
        "reader",
        When::Test,
        reader,
        "a reader in Python, written from FORMAT.md",
    ),
    step(
        "module",
        When::Test,
        module,
        "the npm package: build, types, tests in Node",
    ),
    step(
        "toolchains",
        When::Test,
        toolchains,
        "the npm package, packed, by a bundler and Node; by all bundlers with --all",
    ),
    step(
        "site",
        When::Always,
        site_types,
        "types and unit tests of the site",
    ),
    step(
        "browser",
        When::Test,
        browser,
        "end to end in Chromium, Firefox and WebKit",
    ),
    step(
        "faults",
        When::All,
        faults,
        "a host with faults and the package",
    ),
    step(
        "lighthouse",
        When::All,
        lighthouse,
        "Lighthouse's audits of the site and of the documentation",
    ),
    step(
        "data",
        When::All,
        |args| ignored_tests(args, &["spark::"]),
        "whole data sets, if they are on this machine",
    ),
    step(
        "spark",
        When::All,
        spark,
        "parts built by PySpark with two workers",
    ),
    step(
        "packages",
        When::All,
        packages,
        "the crates can be packaged",
    ),
];

/// Steps that run in the background, because they need no result of another step.
pub(super) const BACKGROUND: [&str; 4] = ["fmt", "clippy", "doc", "fuzz"];

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

fn fmt(_: &Args) -> Result<()> {
    tools::npm_ci("tests")?;
    call(cargo().args(["fmt", "--all", "--check"]))?;
    call(cargo().args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]))?;
    let mut scripts = command(tools::node()?);
    scripts.arg("tests/node_modules/prettier/bin/prettier.cjs");
    call(scripts.args(["--check", "--log-level", "warn", "**/*.{ts,tsx,js,mjs,css}"]))
}

fn clippy(_: &Args) -> Result<()> {
    let warnings = ["--", "-D", "warnings"];
    call(
        cargo()
            .args(["clippy", "--workspace", "--all-targets"])
            .args(warnings),
    )?;
    // The fuzz targets have a lock file of their own. A new dependency of the workspace makes that file stale.
    let lock = ["update", "--workspace", "--locked", "--quiet"];
    call(
        cargo()
            .args(lock)
            .args(["--manifest-path", "fuzz/Cargo.toml"]),
    )?;
    tools::wasm_target()?;
    let native = ["shelfish-cli", "shelfish-lab", "shelfish-attack", "xtask"];
    call(
        cargo()
            .args([
                "clippy",
                "--workspace",
                "--lib",
                "--target",
                "wasm32-unknown-unknown",
            ])
            .args(native.iter().flat_map(|name| ["--exclude", name]))
            .args(warnings),
    )
}

fn doc(_: &Args) -> Result<()> {
    let mut doc = cargo();
    select(doc.arg("doc"), &PUBLISHED);
    call(doc.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings"))
}

fn packages(_: &Args) -> Result<()> {
    let mut package = cargo();
    call(select(
        package.args(["package", "--allow-dirty", "--quiet"]),
        &PUBLISHED,
    ))
}

fn types(_: &Args) -> Result<()> {
    npm::types()?;
    npm_run("tests", &["run", "check"])
}

fn unit(_: &Args) -> Result<()> {
    run_tests(cargo().args(["test", "--workspace", "--lib", "--bins", "--no-fail-fast"]))
}

fn rust(args: &Args) -> Result<()> {
    tools::for_rust_tests();
    let mut tests = cargo();
    tests
        .args(["test", "--workspace", "--no-fail-fast", "--"])
        .args(&args.filter);
    if args.all {
        tests.env("SHELFISH_LONG", "1");
    }
    run_tests(&mut tests)
}

fn reader(_: &Args) -> Result<()> {
    let Some(bin) = tools::remark(tools::python("reader")) else {
        return Ok(());
    };
    programs(&["shelfish-cli"])?;
    let mut tests = command(bin.join("python"));
    run_tests(
        tests
            .arg("tests/reader/test.py")
            .env("SHELFISH", program("shelfish")),
    )
}

fn fuzz(_: &Args) -> Result<()> {
    fuzz::run_shortly()
}

fn spark(args: &Args) -> Result<()> {
    if which(["java"]).is_none() {
        bail!("Spark needs Java 17 or later; on Debian, install openjdk-17-jre-headless");
    }
    tools::python("spark")?;
    ignored_tests(args, &["data::", "soak::"])
}

/// Runs the ignored tests of the program. Leaves out tests whose names contain a text of `except`.
fn ignored_tests(args: &Args, except: &[&str]) -> Result<()> {
    run_tests(
        cargo()
            .args([
                "test",
                "--package",
                "shelfish-cli",
                "--test",
                "program",
                "--",
            ])
            // One after another: each test uses all memory and all cores that it can get.
            .args(["--ignored", "--test-threads=1"])
            .args(except.iter().flat_map(|name| ["--skip", name]))
            .args(&args.filter),
    )
}

/// Runs a script of a folder's package.
fn npm_run(folder: &str, words: &[&str]) -> Result<()> {
    tools::npm_ci(folder)?;
    run_tests(npm_command().args(words).current_dir(root().join(folder)))
}

fn module(args: &Args) -> Result<()> {
    npm::build()?;
    npm_run("tests", &["run", "check"])?;
    node_tests(args, "tests/npm", &[])
}

fn toolchains(args: &Args) -> Result<()> {
    npm::build()?;
    let folder = target_dir().join("toolchains").display().to_string();
    node_tests(args, "tests/toolchains", &[("SHELFISH_TOOLCHAINS", folder)])
}

fn site_types(_: &Args) -> Result<()> {
    npm::build()?;
    npm_run("www", &["run", "check"])?;
    npm_run("www", &["test"])
}

fn browser(args: &Args) -> Result<()> {
    tools::engines();
    let app = npm::web_app()?.display().to_string();
    on_site(args, "tests/browser", &[("SHELFISH_WEB_APP", app)])
}

fn faults(args: &Args) -> Result<()> {
    on_site(args, "tests/faults", &[])
}

fn lighthouse(args: &Args) -> Result<()> {
    tools::npm_ci("tests/lighthouse")?;
    on_site(args, "tests/lighthouse", &[])
}

/// Runs tests of the site with the sample database.
fn on_site(args: &Args, directory: &str, variables: &[(&str, String)]) -> Result<()> {
    let site = site::sample()?.display().to_string();
    node_tests(
        args,
        directory,
        &[variables, &[("SHELFISH_SITE", site)]].concat(),
    )
}

/// Runs the `*.test.mjs` files of a directory by Node's own test runner.
fn node_tests(args: &Args, directory: &str, variables: &[(&str, String)]) -> Result<()> {
    tools::npm_ci("tests")?;
    programs(&["shelfish-cli", "shelfish-attack"])?;
    let mut files: Vec<String> = fs::read_dir(root().join(directory))?
        .flatten()
        .map(|entry| entry.path().display().to_string())
        .filter(|path| path.ends_with(".test.mjs"))
        .collect();
    files.sort();
    // One file more than cores: browsers and slow networks leave a core idle now and then.
    let files_at_a_time = std::thread::available_parallelism().map_or(1, usize::from) + 1;
    let limit = FILE_LIMITS[usize::from(args.all || !args.choice.only.is_empty())];
    // Databases and folders that several files read are built once.
    let fixtures = tempfile::tempdir()?;
    let mut node = command(tools::node()?);
    node.args(["--test", "--test-reporter=spec"])
        .arg(format!("--test-concurrency={files_at_a_time}"))
        .arg(format!("--test-timeout={}", limit * 60_000))
        .args(
            args.filter
                .iter()
                .map(|filter| format!("--test-name-pattern={filter}")),
        )
        .args(files)
        .env("SHELFISH_FIXTURES", fixtures.path())
        .env("CHROMIUM", tools::chromium()?)
        .env("SHELFISH", program("shelfish"))
        .env("SHELFISH_ATTACK", program("attack"))
        .env("PATH", tools::path())
        .envs(variables.iter().map(|(name, value)| (name, value)));
    if args.all {
        node.env("SHELFISH_LONG", "1");
    }
    run_tests(&mut node)
}
