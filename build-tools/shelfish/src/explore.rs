//! `shelfish explore`: what was played from positions, with an evaluation beside each move.

use std::io::{self, Write};
use std::process::ExitCode;

use indicatif::HumanCount;
use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Move, Position as _};
use shelfish::eval::{Eval, Score};
use shelfish::played::{Played, PlayedMove, Results};
use shelfish::position::Position;
use shelfish::reader::{Options, ReadError, Reader};

use crate::Outcome;
use crate::database::{self, Place};
use crate::shown::{json, shown};

/// Say what was played from positions.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish explore -d book 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
  shelfish explore -d book --evals https://example.org/evals 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -' --json

Shares are of the games that reached the position. Scores are from the mover's side: wins and half of the draws. JSON has
the members of Lichess' opening explorer (white, draws, black, moves with uci, san, white, draws, black), and more.

Exit codes: 0 if every position could be looked up, found or not; 1 if not; 2 for wrong usage.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// A database of evaluations, directory or URL: each move is shown with that of the position it leads to
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    evals: Option<String>,
    /// Positions as FEN of four or six fields, each quoted as one argument
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// A position and what was played from it.
#[derive(Serialize)]
struct Explored {
    fen: String,
    /// Games that reached it.
    #[serde(flatten)]
    results: Counts,
    /// Of these, games whose moves end there.
    ended: Counts,
    /// Most played first.
    moves: Vec<ExploredMove>,
}

#[derive(Clone, Copy, Default, Serialize)]
struct Counts {
    white: u64,
    draws: u64,
    black: u64,
}

impl From<Results> for Counts {
    fn from(Results { white, draws, black }: Results) -> Counts {
        Counts { white, draws, black }
    }
}

#[derive(Serialize)]
struct ExploredMove {
    uci: String,
    san: String,
    #[serde(flatten)]
    results: Counts,
    /// Of the games that reached the position, from 0 to 1.
    share: f64,
    /// Of the side that moves, from 0 to 1.
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluation: Option<Evaluation>,
}

/// The best evaluation of a position, from White's point of view.
#[derive(Serialize)]
struct Evaluation {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    depth: u16,
    #[serde(skip)]
    score: Score,
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
        Some(place) => Some(Reader::<_, Eval>::open(place, Options::default()).await?),
        None => None,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    let mut failed = false;
    for fen in &args.fens {
        match explored(&book, evals.as_ref(), fen).await {
            Ok(explored) if args.json => writeln!(out, "{}", json(&explored)?)?,
            Ok(explored) => print(&mut out, &explored)?,
            Err(error) => {
                out.flush()?;
                eprintln!("shelfish: {}: {}", shown(fen), shown(&error.to_string()));
                failed = true;
            }
        }
    }
    out.flush()?;
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

async fn explored(
    book: &Reader<Place, Played>,
    evals: Option<&Reader<Place, Eval>>,
    fen: &str,
) -> Result<Explored, Failure> {
    let position: Position = fen.trim().parse()?;
    let fen = position.to_string();
    let chess = position.chess().clone();
    let Some(played) = book.lookup(&position).await? else {
        return Ok(Explored { fen, results: Counts::default(), ended: Counts::default(), moves: Vec::new() });
    };
    let results = played.results().unwrap_or_default();
    let evaluations = match evals {
        Some(evals) => evaluations(evals, &chess, &played.moves).await?,
        None => Vec::new(),
    };
    let mut evaluations = evaluations.into_iter();
    let moves = played.moves.iter().map(|PlayedMove { m, results: of_move }| {
        let games = of_move.games() as f64;
        let wins = chess.turn().fold_wb(of_move.white, of_move.black) as f64;
        ExploredMove {
            uci: m.to_uci(CastlingMode::Standard).to_string(),
            san: SanPlus::from_move(chess.clone(), *m).to_string(),
            results: (*of_move).into(),
            share: games / results.games() as f64,
            score: (wins + of_move.draws as f64 / 2.0) / games,
            evaluation: evaluations.next().flatten(),
        }
    });
    let moves = moves.collect();
    Ok(Explored { fen, results: results.into(), ended: played.ended.into(), moves })
}

/// The best evaluation of the position after each move, all looked up at once.
async fn evaluations(
    evals: &Reader<Place, Eval>,
    chess: &Chess,
    moves: &[PlayedMove],
) -> Result<Vec<Option<Evaluation>>, ReadError> {
    let after = |m: Move| {
        let mut chess = chess.clone();
        chess.play_unchecked(m);
        Position::from_chess(&chess)
    };
    let positions: Vec<Position> = moves.iter().map(|played| after(played.m)).collect();
    let best = |eval: Eval| {
        let best = eval.best()?;
        let score = best.pvs.first()?.score;
        let (cp, mate) = match score {
            Score::Cp(cp) => (Some(cp), None),
            Score::Mate(mate) => (None, Some(mate)),
        };
        Some(Evaluation { cp, mate, depth: best.depth, score })
    };
    evals.lookup_many(&positions).await.into_iter().map(|answer| Ok(answer?.and_then(best))).collect()
}

fn print(out: &mut impl Write, explored: &Explored) -> io::Result<()> {
    let Counts { white, draws, black } = explored.results;
    let games = white + draws + black;
    writeln!(out, "{}", explored.fen)?;
    if games == 0 {
        return writeln!(out, "  no game reached it");
    }
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let shares = |Counts { white, draws, black }: Counts| {
        let games = white + draws + black;
        let [white, draws, black] = [white, draws, black].map(|part| percent(part, games));
        format!("{white:>5.1} {draws:>5.1} {black:>5.1}")
    };
    writeln!(out, "  {:<8} {:>13}  {:>6}  {:>5} {:>5} {:>5}", "move", "games", "share", "White", "draw", "Black")?;
    writeln!(out, "  {:<8} {:>13}  {:>6}  {}", "all", HumanCount(games).to_string(), "", shares(explored.results))?;
    for ExploredMove { san, results, share, evaluation, .. } in &explored.moves {
        let games = HumanCount(results.white + results.draws + results.black).to_string();
        write!(out, "  {san:<8} {games:>13}  {:>5.1}%  {}", share * 100.0, shares(*results))?;
        match evaluation {
            Some(Evaluation { score, depth, .. }) => writeln!(out, "  {:>7}  depth {depth}", score.to_string())?,
            None => writeln!(out)?,
        }
    }
    let Counts { white, draws, black } = explored.ended;
    match white + draws + black {
        0 => Ok(()),
        ended => writeln!(out, "  {:<8} {:>13}", "ended", HumanCount(ended).to_string()),
    }
}
