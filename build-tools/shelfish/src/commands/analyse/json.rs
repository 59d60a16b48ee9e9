//! Reports as JSON, one object per game.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, Position as _, uci::UciMove};
use shelfish::position;
use shelfish_analysis::pgn::PgnError;
use shelfish_analysis::{KnownEval, MoveReport, Origin, Phases, Report, SideReport};

use super::Entry;
use crate::lichess::ScoreMember;
use crate::terminal::shown::json;

#[derive(Serialize)]
struct Game<'a> {
    game: u64,
    line: u64,
    tags: BTreeMap<&'a str, &'a str>,
    moves: Vec<Move<'a>>,
    phases: Phases,
    white: SideReport,
    black: SideReport,
    positions: usize,
    known: usize,
    settled: bool,
    evaluations: Vec<Option<Evaluation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct Move<'a> {
    #[serde(flatten)]
    report: &'a MoveReport,
    uci: String,
}

#[derive(Serialize)]
struct Evaluation {
    #[serde(flatten)]
    score: ScoreMember,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knodes: Option<u64>,
    line: String,
    source: Origin,
}

impl Evaluation {
    fn new(known: &KnownEval, position: Chess) -> Evaluation {
        Evaluation {
            score: ScoreMember(known.score),
            depth: known.depth,
            knodes: known.knodes,
            line: spelled(&known.line, position).join(" "),
            source: known.origin,
        }
    }
}

/// Spells a line as [`uci`] does. The line ends before an illegal move.
fn spelled(line: &[UciMove], mut position: Chess) -> Vec<String> {
    line.iter()
        .map_while(|written| {
            let m = written.to_move(&position).ok()?;
            position.play_unchecked(m);
            Some(uci(m))
        })
        .collect()
}

/// Spells castling as the `best` of a move has it.
fn uci(m: shakmaty::Move) -> String {
    position::uci(m, CastlingMode::Standard).to_string()
}

/// Writes the report of a game.
pub fn write(
    out: &mut impl Write,
    Entry { number, line, game }: &Entry,
    known: &[Option<KnownEval>],
    report: &Report,
) -> io::Result<()> {
    let played = game.game.moves().iter().map(|m| uci(*m));
    let game = Game {
        game: *number,
        line: *line,
        tags: game
            .tags
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect(),
        moves: report
            .moves
            .iter()
            .zip(played)
            .map(|(report, uci)| Move { report, uci })
            .collect(),
        phases: report.phases,
        white: report.white,
        black: report.black,
        positions: report.positions,
        known: report.known,
        settled: report.settled,
        evaluations: known
            .iter()
            .zip(game.game.positions())
            .map(|(known, position)| Some(Evaluation::new(known.as_ref()?, position)))
            .collect(),
        error: game.error.as_ref().map(ToString::to_string),
    };
    writeln!(out, "{}", json(&game)?)
}

/// Writes the reason why a game could not be read.
pub fn refused(out: &mut impl Write, game: u64, error: &PgnError) -> io::Result<()> {
    let (line, error) = (error.line, error.kind.to_string());
    let refused = serde_json::json!({ "game": game, "line": line, "error": error });
    writeln!(out, "{}", json(&refused)?)
}
