//! `cargo xtask fuzz`: builds the fuzz targets for coverage, as `cargo fuzz` does, and runs them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;

use crate::{
    shell::{
        build_for_tests, call, cargo, command, output, program, programs, root, target_dir, which,
    },
    tally::Tally,
    tools,
};

/// Targets without the program.
const TARGETS: [&str; 13] = [
    "fen", "key", "manifest", "page", "block", "played", "polyglot", "http", "pgn", "search",
    "network", "endgames", "table",
];
/// Targets with the whole program, which takes minutes to compile, so that a short run leaves them out.
const OF_PROGRAM: [&str; 9] = [
    "dump", "part", "plan", "uci", "sums", "games", "learning", "parquet", "refresh",
];

/// Options that `cargo fuzz` passes to the compiler, without sanitizers, which need a nightly compiler.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks -Ccodegen-units=1";

/// Options of `cargo xtask fuzz`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask fuzz                              # every target for a minute
  cargo xtask fuzz block page --seconds 600     # two targets for ten minutes each
  cargo xtask fuzz --sanitize                   # with AddressSanitizer")]
pub struct Args {
    /// Targets to run [default: all]
    #[arg(value_parser = PossibleValuesParser::new([&TARGETS[..], &OF_PROGRAM].concat()))]
    targets: Vec<String>,
    /// Seconds for each target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Check every memory access with AddressSanitizer, which needs a nightly compiler
    #[arg(long)]
    sanitize: bool,
}

impl Args {
    /// Returns the options to run all targets for some seconds each.
    pub fn of_seconds(seconds: u32) -> Args {
        Args {
            targets: Vec::new(),
            seconds,
            sanitize: false,
        }
    }

    fn is_short(&self) -> bool {
        self.seconds < 10
    }
}

/// Runs the targets.
pub fn run(args: &Args) -> Result<Tally> {
    if which(["c++", "g++", "clang++"]).is_none() {
        return Ok(Tally::skipped("by fuzz targets, which need a C++ compiler"));
    }
    // Both programs in one build, as in the tests: a separate build of one program has other features of its dependencies.
    build_for_tests();
    programs(&["shelfish-cli", "shelfish-attack"])?;
    let (corpus, found) = (
        target_dir().join("fuzz/corpus"),
        target_dir().join("fuzz/artifacts/"),
    );
    call(command(program("attack")).arg("seeds").arg(&corpus))?;
    fs::create_dir_all(&found)?;
    let version =
        output(command("rustc").arg("-vV")).context("rustc does not print its version")?;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("`rustc -vV` has no line `host: `")?;
    let (mut build, sanitizer, built) = match args.sanitize {
        true => (
            tools::nightly_cargo()?,
            " -Zsanitizer=address",
            target_dir().join("fuzz-address"),
        ),
        false => (cargo(), "", target_dir().join("fuzz")),
    };
    // The explicit target keeps build scripts from being built for coverage.
    build.args([
        "build",
        "--release",
        "--locked",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        host,
    ]);
    let targets: Vec<&str> = match args.targets.as_slice() {
        [] if args.is_short() => TARGETS.to_vec(),
        [] => [&TARGETS[..], &OF_PROGRAM].concat(),
        targets => targets.iter().map(String::as_str).collect(),
    };
    if args.is_short() {
        // The compilation takes longer than the run.
        build.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1");
    }
    if OF_PROGRAM.iter().any(|name| targets.contains(name)) {
        build.args(["--features", "program"]);
        seeds_of_program(&corpus)?;
    }
    call(
        build
            .arg("--target-dir")
            .arg(&built)
            .env("RUSTFLAGS", format!("{COVERAGE}{sanitizer}")),
    )?;
    for target in &targets {
        // Some targets have no seeds.
        fs::create_dir_all(corpus.join(target))?;
        let mut fuzz = command(built.join(host).join("release/fuzz"));
        // A sanitizer makes a search about ten times as slow. The learning book of a game has 12,288 bytes.
        fuzz.env("SHELFISH_FUZZ", target)
            .arg(format!("-timeout={}", if args.sanitize { 100 } else { 10 }))
            .arg(format!("-max_total_time={}", args.seconds))
            .args(["-max_len=20000", "-verbosity=0", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix={}", found.display()))
            .arg(corpus.join(target));
        call(&mut fuzz)?;
    }
    Ok(Tally::passed(targets.len()))
}

/// Writes the first inputs of the targets with the whole program.
fn seeds_of_program(corpus: &Path) -> Result<()> {
    for target in OF_PROGRAM {
        fs::create_dir_all(corpus.join(target))?;
    }
    let games = fs::read_to_string(root().join("static-shards/famous.pgn"))?;
    let games = games.trim_start_matches("[Event ").split("\n\n[Event ");
    let games: Vec<String> = games.map(|game| format!("[Event {game}")).collect();
    for (n, game) in games.iter().enumerate() {
        let line = ["1600-2200", "2000-", "2013", "2013-01", "2013-01-31"][n % 5];
        let tags = "[WhiteElo \"2000\"]\n[BlackElo \"1800\"]\n[TimeControl \"180+2\"]\n[WhiteTitle \"BOT\"]\n";
        fs::write(
            corpus.join("games").join(n.to_string()),
            format!("{line}\n{tags}{game}"),
        )?;
    }
    for config in ["refresh.toml", "refresh-pages.toml"] {
        fs::copy(
            root().join("deploy").join(config),
            corpus.join("refresh").join(config),
        )?;
    }
    // The book of all games is longer than the longest input.
    let (book, game) = (corpus.join("learning/book"), corpus.join("game.pgn"));
    let _ = fs::remove_file(&book);
    fs::write(&game, &games[0])?;
    let mut learn = command(program("shelfish"));
    call(
        learn
            .args(["book", "learn", "--quiet", "--into"])
            .args([book, game]),
    )?;
    let mut export = command(program("shelfish"));
    export.args([
        "export",
        "--format",
        "parquet",
        "-d",
        "tests/data/database/db",
        "-o",
    ]);
    call(export.arg(corpus.join("parquet/table")))
}
