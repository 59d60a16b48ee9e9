//! Reports as JSON, one object per game.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use shakmaty::CastlingMode;
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
    fn new(known: &KnownEval) -> Evaluation {
        let line = known
            .line
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ");
        Evaluation {
            score: ScoreMember(known.score),
            depth: known.depth,
            knodes: known.knodes,
            line,
            source: known.origin,
        }
    }
}

/// Writes the report of a game.
pub fn write(
    out: &mut impl Write,
    Entry { number, line, game }: &Entry,
    known: &[Option<KnownEval>],
    report: &Report,
) -> io::Result<()> {
    let played = game
        .game
        .moves()
        .iter()
        .map(|m| m.to_uci(CastlingMode::Chess960).to_string());
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
            .map(|known| known.as_ref().map(Evaluation::new))
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
