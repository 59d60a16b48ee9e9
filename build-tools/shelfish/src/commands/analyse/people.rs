//! Reports as text for people.

use std::io::{self, Write};

use shakmaty::Chess;
use shakmaty::san::SanPlus;
use shelfish::eval::Score;
use shelfish_analysis::explanation::number;
use shelfish_analysis::{
    INITIAL, Judgment, KnownEval, Mark, MoveReport, PhaseAccuracy, Report, SideReport,
};

use super::Entry;
use crate::terminal::shown::shown;

/// Maximum number of moves of a better line in the report.
const LINE: usize = 6;

/// Writes the report of a game.
pub fn write(
    out: &mut impl Write,
    Entry { number, game, .. }: &Entry,
    known: &[Option<KnownEval>],
    report: &Report,
) -> io::Result<()> {
    let tag = |name: &str| {
        game.tag(name)
            .filter(|value| !matches!(*value, "" | "?" | "????.??.??"))
    };
    let player = |name: &str| shown(tag(name).unwrap_or("?"));
    let about: Vec<String> = ["Event", "Date"]
        .into_iter()
        .filter_map(tag)
        .map(shown)
        .collect();
    write!(out, "{number}. {} - {}", player("White"), player("Black"))?;
    write!(out, " {}", game.result.unwrap_or("*"))?;
    writeln!(
        out,
        "{}{}",
        if about.is_empty() { "" } else { "  " },
        about.join(", ")
    )?;

    let Report {
        positions,
        known: count,
        phases,
        ..
    } = report;
    write!(
        out,
        "   {} moves, {count} of {positions} positions known",
        report.moves.len().div_ceil(2)
    )?;
    let ply = game.first_ply();
    for (name, begins) in [
        ("middlegame", phases.middlegame),
        ("endgame", phases.endgame),
    ] {
        if let Some(begins) = begins {
            write!(out, ", {name} from move {}", (ply + begins) / 2 + 1)?;
        }
    }
    writeln!(out)?;
    writeln!(
        out,
        "          accuracy  centipawns lost   ?!    ?   ??  moves judged"
    )?;
    for (name, side) in [("White", &report.white), ("Black", &report.black)] {
        writeln!(out, "   {name}  {}", row(side))?;
    }
    let provisional = report.white.provisional + report.black.provisional;
    if provisional > 0 {
        let (is, plural) = if provisional == 1 {
            ("is", "")
        } else {
            ("are", "s")
        };
        let remark = "evaluations there are not comparable";
        writeln!(
            out,
            "   {provisional} judgment{plural} {is} provisional and not counted: {remark}"
        )?;
    }

    for (name, side) in [("White", &report.white), ("Black", &report.black)] {
        let PhaseAccuracy {
            opening,
            middlegame,
            endgame,
        } = side.accuracy_by_phase;
        let phases = [
            ("opening", opening),
            ("middlegame", middlegame),
            ("endgame", endgame),
        ];
        let known = phases
            .iter()
            .filter_map(|(phase, accuracy)| Some(format!("{phase} {:.1} %", (*accuracy)?)));
        let known = known.collect::<Vec<_>>().join(", ");
        if !known.is_empty() {
            writeln!(out, "   {name}, accuracy: {known}")?;
        }
    }

    let places = game
        .game
        .positions()
        .zip(known.windows(2))
        .zip(&report.moves)
        .enumerate();
    for (n, ((position, known), played)) in places {
        if let Some(judgment) = played.judgment {
            writeln!(
                out,
                "   {}",
                mistake(ply + n, &position, known, played, judgment)
            )?;
            if let Some(explanation) = &played.explanation {
                writeln!(out, "{:18}{}", "", explanation.with_line(ply + n))?;
            }
        } else if let Some(mark) = played.mark {
            writeln!(out, "   {}", good(ply + n, played, mark))?;
        }
    }
    writeln!(out)
}

/// Formats a mistake, for example `12... Qe7??  +0.20 to +3.10; better 12... Nf6 13. Bg5`.
fn mistake(
    ply: usize,
    position: &Chess,
    known: &[Option<KnownEval>],
    report: &MoveReport,
    judgment: Judgment,
) -> String {
    let score = |known: &Option<KnownEval>| known.as_ref().map(|known| known.score.to_string());
    let (before, after) = (score(&known[0]), score(&known[1]));
    let played = format!("{}{}{}", number(ply), report.san, judgment.glyph());
    // The starting position may lack an evaluation, and so may a final position that is a draw by the rules.
    let before = before.unwrap_or_else(|| Score::Cp(INITIAL).to_string());
    let scores = format!("{before} to {}", after.as_deref().unwrap_or("a draw"));
    let better = known[0]
        .as_ref()
        .filter(|_| report.best.is_some())
        .map(|known| line(ply, position, known));
    let better = better.map_or_else(String::new, |better| format!("; better {better}"));
    let provisional = if report.settled { "" } else { " (provisional)" };
    format!("{played:<14} {scores}{provisional}{better}")
}

/// Formats a marked move, for example `12... Kf8□   only move`.
fn good(ply: usize, report: &MoveReport, mark: Mark) -> String {
    let played = format!("{}{}{}", number(ply), report.san, mark.glyph());
    let words = match mark {
        Mark::Only => "only move",
        Mark::Great => "great move: the only move that keeps the result",
    };
    format!("{played:<14} {words}")
}

/// Formats the first moves of a line with their numbers.
fn line(ply: usize, position: &Chess, known: &KnownEval) -> String {
    let mut position = position.clone();
    let mut text = String::new();
    for (n, m) in known.line.iter().take(LINE).enumerate() {
        let Ok(m) = m.to_move(&position) else { break };
        if n == 0 || (ply + n).is_multiple_of(2) {
            text.push_str(&number(ply + n));
        }
        text.push_str(&SanPlus::from_move_and_play_unchecked(&mut position, m).to_string());
        text.push(' ');
    }
    text.trim_end().to_owned()
}

fn row(side: &SideReport) -> String {
    let SideReport {
        moves,
        judged,
        inaccuracies,
        mistakes,
        blunders,
        average_centipawn_loss: loss,
        accuracy,
        ..
    } = side;
    let accuracy = accuracy.map_or("-".to_owned(), |accuracy| format!("{accuracy:.1} %"));
    let loss = loss.map_or("-".to_owned(), |loss| format!("{loss:.0}"));
    format!("{accuracy:>9}{loss:>17}{inaccuracies:5}{mistakes:5}{blunders:5}  {judged} of {moves}")
}
