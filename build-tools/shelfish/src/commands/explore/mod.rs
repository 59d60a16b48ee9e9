//! `shelfish explore`: played moves of positions, with evaluations.

mod explored;
mod openings;
mod table;

use shakmaty::{CastlingMode, Chess, Move, Position as _};
use shelfish::eval::PositionEval;
use shelfish::played::{Bucketing, BucketingError, Played, PlayedMove};
use shelfish::position::Position;
use shelfish::reader::{Options, ReadError, Reader};

use crate::database::{self, DatabaseSource, OpenError};
use crate::games::{SOURCE_NAMES, Wanted};
use crate::terminal::answers::Answers;
use crate::{BoxError, Outcome};
use explored::Evaluation;
pub(crate) use explored::{Explored, ExploredMove, Names, TopGame};

pub(crate) use openings::Opening;

/// Errors of the buckets of a book.
#[derive(Debug, thiserror::Error)]
enum BucketError {
    /// The manifest of the book names invalid buckets.
    #[error("the manifest of the book names invalid buckets: {0}")]
    Manifest(BucketingError),
    /// The book has no buckets.
    #[error("--buckets needs a book that was built with --buckets")]
    NoBuckets,
    /// The book has no bucket of this name.
    #[error("{found:?} is not a bucket of the book, which has: {}", known.join("; "))]
    Unknown { found: String, known: Vec<String> },
    /// A record has another number of buckets than the manifest of the book.
    #[error("the record has {found} buckets, expected {expected} by the manifest of the book")]
    Record { expected: usize, found: usize },
}

/// Print the moves that were played from positions.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish explore book 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
  shelfish explore book --buckets 'blitz 1600-1999' 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
  shelfish explore book --evals https://example.org/evals 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -' --json

Shares refer to the games that reached the position. Scores are from the mover's side: wins plus half of the draws. Buckets,
ratings and games appear if the book was built with --buckets, --average-ratings and --game-ids.

A book that was made of Polyglot's weights contains no results. The command shows its weights as draws and prints a note on
standard error.

JSON has the members of Lichess' opening explorer (white, draws, black, moves with uci, san, white, draws, black,
averageRating, game, opening; topGames, recentGames, opening), and more. Names of openings come from the list of
lichess-org/chess-openings, by position.

Exit codes: 0 if every position could be looked up, found or not; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Database of evaluations, as directory or URL, to show an evaluation next to each move
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    evals: Option<String>,
    /// Count only the games of this bucket, such as `blitz` or `1600-1999`; may be given several times
    #[arg(long, value_name = "NAME")]
    buckets: Vec<String>,
    /// FEN with four or six fields, quoted as one argument
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Looks up positions and prints their moves.
pub fn run(args: Args) -> Outcome {
    database::wait(explore(&args))?
}

async fn explore(args: &Args) -> Outcome {
    let book = args.database.source()?.reader::<Played>(Options::default());
    let book = book.await.map_err(OpenError::from)?;
    let evals = match &args.evals {
        Some(evals) => {
            let opened = database::Args::of(evals)
                .source()?
                .reader(Options::default());
            Some(opened.await.map_err(OpenError::from)?)
        }
        None => None,
    };
    let mut answers = Answers::new(args.json);
    for fen in &args.fens {
        let explored = explored(&book, evals.as_ref(), fen, &args.buckets).await;
        answers.give(fen, explored, table::print)?;
    }
    Ok(answers.finish()?)
}

/// Looks a position up, and collects the names in the manifest of the found record.
pub(crate) async fn find(
    book: &Reader<DatabaseSource, Played>,
    position: &Position,
    castling: CastlingMode,
) -> Result<(Option<Played>, Names), BoxError> {
    // A new build may replace the book during the lookup, and have other names.
    let (manifest, played) = loop {
        let manifest = book.manifest();
        let played = book.lookup(position).await;
        if *manifest == *book.manifest() {
            break (manifest, played?);
        }
    };
    let buckets = manifest.info_of(Wanted::BUCKETS);
    let buckets = buckets.map(str::parse::<Bucketing>).transpose();
    let sources = manifest.info_of(SOURCE_NAMES).unwrap_or_default();
    let names = Names {
        buckets: buckets.map_err(BucketError::Manifest)?,
        sources: sources.lines().map(str::to_owned).collect(),
        castling,
    };
    if let (Some(played), Some(buckets)) = (&played, &names.buckets) {
        let (expected, found) = (buckets.count(), played.buckets().len());
        if found != expected {
            return Err(BucketError::Record { expected, found }.into());
        }
    }
    Ok((played, names))
}

/// Returns the numbers of the wanted buckets.
fn chosen(names: &Names, wanted: &[String]) -> Result<Vec<usize>, BucketError> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let buckets = names.buckets.as_ref().ok_or(BucketError::NoBuckets)?;
    let all: Vec<String> = (0..buckets.count()).map(|n| buckets.name(n)).collect();
    let number = |name: &String| {
        let found = all.iter().position(|other| other == name);
        found.ok_or_else(|| BucketError::Unknown {
            found: name.clone(),
            known: all.clone(),
        })
    };
    wanted.iter().map(number).collect()
}

async fn explored(
    book: &Reader<DatabaseSource, Played>,
    evals: Option<&Reader<DatabaseSource, PositionEval>>,
    fen: &str,
    wanted: &[String],
) -> Result<Explored, BoxError> {
    let position: Position = fen.trim().parse()?;
    let (played, names) = find(book, &position, CastlingMode::Standard).await?;
    let chosen = chosen(&names, wanted)?;
    let Some(mut played) = played else {
        return Ok(Explored::none(&position));
    };
    let buckets = played.buckets();
    if !wanted.is_empty() {
        played = played.of_buckets(|n| chosen.contains(&n));
    }
    let evaluations = match evals {
        Some(evals) => evaluations(evals, position.chess(), &played.moves).await?,
        None => Vec::new(),
    };
    Ok(Explored::of(&played, &buckets, evaluations, &names))
}

/// Looks up the best evaluation after each move in one batch.
async fn evaluations(
    evals: &Reader<DatabaseSource, PositionEval>,
    chess: &Chess,
    moves: &[PlayedMove],
) -> Result<Vec<Option<Evaluation>>, ReadError> {
    let positions: Vec<Position> = moves.iter().map(|played| after(chess, played.m)).collect();
    let answers = evals.lookup_many(&positions).await;
    answers
        .into_iter()
        .map(|answer| Ok(answer?.as_ref().and_then(Evaluation::of)))
        .collect()
}

/// Returns the position after a move.
fn after(chess: &Chess, m: Move) -> Position {
    let mut chess = chess.clone();
    chess.play_unchecked(m);
    Position::from_chess(&chess)
}
