//! `cargo xtask bench-scale`: costs of databases of growing size, from the build to the refresh of a month.
//!
//! Each measurement is a command of a user. Its result is stored, so that a measurement that was interrupted continues.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

use anyhow::{Context, Result, bail, ensure};
use clap::builder::PossibleValuesParser;
use serde_json::{Value, json};

use super::process::{self, Measured, Usage};
use crate::{
    shell::{call, command, program, programs, root, say, target_dir},
    tools,
};

/// Every game with this distance is not in the dumps.
const HOLD_OUT: u32 = 100;
/// Sizes for which the growth is continued, in positions.
const PREDICTED: [(&str, f64); 2] = [("*400 million*", 4e8), ("*64 billion*", 6.4e10)];

/// Measurements of a database, in their order.
const MEASUREMENTS: [&str; 5] = ["build", "game", "lookup", "verify", STORE];
/// Name of the measurements with a store.
const STORE: &str = "store";
/// Measurements with a store.
const IN_STORE: [&str; 3] = ["publish", "refresh", "game after refresh"];

/// Options of `cargo xtask bench-scale`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  cargo xtask bench-scale --games games.pgn.zst
  cargo xtask bench-scale --games games.pgn.zst --positions 1000000,10000000,100000000 --dir /mnt/scratch
  cargo xtask bench-scale --games games.pgn.zst --only build,game,lookup

100 million positions need some two and a half hours of two idle cores and 15 GB of disk. Results are kept in DIR/results.json, and a
measurement that is there is not repeated. Remove the file to measure again. The table contains all results of the file.")]
pub struct Args {
    /// Games for the dumps, and to replay
    #[arg(long, value_name = "FILE", default_value = super::GAMES)]
    games: PathBuf,
    /// Numbers of positions, ascending
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000])]
    positions: Vec<u64>,
    /// Directory for dumps, databases and results
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Limit of the memory of a build
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    max_memory: String,
    /// Number of games to replay
    #[arg(long, value_name = "N", default_value_t = 500)]
    replayed: u32,
    /// Measure only these: build, game, lookup, verify, store (publication and refresh)
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = PossibleValuesParser::new(MEASUREMENTS),
        default_values = MEASUREMENTS, hide_default_value = true, hide_possible_values = true)]
    only: Vec<String>,
}

/// Measures, and prints a table in Markdown.
pub fn run(args: &Args) -> Result<()> {
    ensure!(
        args.positions.is_sorted(),
        "--positions: expected ascending numbers"
    );
    programs(&["shelfish-cli", "shelfish-research"])?;
    let dir = args
        .dir
        .clone()
        .unwrap_or_else(|| target_dir().join("bench/scale"));
    fs::create_dir_all(&dir)?;
    let dumps = dir.join("dumps");
    if !dumps
        .join(format!("{}-month.jsonl.zst", args.positions.len()))
        .is_file()
    {
        let numbers: Vec<String> = args.positions.iter().map(u64::to_string).collect();
        let mut write = command(program("research"));
        write
            .arg("dumps")
            .arg(root().join(&args.games))
            .arg("--positions")
            .arg(numbers.join(","));
        call(
            write
                .args(["--hold-out", &HOLD_OUT.to_string(), "--out"])
                .arg(&dumps),
        )?;
    }
    let mut results = Results::open(dir.join("results.json"))?;
    for (n, &size) in args.positions.iter().enumerate() {
        Subject::new(args, &dir, n + 1, size)?.measure(&args.only, &mut results)?;
    }
    print(&results, &args.positions);
    Ok(())
}

/// Database of the first dumps.
struct Subject<'a> {
    args: &'a Args,
    /// Number of positions.
    size: u64,
    /// Dumps, and dumps of the month after them.
    dumps: Vec<PathBuf>,
    months: Vec<PathBuf>,
    /// Directory of the database and of its refresh.
    dir: PathBuf,
}

impl Subject<'_> {
    fn new<'a>(args: &'a Args, dir: &Path, count: usize, size: u64) -> Result<Subject<'a>> {
        let dumps = |suffix: &str| -> Vec<PathBuf> {
            (1..=count)
                .map(|n| dir.join("dumps").join(format!("{n}{suffix}.jsonl.zst")))
                .collect()
        };
        let subject = Subject {
            args,
            size,
            dumps: dumps(""),
            months: dumps("-month"),
            dir: dir.join(format!("built-{count}")),
        };
        fs::create_dir_all(&subject.dir)?;
        Ok(subject)
    }

    fn db(&self) -> PathBuf {
        self.dir.join("db")
    }

    /// Returns the command that replays games on a database.
    fn replay(&self, db: &Path, more: &[&str]) -> Command {
        let mut replay = shelfish();
        replay
            .args(["bench", "traffic", "--json", "--quiet", "-d"])
            .arg(db)
            .arg("--games")
            .arg(root().join(&self.args.games));
        let every = (HOLD_OUT * 5).to_string();
        replay
            .args([
                "--every",
                &every,
                "--limit",
                &self.args.replayed.to_string(),
            ])
            .args(more);
        replay
    }

    /// Measures without the measurements that have a result.
    fn measure(&self, only: &[String], results: &mut Results) -> Result<()> {
        let db = self.db();
        let mut build = shelfish();
        build.arg("build").args(&self.dumps).args([
            "--json",
            "--quiet",
            "--max-memory",
            &self.args.max_memory,
        ]);
        build.arg("-o").arg(&db);
        let mut verify = shelfish();
        verify.args(["verify", "--json", "--quiet", "-d"]).arg(&db);
        let commands = [
            ("build", build),
            ("game", self.replay(&db, &[])),
            ("lookup", self.replay(&db, &["--apart"])),
            ("verify", verify),
        ];
        for (name, command) in commands {
            if only.iter().any(|only| only == name) && results.get(name, self.size).is_none() {
                results.measure(name, self.size, &self.dir, command)?;
            }
        }
        let is_missing = IN_STORE
            .iter()
            .any(|name| results.get(name, self.size).is_none());
        if only.iter().any(|only| only == STORE) && is_missing {
            self.measure_in_store(results)?;
        }
        Ok(())
    }

    /// Measures a publication, a refresh, and games after the refresh.
    fn measure_in_store(&self, results: &mut Results) -> Result<()> {
        let store = Store::start()?;
        let mut measure =
            |name, command| results.measure(name, self.size, &self.dir, store.reach(command));
        let mut publish = shelfish();
        publish
            .args(["publish", "--json", "--quiet"])
            .arg(self.db())
            .arg("s3://evals/db");
        measure("publish", publish)?;
        let config = self.dir.join("refresh.toml");
        let quoted: Vec<String> = self
            .months
            .iter()
            .map(|month| format!("{:?}", month.display().to_string()))
            .collect();
        let (sources, memory) = (quoted.join(", "), &self.args.max_memory);
        let keys = format!(
            "sources = [{sources}]\nto = \"s3://evals/db\"\ndirectory = \"refreshed\"\nbase = \"published\"\n"
        );
        fs::write(
            &config,
            format!("{keys}build = [\"--max-memory\", {memory:?}]\n"),
        )?;
        let mut refresh = shelfish();
        refresh.args(["refresh", "--json", "--quiet"]).arg(&config);
        measure("refresh", refresh)?;
        let refreshed = self.dir.join("refreshed");
        measure("game after refresh", self.replay(&refreshed, &[]))?;
        Ok(fs::remove_dir_all(refreshed)?)
    }
}

fn shelfish() -> Command {
    command(program("shelfish"))
}

/// Results by name, in a file.
struct Results {
    path: PathBuf,
    found: BTreeMap<String, Value>,
}

impl Results {
    fn open(path: PathBuf) -> Result<Results> {
        let found = match fs::read(&path) {
            Ok(text) => {
                serde_json::from_slice(&text).with_context(|| path.display().to_string())?
            }
            Err(_) => BTreeMap::new(),
        };
        Ok(Results { path, found })
    }

    fn get(&self, name: &str, size: u64) -> Option<&Value> {
        self.found.get(&format!("{name} {size}"))
    }

    /// Runs a command that prints JSON. Stores its output with its time, memory, and the additional bytes in `watched`.
    fn measure(
        &mut self,
        name: &str,
        size: u64,
        watched: &Path,
        mut command: Command,
    ) -> Result<()> {
        let name = format!("{name} {size}");
        say(&name);
        let Measured {
            seconds,
            usage,
            disk_bytes,
            output,
        } = process::measure(&mut command, watched)?;
        let output: Value =
            serde_json::from_slice(&output).with_context(|| format!("the output of {name}"))?;
        let Usage {
            processor_seconds,
            memory_bytes,
        } = usage;
        let result = json!({
            "seconds": seconds,
            "processor_seconds": processor_seconds,
            "memory_bytes": memory_bytes,
            "disk_bytes": disk_bytes,
            "output": output,
        });
        self.found.insert(name, result);
        Ok(fs::write(
            &self.path,
            serde_json::to_vec_pretty(&self.found)?,
        )?)
    }
}

/// Running server with the protocol of S3 and a bucket `evals`. It ends when this value is dropped.
struct Store {
    server: Child,
    address: String,
}

impl Store {
    fn start() -> Result<Store> {
        let mut server = command(tools::python("stores")?.join("moto_server"));
        let mut server = server
            .args(["-H", "127.0.0.1", "-p", "0"])
            .env("PYTHONUNBUFFERED", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(server.stderr.take().context("no output")?).lines();
        let address = loop {
            let Some(line) = lines.next() else {
                bail!("the server of S3 ended")
            };
            if let Some((_, address)) = line?.split_once("http://") {
                break address.trim().to_owned();
            }
        };
        // The output is read so that the server never waits.
        thread::spawn(move || lines.for_each(drop));
        let store = Store { server, address };
        let mut stream = TcpStream::connect(&store.address)?;
        let host = &store.address;
        write!(
            stream,
            "PUT /evals HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        ensure!(
            answer.contains(" 200 "),
            "the server of S3 made no bucket: {answer}"
        );
        Ok(store)
    }

    /// Gives a command the address and the credentials.
    fn reach(&self, mut command: Command) -> Command {
        let variables =
            ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map(|name| (name, "test".to_owned()));
        command
            .envs(variables)
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ENDPOINT", format!("http://{}", self.address));
        command
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// How a figure grows with the positions.
#[derive(Clone, Copy)]
enum Growth {
    /// In proportion to the positions.
    Linear,
    /// By equal amounts when the positions grow by equal factors.
    Logarithmic,
    /// Not at all.
    Constant,
}

/// Row of the table: name, path of the figure in the measurements, factor, growth.
type Row = (&'static str, &'static [&'static str], f64, Growth);

use Growth::{Constant, Linear, Logarithmic};

const ROWS: [Row; 28] = [
    ("build: minutes", &["build", "seconds"], 1.0 / 60.0, Linear),
    (
        "build: minutes of processor time",
        &["build", "processor_seconds"],
        1.0 / 60.0,
        Linear,
    ),
    (
        "build: memory, MB",
        &["build", "memory_bytes"],
        1e-6,
        Constant,
    ),
    ("build: disk, MB", &["build", "disk_bytes"], 1e-6, Linear),
    (
        "database, MB",
        &["game", "output", "database", "bytes"],
        1e-6,
        Linear,
    ),
    (
        "shards",
        &["game", "output", "database", "shards"],
        1.0,
        Linear,
    ),
    (
        "leaf pages",
        &["game", "output", "database", "pages"],
        1.0,
        Linear,
    ),
    (
        "leaf pages, kB",
        &["game", "output", "database", "page_bytes"],
        1e-3,
        Linear,
    ),
    (
        "manifest, kB",
        &["game", "output", "database", "manifest_bytes"],
        1e-3,
        Linear,
    ),
    (
        "cold lookup: requests",
        &["lookup", "cold", "requests"],
        1.0,
        Constant,
    ),
    (
        "cold lookup: kB of the page and the block",
        &["lookup", "cold", "bytes of pages", "bytes of blocks"],
        1e-3,
        Constant,
    ),
    ("cold lookup: ms", &["lookup", "cold", "ms"], 1.0, Constant),
    (
        "unseen game: requests",
        &["game", "cold", "requests"],
        1.0,
        Logarithmic,
    ),
    (
        "unseen game: of these for pages",
        &["game", "cold", "requests for pages"],
        1.0,
        Logarithmic,
    ),
    (
        "unseen game: kB of pages and blocks",
        &["game", "cold", "bytes of pages", "bytes of blocks"],
        1e-3,
        Logarithmic,
    ),
    (
        "unseen game: of these for pages",
        &["game", "cold", "bytes of pages"],
        1e-3,
        Logarithmic,
    ),
    ("unseen game: ms", &["game", "cold", "ms"], 1.0, Logarithmic),
    (
        "verify: minutes",
        &["verify", "seconds"],
        1.0 / 60.0,
        Linear,
    ),
    (
        "verify: minutes of processor time",
        &["verify", "processor_seconds"],
        1.0 / 60.0,
        Linear,
    ),
    (
        "verify: memory, MB",
        &["verify", "memory_bytes"],
        1e-6,
        Constant,
    ),
    ("publish: seconds", &["publish", "seconds"], 1.0, Linear),
    (
        "publish: requests",
        &["publish", "output", "requests"],
        1.0,
        Linear,
    ),
    (
        "publish: memory, MB",
        &["publish", "memory_bytes"],
        1e-6,
        Constant,
    ),
    (
        "refresh: minutes",
        &["refresh", "seconds"],
        1.0 / 60.0,
        Linear,
    ),
    (
        "refresh: minutes of processor time",
        &["refresh", "processor_seconds"],
        1.0 / 60.0,
        Linear,
    ),
    (
        "refresh: upload, MB",
        &["refresh", "output", "published", "sent_bytes"],
        1e-6,
        Linear,
    ),
    (
        "refresh: requests",
        &["refresh", "output", "published", "requests"],
        1.0,
        Linear,
    ),
    (
        "unseen game after the refresh: requests",
        &["game after refresh", "cold", "requests"],
        1.0,
        Logarithmic,
    ),
];

/// Returns a figure of the measurements of a database. Names after `cold` are added; they refer to the replay in which a new reader looks
/// up each game at once.
fn figure(results: &Results, size: u64, path: &[&str]) -> Option<f64> {
    let (first, rest) = path.split_first()?;
    let value = results.get(first, size)?;
    let ["cold", names @ ..] = rest else {
        return rest
            .iter()
            .try_fold(value, |value, name| value.get(name))?
            .as_f64();
    };
    let replays = value["output"]["replays"].as_array()?;
    let cold = replays
        .iter()
        .find(|replay| replay["at_once"] == true && replay["warm"] == false)?;
    if *names != ["ms"] {
        return names
            .iter()
            .map(|name| cold["games"][name]["mean"].as_f64())
            .sum();
    }
    let times = cold["times"].as_array()?;
    times
        .iter()
        .find(|time| time["round_trip_ms"] == 50.0 && time["mbit"] == 20.0)?["all_ms"]["median"]
        .as_f64()
}

/// Prints the figures of each database, and continues their growth from the last two databases.
fn print(results: &Results, positions: &[u64]) {
    let is_growth = positions.len() > 1;
    let sizes = positions
        .iter()
        .map(|n| format!("{} million", round(*n as f64 / 1e6)));
    let sizes: Vec<String> = sizes
        .chain(
            PREDICTED
                .iter()
                .filter(|_| is_growth)
                .map(|(name, _)| (*name).to_owned()),
        )
        .collect();
    println!(
        "\n| positions | {} |\n|---|{}",
        sizes.join(" | "),
        "---:|".repeat(sizes.len())
    );
    for (name, path, factor, growth) in ROWS {
        let figures = positions
            .iter()
            .map(|&size| Some((size as f64, figure(results, size, path)? * factor)));
        let figures: Vec<Option<(f64, f64)>> = figures.collect();
        let cell = |figure: Option<(f64, f64)>| {
            figure.map_or_else(String::new, |(_, figure)| round(figure))
        };
        let mut cells: Vec<String> = figures.iter().map(|&figure| cell(figure)).collect();
        let known: Vec<(f64, f64)> = figures.into_iter().flatten().collect();
        if let [.., (fewer, before), (most, last)] = known[..] {
            for (_, predicted) in PREDICTED {
                let (ratio, step) = (predicted / most, (most / fewer).ln());
                let figure = match growth {
                    Growth::Linear => last * ratio,
                    Growth::Logarithmic => last + (last - before) * ratio.ln() / step,
                    Growth::Constant => last,
                };
                cells.push(format!("*{}*", round(figure)));
            }
        }
        cells.resize(sizes.len(), String::new());
        println!("| {name} | {} |", cells.join(" | "));
    }
}

/// Formats a figure with three digits.
fn round(figure: f64) -> String {
    match figure.abs() {
        0.0 => "0".to_owned(),
        large if large >= 100.0 => format!("{figure:.0}"),
        some if some >= 10.0 => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}
