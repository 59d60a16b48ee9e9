//! `shelfish extract`: a small database of an opening, a repertoire or games.
//!
//! A reader looks up positions and their successors, ply by ply. Only the keys and distances of found positions stay in memory; their
//! records are looked up again, in the order of keys, when they are written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use indicatif::HumanBytes;
use serde::Serialize;
use shakmaty::Position as _;
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::position::{Key, KeyError, Position};
use shelfish::reader::{Options, Reader};
use shelfish::source::integrity::Integrity;
use shelfish::table::{Cutter, Manifest, Record, TableWriter, WriterOptions, encode_block};
use shelfish_analysis::pgn::{GameTexts, read_main_line};
use tokio::runtime::{self, Runtime};

use crate::database::{self, DatabaseSource, Kind};
use crate::games::{self, PART};
use crate::input::{Dump, Input};
use crate::system::ordered::{cores, ordered};
use crate::system::output::named;
use crate::system::quantity;
use crate::system::workspace::{Workspace, WorkspaceError};
use crate::terminal::progress::{Progress, Work};
use crate::terminal::report;
use crate::terminal::shown::{counted, shown};
use crate::{BoxError, Outcome};

/// Number of positions whose successors, or whose records, are looked up at a time.
const BATCH: usize = 1 << 12;
/// Maximum size of decoded blocks in memory, in bytes. A walk returns to the same blocks at later plies.
const MEMORY: usize = 128 << 20;

/// Make a small database of an opening, a repertoire or games.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish extract https://example.org/evals --start 'rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -' -o sicilian
  shelfish extract s3://my-bucket/evals --start 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -' --max-plies 10 -o openings
  shelfish extract db --pgn repertoire.pgn --max-plies 2 -o repertoire
  shelfish extract db --pgn games.pgn -o pack --max-size 20MiB
  shelfish extract book --pgn repertoire.pgn --max-plies 4 -o repertoire-book

The new database contains the positions of --start, or all positions of the games, and all positions that legal moves reach
from there without leaving the database. The command reads only the blocks that can contain these positions. It writes the
files that `shelfish build` would write for the same positions. Of a book, it extracts the moves of these positions; a book
cannot be built on the result, because it lacks positions of its games.

Exit codes: 0 if the database was made; 1 otherwise, or if a game could not be read (the database of the other games is still
made); 2 if the usage is wrong.")]
#[command(group(clap::ArgGroup::new("starts").required(true).multiple(true)))]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Start from this position, as FEN with four or six fields; may be given several times
    #[arg(long, value_name = "FEN", group = "starts")]
    start: Vec<Position>,
    /// Start from all positions of the games in a PGN file, plain or compressed with zstd, gzip or bzip2; `-` reads
    /// standard input
    #[arg(long, value_name = "GAMES", group = "starts")]
    pgn: Vec<PathBuf>,
    /// Follow moves for N plies (moves of either side) from the start [default: no limit with --start alone, 0 with
    /// --pgn]
    #[arg(long, value_name = "N", value_parser = quantity::integer(0_u32, u32::MAX))]
    max_plies: Option<u32>,
    /// Limit the total size of the files; a number alone counts MiB; the positions farthest from the start are left
    /// out
    #[arg(long, value_name = "SIZE", value_parser = quantity::size(1))]
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
struct Extraction {
    /// Number of positions.
    positions: u64,
    /// Size of the files, in bytes.
    bytes: u64,
    /// Distance from the start to the farthest position, in plies.
    plies: u32,
    /// Number of positions that were left out to respect the size limit.
    left_out: u64,
    /// Hash that pins the manifest.
    integrity: String,
    /// Number of bytes read, including gaps between blocks.
    read_bytes: u64,
    /// Number of requests.
    requests: u64,
    /// Size of the source database, in bytes.
    database_bytes: u64,
    /// Number of games that could not be read.
    refused_games: u64,
    /// Duration in seconds.
    seconds: f64,
}

impl fmt::Display for Extraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, {}, at most {} from the start; {} read in {}, {:.1} s",
            counted(self.positions, "position"),
            HumanBytes(self.bytes),
            if self.plies == 1 {
                "1 ply".to_owned()
            } else {
                format!("{} plies", self.plies)
            },
            HumanBytes(self.read_bytes),
            counted(self.requests, "request"),
            self.seconds
        )?;
        if self.left_out > 0 {
            writeln!(
                f,
                "left out because of --max-size: {} farther away",
                counted(self.left_out, "position")
            )?;
        }
        writeln!(f, "{}", self.integrity)
    }
}

/// Extracts a database and prints a summary.
pub fn run(args: Args) -> Outcome {
    let source = args.database.source()?;
    let extraction = match database::kind(&source)? {
        Kind::Evaluations => extract(&args, source, weight_of_eval)?,
        Kind::Moves => extract(&args, source, games::weight_of)?,
    };
    report::print(&extraction, args.json)?;
    Ok(if extraction.refused_games == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Returns the weight of a record.
fn weight_of_eval(eval: &PositionEval) -> usize {
    let pvs = || {
        eval.evaluations
            .iter()
            .flat_map(|evaluation| &evaluation.pvs)
    };
    let plies = pvs().map(|pv| pv.line.len()).sum();
    PositionEval::weight(eval.evaluations.len(), pvs().count(), plies)
}

fn extract<R: Record>(
    args: &Args,
    source: DatabaseSource,
    weight: fn(&R) -> usize,
) -> Result<Extraction, BoxError> {
    let start = Instant::now();
    if source.is_directory() {
        use shelfish::source::Source as _;
        let to = args.out.canonicalize().ok();
        let from = Path::new(&source.locate("")).canonicalize();
        if from.is_ok_and(|from| to == Some(from)) {
            let out = args.out.display();
            return Err(format!(
                "{out} is the source database, which the output would replace; choose another --out"
            )
            .into());
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

    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let options = Options::default().with_memory(MEMORY);
    let mut walk = Walk {
        reader: runtime.block_on(source.reader::<R>(options))?,
        runtime,
        plies_of: BTreeMap::new(),
    };
    let mut workspace = Workspace::open::<R>(&args.out)?;
    workspace.clean_up_on_signals()?;
    let asked = starts.len();
    walk.visit(starts, plies)?;
    if walk.plies_of.is_empty() {
        let asked = counted(asked as u64, "start position");
        return Err(format!("the database contains none of {asked}; nothing was written").into());
    }
    let found = walk.plies_of.len() as u64;
    let written = write(args, &workspace, &mut walk, weight)?;
    let bytes = written.to_bytes::<R>()?;
    let stats = walk.reader.stats();
    Ok(Extraction {
        positions: written.positions,
        bytes: written.bytes() + bytes.len() as u64,
        plies: walk.plies_of.values().copied().max().unwrap_or(0),
        left_out: found - written.positions,
        integrity: Integrity::of(&bytes).to_string(),
        read_bytes: stats.bytes,
        requests: stats.requests,
        database_bytes: walk.reader.manifest().bytes(),
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

/// Positions of a database that moves reach from some starts.
struct Walk<R> {
    runtime: Runtime,
    reader: Reader<DatabaseSource, R>,
    /// Distance of each position from the nearest start.
    plies_of: BTreeMap<Key, u32>,
}

impl<R: Record> Walk<R> {
    /// Visits all positions that legal moves reach from the starts.
    fn visit(&mut self, mut here: Vec<Key>, plies: u32) -> Result<(), BoxError> {
        let done = Arc::new(AtomicU64::new(0));
        let _progress = Progress::start(Work::positions("extracting", &done, None), false);
        here.sort_unstable();
        here.dedup();
        for ply in 0..=plies {
            done.store(self.plies_of.len() as u64, Relaxed);
            let mut next = Vec::new();
            for some in here.chunks(BATCH) {
                let mut positions = BTreeMap::new();
                for position in positions_of(some)? {
                    if ply == 0 {
                        positions.insert(position.key(), position);
                        continue;
                    }
                    for m in position.chess().legal_moves() {
                        let mut child = position.chess().clone();
                        child.play_unchecked(m);
                        let child = Position::from_chess(&child);
                        positions.entry(child.key()).or_insert(child);
                    }
                }
                positions.retain(|key, _| !self.plies_of.contains_key(key));
                let positions: Vec<Position> = positions.into_values().collect();
                let before = next.len();
                self.look_up(&positions, |key, _| next.push(key))?;
                self.plies_of
                    .extend(next[before..].iter().map(|key| (*key, ply)));
            }
            // The moves of a start position count even if the database lacks the position.
            if ply > 0 {
                if next.is_empty() {
                    break;
                }
                next.sort_unstable();
                here = next;
            }
        }
        Ok(())
    }

    /// Passes the records that the database contains of some positions to `take`.
    fn look_up(
        &self,
        positions: &[Position],
        mut take: impl FnMut(Key, R) + Send,
    ) -> Result<(), BoxError> {
        let mut done = Ok(());
        let mut found = |n: usize, answer: Result<Option<R>, _>, _: &_| match answer {
            Ok(Some(record)) => take(positions[n].key(), record),
            Ok(None) => {}
            Err(error) => done = Err(error),
        };
        self.runtime
            .block_on(self.reader.lookup_each(positions, &mut found));
        Ok(done?)
    }

    /// Leaves only the `count` nearest positions; of equally near positions, those with the lowest keys.
    fn keep_nearest(&mut self, count: usize) {
        let mut plies: Vec<u32> = self.plies_of.values().copied().collect();
        plies.sort_unstable();
        let last = plies[count - 1];
        let mut room = plies[..count].iter().filter(|ply| **ply == last).count();
        self.plies_of.retain(|_, ply| {
            let is_kept = *ply < last || (*ply == last && room > 0);
            room -= usize::from(is_kept && *ply == last);
            is_kept
        });
    }

    /// Returns the records in blocks, divided as a build does.
    fn blocks(&self, weight: fn(&R) -> usize) -> impl Iterator<Item = Result<Vec<R>, BoxError>> {
        let keys: Vec<Key> = self.plies_of.keys().copied().collect();
        let batches: Vec<Vec<Key>> = keys.chunks(BATCH).map(<[Key]>::to_vec).collect();
        let mut batches = batches.into_iter();
        let mut records = BTreeMap::new();
        let mut cutter = Cutter::new(R::BLOCK_WEIGHT);
        let mut next = move || {
            loop {
                while let Some((key, record)) = records.pop_first() {
                    let block = cutter.push(Key::as_bytes(&key), weight(&record), record);
                    if block.is_some() {
                        return Ok(block);
                    }
                }
                let Some(batch) = batches.next() else {
                    let rest = std::mem::replace(&mut cutter, Cutter::new(0));
                    return Ok(rest.finish());
                };
                self.look_up(&positions_of(&batch)?, |key, record| {
                    records.insert(key, record);
                })?;
            }
        };
        std::iter::from_fn(move || next().transpose())
    }
}

fn positions_of(keys: &[Key]) -> Result<Vec<Position>, KeyError> {
    let positions = keys.iter().map(|key| Key::decode(key.as_bytes()));
    positions.collect()
}

/// Writes the nearest positions that fit into the size limit.
fn write<R: Record>(
    args: &Args,
    workspace: &Workspace,
    walk: &mut Walk<R>,
    weight: fn(&R) -> usize,
) -> Result<Manifest, BoxError> {
    // The new database inherits the filters of the source database.
    let mut info: BTreeMap<String, String> = walk.reader.manifest().info.iter().cloned().collect();
    // A build on this book would count games at positions that it lacks as new.
    if R::KIND == Played::KIND {
        info.insert(PART.to_owned(), "true".to_owned());
    }
    loop {
        let (done, count) = (Arc::new(AtomicU64::new(0)), walk.plies_of.len());
        let work = Work::positions("writing", &done, Some(count as u64));
        let _progress = Progress::start(work, false);
        let options = WriterOptions {
            info: info.clone(),
            ..WriterOptions::default()
        };
        let mut writer = TableWriter::<R>::create(&args.out, workspace.dir(), options);
        let encode =
            |block: Result<Vec<R>, BoxError>| -> Result<_, BoxError> { Ok(encode_block(&block?)?) };
        for block in ordered(walk.blocks(weight), cores(), encode) {
            let block = block?;
            writer.append(&block).map_err(WorkspaceError::Write)?;
            done.fetch_add(block.positions, Relaxed);
        }
        let bytes = writer.bytes_at_most();
        match args.max_size {
            Some(room) if bytes > room => {
                writer.complete()?.discard()?;
                let share = room as f64 / bytes as f64;
                match ((count as f64 * share * 0.98) as usize).min(count - 1) {
                    0 => {
                        let room = HumanBytes(room);
                        return Err(
                            format!("no database fits into {room}; increase --max-size").into()
                        );
                    }
                    fewer => walk.keep_nearest(fewer),
                }
            }
            _ => return Ok(writer.finish().map_err(WorkspaceError::Write)?),
        }
    }
}
