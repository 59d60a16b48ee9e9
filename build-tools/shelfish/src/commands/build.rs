//! The command line of `shelfish build`.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use indicatif::HumanBytes;
use serde::Serialize;
use shelfish::source::integrity::Integrity;

use super::dumps;
use crate::build::{MIN_MEMORY, Options, Summary, build_of};
use crate::evaluations::Selection;
use crate::evaluations::parts::Plan;
use crate::input::dump::{DumpKind, Source};
use crate::input::remote::Patience;
use crate::publish::{self, staging};
use crate::store::{Address, AddressError};
use crate::system::ordered::cores;
use crate::terminal::report;
use crate::{Failure, Outcome, database, games};

/// The least size of a shard: some 200 blocks.
const MIN_SHARD: usize = 1 << 20;

/// Build a database of evaluation dumps, or of games.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish build lichess_db_eval.jsonl.zst -o db
  shelfish build https://database.lichess.org/lichess_db_eval.jsonl.zst -o db
  shelfish build january.jsonl.zst february.jsonl.gz -o db --max-memory 4GiB --rejects rejects.tsv
  shelfish build --base db own.jsonl -o db
  shelfish build lichess_db_eval.jsonl.zst -o site/evals --max-size 900MiB
  shelfish build games.pgn.zst -o book --max-plies 30 --min-games 2
  shelfish build --dump 2013-01 --dump 2013-02 -o book
  shelfish build my.sqlite -o book
  shelfish build performance.bin -o book
  shelfish build games.pgn.zst -o book --buckets speeds,1600,2000 --average-ratings --game-ids 4
  shelfish build games.pgn.zst -o book --max-plies 24 --min-games 5 --whole repertoire.pgn
  shelfish build --base book february.pgn.bz2 -o book
  zstdcat own.jsonl.zst | shelfish build - -o db --best-only --max-pvs 1
  shelfish build lichess_db_eval.jsonl.zst -o db --plan plan.json
  shelfish build lichess_db_eval.jsonl.zst -o s3://my-bucket/evals --max-disk 20GiB --temp-dir /mnt/scratch

The same input gives the same bytes, whatever the threads and the memory. A build that fails leaves the database in
DIR as it was.

With -o s3://, gs:// or az:// it is built in --temp-dir, then sent as by `shelfish publish`, and removed here. The database that
was there stays until the new one is whole, and stays if somebody else publishes meanwhile. Where sending fails, what was built is
kept, and it is said how to send it. The disk takes some 2.2 times what comes of it, before anything can be sent; --max-disk
bounds that, and has it checked at the beginning. Credentials are those of `shelfish publish`.

With --base the result is, byte for byte, what a build of all sources at once makes, though blocks that nothing new
falls into are copied. What was left out of a base (--min-depth and so on) is left out of the sources, too: the options
of all add up. It may be otherwise than at once in two cases: --best-only with --max-pvs or --max-plies judges a base's
evaluations by what is left of them; and where a base left evaluations out because a position had more than a record has
room for, they are not there when --max-pvs or --max-plies would have made room.

A dump on a host is read as it comes, without a copy on the disk. Where the connection breaks, the rest is asked for, if the
file is still the same. Its SHA-256 is compared with the one in `sha256sums.txt` beside it, where the host publishes that.

Parquet does not tell where an evaluation ends: one begins where the position, the depth or the nodes change, and where
a first move comes again.

A record has room for 256 evaluations, 4,096 PVs and 4,096 moves (fewer where positions have very many legal moves), so
that no record takes a reader more than a moment. The best evaluations are kept; one that has too many moves by itself
is cut to the first moves of each PV.

Games in PGN make a book: for each position the moves that were played, with White's wins, draws and Black's wins. A game
counts once for a position, with the last move that it played from it. Games of other variants and games without a
result are counted and not used; of a game with a fault, such as an illegal move, what comes before it is used. --buckets tells
games apart by speed (base time and 40 increments, cut at 30, 180, 480, 1,500 and 21,600 s) and by the mean of the players' ratings;
--game-ids keeps the games of a move with the highest ratings: those of Lichess by their address in the tag Site, others by the name of
their source and their number in it. All of a book's bases have to be built with the same of these options.

Books of engines make a book, too. Of one that learns (`shelfish book learn`, a file of SQLite) games without a result are
not used. A Polyglot book (.bin) has no positions, only hashes: it is walked from the initial position or --start, by every
legal move and by every answer to a move that leads out of it; what is not reached so is counted. It has no results either:
each unit of weight counts as a draw, the manifest says `results: unknown`, and it is not merged with games. Of the games of
either nobody knows speed and rating: with --buckets they are in the last one, of no speed and no rating.

Nothing is left out unsaid: the summary counts lines that cannot be used by reason (among them lines over 16 MiB, with
more than 256 evaluations, with more than 256 PVs in one, or with a PV of more than 5 KiB), PVs cut or dropped at an
illegal move, PVs cut for want of room, and positions with evaluations for which there was no room.

Exit codes: 0 if the database was built, whatever lines were rejected; 1 if not; 2 for wrong usage; 130 and 143 if
interrupted.")]
pub struct Args {
    /// Dumps of the Lichess evaluation database: one JSON object a line, plain or compressed with zstd, gzip or bzip2, or
    /// Parquet with one row a PV; or games in PGN, compressed likewise, or a book of an engine (.bin, .sqlite). A file, the https:// URL of one, or `-` for standard
    /// input; Parquet has to be a file. Several are merged
    #[arg(required_unless_present_any = ["base", "dump", "whole"], value_name = "SOURCE")]
    sources: Vec<PathBuf>,
    /// The games of a month, 2013-01, of the Lichess database or another --dump-list, its checksum compared; may be given
    /// several times. `shelfish dumps` lists them
    #[arg(long, value_name = "MONTH")]
    dump: Vec<String>,
    /// The list of dumps that months are looked for in
    #[arg(long, value_name = "URL", default_value = dumps::STANDARD)]
    dump_list: String,
    /// A database, directory or URL, whose positions are merged with those of the sources, every evaluation kept; it may
    /// be DIR itself. May be given several times
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    base: Vec<String>,
    /// Positions that the sources have take nothing from the bases
    #[arg(long, requires = "base")]
    replace: bool,
    /// The directory of the database, or s3://, gs:// or az:// to publish it there; a database that is there is replaced when
    /// the new one is complete
    #[arg(short, long, value_name = "DIR_OR_URL", value_parser = OsStringValueParser::new().try_map(Target::parse))]
    out: Target,
    /// Where a database is built that goes to a store [default: the system's folder for temporary files]
    #[arg(long, value_name = "DIR")]
    temp_dir: Option<PathBuf>,
    /// Memory to use: a number with K, M, G or KiB, MiB, GiB; without, MiB
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = memory)]
    max_memory: usize,
    /// The most disk space that the build may use, without a unit: MiB. It must be free when the build begins. A build needs
    /// about 2.2 times the size of its result
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    max_disk: Option<usize>,
    /// Size of a file of the database, about, without a unit: MiB; what changes later is uploaded in whole files
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = shard_size)]
    shard_size: usize,
    /// Put the pages of the index into the manifest if they take no more than this: it spares each first lookup a
    /// request and makes the manifest larger; 0: never; without a unit: MiB
    #[arg(long, value_name = "SIZE", default_value = "26000B", value_parser = inline_pages)]
    inline_pages: usize,
    /// Worker threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Seconds that the host of a source may send nothing, before the rest is asked for again
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// How often the host of a source is asked again without a byte in between, later each time
    #[arg(long, value_name = "N", default_value_t = 8)]
    retries: u8,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Keep all files together within SIZE, without a unit: MiB. Evaluations of the lowest depths are left out until they fit;
    /// the summary says at which depth it was cut. The result is that of --min-depth with this depth
    #[arg(long, value_name = "SIZE", value_parser = max_size)]
    max_size: Option<usize>,
    /// Build part by part as a plan of `shelfish plan` says, with its selection and sizes: the result is, byte for byte, that of
    /// `shelfish partition`, `encode` and `seal`
    #[arg(long, value_name = "PLAN", conflicts_with_all = ["min_depth", "max_pvs", "max_plies", "best_only", "max_size", "shard_size", "inline_pages", "base"])]
    plan: Option<PathBuf>,
    /// Write what cannot be used to FILE, tab-separated: source, line number, reason, fact, beginning. Positions that
    /// merging gave too many evaluations stand last, without source and line number
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    #[command(flatten)]
    games: super::book::games_args::Args,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing before the summary
    #[arg(short, long)]
    quiet: bool,
}

/// Where a database goes.
#[derive(Clone, Debug)]
enum Target {
    /// A directory of this machine.
    Directory(PathBuf),
    /// A store.
    Store(Address),
}

impl Target {
    fn parse(text: OsString) -> Result<Target, AddressError> {
        match text.to_str().map(Address::parse).transpose()? {
            Some(address) if address.folder().is_none() => Ok(Target::Store(address)),
            Some(address) => Ok(Target::Directory(address.url.into())),
            None => Ok(Target::Directory(text.into())),
        }
    }
}

/// What a database of evaluations leaves out.
#[derive(clap::Args, Debug)]
pub struct SelectionArgs {
    /// Leave out evaluations of less depth
    #[arg(long, value_name = "PLIES")]
    min_depth: Option<u16>,
    /// Keep the first N PVs of each evaluation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_pvs: Option<u32>,
    /// Keep the first N moves of each PV, 0 keeps the scores alone; of games, the first N of each [default: all of a PV, 50
    /// of a game]
    #[arg(long, value_name = "N")]
    max_plies: Option<u32>,
    /// Keep the best evaluation of each position: the deepest, then that of more PVs, then that of more nodes
    #[arg(long)]
    best_only: bool,
}

impl SelectionArgs {
    /// Returns the selection that the options describe.
    pub fn selection(&self) -> Selection {
        Selection {
            min_depth: self.min_depth.unwrap_or(0),
            max_pvs: self.max_pvs.map(|n| n as usize),
            max_plies: self.max_plies.map(|n| n as usize),
            best_only: self.best_only,
        }
    }
}

fn memory(text: &str) -> Result<usize, String> {
    size(text, MIN_MEMORY)
}

fn max_size(text: &str) -> Result<usize, String> {
    size(text, 1 << 12)
}

/// Parses the value of `--shard-size`.
pub fn shard_size(text: &str) -> Result<usize, String> {
    size(text, MIN_SHARD)
}

/// Parses the value of `--inline-pages`.
pub fn inline_pages(text: &str) -> Result<usize, String> {
    size(text, 0)
}

/// Reads a size in bytes.
pub(crate) fn size(text: &str, least: usize) -> Result<usize, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "" | "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        unit => return Err(format!("unknown unit {unit:?}, expected KiB, MiB or GiB")),
    };
    let number: usize = digits.trim().parse().map_err(|_| "expected a number such as 512MiB or 1GiB".to_owned())?;
    let bytes = number.checked_mul(unit).ok_or("too much")?;
    if bytes < least { Err(format!("expected at least {}", HumanBytes(least as u64))) } else { Ok(bytes) }
}

/// A database, built.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Built {
    /// Of evaluations.
    Evaluations(Box<Summary>),
    /// Of games.
    Games(Box<games::Summary>),
}

impl Built {
    /// The hash by which the manifest can be pinned.
    pub fn integrity(&self) -> &Integrity {
        match self {
            Built::Evaluations(summary) => &summary.files.integrity,
            Built::Games(summary) => &summary.files.integrity,
        }
    }
}

impl fmt::Display for Built {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Built::Evaluations(summary) => summary.fmt(f),
            Built::Games(summary) => summary.fmt(f),
        }
    }
}

/// Builds, and prints a summary.
///
/// # Errors
///
/// No database was made.
pub fn run(args: Args) -> Outcome {
    let (is_json, quiet) = (args.json, args.quiet);
    let (built, published) = match args.out.clone() {
        Target::Directory(dir) => {
            if args.temp_dir.is_some() {
                wrong("--temp-dir is for databases that go to a store, -o names a directory");
            }
            (build(args, dir, quiet)?, None)
        }
        Target::Store(to) => {
            let staging = staging::Staging::new(to, args.temp_dir.as_deref(), quiet)?;
            let built = build(args, staging.dir().to_owned(), quiet)?;
            (built, Some(staging.publish()?))
        }
    };
    report::print(&Done { built, published }, is_json)?;
    Ok(ExitCode::SUCCESS)
}

/// What was built, and where it was sent.
#[derive(Serialize)]
struct Done {
    #[serde(flatten)]
    built: Built,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<publish::Report>,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.built.fmt(f)?;
        self.published.as_ref().map_or(Ok(()), |published| published.fmt(f))
    }
}

/// Ends the process, as wrong usage does.
fn wrong(why: &str) -> ! {
    clap::Command::new("shelfish build").error(clap::error::ErrorKind::ArgumentConflict, format!("{why}\n")).exit()
}

impl Args {
    /// Builds in a directory, whatever `--out` names. Wrong usage ends the process.
    ///
    /// # Errors
    ///
    /// No database was made.
    pub fn build_in(self, dir: PathBuf, quiet: bool) -> Result<Built, Failure> {
        build(self, dir, quiet)
    }

    /// Whether they name more sources than so many.
    pub fn has_more_than(&self, sources: usize) -> bool {
        self.sources.len() + self.dump.len() > sources
    }

    /// The files and URLs that the build reads, bases aside.
    pub fn reads(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().chain(self.games.whole_paths()).chain(&self.plan).map(PathBuf::as_path)
    }

    /// Whether they name a base.
    pub fn has_base(&self) -> bool {
        !self.base.is_empty()
    }
}

fn build(args: Args, out: PathBuf, quiet: bool) -> Result<Built, Failure> {
    if args.sources.iter().filter(|source| source.as_os_str() == "-").count() > 1 {
        wrong("standard input (`-`) can be read once, it is named twice");
    }
    let patience = Patience { timeout: Duration::from_secs(args.timeout), retries: args.retries.into() };
    let mut sources: Vec<Source> = args.sources.iter().map(|path| Source::from(Path::new(path))).collect();
    for month in &args.dump {
        sources.push(dumps::find(month, &args.dump_list, patience)?);
    }
    sources.extend(args.games.whole());
    let mut options = Options {
        sources,
        bases: args.base.iter().map(|database| database::Args::of(database)).collect(),
        replace: args.replace,
        out,
        max_memory: args.max_memory,
        shard_bytes: args.shard_size as u64,
        inline_page_bytes: args.inline_pages,
        threads: args.threads.map_or_else(cores, usize::from),
        patience,
        selection: args.selection.selection(),
        plan: args.plan.as_deref().map(Plan::read).transpose()?,
        max_disk: args.max_disk.map(|bytes| bytes as u64),
        max_bytes: args.max_size.map(|bytes| bytes as u64),
        rejects: args.rejects,
        quiet,
        is_interruptible: true,
    };
    if let Some(plan) = &options.plan {
        options.selection = plan.selection.clone();
        (options.shard_bytes, options.inline_page_bytes) = (plan.shard_bytes, plan.inline_page_bytes);
    }
    let dumps = options.open_dumps()?;
    let kind = match (dumps.kind(&options.sources)?, options.bases.first()) {
        (None, Some(base)) if database::kind(&base.source()?)? == database::Kind::Moves => DumpKind::Games,
        (kind, _) => kind.unwrap_or(DumpKind::Evaluations),
    };
    let misplaced = |option: &str, of: &str, found: &str| -> ! {
        wrong(&format!("{option} is an option of {of}, but the sources are {found}"))
    };
    match kind {
        DumpKind::Evaluations => {
            if let Some(option) = args.games.given() {
                misplaced(option, "games", "evaluations");
            }
            Ok(Built::Evaluations(Box::new(build_of(&options, dumps)?)))
        }
        DumpKind::Games => {
            let SelectionArgs { min_depth, max_pvs, max_plies, best_only } = args.selection;
            let given = [
                (min_depth.is_some(), "--min-depth"),
                (max_pvs.is_some(), "--max-pvs"),
                (best_only, "--best-only"),
                (args.max_size.is_some(), "--max-size"),
                (args.replace, "--replace"),
                (options.plan.is_some(), "--plan"),
            ];
            if let Some((_, option)) = given.iter().find(|(is_given, _)| *is_given) {
                misplaced(option, "evaluations", "games");
            }
            let selection = args.games.selection(max_plies);
            Ok(Built::Games(Box::new(games::build(&options, &selection, args.games.again, dumps)?)))
        }
    }
}
