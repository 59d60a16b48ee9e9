//! `shelfish book`.

pub mod build;
pub mod dumps;
mod learn;

use std::io::{self, Write};
use std::time::Duration;

use indicatif::HumanCount;
use serde::Serialize;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess};
use shelfish::position::{self, Position};

use self::learn::{LearnArgs, learn};
use super::table_args::BuildArgs;
use crate::book::Book;
use crate::book::choice::{Candidate, choose, sorted};
use crate::database::blocking::{Database, Deadline};
use crate::terminal::answers::Answers;
use crate::{BoxError, Outcome};

/// Timeout of a book on a host.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Commands for books.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Build a database of played moves from games
    Build(Box<build::Args>),
    /// Add games to a learning book
    Learn(LearnArgs),
    /// Choose a move from a book, at random by frequency and results
    Pick(PickArgs),
    /// List the months of games on a host
    Dumps(dumps::DumpsArgs),
}

/// Choose a move from a book, at random by frequency and results.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish book pick my.sqlite 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -'
  shelfish book pick performance.bin FEN --greedy
  shelfish book pick https://example.org/book FEN --json

The weight of a move is its frequency times its score, (wins + draws/2 + 1) / (wins + draws + losses + 2), of the side that
plays the move. Moves of a Polyglot book, which has no results, have the weights of the book. UCI writes castling as e1g1, in
Chess960 as e1h1.

Exit codes: 0 if every position could be looked up, in the book or not; 1 otherwise; 2 if the usage is wrong.")]
pub struct PickArgs {
    /// Book: a learning book, a Polyglot book (.bin), or the directory or URL of a book from `shelfish book build`
    #[arg(value_name = "BOOK")]
    database: String,
    /// FEN with four or six fields, quoted as one argument
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Choose the move with the largest weight
    #[arg(long)]
    greedy: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// Runs a command.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Build(args) => BuildArgs::Games(args).run(),
        Command::Learn(args) => learn(args),
        Command::Pick(args) => pick(&args),
        Command::Dumps(args) => dumps::run(&args),
    }
}

/// Position with the chosen move.
#[derive(Serialize)]
struct Picked {
    fen: String,
    /// Move in UCI notation; `null` if the book has no move.
    uci: Option<String>,
    san: Option<String>,
    /// Candidates by descending weight.
    moves: Vec<PickedMove>,
}

#[derive(Serialize)]
struct PickedMove {
    uci: String,
    san: String,
    #[serde(flatten)]
    counts: Candidate,
    /// Probability of the random choice, from 0 to 1.
    chance: f64,
}

fn pick(args: &PickArgs) -> Outcome {
    let book = Book::open(&args.database, Database::open)?;
    let mut answers = Answers::new(args.json);
    for fen in &args.fens {
        let number = if args.greedy { 0.0 } else { fastrand::f64() };
        answers.give(fen, picked(&book, fen, number), print)?;
    }
    Ok(answers.finish()?)
}

fn picked(book: &Book, fen: &str, random: f64) -> Result<Picked, BoxError> {
    let position: Position = fen.trim().parse()?;
    let chess = as_written(fen).unwrap_or_else(|| position.chess().clone());
    let mode = CastlingMode::detect(&shakmaty::Position::to_setup(
        &chess,
        shakmaty::EnPassantMode::Legal,
    ));
    let candidates = sorted(book.candidates(&chess, &Deadline::new(TIMEOUT))?);
    let total: f64 = candidates.iter().map(Candidate::weight).sum();
    let picked_move = |candidate: &Candidate| PickedMove {
        uci: position::uci(candidate.m, mode).to_string(),
        san: SanPlus::from_move(chess.clone(), candidate.m).to_string(),
        counts: *candidate,
        chance: candidate.weight() / total,
    };
    let moves: Vec<PickedMove> = candidates.iter().map(picked_move).collect();
    let chosen = choose(&candidates, random).map(|index| &moves[index]);
    let (uci, san) = (
        chosen.map(|chosen| chosen.uci.clone()),
        chosen.map(|chosen| chosen.san.clone()),
    );
    Ok(Picked {
        fen: position.to_string(),
        uci,
        san,
        moves,
    })
}

/// Parses the position with an en-passant square even if no capture is possible, because Polyglot's hashes include it.
fn as_written(fen: &str) -> Option<Chess> {
    fen.trim()
        .parse::<Fen>()
        .ok()?
        .into_position(CastlingMode::Chess960)
        .ok()
}

fn print(out: &mut impl Write, picked: &Picked) -> io::Result<()> {
    writeln!(out, "{}", picked.fen)?;
    let (Some(uci), Some(san)) = (&picked.uci, &picked.san) else {
        return writeln!(out, "  no move of the book");
    };
    writeln!(out, "  {san} ({uci}) of:")?;
    writeln!(
        out,
        "  {:<8} {:>11} {:>9} {:>9} {:>9} {:>8}",
        "move", "frequency", "won", "drawn", "lost", "chance"
    )?;
    for PickedMove {
        san,
        counts,
        chance,
        ..
    } in &picked.moves
    {
        let counts = [counts.frequency, counts.wins, counts.draws, counts.losses];
        let [frequency, wins, draws, losses] = counts.map(|n| HumanCount(n).to_string());
        writeln!(
            out,
            "  {san:<8} {frequency:>11} {wins:>9} {draws:>9} {losses:>9} {:>7.1}%",
            chance * 100.0
        )?;
    }
    Ok(())
}
