//! `cargo xtask fuzz`: builds the fuzz targets for coverage, as `cargo fuzz` does, and runs them.

use std::fs;
use std::path::{Path, PathBuf};

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
const TARGETS: [&str; 17] = [
    "fen", "key", "manifest", "page", "block", "played", "pgn", "polyglot", "search", "part",
    "plan", "endgames", "table", "dump", "http", "network", "uci",
];
/// Targets with the whole program, which takes minutes to compile, so that a short run leaves them out.
const OF_PROGRAM: [&str; 4] = ["games", "learning", "parquet", "refresh"];

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
    /// Maximum number of nodes of a search [default: 20,000]
    #[arg(long)]
    nodes: Option<u32>,
}

impl Args {
    /// Returns the options to run all targets for some seconds each.
    pub fn of_seconds(seconds: u32) -> Args {
        Args {
            targets: Vec::new(),
            seconds,
            sanitize: false,
            nodes: None,
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
    let (mut build, flags, built) = match args.sanitize {
        true => (
            tools::nightly_cargo()?,
            format!("{COVERAGE} -Zsanitizer=address"),
            target_dir().join("fuzz-address"),
        ),
        false => (cargo(), COVERAGE.to_owned(), target_dir().join("fuzz")),
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
            .env("RUSTFLAGS", flags),
    )?;
    for target in &targets {
        // Some targets have no seeds.
        fs::create_dir_all(corpus.join(target))?;
        let mut fuzz = command(built.join(host).join("release").join(target));
        fuzz.envs(
            args.nodes
                .map(|nodes| ("SHELFISH_FUZZ_NODES", nodes.to_string())),
        );
        // A sanitizer makes a search about ten times as slow.
        fuzz.arg(format!("-timeout={}", if args.sanitize { 100 } else { 10 }));
        // The learning book of a game has 12,288 bytes.
        let max_length = if *target == "learning" {
            20_000
        } else {
            10_000
        };
        fuzz.arg(format!("-max_total_time={}", args.seconds))
            .arg(format!("-max_len={max_length}"));
        fuzz.args(["-verbosity=0", "-print_final_stats=1"]);
        fuzz.arg(format!("-artifact_prefix={}", found.display()))
            .arg(corpus.join(target));
        call(fuzz.current_dir(root()))?;
    }
    Ok(Tally::passed(targets.len()))
}

/// Text between two games of a PGN.
const NEXT_GAME: &str = "\n\n[Event ";

/// Writes the first inputs of the targets with the whole program.
fn seeds_of_program(corpus: &Path) -> Result<()> {
    let folder = |name: &str| -> Result<PathBuf> {
        let folder = corpus.join(name);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    };
    let games = fs::read_to_string(root().join("static-shards/famous.pgn"))?;
    for (n, game) in games
        .trim_start_matches("[Event ")
        .split(NEXT_GAME)
        .enumerate()
    {
        let line = ["1600-2200", "2000-", "2013", "2013-01", "2013-01-31"][n % 5];
        let tags = "[WhiteElo \"2000\"]\n[BlackElo \"1800\"]\n[TimeControl \"180+2\"]\n[WhiteTitle \"BOT\"]\n";
        fs::write(
            folder("games")?.join(n.to_string()),
            format!("{line}\n{tags}[Event {game}"),
        )?;
    }
    for config in ["refresh.toml", "refresh-pages.toml"] {
        fs::copy(
            root().join("deploy").join(config),
            folder("refresh")?.join(config),
        )?;
    }
    let book = folder("learning")?.join("book");
    let _ = fs::remove_file(&book);
    // The book of all games is longer than the longest input.
    let game = corpus.join("game.pgn");
    fs::write(&game, games.split(NEXT_GAME).next().unwrap_or_default())?;
    call(
        command(program("shelfish"))
            .args(["book", "learn", "--quiet", "--into"])
            .arg(&book)
            .arg(&game),
    )?;
    let table = folder("parquet")?.join("table");
    let mut export = command(program("shelfish"));
    export
        .args(["export", "--format", "parquet", "-d"])
        .arg(root().join("tests/data/database/db"));
    call(export.arg("-o").arg(&table))
}
