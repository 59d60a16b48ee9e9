//! The steps of `cargo xtask test`.

use anyhow::{Result, bail};

use super::{Args, Step, node::node_tests};
use crate::{
    fuzz, npm, release,
    shell::{call, cargo, command, npm as npm_command, programs, root, target_dir, which},
    site as deployed,
    tally::{Tally, cargo_tests, check, counted, vitest_counts},
    tools, workflows,
};

pub(super) const STEPS: &[Step] = &[
    Step::new("fmt", "formatting", fmt).background(),
    Step::new("clippy", "lints, native", clippy).background(),
    Step::new("clippy-wasm", "lints, wasm32", clippy_wasm).background(),
    Step::new(
        "systems",
        "lints for Windows, macOS and Linux on ARM, with --all",
        systems,
    ),
    Step::new(
        "doc",
        "documentation builds without warnings, crates can be packaged",
        doc,
    )
    .background(),
    Step::new("rust", "unit, property and integration tests", rust),
    Step::new(
        "fuzz",
        "fuzz targets of the parsers, for a few seconds",
        fuzz,
    )
    .background(),
    Step::new("data", "whole data sets, if they are on this machine", data).background(),
    Step::new(
        "spark",
        "parts built by PySpark with two workers, with --all",
        spark,
    ),
    Step::new(
        "module",
        "the npm package: build, types, tests in Node",
        module,
    ),
    Step::new(
        "toolchains",
        "the npm package, packed, by bundlers and runtimes",
        toolchains,
    ),
    Step::new("site", "the site: types, tests, build", site),
    Step::new(
        "workflows",
        "files of GitHub, systemd and releases; archives of the program with --all",
        workflows,
    ),
    Step::new(
        "browser",
        "end to end in Chromium, Firefox and WebKit",
        browser,
    ),
    Step::new(
        "faults",
        "a host with faults and every reader: each fault once, all cells with --all",
        faults,
    ),
    Step::new(
        "lighthouse",
        "Lighthouse's audits of the site and of the documentation on a phone; on a desktop and of performance with --all",
        lighthouse,
    ),
];

pub(crate) fn fmt(_: &Args) -> Result<Tally> {
    tools::npm_ci("tests")?;
    let prettier = root().join("tests/node_modules/prettier/bin/prettier.cjs");
    let mut scripts = command(tools::node()?);
    scripts
        .arg(prettier)
        .args(["--check", "--log-level", "warn", "**/*.{ts,tsx,js,mjs,css}"])
        .current_dir(root());
    let mut fuzz = cargo();
    fuzz.args(["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"]);
    let workspace = check(cargo().args(["fmt", "--all", "--check"]))?;
    Ok(workspace.and(check(&mut fuzz)?).and(check(&mut scripts)?))
}

/// Options of cargo that select packages.
fn selected<'a>(packages: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    packages
        .into_iter()
        .flat_map(|name| ["--package", name])
        .collect()
}

pub(crate) fn clippy(_: &Args) -> Result<Tally> {
    let lints = check(cargo().args([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]))?;
    // The fuzz targets have a lock file of their own. A new dependency of the workspace makes that file stale.
    let lock = [
        "update",
        "--workspace",
        "--locked",
        "--quiet",
        "--manifest-path",
        "fuzz/Cargo.toml",
    ];
    Ok(lints.and(check(cargo().args(lock))?))
}

pub(crate) fn clippy_wasm(_: &Args) -> Result<Tally> {
    tools::wasm_target()?;
    // `shelfish` without its feature `write`, which other packages of the workspace turn on.
    let bindings = [
        "shelfish-wasm",
        "shelfish-book-wasm",
        "shelfish-explorer-wasm",
        "shelfish-endgames-wasm",
        "shelfish-analysis-wasm",
        "shelfish-engine-wasm",
        "shelfish-web-app",
    ];
    let packages = selected(["shelfish", "shelfish-engine"].into_iter().chain(bindings));
    let target = [
        "--lib",
        "--target",
        "wasm32-unknown-unknown",
        "--",
        "-D",
        "warnings",
    ];
    check(cargo().arg("clippy").args(packages).args(target))
}

/// Lints code that only other systems compile.
fn systems(args: &Args) -> Result<Tally> {
    if !args.takes_long("systems") {
        return Ok(Tally::skipped(
            "on other systems: their lints take minutes and half a gigabyte of packages, see --all",
        ));
    }
    let packages = selected([
        "shelfish",
        "shelfish-analysis",
        "shelfish-engine",
        "shelfish-cli",
        "xtask",
    ]);
    let clippy = |target| {
        let mut clippy = tools::zigbuild(target)?;
        check(
            clippy
                .arg("clippy")
                .args(&packages)
                .args(["--target", target, "--", "-D", "warnings"]),
        )
    };
    let mut tally = Tally::default();
    for target in [
        "x86_64-pc-windows-gnu",
        "aarch64-apple-darwin",
        "aarch64-unknown-linux-musl",
    ] {
        tally += clippy(target).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            Tally::failed(1)
        });
    }
    Ok(tally)
}

fn doc(args: &Args) -> Result<Tally> {
    let packages = selected([
        "shelfish",
        "shelfish-analysis",
        "shelfish-endgames",
        "shelfish-engine",
        "shelfish-cli",
    ]);
    // The program is among the packages: with its features, the step `clippy` has checked the dependencies already.
    let mut doc = cargo();
    doc.arg("doc")
        .args(&packages)
        .arg("--no-deps")
        .env("RUSTDOCFLAGS", "-D warnings");
    let mut tally = check(&mut doc)?;
    tools::wasm_target()?;
    let mut web = cargo();
    web.args([
        "doc",
        "--package",
        "shelfish",
        "--no-deps",
        "--features",
        "web",
        "--target",
        "wasm32-unknown-unknown",
    ]);
    tally += check(web.env("RUSTDOCFLAGS", "-D warnings"))?;
    let mut package = cargo();
    package
        .args(["package", "--allow-dirty", "--quiet"])
        .args(packages);
    if !args.all {
        // To compile the packages again takes minutes.
        package.arg("--no-verify");
    }
    tally += check(&mut package)?;
    Ok(tally)
}

fn rust(args: &Args) -> Result<Tally> {
    // Packages of the registries arrive during this compilation. The tests below report its errors.
    let _ = call(cargo().args(["test", "--workspace", "--no-run", "--quiet"]));
    tools::stores();
    tools::disturbers();
    let test = |packages: &[&str]| {
        let mut tests = cargo();
        tests.args(["test", "--no-fail-fast"]).args(packages);
        if args.all {
            tests.env("SHELFISH_LONG", "1");
        }
        cargo_tests(&mut tests, args.filter.as_deref())
    };
    let workspace = test(&["--workspace"])?;
    // The reader as browsers run it: in the workspace other packages turn the feature `write` on.
    Ok(workspace.and(test(&["--package", "shelfish"])?))
}

fn fuzz(args: &Args) -> Result<Tally> {
    fuzz::run(&fuzz::Args::of_seconds(if args.all { 600 } else { 2 }))
}

fn data(args: &Args) -> Result<Tally> {
    let long = ["evals_sf", "evals_tcec", "threads_and_memory"];
    ignored_tests(
        args,
        ["spark::"]
            .into_iter()
            .chain(long.into_iter().filter(|_| !args.all)),
    )
}

fn spark(args: &Args) -> Result<Tally> {
    if !args.takes_long("spark") {
        return Ok(Tally::skipped(
            "with Spark, which takes minutes and half a gigabyte of packages, see --all",
        ));
    }
    if which(["java"]).is_none() {
        bail!("Spark needs Java 17 or later; on Debian, install openjdk-17-jre-headless");
    }
    tools::python("spark")?;
    ignored_tests(args, ["data::"])
}

/// Runs the ignored tests of the program. Leaves out tests whose names contain a text of `except`.
fn ignored_tests<'a>(args: &Args, except: impl IntoIterator<Item = &'a str>) -> Result<Tally> {
    let mut tests = cargo();
    tests.args(["test", "--package", "shelfish-cli", "--test", "program"]);
    // One after another: each test uses all memory and all cores that it can get.
    let options = ["--ignored", "--test-threads=1"].into_iter();
    let skips = except.into_iter().flat_map(|name| ["--skip", name]);
    cargo_tests(
        &mut tests,
        options.chain(skips).chain(args.filter.as_deref()),
    )
}

fn module(args: &Args) -> Result<Tally> {
    npm::build()?;
    npm::cache()?;
    let types = test_types()?;
    tested_programs()?;
    Ok(types.and(node_tests(args, "tests/npm", &mut command(tools::node()?))?))
}

/// Checks the types of the tests in Node and in browsers.
pub(crate) fn test_types() -> Result<Tally> {
    tools::npm_ci("tests")?;
    check(
        npm_command()
            .args(["run", "check"])
            .current_dir(root().join("tests")),
    )
}

fn toolchains(args: &Args) -> Result<Tally> {
    let chromium = tools::chromium()?;
    npm::build()?;
    tools::npm_ci("tests")?;
    let mut node = command(tools::node()?);
    node.env("CHROMIUM", chromium)
        .env("SHELFISH_TOOLCHAINS", target_dir().join("toolchains"));
    node_tests(args, "tests/toolchains", &mut node)
}

fn site(_: &Args) -> Result<Tally> {
    deployed::pages(None, None)?;
    site_types()
}

/// Checks the types of the site and runs its unit tests.
pub(crate) fn site_types() -> Result<Tally> {
    tools::npm_ci("www")?;
    let www = root().join("www");
    let types = check(npm_command().args(["run", "check"]).current_dir(&www))?;
    Ok(types.and(counted(
        npm_command().arg("test").current_dir(&www),
        vitest_counts,
    )?))
}

fn workflows(args: &Args) -> Result<Tally> {
    let mut tally = workflows::lint()?
        .and(workflows::units()?)
        .and(workflows::remember()?);
    release::check_now()?;
    tally.passed += 1;
    if args.all {
        release::try_out()?;
        tally.passed += 1;
    }
    Ok(tally)
}

fn browser(args: &Args) -> Result<Tally> {
    let chromium = tools::chromium()?;
    tools::engines();
    tools::npm_ci("tests")?;
    tested_programs()?;
    let site = deployed::sample(&deployed::default_out())?;
    let app = npm::web_app()?;
    if args.all {
        // The package takes half a gigabyte. The tests use two of its files.
        tools::npm_ci("tests/deep")?;
    }
    let mut node = command(tools::node()?);
    node.env("CHROMIUM", chromium)
        .env("SHELFISH_SITE", site)
        .env("SHELFISH_WEB_APP", app)
        .env("PATH", tools::path());
    node_tests(args, "tests/browser", &mut node)
}

/// Asks readers about databases of a host with faults.
fn faults(args: &Args) -> Result<Tally> {
    let chromium = tools::chromium()?;
    tools::engines();
    tools::npm_ci("tests")?;
    tested_programs()?;
    let site = deployed::sample(&deployed::default_out())?;
    let mut node = command(tools::node()?);
    node.env("CHROMIUM", chromium)
        .env("SHELFISH_SITE", site)
        .env("PATH", tools::path());
    node_tests(args, "tests/faults", &mut node)
}

fn lighthouse(args: &Args) -> Result<Tally> {
    if let Err(error) = tools::npm_ci("tests/lighthouse") {
        return Ok(Tally::skipped(format!("by Lighthouse: {error:#}")));
    }
    let chromium = tools::chromium()?;
    let site = deployed::sample(&deployed::default_out())?;
    let mut node = command(tools::node()?);
    node_tests(
        args,
        "tests/lighthouse",
        node.env("CHROMIUM", chromium).env("SHELFISH_SITE", site),
    )
}

/// Builds the programs that tests in Node run.
fn tested_programs() -> Result<()> {
    programs(&["shelfish-cli", "shelfish-attack"])
}
