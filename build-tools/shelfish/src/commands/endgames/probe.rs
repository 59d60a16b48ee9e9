//! `shelfish endgames probe`: results of positions and of their moves.

use std::io::{self, Write};

use serde::Serialize;
use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _};
use shelfish::position::uci;
use shelfish_endgames::{ProbedMove, parse_fen};

use crate::database::endgames::EndgameTables;
use crate::database::{self, wait};
use crate::terminal::answers::Answers;
use crate::{BoxError, Outcome};

/// Look up the results of positions and of their moves.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish endgames probe syzygy '8/8/8/8/3k4/8/3P4/3K4 w - - 0 1'
  shelfish endgames probe https://example.org/syzygy --json FEN FEN

The distance (DTZ) counts plies until the next capture or pawn move. The half-move clock of the FEN decides whether a win is
reached within the 50-move rule.

Exit codes: 0 if every position has a result; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Syzygy tables: a directory, or a URL with https://, s3:// or gs:// and an index by `shelfish endgames index`
    #[arg(value_name = "TABLES", value_parser = database::address)]
    database: String,
    /// FEN with four or six fields, quoted as one argument
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// A position with its result, from the point of view of the side to move.
#[derive(Serialize)]
struct Probed {
    fen: String,
    outcome: &'static str,
    /// Plies until the next capture or pawn move, negative for a loss.
    dtz: i32,
    /// Whether the distance may be one ply larger.
    rounded: bool,
    moves: Vec<Move>,
    /// Best moves until the next capture or pawn move.
    line: Vec<String>,
}

/// A move with its result, from the point of view of the side that moves.
#[derive(Serialize)]
struct Move {
    uci: String,
    san: String,
    outcome: &'static str,
    dtz: i32,
    zeroing: bool,
    checkmate: bool,
    stalemate: bool,
}

/// Looks up positions and prints their results.
pub fn run(args: &Args) -> Outcome {
    wait(probe(args))?
}

async fn probe(args: &Args) -> Outcome {
    let tables = EndgameTables::open(&args.database).await?;
    let mut answers = Answers::new(args.json);
    for fen in &args.fens {
        answers.give(fen, probed(&tables, fen).await, print)?;
    }
    Ok(answers.finish()?)
}

async fn probed(tables: &EndgameTables, fen: &str) -> Result<Probed, BoxError> {
    let chess = parse_fen(fen.trim())?;
    let probe = tables.probe(&chess).await?;
    let encode = |probed: &ProbedMove| Move {
        uci: uci(probed.m, CastlingMode::Standard).to_string(),
        san: san(&chess, probed),
        outcome: probed.outcome().name(),
        dtz: probed.dtz(),
        zeroing: probed.is_zeroing,
        checkmate: probed.is_checkmate,
        stalemate: probed.is_stalemate,
    };
    let moves = probe.moves.iter().map(encode).collect();
    let mut after = chess.clone();
    let mut line = Vec::new();
    for probed in tables.line(&chess).await? {
        line.push(san(&after, &probed));
        after.play_unchecked(probed.m);
    }
    Ok(Probed {
        fen: Fen::from_position(&chess, EnPassantMode::Legal).to_string(),
        outcome: probe.verdict.outcome.name(),
        dtz: probe.verdict.dtz,
        rounded: probe.verdict.is_rounded,
        moves,
        line,
    })
}

fn san(chess: &Chess, probed: &ProbedMove) -> String {
    SanPlus::from_move(chess.clone(), probed.m).to_string()
}

fn print(out: &mut impl Write, probed: &Probed) -> io::Result<()> {
    writeln!(out, "{}", probed.fen)?;
    let distance =
        |outcome: &str, dtz: i32| match outcome == shelfish_endgames::Outcome::Draw.name() {
            true => String::new(),
            false => format!("{} plies to zeroing", dtz.abs()),
        };
    writeln!(
        out,
        "  {:<13} {}",
        probed.outcome,
        distance(probed.outcome, probed.dtz)
    )?;
    if !probed.line.is_empty() {
        writeln!(out, "  {}", probed.line.join(" "))?;
    }
    for m in &probed.moves {
        let end = match m {
            Move {
                checkmate: true, ..
            } => "checkmate".to_owned(),
            Move {
                stalemate: true, ..
            } => "stalemate".to_owned(),
            Move { outcome, dtz, .. } => distance(outcome, *dtz),
        };
        writeln!(out, "  {:<8} {:<13} {end}", m.san, m.outcome)?;
    }
    Ok(())
}
