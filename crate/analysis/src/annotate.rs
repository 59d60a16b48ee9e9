//! Writes evaluations and judgments into the PGN of a game.

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Position as _};

use crate::judgment::Judgment;
use crate::known::KnownEval;
use crate::mark::Mark;
use crate::pgn::{Line, Note, PgnGame, Step, evaluation};
use crate::report::{Report, ReportError};
use crate::review::{DEFAULT_NODES, Review};

/// Maximum number of moves of a better line.
const MAX_LINE: usize = 12;

/// Glyphs that judge a move: `!`, `?`, `!!`, `??`, `!?`, `?!` and `□`.
const MOVE_GLYPHS: core::ops::RangeInclusive<u8> = 1..=7;

/// Writes evaluations into a game as `[%eval score,depth]`, judgments and marks as glyphs, explanations as comments, and better lines as
/// variations. Earlier evaluations are replaced, and all other annotations are kept. A move that has a glyph keeps the glyph.
/// Takes the same evaluations as [`report()`](crate::report()), and returns the same report.
///
/// ```
/// use shelfish_analysis::{KnownEval, annotate, pgn};
/// let mut game = pgn::read("1. f3 {A bad start.} 1... e5 2. g4 Qh4# 0-1", 1);
/// let known = [KnownEval::cp(-90, 30), KnownEval::cp(-80, 30), KnownEval::mate(-1, 30)].map(Some);
/// annotate(&mut game, &[&[None], &known[..], &[None]].concat())?;
/// let expected = "1. f3 $6 { [%eval -0.90,30] A bad start.} 1... e5 { [%eval -0.80,30] } 2. g4 $4 { [%eval #-1,30] } \
///     { Allows mate in 1. } 2... Qh4# 0-1\n";
/// assert_eq!(game.to_string(), expected);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The errors of [`report()`](crate::report()).
pub fn annotate(game: &mut PgnGame, known: &[Option<KnownEval>]) -> Result<Report, ReportError> {
    let mut review = Review::new(game.game.clone(), DEFAULT_NODES);
    review.give(known)?;
    annotate_review(game, &review)
}

/// Writes the evaluations and the settled judgments of a review into its game, as [`annotate`] does.
///
/// # Errors
///
/// The game has another number of moves than the game of the review.
pub fn annotate_review(game: &mut PgnGame, review: &Review) -> Result<Report, ReportError> {
    let (report, known) = (review.report(), review.evaluations());
    let (expected, found) = (game.game.moves().len() + 1, known.len());
    if expected != found {
        return Err(ReportError::Count { expected, found });
    }
    let positions: Vec<Chess> = game.game.positions().collect();
    let first_ply = game.first_ply();
    if let Some(Some(known)) = known.first() {
        evaluate(&mut game.line.notes, &positions[0], known);
    }
    for (n, (step, move_report)) in game.line.moves.iter_mut().zip(&report.moves).enumerate() {
        if let Some(known) = &known[n + 1] {
            evaluate(&mut step.notes, &positions[n + 1], known);
        }
        let judgment = move_report.judgment.filter(|_| move_report.settled);
        let nag = judgment
            .map(Judgment::nag)
            .or(move_report.mark.map(Mark::nag));
        let has_glyph = step
            .notes
            .iter()
            .any(|note| matches!(note, Note::Nag(nag) if MOVE_GLYPHS.contains(nag)));
        if let Some(nag) = nag.filter(|_| !has_glyph) {
            step.notes.insert(0, Note::Nag(nag));
        }
        if judgment.is_none() {
            continue;
        }
        if let Some(explanation) = &move_report.explanation {
            explain(&mut step.notes, &explanation.sentence(first_ply + n));
        }
        if move_report.best.is_some()
            && let Some(known) = &known[n]
        {
            vary(&mut step.notes, &positions[n], known);
        }
    }
    Ok(report)
}

/// Writes the evaluation of a position into the first comment, or replaces an earlier evaluation.
fn evaluate(notes: &mut Vec<Note>, position: &Chess, known: &KnownEval) {
    // A position that is over needs no evaluation.
    if position.is_game_over() {
        return;
    }
    let value = crate::pgn::value(known.score, known.depth);
    let mut comments: Vec<&mut String> = notes
        .iter_mut()
        .filter_map(|note| match note {
            Note::Comment(text) => Some(text),
            _ => None,
        })
        .collect();
    let has_value = |text: &&mut String| evaluation(text).is_some();
    let place = comments.iter().position(has_value).unwrap_or(0);
    if let Some(text) = comments.get_mut(place) {
        **text = crate::pgn::with_evaluation(text, &value);
        return;
    }
    let is_glyph = |note: &&Note| matches!(note, Note::Nag(_));
    let place = notes.iter().take_while(is_glyph).count();
    let comment = Note::Comment(crate::pgn::with_evaluation("", &value));
    notes.insert(place, comment);
}

/// Writes an explanation as a comment before the variations, unless it is there.
fn explain(notes: &mut Vec<Note>, sentence: &str) {
    let is_there = |note: &Note| matches!(note, Note::Comment(text) if text.trim() == sentence);
    if !notes.iter().any(is_there) {
        let end = notes
            .iter()
            .position(|note| matches!(note, Note::Variation(_)))
            .unwrap_or(notes.len());
        notes.insert(end, Note::Comment(format!(" {sentence} ")));
    }
}

/// Writes the better line, unless a variation begins with the same move.
fn vary(notes: &mut Vec<Note>, position: &Chess, known: &KnownEval) {
    let mut position = position.clone();
    let mut moves = Vec::new();
    for m in known.line.iter().take(MAX_LINE) {
        // An illegal move ends the line.
        let Ok(m) = m.to_move(&position) else { break };
        moves.push(Step {
            san: SanPlus::from_move_and_play_unchecked(&mut position, m),
            m: Some(m),
            notes: Vec::new(),
        });
    }
    let Some(first) = moves.first() else { return };
    let is_there = |note: &Note| matches!(note, Note::Variation(line) if line.moves.first().is_some_and(|step| step.san.san == first.san.san));
    if !notes.iter().any(is_there) {
        notes.push(Note::Variation(Line {
            notes: Vec::new(),
            moves,
        }));
    }
}
