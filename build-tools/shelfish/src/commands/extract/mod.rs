//! `shelfish extract`: a small database of a part of a large database.

mod index;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use indicatif::{HumanBytes, HumanCount};
use serde::Serialize;
use shakmaty::Position as _;
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::position::{Key, KeyError, Position};
use shelfish::source::integrity::Integrity;
use shelfish::table::{
    Cutter, EncodedBlock, Manifest, Record, TableError, TableWriter, WriterOptions, encode_block,
};
use shelfish_analysis::pgn::{GameTexts, read_main_line};

use crate::database::{self, DatabaseSource, Kind};
use crate::games::PART;
use crate::input::{Dump, Input};
use crate::system::ordered::{cores, ordered};
use crate::system::output::named;
use crate::system::size;
use crate::system::workspace::{Workspace, WorkspaceError};
use crate::terminal::progress::{Progress, Work};
use crate::terminal::report;
use crate::terminal::shown::shown;
use crate::{BoxError, Outcome};
use index::{Found, Index, Reads};

/// Make a small database of an opening, a repertoire or games.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish extract -d https://example.org/evals --start 'rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -' -o sicilian
  shelfish extract -d s3://my-bucket/evals --start 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -' --max-plies 10 -o openings
  shelfish extract -d db --pgn repertoire.pgn --max-plies 2 -o repertoire
  shelfish extract -d db --pgn games.pgn -o pack --max-size 20MiB
  shelfish extract -d book --pgn repertoire.pgn --max-plies 4 -o repertoire-book

The new database contains the positions of --start, or all positions of the games, and all positions that legal moves reach
from there without leaving the database. The command reads only the blocks that can contain these positions. It writes the
files that `shelfish build` would write for the same positions. Of a book, it extracts the moves of these positions; a book
cannot be built on the result, because it lacks positions of its games.

Exit codes: 0 if the database was made; 1 otherwise, or if a game could not be read (the database of the other games is still
made); 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Start from this position, as FEN with four or six fields; may be given several times
    #[arg(long, value_name = "FEN", required_unless_present = "pgn")]
    start: Vec<Position>,
    /// Start from all positions of the games in a PGN file, plain or compressed with zstd, gzip or bzip2; `-` reads
    /// standard input
    #[arg(long, value_name = "GAMES")]
    pgn: Vec<PathBuf>,
    /// Follow moves for N plies (moves of either side) from the start [default: no limit with --start alone, 0 with
    /// --pgn]
    #[arg(long, value_name = "N")]
    max_plies: Option<u32>,
    /// Limit the total size of the files, a number alone counts MiB; the positions farthest from the start are left
    /// out
    #[arg(long, value_name = "SIZE", value_parser = size::at_least(1))]
    max_size: Option<u64>,
    /// Directory of the new database; an existing database there is replaced when the new database is complete
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Summary of an extraction.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Number of positions.
    pub positions: u64,
    /// Size of the files, in bytes.
    pub bytes: u64,
    /// Distance from the start to the farthest position, in plies.
    pub plies: u32,
    /// Number of positions that were left out to respect the size limit.
    pub left_out: u64,
    /// Hash that pins the manifest.
    pub integrity: String,
    /// Statistics of the reads.
    #[serde(flatten)]
    pub reads: Reads,
    /// Size of the source database, in bytes.
    pub database_bytes: u64,
    /// Number of games that could not be read.
    pub refused_games: u64,
    /// Duration in seconds.
    pub seconds: f64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report {
            positions,
            bytes,
            plies,
            left_out,
            integrity,
            reads,
            seconds,
            ..
        } = self;
        writeln!(
            f,
            "{} positions, {}, at most {plies} plies from the start; {} read in {} requests, {seconds:.1} s",
            HumanCount(*positions),
            HumanBytes(*bytes),
            HumanBytes(reads.read_bytes),
            reads.requests
        )?;
        writeln!(
            f,
            "{} blocks with {} read; {} with {} contain extracted positions",
            HumanCount(reads.blocks),
            HumanBytes(reads.block_bytes),
            HumanCount(reads.used_blocks),
            HumanBytes(reads.used_block_bytes)
        )?;
        if *left_out > 0 {
            writeln!(
                f,
                "{} positions farther away were left out because of --max-size",
                HumanCount(*left_out)
            )?;
        }
        writeln!(f, "{integrity}")
    }
}

/// Reasons why nothing was extracted.
#[derive(Debug, thiserror::Error)]
enum ExtractError {
    /// The database contains no start position.
    #[error("the database contains none of the {asked} start positions; nothing was written")]
    Nothing { asked: usize },
    /// The first positions alone exceed the size limit.
    #[error("no database fits into {room} bytes; increase --max-size")]
    NoRoom { room: u64 },
    /// The output directory is the database itself.
    #[error("{} is the source database, which the output would replace; choose another --out", .0.display())]
    Itself(PathBuf),
}

/// Extracts a database and prints a summary.
pub fn run(args: Args) -> Outcome {
    let source = args.database.source()?;
    let report = match database::kind(&source)? {
        Kind::Evaluations => extract::<PositionEval>(&args, source)?,
        Kind::Moves => extract::<Played>(&args, source)?,
    };
    report::print(&report, args.json)?;
    Ok(if report.refused_games == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn extract<R: Record>(args: &Args, source: DatabaseSource) -> Result<Report, BoxError> {
    let start = Instant::now();
    if source.is_directory() {
        use shelfish::source::Source as _;
        let same = Path::new(&source.locate(""))
            .canonicalize()
            .ok()
            .zip(args.out.canonicalize().ok());
        if same.is_some_and(|(from, to)| from == to) {
            return Err(ExtractError::Itself(args.out.clone()).into());
        }
    }
    let mut starts: Vec<Key> = args.start.iter().map(Position::key).collect();
    let mut refused_games = 0;
    for path in &args.pgn {
        refused_games += positions_of_games(path, &mut starts)?;
    }
    let plies = args
        .max_plies
        .unwrap_or(if args.pgn.is_empty() { u32::MAX } else { 0 });

    let manifest = Arc::new(database::wait(database::manifest::<R>(&source))??);
    let mut workspace = Workspace::open::<R>(&args.out)?;
    #[cfg(unix)]
    workspace.clean_up_on_signals()?;
    let kept = workspace.temporary_file()?;
    let mut index = Index::<R>::new(source, manifest.clone(), kept);
    let asked = starts.len();
    // Errors of the source are errors of a reader. Only the temporary file has errors of the system.
    let walked = database::wait(walk(&mut index, starts, plies))?;
    walked.map_err(|error| match error.downcast::<std::io::Error>() {
        Ok(error) => workspace.error(*error).into(),
        Err(error) => error,
    })?;
    let found = index.met().iter().sum();
    if found == 0 {
        return Err(ExtractError::Nothing { asked }.into());
    }
    let (written, kept) = write(args, &workspace, &manifest, &mut index, found)?;
    let bytes = written.to_bytes::<R>()?;
    Ok(Report {
        positions: written.positions,
        bytes: written.bytes() + bytes.len() as u64,
        plies: index.plies_of(kept),
        left_out: found - kept,
        integrity: Integrity::of(&bytes).to_string(),
        reads: index.reads(),
        database_bytes: manifest.bytes(),
        refused_games,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Number of positions of games that are gathered before duplicates are removed.
const GATHERED: usize = 1 << 16;

/// Adds the positions of the games of a file to `keys`. Returns the number of games that cannot be read.
fn positions_of_games(path: &Path, keys: &mut Vec<Key>) -> Result<u64, BoxError> {
    let source = Input::from(path);
    let named = named(&source);
    let text = Dump::text_of(&source).map_err(named)?;
    let (mut refused, mut room) = (0, GATHERED);
    for text in GameTexts::new(text) {
        let text = text.map_err(named)?;
        let game = read_main_line(&text.text, text.line);
        if let Some(error) = &game.error {
            refused += 1;
            let (number, error) = (text.number, error.to_string());
            eprintln!("shelfish: {source}, game {number}, {}", shown(&error));
        }
        if game.error.is_none() || !game.game.moves().is_empty() {
            let positions = game.game.positions();
            keys.extend(positions.map(|chess| Position::from_chess(&chess).key()));
        }
        if keys.len() > room {
            keys.sort_unstable();
            keys.dedup();
            room = GATHERED.max(2 * keys.len());
        }
    }
    Ok(refused)
}

/// Number of positions whose successors are computed at a time.
const BATCH: usize = 1 << 14;

/// Visits all positions that legal moves reach from the starts.
async fn walk<R: Record>(
    index: &mut Index<R>,
    mut starts: Vec<Key>,
    plies: u32,
) -> Result<(), BoxError> {
    let done = Arc::new(AtomicU64::new(0));
    let _progress = Progress::start(Work::positions("extracting", &done, None), false);
    starts.sort_unstable();
    starts.dedup();
    let met = index.meet(&starts, 0).await?;
    done.fetch_add(met.len() as u64, Relaxed);
    // The moves of a start position count even if the database lacks the position.
    let mut here = starts;
    for ply in 1..=plies {
        if here.is_empty() {
            break;
        }
        let mut next = Vec::new();
        for some in here.chunks(BATCH) {
            next.extend(index.meet(&children(some)?, ply).await?);
        }
        done.fetch_add(next.len() as u64, Relaxed);
        next.sort_unstable();
        here = next;
    }
    Ok(())
}

/// Returns the positions that legal moves reach, ascending.
fn children(keys: &[Key]) -> Result<Vec<Key>, BoxError> {
    let of_some = |keys: &[Key]| -> Result<Vec<Key>, KeyError> {
        let mut children = Vec::new();
        for key in keys {
            let position = Key::decode(key.as_bytes())?;
            children.extend(position.chess().legal_moves().into_iter().map(|m| {
                let mut child = position.chess().clone();
                child.play_unchecked(m);
                Position::from_chess(&child).key()
            }));
        }
        children.sort_unstable();
        children.dedup();
        Ok(children)
    };
    let share = keys.len().div_ceil(cores()).max(256);
    let mut children = Vec::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = keys
            .chunks(share)
            .map(|some| scope.spawn(move || of_some(some)))
            .collect();
        workers.into_iter().try_for_each(|worker| {
            children.extend(
                worker
                    .join()
                    .expect("a worker died")
                    .map_err(|error| error.to_string())?,
            );
            Ok::<_, BoxError>(())
        })
    })?;
    // A stable sort detects the sorted runs.
    children.sort();
    children.dedup();
    Ok(children)
}

/// Writes the nearest positions that fit into the size limit, and returns their number.
fn write<R: Record>(
    args: &Args,
    workspace: &Workspace,
    manifest: &Manifest,
    index: &mut Index<R>,
    found: u64,
) -> Result<(Manifest, u64), BoxError> {
    // The new database inherits the filters of the source database.
    let mut info: BTreeMap<String, String> = manifest.info.iter().cloned().collect();
    // A build on this book would count games at positions that it lacks as new.
    if R::KIND == Played::KIND {
        info.insert(PART.to_owned(), "true".to_owned());
    }
    let mut count = found;
    loop {
        let done = Arc::new(AtomicU64::new(0));
        let _progress = Progress::start(Work::positions("writing", &done, Some(count)), false);
        let options = WriterOptions::default().with_info(info.clone());
        let mut writer = TableWriter::<R>::create(&args.out, workspace.dir(), options);
        for block in ordered(Blocks::new(index.records(count)), cores(), |found| {
            encode(found?)
        }) {
            let block = block?;
            writer.append(&block).map_err(WorkspaceError::Write)?;
            done.fetch_add(block.positions, Relaxed);
        }
        let bytes = writer.bytes_at_most();
        match args.max_size {
            Some(room) if bytes > room => {
                writer.discard()?;
                let share = room as f64 / bytes as f64;
                count = ((count as f64 * share * 0.98) as u64).min(count - 1);
                if count == 0 {
                    return Err(ExtractError::NoRoom { room }.into());
                }
            }
            _ => return Ok((writer.finish().map_err(WorkspaceError::Write)?, count)),
        }
    }
}

/// Divides records into blocks as a build does. The keys must be ascending.
struct Blocks<I, R: Record> {
    records: I,
    cutter: Option<Cutter<Found<R>>>,
}

impl<I, R: Record> Blocks<I, R> {
    fn new(records: I) -> Blocks<I, R> {
        Blocks {
            records,
            cutter: Some(Cutter::new(R::BLOCK_WEIGHT)),
        }
    }
}

impl<R: Record, I: Iterator<Item = Result<Found<R>, BoxError>>> Iterator for Blocks<I, R> {
    type Item = Result<Vec<Found<R>>, BoxError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let cutter = self.cutter.as_mut()?;
            match self.records.next() {
                None => return self.cutter.take().and_then(Cutter::finish).map(Ok),
                Some(Err(error)) => return Some(Err(error)),
                Some(Ok(found)) => {
                    let (key, weight) = (found.key, found.weight);
                    if let Some(block) = cutter.push(key.as_bytes(), weight, found) {
                        return Some(Ok(block));
                    }
                }
            }
        }
    }
}

fn encode<R: Record>(found: Vec<Found<R>>) -> Result<EncodedBlock, BoxError> {
    let records = found
        .iter()
        .map(Found::record)
        .collect::<Result<Vec<R>, TableError>>()?;
    Ok(encode_block(&records)?)
}
