//! `shelfish explore`: what was played from positions, with an evaluation beside each move.

mod openings;
mod table;
mod told;

use shakmaty::{Chess, Move, Position as _};
use shelfish::eval::PositionEval;
use shelfish::played::{Bucketing, Played, PlayedMove};
use shelfish::position::Position;
use shelfish::reader::{Options, ReadError, Reader};

use crate::database::{self, Place};
use crate::games::{RESULTS, SOURCE_NAMES, Wanted};
use crate::terminal::answers::Answers;
use crate::{Failure, Outcome};
use openings::Openings;
use told::{Evaluation, Explored, Names};

/// Say what was played from positions.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish explore -d book 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
  shelfish explore -d book --bucket 'blitz 1600-1999' 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
  shelfish explore -d book --evals https://example.org/evals 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -' --json

Shares are of the games that reached the position. Scores are from the mover's side: wins and half of the draws. Buckets,
ratings and games are told where the book was built with --buckets, --average-ratings, --game-ids.

A book made of Polyglot's weights has no results: its weights are counted as draws, and a note on standard error says so.

JSON has the members of Lichess' opening explorer (white, draws, black, moves with uci, san, white, draws, black,
averageRating, game, opening; topGames, recentGames, opening), and more. Names of openings are those of the list of
lichess-org/chess-openings, by position.

Exit codes: 0 if every position could be looked up, found or not; 1 if not; 2 for wrong usage.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// A database of evaluations, directory or URL: each move is shown with that of the position it leads to
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    evals: Option<String>,
    /// Count the games of this bucket alone, such as `blitz` or `1600-1999`; may be given several times
    #[arg(long, value_name = "NAME")]
    bucket: Vec<String>,
    /// Positions as FEN of four or six fields, each quoted as one argument
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Looks up and prints.
///
/// # Errors
///
/// A database cannot be opened, or standard output fails.
pub fn run(args: Args) -> Outcome {
    let place = args.database.source()?;
    let evals = args.evals.as_deref().map(|evals| database::Args::of(evals).source()).transpose()?;
    database::wait(explore(place, evals, &args))?
}

async fn explore(place: Place, evals: Option<Place>, args: &Args) -> Outcome {
    let book = Reader::<_, Played>::open(place, Options::default()).await?;
    let evals = match evals {
        Some(place) => Some(Reader::<_, PositionEval>::open(place, Options::default()).await?),
        None => None,
    };
    let names = names(&book)?;
    let chosen = chosen(&names, &args.bucket)?;
    if book.manifest().info_of(RESULTS) == Some("unknown") {
        eprintln!(
            "shelfish: the book was made of weights, without results: what is counted as draws are these weights"
        );
    }
    let mut answers = Answers::new(args.json);
    for fen in &args.fens {
        let explored = explored(&book, evals.as_ref(), fen, chosen.as_deref(), &names).await;
        answers.give(fen, explored, table::print)?;
    }
    Ok(answers.finish()?)
}

/// The names of openings, and those that the book's manifest has for its buckets and its sources.
fn names(book: &Reader<Place, Played>) -> Result<Names, Failure> {
    let manifest = book.manifest();
    let buckets = manifest.info_of(Wanted::BUCKETS).map(str::parse::<Bucketing>).transpose();
    let buckets = buckets.map_err(|why| format!("the book's manifest tells of buckets that are none: {why}"))?;
    Ok(Names {
        buckets,
        sources: manifest.info_of(SOURCE_NAMES).unwrap_or_default().lines().map(str::to_owned).collect(),
        openings: Openings::load(),
    })
}

/// The numbers of buckets; none if all are wanted.
fn chosen(names: &Names, wanted: &[String]) -> Result<Option<Vec<usize>>, Failure> {
    if wanted.is_empty() {
        return Ok(None);
    }
    let buckets =
        names.buckets.as_ref().ok_or("the book has one bucket; --bucket is for books that --buckets built")?;
    let all: Vec<String> = (0..buckets.count()).map(|n| buckets.name(n)).collect();
    let number = |name: &String| {
        let found = all.iter().position(|other| other == name);
        found.ok_or_else(|| format!("{name:?} is no bucket of the book, which has: {}", all.join("; ")).into())
    };
    wanted.iter().map(number).collect::<Result<_, Failure>>().map(Some)
}

async fn explored(
    book: &Reader<Place, Played>,
    evals: Option<&Reader<Place, PositionEval>>,
    fen: &str,
    chosen: Option<&[usize]>,
    names: &Names,
) -> Result<Explored, Failure> {
    let position: Position = fen.trim().parse()?;
    let Some(mut played) = book.lookup(&position).await? else { return Ok(Explored::none(&position, names)) };
    let buckets = played.buckets();
    let of_book = names.buckets.as_ref().map(Bucketing::count);
    if of_book.is_some_and(|count| count != buckets.len()) {
        let found = buckets.len();
        return Err(format!("its record has {found} buckets, and the manifest of the book tells of other ones").into());
    }
    if let Some(chosen) = chosen {
        played = played.of_buckets(|n| chosen.contains(&n));
    }
    let evaluations = match evals {
        Some(evals) => evaluations(evals, position.chess(), &played.moves).await?,
        None => Vec::new(),
    };
    Ok(Explored::of(&played, &buckets, evaluations, names))
}

/// The best evaluation of the position after each move, all looked up at once.
async fn evaluations(
    evals: &Reader<Place, PositionEval>,
    chess: &Chess,
    moves: &[PlayedMove],
) -> Result<Vec<Option<Evaluation>>, ReadError> {
    let positions: Vec<Position> = moves.iter().map(|played| after(chess, played.m)).collect();
    let answers = evals.lookup_many(&positions).await;
    answers.into_iter().map(|answer| Ok(answer?.as_ref().and_then(Evaluation::of))).collect()
}

/// The position that a move leads to.
fn after(chess: &Chess, m: Move) -> Position {
    let mut chess = chess.clone();
    chess.play_unchecked(m);
    Position::from_chess(&chess)
}
