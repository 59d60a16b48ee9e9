//! `shelfish export`: a database converted to other formats.

mod polyglot;
mod rows;

use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shakmaty::CastlingMode;
use shelfish::played::{Bucket, Details, GameRef, Played, PlayedMove, Ratings, Results};
use shelfish::table::{Block, Record, TableError};

use crate::database::scan::{RawBlock, Scan, ScanError};
use crate::database::{self, Kind};
use crate::system::ordered::{cores, ordered};
use crate::system::output;
use crate::system::quantity;
use crate::terminal::progress::{Progress, Work};
use crate::{BoxError, Outcome, lichess};

/// Convert a database to JSON lines, CSV, Parquet or a Polyglot book.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish export db | zstd > dump.jsonl.zst
  shelfish export db --format parquet -o dump.parquet
  shelfish export book --format csv -o book.csv
  shelfish export https://example.org/evals -o dump.jsonl
  shelfish export book --format polyglot --min-games 5 -o book.bin

Of a database of evaluations, JSON lines contain every position, evaluation, PV, depth and node count; `shelfish build` makes
the same database of them. Parquet and CSV have one row per PV, as Lichess publishes it. Rows cannot separate two consecutive
evaluations of a position that have the same depth and node count but no first move in common. The command counts such
positions on standard error.

Of a book, JSON lines contain fen, ended and moves for each position. `ended` counts White's wins, draws and Black's wins of
the games that end there. `moves` contains the same counts by move (castling as e1h1). `details` is present if the book
contains ratings, buckets or references to games. For each move, and for `end`, `details` contains:
  buckets  by number: White's wins, draws, Black's wins, games with a rating, sum of the ratings
  games    id on Lichess, or numbers of source and game; rating (0 if unknown); result
`shelfish build` does not read these lines.

Of a book, Parquet and CSV have one row per move, and one for the games that end at the position, whose move is empty. With
buckets, a move has one row per bucket with games. `white`, `draws` and `black` count results, `rated` the games with a rating,
and `rating_sum` is the sum of their average ratings. References to games are left out.

Most engines read Polyglot books. Weights have 16 bits; if a weight does not fit, all weights of the position are scaled down.
The command sorts the entries in memory, which takes 16 bytes per move.

Exit codes: 0 if the file was written; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Write to FILE instead of standard output; an existing file is replaced when the new file is complete
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Polyglot: leave out moves that fewer than N games played
    #[arg(long, value_name = "N", value_parser = quantity::integer(1_u64, u64::MAX))]
    min_games: Option<u64>,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, Default)]
enum Format {
    /// One JSON object per line, in the format of the Lichess evaluation database
    #[default]
    Jsonl,
    /// One row per PV: fen, line, depth, knodes, cp, mate; of a book one row per move: fen, move, bucket, white, draws, black,
    /// rated, rating_sum
    #[cfg(feature = "parquet")]
    Parquet,
    /// The same rows as comma-separated values, with the names of the columns in the first line
    Csv,
    /// Book for engines, with entries of 16 bytes
    Polyglot,
}

/// Exports a database.
pub fn run(args: Args) -> Outcome {
    if args.min_games.is_some() && !matches!(args.format, Format::Polyglot) {
        let why = "--min-games is an option of --format polyglot\n";
        clap::Command::new("shelfish export")
            .error(clap::error::ErrorKind::ArgumentConflict, why)
            .exit();
    }
    match &args.out {
        Some(path) => output::whole(path, |out| export(&args, out))?,
        None => export(&args, &mut io::BufWriter::new(io::stdout()))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn export(args: &Args, out: &mut (impl Write + Send)) -> Result<(), BoxError> {
    match database::kind(&args.database.source()?)? {
        Kind::Evaluations => export_as(args, lichess::line, &rows::EVALUATIONS, out)?,
        Kind::Moves => export_as(args, played_line, &rows::MOVES, out)?,
    }
    Ok(out.flush()?)
}

/// Exports records with their functions for lines and rows.
fn export_as<K: Record>(
    args: &Args,
    line: fn(&K) -> serde_json::Result<String>,
    format: &rows::RowFormat<K>,
    out: &mut (impl Write + Send),
) -> Result<(), BoxError> {
    match args.format {
        Format::Jsonl => write_lines(args, line, out),
        #[cfg(feature = "parquet")]
        Format::Parquet => rows::write_parquet(args, format, out),
        Format::Csv => rows::write_csv(args, format, out),
        Format::Polyglot => polyglot::write(args, args.min_games.unwrap_or(1), out),
    }
}

fn write_lines<K: Record>(
    args: &Args,
    line: fn(&K) -> serde_json::Result<String>,
    out: &mut impl Write,
) -> Result<(), BoxError> {
    let lines = move |records: &[K]| records.iter().map(line).collect::<Result<String, _>>();
    for lines in blocks(args, lines)? {
        out.write_all(lines??.as_bytes())?;
    }
    Ok(())
}

/// Applies `map` to the records of each block, and prints progress on standard error.
fn blocks<K: Record, R: Send + 'static>(
    args: &Args,
    map: impl Fn(&[K]) -> R + Send + Sync + 'static,
) -> Result<impl Iterator<Item = Result<R, BoxError>>, BoxError> {
    let source = args.database.source()?;
    let manifest = Arc::new(database::wait(database::manifest::<K>(&source))??);
    let open = move |block: Result<RawBlock, ScanError>| {
        let block = block.map_err(Box::new)?;
        let records = || {
            Block::open(&block.bytes, &block.at)?
                .records()
                .collect::<Result<Vec<K>, TableError>>()
        };
        let mapped = records().map(|records| (records.len() as u64, map(&records)));
        mapped.map_err(|error| -> BoxError { Box::new(error) })
    };
    let done = Arc::new(AtomicU64::new(0));
    // On a terminal, the exported lines show the progress, and a bar would interrupt them.
    let quiet = args.out.is_none() && io::stdout().is_terminal();
    let progress = Progress::start(
        Work::positions("exporting", &done, Some(manifest.positions)),
        quiet,
    );
    let blocks = ordered(Scan::new(source, manifest)?, cores(), open);
    Ok(blocks.map(move |block| {
        let (_progress, (positions, mapped)) = (&progress, block?);
        done.fetch_add(positions, Relaxed);
        Ok(mapped)
    }))
}

/// Formats a position as a JSON object: its FEN, the results of games that end there, and the results of each
/// move.
///
/// Results are White's wins, draws and Black's wins. Castling is the move of the king to the square of the rook.
fn played_line(
    Played {
        position,
        ended,
        ended_details,
        moves,
    }: &Played,
) -> serde_json::Result<String> {
    let uci = |played: &PlayedMove| played.m.to_uci(CastlingMode::Chess960).to_string();
    let results = moves
        .iter()
        .map(|played| format!("\"{}\":[{}]", uci(played), counts(played.results)));
    let results = results.collect::<Vec<_>>().join(",");
    let details = moves.iter().map(|played| (uci(played), &played.details));
    let details = details
        .chain([("end".to_owned(), ended_details)])
        .filter_map(|(name, all)| details_of(&name, all));
    let mut details = details.collect::<Vec<_>>().join(",");
    if !details.is_empty() {
        details = format!(",\"details\":{{{details}}}");
    }
    let ended = counts(*ended);
    Ok(format!(
        "{{\"fen\":\"{position}\",\"ended\":[{ended}],\"moves\":{{{results}}}{details}}}\n"
    ))
}

fn counts(
    Results {
        white,
        draws,
        black,
    }: Results,
) -> String {
    format!("{white},{draws},{black}")
}

/// Formats a member of `details`, unless it would be empty.
fn details_of(name: &str, Details { buckets, games }: &Details) -> Option<String> {
    if games.is_empty() && buckets.iter().all(|bucket| *bucket == Bucket::default()) {
        return None;
    }
    let bucket = |(n, Bucket { results, ratings }): (usize, &Bucket)| {
        let (results, Ratings { games, sum }) = (counts(*results), ratings);
        format!("\"{n}\":[{results},{games},{sum}]")
    };
    let game = |game: &GameRef| {
        let (rating, result) = (game.rating().unwrap_or(0), counts(game.result()));
        format!("[\"{}\",{rating},[{result}]]", game.id())
    };
    let played = buckets.iter().enumerate();
    let played = played.filter(|(_, bucket)| bucket.results.games() > 0);
    let buckets = played.map(bucket).collect::<Vec<_>>().join(",");
    let games = games.iter().map(game).collect::<Vec<_>>().join(",");
    Some(format!(
        "\"{name}\":{{\"buckets\":{{{buckets}}},\"games\":[{games}]}}"
    ))
}
