//! `shelfish export`: a database back to a dump.

mod polyglot;

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shakmaty::CastlingMode;
use shelfish::eval::PositionEval;
use shelfish::played::{Bucket, Details, GameRef, Played, PlayedMove, Ratings, Results};
use shelfish::table::{Block, Record, TableError};

use crate::database::scan::{RawBlock, Scan, ScanError};
use crate::database::{self, Kind};
use crate::system::ordered::{cores, ordered};
use crate::system::output;
use crate::terminal::progress::{Progress, Work};
use crate::{Failure, Outcome, lichess};

/// Write a database as a dump, in the order of the database.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish export -d db | zstd > dump.jsonl.zst
  shelfish export -d db --format parquet -o dump.parquet
  shelfish export -d https://example.org/evals -o dump.jsonl
  shelfish export -d book --format polyglot --min-games 5 -o book.bin

What is written of evaluations holds every position, evaluation, PV, depth and node count; `shelfish build` makes the same
database of it. Parquet has one row a PV, as Lichess publishes it, and cannot tell two evaluations of a position from one if they
stand behind one another and have the same depth and node count and no first move in common: positions of which that is
so are counted on standard error.

Of a book JSON lines, which `shelfish build` does not read, have for each position fen, ended and moves: White's wins, draws
and Black's wins of the games that end there, and by move (castling as e1h1) of the games that played it. If the book tells of more, details has by move, and for
`end`, its buckets by number (White's wins, draws, Black's wins, games with a rating, the sum of the ratings) and its games (id on
Lichess, or number of the source and of the game in it; rating, 0 for none; result). Polyglot's format is read by most engines: weights of 16 bits, those of a
position made smaller alike where they do not fit; what is written is sorted in memory, 16 bytes a move.

Exit codes: 0 if the dump was written; 1 if not; 2 for wrong usage.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Write to FILE in place of standard output; a file that is there is replaced when the new one is complete
    #[arg(short, long, value_name = "FILE", alias = "output")]
    out: Option<PathBuf>,
    /// What to write
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Of Polyglot: what weights are
    #[arg(long, value_enum)]
    weights: Option<polyglot::Weights>,
    /// Of Polyglot: leave out moves that fewer than N games played
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    min_games: Option<u64>,
    /// Do not say how far it is
    #[arg(short, long)]
    quiet: bool,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, Default)]
enum Format {
    /// One JSON object a line, in the format of the Lichess evaluation database
    #[default]
    Jsonl,
    /// One row a PV: fen, line, depth, knodes, cp, mate
    #[cfg(feature = "parquet")]
    Parquet,
    /// A book for engines: entries of 16 bytes
    Polyglot,
}

/// Exports.
///
/// # Errors
///
/// The database cannot be read, or the dump cannot be written.
pub fn run(args: Args) -> Outcome {
    if (args.weights.is_some() || args.min_games.is_some()) && !matches!(args.format, Format::Polyglot) {
        let why = "--weights and --min-games are options of --format polyglot\n";
        clap::Command::new("shelfish export").error(clap::error::ErrorKind::ArgumentConflict, why).exit();
    }
    match &args.out {
        Some(path) => output::whole(path, |out| export(&args, out))?,
        None => export(&args, &mut io::BufWriter::new(io::stdout()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn export(args: &Args, out: &mut (impl Write + Send)) -> Result<(), Failure> {
    match args.format {
        Format::Jsonl => match database::kind(&args.database.source()?)? {
            Kind::Evaluations => write_lines(blocks(args, lines)?, out)?,
            Kind::Moves => write_lines(blocks(args, played_lines)?, out)?,
        },
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(args, &mut *out)?,
        Format::Polyglot => {
            let (weights, min_games) = (args.weights.unwrap_or_default(), args.min_games.unwrap_or(1));
            polyglot::write(args, weights, min_games, &mut *out)?;
        }
    }
    out.flush()?;
    Ok(())
}

fn write_lines(lines: impl Iterator<Item = Result<Vec<u8>, Failure>>, out: &mut impl Write) -> Result<(), Failure> {
    for lines in lines {
        out.write_all(&lines?)?;
    }
    Ok(())
}

/// What `map` makes of the records of each block. How far it is is said on standard error.
fn blocks<K: Record, R: Send + 'static>(
    args: &Args,
    map: fn(&[K]) -> R,
) -> Result<impl Iterator<Item = Result<R, Failure>> + use<K, R>, Failure> {
    let place = args.database.source()?;
    let manifest = Arc::new(database::wait(database::manifest::<K>(&place))??);
    let open = move |block: Result<RawBlock, ScanError>| {
        let block = block.map_err(Box::new)?;
        let records = || Block::open(&block.bytes, &block.at)?.records().collect::<Result<Vec<K>, TableError>>();
        let mapped = records().map(|records| (records.len() as u64, map(&records)));
        mapped.map_err(|error| -> Failure { Box::new(error) })
    };
    let done = Arc::new(AtomicU64::new(0));
    // A dump on a terminal is progress enough, and a bar would run through it.
    let quiet = args.quiet || (args.out.is_none() && io::stdout().is_terminal());
    let progress = Progress::start(Work::positions("exporting", &done, Some(manifest.positions)), quiet);
    let blocks = ordered(Scan::new(place, manifest)?, cores(), open);
    Ok(Reported { blocks, done, _progress: progress })
}

/// Blocks, each with the number of its positions, which are reported as they come.
struct Reported<I> {
    blocks: I,
    done: Arc<AtomicU64>,
    _progress: Progress,
}

impl<R, I: Iterator<Item = Result<(u64, R), Failure>>> Iterator for Reported<I> {
    type Item = Result<R, Failure>;

    fn next(&mut self) -> Option<Result<R, Failure>> {
        let block = self.blocks.next()?;
        Some(block.map(|(positions, mapped)| {
            self.done.fetch_add(positions, Relaxed);
            mapped
        }))
    }
}

fn lines(evals: &[PositionEval]) -> Vec<u8> {
    let mut lines = Vec::new();
    evals.iter().for_each(|eval| lichess::push_line(&mut lines, eval));
    lines
}

/// One JSON object for each position: its FEN, the results of games that end there, and by move (castling as the king's move
/// to the rook's square) those of games that played it: White's wins, draws, Black's wins.
fn played_lines(records: &[Played]) -> Vec<u8> {
    let mut lines = String::new();
    let counts = |results: Results| format!("[{},{},{}]", results.white, results.draws, results.black);
    for Played { position, ended, ended_details, moves } in records {
        let uci = |played: &PlayedMove| played.m.to_uci(CastlingMode::Chess960).to_string();
        let told: Vec<String> =
            moves.iter().map(|played| format!("\"{}\":{}", uci(played), counts(played.results))).collect();
        let details = moves.iter().map(|played| (uci(played), &played.details));
        let details =
            details.chain([("end".to_owned(), ended_details)]).filter_map(|(name, all)| details_of(&name, all));
        let details: Vec<String> = details.collect();
        let details =
            if details.is_empty() { String::new() } else { format!(",\"details\":{{{}}}", details.join(",")) };
        let (ended, told) = (counts(*ended), told.join(","));
        let line = format!("{{\"fen\":\"{position}\",\"ended\":{ended},\"moves\":{{{told}}}{details}}}\n");
        lines.push_str(&line);
    }
    lines.into_bytes()
}

/// A member of `details`, if there is anything to tell.
fn details_of(name: &str, Details { buckets, games }: &Details) -> Option<String> {
    if games.is_empty() && buckets.iter().all(|bucket| *bucket == Bucket::default()) {
        return None;
    }
    let bucket = |(n, bucket): (usize, &Bucket)| {
        let Bucket { results: Results { white, draws, black }, ratings: Ratings { games, sum } } = bucket;
        (bucket.results.games() > 0).then(|| format!("\"{n}\":[{white},{draws},{black},{games},{sum}]"))
    };
    let game = |game: &GameRef| {
        let Results { white, draws, black } = game.result();
        format!("[\"{}\",{},[{white},{draws},{black}]]", game.id(), game.rating().unwrap_or(0))
    };
    let buckets: Vec<String> = buckets.iter().enumerate().filter_map(bucket).collect();
    let games: Vec<String> = games.iter().map(game).collect();
    Some(format!("\"{name}\":{{\"buckets\":{{{}}},\"games\":[{}]}}", buckets.join(","), games.join(",")))
}

#[cfg(feature = "parquet")]
mod parquet {
    use std::io::Write;

    use shakmaty::CastlingMode;
    use shelfish::eval::{Evaluation, PositionEval, Pv};

    use super::{Args, Failure, blocks};
    use crate::input::parquet::Writer;
    use crate::input::rows::{Row, Rows};
    use crate::lichess::{score, uci};

    pub fn write(args: &Args, out: &mut (impl Write + Send)) -> Result<(), Failure> {
        let mut writer = Writer::new(out)?;
        let mut fused = 0u64;
        for block in blocks(args, |evals| evals.iter().map(rows).collect::<Vec<_>>())? {
            for (rows, is_told_apart) in block? {
                fused += u64::from(!is_told_apart);
                writer.push(rows)?;
            }
        }
        if fused > 0 {
            eprintln!("shelfish: {fused} positions have evaluations that Parquet cannot tell apart; JSON lines can");
        }
        Ok(writer.finish()?)
    }

    /// The rows of a position, and whether they tell its evaluations apart.
    fn rows(eval: &PositionEval) -> (Rows, bool) {
        let row = |evaluation: &Evaluation, pv: &Pv| {
            let (cp, mate) = score(pv.score);
            let (depth, knodes) = (evaluation.depth.into(), evaluation.knodes.into());
            Row {
                line: uci(&pv.line, CastlingMode::Chess960),
                depth,
                knodes,
                cp: cp.map(Into::into),
                mate: mate.map(Into::into),
            }
        };
        let evaluations = || eval.evaluations.iter();
        let all = evaluations().flat_map(|evaluation| evaluation.pvs.iter().map(move |pv| row(evaluation, pv)));
        let rows = Rows { fen: eval.position.to_string(), rows: all.collect() };
        let is_told_apart =
            rows.evaluations().iter().map(|rows| rows.len()).eq(evaluations().map(|evaluation| evaluation.pvs.len()));
        (rows, is_told_apart)
    }
}
