//! Reports as JSON, one object per game.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, uci::UciMove};
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
    fn new(known: &KnownEval, position: Chess, castling: CastlingMode) -> Evaluation {
        Evaluation {
            score: ScoreMember(known.score),
            depth: known.depth,
            knodes: known.knodes,
            line: spelled(&known.line, position, castling).join(" "),
            source: known.origin,
        }
    }
}

/// Spells castling in a line as `e1g1` in chess, and as `e1h1` in Chess960. The line ends before an illegal move.
fn spelled(line: &[UciMove], mut position: Chess, castling: CastlingMode) -> Vec<String> {
    line.iter()
        .map_while(|uci| {
            let m = uci.to_move(&position).ok()?;
            position.play_unchecked(m);
            Some(m.to_uci(castling).to_string())
        })
        .collect()
}

/// Writes the report of a game.
pub fn write(
    out: &mut impl Write,
    Entry { number, line, game }: &Entry,
    known: &[Option<KnownEval>],
    report: &Report,
) -> io::Result<()> {
    let castling = CastlingMode::detect(&game.start().to_setup(EnPassantMode::Legal));
    let played = game.game.moves().iter();
    let played = played.map(|m| m.to_uci(castling).to_string());
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
            .map(|(known, position)| Some(Evaluation::new(known.as_ref()?, position, castling)))
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
