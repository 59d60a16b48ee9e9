//! `cargo xtask fuzz`: the fuzz targets, built for coverage as `cargo fuzz` does it, and run for a while.

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;

use crate::{
    shell::{build_for_tests, call, cargo, command, output, program, programs, root, say, target_dir, which},
    tools,
};

const TARGETS: [&str; 12] =
    ["fen", "key", "manifest", "page", "block", "played", "pgn", "polyglot", "search", "pzstd", "part", "plan"];

/// What `cargo fuzz` gives to the compiler, sanitizers aside, which take a nightly one.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1";

/// Options of `cargo xtask fuzz`.
#[derive(clap::Args)]
pub struct Args {
    /// The targets [default: all]
    #[arg(value_parser = PossibleValuesParser::new(TARGETS))]
    targets: Vec<String>,
    /// Run each for so long
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Watch every access to memory with AddressSanitizer, which takes a nightly compiler
    #[arg(long)]
    sanitize: bool,
    /// The most nodes of a search [default: 20,000]
    #[arg(long)]
    nodes: Option<u32>,
}

impl Args {
    /// All targets, for so long.
    pub fn of_seconds(seconds: u32) -> Args {
        Args { targets: Vec::new(), seconds, sanitize: false, nodes: None }
    }
}

/// Runs the targets; gives how many passed.
pub fn run(args: &Args) -> Result<usize> {
    if which(["c++", "g++", "clang++"]).is_none() {
        say("NOT TESTED: the fuzz targets take a C++ compiler");
        return Ok(0);
    }
    // As tests have them, and both as one build: by itself this one would have other features of what it depends on.
    build_for_tests();
    programs(&["shelfish-cli", "shelfish-attack"])?;
    let (corpus, found) = (target_dir().join("fuzz/corpus"), target_dir().join("fuzz/artifacts/"));
    call(command(program("attack")).arg("seeds").arg(&corpus))?;
    std::fs::create_dir_all(&found)?;
    let version = output(command("rustc").arg("-vV")).context("rustc does not tell its version")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not tell its host")?;
    let (mut build, flags, built) = match args.sanitize {
        true => (tools::nightly_cargo()?, format!("{COVERAGE} -Zsanitizer=address"), target_dir().join("fuzz-address")),
        false => (cargo(), COVERAGE.to_owned(), target_dir().join("fuzz")),
    };
    // With a target of its own, so that build scripts are not built for coverage.
    build.args(["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--target", host]);
    call(build.arg("--target-dir").arg(&built).env("RUSTFLAGS", flags))?;
    let asked: Vec<&str> = match args.targets.as_slice() {
        [] => TARGETS.to_vec(),
        targets => targets.iter().map(String::as_str).collect(),
    };
    for target in &asked {
        // Not all have seeds.
        std::fs::create_dir_all(corpus.join(target))?;
        let mut fuzz = command(built.join(host).join("release").join(target));
        fuzz.envs(args.nodes.map(|nodes| ("SHELFISH_FUZZ_NODES", nodes.to_string())));
        // A sanitizer makes a search take some ten times as long.
        fuzz.arg(format!("-timeout={}", if args.sanitize { 100 } else { 10 }));
        fuzz.arg(format!("-max_total_time={}", args.seconds)).args([
            "-max_len=10000",
            "-verbosity=0",
            "-print_final_stats=1",
        ]);
        fuzz.arg(format!("-artifact_prefix={}", found.display())).arg(corpus.join(target));
        call(fuzz.current_dir(root()))?;
    }
    Ok(asked.len())
}
