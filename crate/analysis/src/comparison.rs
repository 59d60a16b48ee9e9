//! Compares the positions before and after a move by evaluations that are comparable.
//!
//! Two evaluations are comparable if they have the same origin, and neither is [shallow](crate::KnownEval::is_shallow), or if an
//! engine searched both positions with the same number of nodes. A value by the rules or by endgame tables is comparable with
//! every evaluation.
//!
//! A comparison is settled if its figures do not change any more. Evaluations that are not comparable settle a move only if the
//! loss is beyond doubt. The passes of an engine settle a move in four cases:
//!
//! - The loss is far below an inaccuracy.
//! - Two passes agree on a large loss.
//! - A deeper pass finds no inaccuracy.
//! - No further pass follows.

use shakmaty::{Color, Move};

use crate::judgment::{Judgment, judge, judge_beyond};
use crate::known::Origin;
use crate::value::Value;

/// Number of passes of an engine.
pub const PASSES: usize = 4;

/// Pass whose small losses are settled. The nodes of the pass before are too few.
const FIRST_RELIABLE: usize = 1;

/// Loss of winning chances below which no deeper search is necessary: half an inaccuracy.
const NEAR: f64 = 0.05;

/// Loss of winning chances that two passes do not find by chance: a mistake.
const CLEAR: f64 = 0.2;

/// Winning chances by which a loss must exceed the bounds of judgments, if searches of a review find it: two searches of a position
/// differ by more.
const DOUBT: f64 = 0.01;

/// Loss of winning chances that no difference between two searches explains: twice a blunder.
const BEYOND_DOUBT: f64 = 0.6;

/// Value of a position by an evaluation, and the best move of the evaluation.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Searched {
    /// Value of the position.
    pub value: Value,
    /// First move of the best line.
    pub best: Option<Move>,
}

/// Values of a position.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// Value by the rules, if the game is over, or by endgame tables.
    pub exact: Option<Value>,
    /// Evaluation of a database or a PGN, with its origin, and whether it is shallow.
    pub given: Option<(Searched, Origin, bool)>,
    /// Results of an engine, by pass.
    pub passes: [Option<Searched>; PASSES],
    /// Value by convention.
    pub convention: Option<Value>,
    /// Value that counts for this position alone: by the rules, by the evaluation that counts, or by convention.
    pub value: Option<Value>,
}

/// Values before and after a move.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Value of the position before the move.
    pub before: Value,
    /// Value of the position after the move.
    pub after: Value,
    /// Judgment of the move.
    pub judgment: Option<Judgment>,
    /// Whether the figures are final.
    pub is_settled: bool,
}

impl Evidence {
    fn reliable(&self) -> Option<(Searched, Origin)> {
        self.given
            .and_then(|(searched, origin, is_shallow)| (!is_shallow).then_some((searched, origin)))
    }
}

impl Comparison {
    fn new(doubt: f64, before: Searched, after: Value, played: Move, mover: Color) -> Comparison {
        // The best move of a search loses nothing by this search.
        let (before, judgment) = if before.best == Some(played) {
            (after, None)
        } else {
            (
                before.value,
                judge_beyond(doubt, before.value, after, mover),
            )
        };
        Comparison {
            before,
            after,
            judgment,
            is_settled: true,
        }
    }

    /// Returns the winning chances that the move lost, from 0 to 2.
    pub fn loss(&self, mover: Color) -> f64 {
        let (before, after) = (self.before.chances(), self.after.chances());
        mover.fold_wb(before - after, after - before).max(0.0)
    }
}

/// Compares the positions before and after a move. Returns `None` if a position has no value.
pub fn compare(
    before: &Evidence,
    after: &Evidence,
    played: Move,
    mover: Color,
) -> Option<Comparison> {
    given(before, after, played, mover)
        .or_else(|| searched(before, after, played, mover))
        .or_else(|| provisional(before, after, mover))
}

/// Compares deep evaluations of one origin.
fn given(before: &Evidence, after: &Evidence, played: Move, mover: Color) -> Option<Comparison> {
    let conventional = |value: Value| Searched { value, best: None };
    let (first, second) = (before.reliable(), after.reliable());
    // Only endgame tables know the exact value before a move.
    if let (Some(before), Some(after)) = (before.exact, after.exact) {
        return Some(Comparison::new(
            0.0,
            conventional(before),
            after,
            played,
            mover,
        ));
    }
    let (first, second) = match (first, second, before.convention, after.exact) {
        (Some((first, _)), _, _, Some(exact)) => (first, exact),
        (Some((first, origin)), Some((second, other)), ..) if origin == other => {
            (first, second.value)
        }
        (None, Some((second, _)), Some(value), _) if before.passes.iter().all(Option::is_none) => {
            (conventional(value), second.value)
        }
        _ => return None,
    };
    Some(Comparison::new(0.0, first, second, played, mover))
}

/// Compares the results of the engine's last passes that contain both positions. The milder judgment of two passes
/// counts, because a deeper search often finds that a move loses nothing.
fn searched(before: &Evidence, after: &Evidence, played: Move, mover: Color) -> Option<Comparison> {
    let reliable = before.reliable().and_then(|(searched, _)| searched.best);
    let of_pass = |pass: usize| {
        let mut first = before.passes[pass]?;
        // A deep evaluation knows the best move better.
        if reliable == Some(played) {
            first.best = reliable;
        }
        let second = after
            .exact
            .or(after.passes[pass].map(|searched| searched.value))?;
        Some(Comparison::new(DOUBT, first, second, played, mover))
    };
    let mut passes = (0..PASSES)
        .rev()
        .filter_map(|pass| Some((pass, of_pass(pass)?)));
    let (last, comparison) = passes.next()?;
    let earlier = passes
        .next()
        .filter(|(pass, _)| *pass >= FIRST_RELIABLE)
        .map(|(_, earlier)| earlier);
    let milder = match earlier {
        Some(earlier) if earlier.judgment < comparison.judgment => earlier,
        _ => comparison,
    };
    let least = earlier
        .map_or(0.0, |earlier| earlier.loss(mover))
        .min(comparison.loss(mover));
    let is_settled = match (last, comparison.judgment) {
        (0, _) => false,
        (FIRST_RELIABLE, judgment) => judgment.is_none() && comparison.loss(mover) < NEAR,
        (_, None) => true,
        (last, judgment) => {
            last == PASSES - 1
                || least >= CLEAR && earlier.is_some_and(|earlier| earlier.judgment == judgment)
        }
    };
    Some(Comparison {
        is_settled,
        ..milder
    })
}

/// Compares evaluations that are not comparable.
fn provisional(before: &Evidence, after: &Evidence, mover: Color) -> Option<Comparison> {
    let (before, after) = (before.value?, after.value?);
    let comparison = Comparison {
        before,
        after,
        judgment: judge(before, after, mover),
        is_settled: false,
    };
    Some(Comparison {
        is_settled: comparison.loss(mover) >= BEYOND_DOUBT,
        ..comparison
    })
}
