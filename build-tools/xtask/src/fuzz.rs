//! The fuzz targets: built for coverage as `cargo fuzz` does it, but with the stable compiler, and run for a while.

use anyhow::{Context, Result};

use crate::shell::{call, cargo, command, output, program, programs, root, say, target_dir, which};

const TARGETS: [&str; 12] =
    ["fen", "key", "manifest", "page", "block", "played", "pgn", "polyglot", "search", "pzstd", "part", "plan"];

/// What `cargo fuzz` gives to the compiler, sanitizers aside, which take a nightly one.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1";

/// Runs each target for so many seconds; gives how many passed.
pub fn run(seconds: u32) -> Result<usize> {
    if which(["c++", "g++", "clang++"]).is_none() {
        say("NOT TESTED: the fuzz targets take a C++ compiler");
        return Ok(0);
    }
    // Both that tests use, as one build: by itself this one would have other features of what it depends on.
    programs(&["shelfish-cli", "shelfish-attack"])?;
    let built = target_dir().join("fuzz");
    let (corpus, found) = (built.join("corpus"), built.join("artifacts/"));
    call(command(program("attack")).arg("seeds").arg(&corpus))?;
    std::fs::create_dir_all(&found)?;
    let version = output(command("rustc").arg("-vV")).context("rustc does not tell its version")?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not tell its host")?;
    let mut build = cargo();
    // With a target of its own, so that build scripts are not built for coverage.
    build.args(["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--target", host]);
    call(build.arg("--target-dir").arg(&built).env("RUSTFLAGS", COVERAGE))?;
    for target in TARGETS {
        // Not all have seeds.
        std::fs::create_dir_all(corpus.join(target))?;
        let mut fuzz = command(built.join(host).join("release").join(target));
        fuzz.arg(format!("-max_total_time={seconds}")).args(["-max_len=10000", "-timeout=10", "-verbosity=0"]);
        fuzz.arg(format!("-artifact_prefix={}", found.display())).arg(corpus.join(target));
        call(fuzz.current_dir(root()))?;
    }
    Ok(TARGETS.len())
}
