//! `shelfish book`.

pub mod build;
mod learn;

use std::io::{self, Write};
use std::time::Duration;

use indicatif::HumanCount;
use serde::Serialize;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess};
use shelfish::position::Position;

use self::learn::{LearnArgs, learn};
use super::table_args::BuildCommand as _;
use crate::book::Book;
use crate::book::choice::{Candidate, choose, sorted};
use crate::database::blocking::Deadline;
use crate::terminal::answers::Answers;
use crate::{Failure, Outcome};

/// How long a book on a host has for an answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// What to do with a book.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Build a database of played moves from games or books of engines
    Build(Box<build::Args>),
    /// Add games to a book that learns
    Learn(LearnArgs),
    /// Choose a move from a book, at random by how often it was played and how it went
    Pick(PickArgs),
}

/// Choose moves.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish book pick 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -' --book my.sqlite
  shelfish book pick FEN --book performance.bin --greedy
  shelfish book pick FEN --book https://example.org/book --min-frequency 5 --seed 1 --json

A move weighs its frequency times its score, (wins + draws/2 + 1) / (wins + draws + losses + 2), of the side that plays it.
Moves of a Polyglot book weigh as they do there; it has no results. UCI writes castling as e1g1, in Chess960 as e1h1.

Exit codes: 0 if every position could be looked up, in the book or not; 1 if not; 2 for wrong usage.")]
pub struct PickArgs {
    /// Positions as FEN of four or six fields, each quoted as one argument
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// The book: one that learns, Polyglot's .bin, or the directory or URL of a book that `shelfish build` made
    #[arg(long, value_name = "BOOK", alias = "from")]
    book: String,
    /// Take the heaviest move
    #[arg(long)]
    greedy: bool,
    /// Leave out moves that were played less often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    min_frequency: u64,
    /// Choose the same each time
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
}

/// Runs a command.
///
/// # Errors
///
/// A book cannot be read or written.
pub fn run(command: Command) -> Outcome {
    match command {
        Command::Build(args) => args.run(),
        Command::Learn(args) => learn(args),
        Command::Pick(args) => pick(&args),
    }
}

/// A position and the move that was chosen.
#[derive(Serialize)]
struct Picked {
    fen: String,
    /// The move in UCI; `null` if the book has none.
    uci: Option<String>,
    san: Option<String>,
    /// What was chosen from, the heaviest first.
    moves: Vec<PickedMove>,
}

#[derive(Serialize)]
struct PickedMove {
    uci: String,
    san: String,
    frequency: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    /// The chance to be chosen at random, from 0 to 1.
    chance: f64,
}

fn pick(args: &PickArgs) -> Outcome {
    let book = Book::open(&args.book)?;
    let mut random = args.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
    let mut answers = Answers::new(args.json);
    for fen in &args.fens {
        let number = if args.greedy { 0.0 } else { random.f64() };
        answers.give(fen, picked(&book, fen, args.min_frequency, number), print)?;
    }
    Ok(answers.finish()?)
}

fn picked(book: &Book, fen: &str, min_frequency: u64, random: f64) -> Result<Picked, Failure> {
    let position: Position = fen.trim().parse()?;
    let chess = as_written(fen).unwrap_or_else(|| position.chess().clone());
    let mode = CastlingMode::detect(&shakmaty::Position::to_setup(&chess, shakmaty::EnPassantMode::Legal));
    let candidates = sorted(book.candidates(&chess, &Deadline::new(PATIENCE))?, min_frequency);
    let total: f64 = candidates.iter().map(Candidate::weight).sum();
    let told = |candidate: &Candidate| PickedMove {
        uci: candidate.m.to_uci(mode).to_string(),
        san: SanPlus::from_move(chess.clone(), candidate.m).to_string(),
        frequency: candidate.frequency,
        wins: candidate.wins,
        draws: candidate.draws,
        losses: candidate.losses,
        chance: candidate.weight() / total,
    };
    let moves: Vec<PickedMove> = candidates.iter().map(told).collect();
    let chosen = choose(&candidates, random).map(|index| &moves[index]);
    let (uci, san) = (chosen.map(|chosen| chosen.uci.clone()), chosen.map(|chosen| chosen.san.clone()));
    Ok(Picked { fen: position.to_string(), uci, san, moves })
}

/// The position with its en-passant square also where nothing can take there, as Polyglot's hashes count it.
fn as_written(fen: &str) -> Option<Chess> {
    fen.trim().parse::<Fen>().ok()?.into_position(CastlingMode::Chess960).ok()
}

fn print(out: &mut impl Write, picked: &Picked) -> io::Result<()> {
    writeln!(out, "{}", picked.fen)?;
    let (Some(uci), Some(san)) = (&picked.uci, &picked.san) else { return writeln!(out, "  no move of the book") };
    writeln!(out, "  {san} ({uci}) of:")?;
    writeln!(out, "  {:<8} {:>11} {:>9} {:>9} {:>9} {:>8}", "move", "frequency", "won", "drawn", "lost", "chance")?;
    for PickedMove { san, frequency, wins, draws, losses, chance, .. } in &picked.moves {
        let [frequency, wins, draws, losses] = [frequency, wins, draws, losses].map(|n| HumanCount(*n).to_string());
        writeln!(out, "  {san:<8} {frequency:>11} {wins:>9} {draws:>9} {losses:>9} {:>7.1}%", chance * 100.0)?;
    }
    Ok(())
}
