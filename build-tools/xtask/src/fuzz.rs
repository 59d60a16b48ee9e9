//! `cargo xtask fuzz`: builds the fuzz targets for coverage, as `cargo fuzz` does, and runs them.

use std::fs;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;

use crate::shell::{
    build_for_tests, call, cargo, command, output, program, programs, say, target_dir, which,
};

/// Targets without the program.
const TARGETS: [&str; 13] = [
    "fen", "key", "manifest", "page", "block", "played", "polyglot", "http", "pgn", "search",
    "network", "endgames", "table",
];
/// Targets with the whole program, which takes minutes to compile, so that a short run leaves them out.
const OF_PROGRAM: [&str; 3] = ["dump", "uci", "parquet"];

/// Options that `cargo fuzz` passes to the compiler, without sanitizers, which need a nightly compiler.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1";

/// Options of `cargo xtask fuzz`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask fuzz                              # every target for a minute
  cargo xtask fuzz block page --seconds 600     # two targets for ten minutes each")]
pub struct Args {
    /// Targets to run [default: all]
    #[arg(value_parser = PossibleValuesParser::new([&TARGETS[..], &OF_PROGRAM].concat()))]
    targets: Vec<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

/// Runs the targets of the command line.
pub fn run(args: &Args) -> Result<()> {
    let targets: Vec<&str> = match args.targets.as_slice() {
        [] => [&TARGETS[..], &OF_PROGRAM].concat(),
        targets => targets.iter().map(String::as_str).collect(),
    };
    run_targets(&targets, args.seconds, "3")
}

/// Runs the targets without the program for two seconds each. The compilation takes longer than the run.
pub fn run_shortly() -> Result<()> {
    run_targets(&TARGETS, 2, "1")
}

fn run_targets(targets: &[&str], seconds: u32, opt_level: &str) -> Result<()> {
    if which(["c++", "g++", "clang++"]).is_none() {
        say("NOT TESTED by fuzz targets, which need a C++ compiler");
        return Ok(());
    }
    // Both programs in one build, as in the tests: a separate build of one program has other features of its dependencies.
    build_for_tests();
    programs(&["shelfish-cli", "shelfish-attack"])?;
    let folder = target_dir().join("fuzz");
    let (corpus, found) = (folder.join("corpus"), folder.join("artifacts/"));
    call(command(program("attack")).arg("seeds").arg(&corpus))?;
    fs::create_dir_all(&found)?;
    let version =
        output(command("rustc").arg("-vV")).context("rustc does not print its version")?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("`rustc -vV` has no line `host: `")?;
    let mut build = cargo();
    build
        .args([
            "build",
            "--release",
            "--locked",
            "--manifest-path",
            "fuzz/Cargo.toml",
        ])
        // The explicit target keeps build scripts from being built for coverage.
        .args(["--target", host, "--target-dir"])
        .arg(&folder)
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", opt_level)
        .env("RUSTFLAGS", COVERAGE);
    if OF_PROGRAM.iter().any(|name| targets.contains(name)) {
        build.args(["--features", "program"]);
    }
    call(&mut build)?;
    for target in targets {
        // Some targets have no seeds.
        fs::create_dir_all(corpus.join(target))?;
        call(
            command(folder.join(host).join("release/fuzz"))
                .env("SHELFISH_FUZZ", target)
                .arg(format!("-max_total_time={seconds}"))
                .args([
                    "-timeout=10",
                    "-max_len=20000",
                    "-verbosity=0",
                    "-print_final_stats=1",
                ])
                .arg(format!("-artifact_prefix={}", found.display()))
                .arg(corpus.join(target)),
        )?;
    }
    Ok(())
}
