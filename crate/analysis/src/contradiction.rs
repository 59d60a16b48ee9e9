//! Detects evaluations that contradict each other, so that the move between them is not judged.
//!
//! Evaluations of neighbouring positions come from different searches and do not always agree. A judgment compares two
//! evaluations, so a wrong evaluation makes a good move a blunder. The judgment is withheld in two cases:
//!
//! - **A search's own line.** The best line of an evaluation begins with the move that was played. Its score is then also an
//!   estimate of the next position, at one ply less. If a move from this score to the next position's own score would be
//!   judged, both positions have two estimates. Either estimate may be right, unless one search was clearly deeper. The
//!   mildest judgment of all pairs of estimates counts. If a pair gives no judgment, the judgment is withheld. The best move
//!   of an evaluation is therefore never judged by that evaluation, as at Lichess.
//! - **Different depth.** One search was shallower than [`RELIABLE_DEPTH`], and its neighbour at least [`CLEARLY_DEEPER`]
//!   plies deeper. The apparent loss
//!   of the move may be something that the shallow search missed.
//!
//! Withheld moves do not count in averages.

use shakmaty::Color;

use crate::judgment::{Judgment, judge};
use crate::known::Value;

/// Number of plies by which a search is clearly deeper. Six plies take Stockfish about five times as long.
pub const CLEARLY_DEEPER: u16 = 6;

/// Depth from which an evaluation may be compared with evaluations of any depth.
pub const RELIABLE_DEPTH: u16 = 18;

/// Estimate of a position, and the depth of its search, if it is known.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// Value of the position.
    pub value: Value,
    /// Depth of the search, in plies.
    pub depth: Option<u16>,
}

impl Estimate {
    /// Returns whether this search was clearly deeper than another search. Unknown depths are never clearly deeper.
    fn is_clearly_deeper(self, other: Estimate) -> bool {
        matches!((self.depth, other.depth), (Some(own), Some(other)) if own >= other.saturating_add(CLEARLY_DEEPER))
    }

    /// Returns whether the depths of two estimates are too different for a comparison.
    fn is_incomparable(self, other: Estimate) -> bool {
        let is_beyond = |deep: Estimate, shallow: Estimate| {
            deep.is_clearly_deeper(shallow) && shallow.depth.is_some_and(|depth| depth < RELIABLE_DEPTH)
        };
        is_beyond(self, other) || is_beyond(other, self)
    }

    /// Returns whether two estimates of a position are so far apart that a move between them would be judged.
    fn contradicts(self, other: Estimate) -> bool {
        let judged = |mover| judge(self.value, other.value, mover).or_else(|| judge(other.value, self.value, mover));
        Color::ALL.into_iter().any(|mover| judged(mover).is_some())
    }
}

/// Estimates of a position of a game: its own evaluation, and estimates that contradict it.
#[derive(Clone, Debug)]
pub struct Evidence {
    own: Estimate,
    others: Vec<Estimate>,
}

impl Evidence {
    /// Returns the evidence of an evaluation alone.
    pub fn of(own: Estimate) -> Evidence {
        Evidence { own, others: Vec::new() }
    }

    /// Returns the position's own evaluation.
    pub fn own(&self) -> Estimate {
        self.own
    }

    /// Links two positions of the same value, because the best line of the first leads to the `next`. If their estimates
    /// contradict each other, each position also gets its neighbour's estimate, unless that is clearly shallower.
    pub fn link(&mut self, next: &mut Evidence) {
        let (first, second) = (self.own, next.own);
        // Estimates that agree leave no doubt.
        if !first.contradicts(second) {
            return;
        }
        if !first.is_clearly_deeper(second) {
            self.others.push(second);
        }
        if !second.is_clearly_deeper(first) {
            next.others.push(first);
        }
    }

    fn estimates(&self) -> impl Iterator<Item = Estimate> {
        core::iter::once(self.own).chain(self.others.iter().copied())
    }
}

/// Result of judging a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The judgment, or `None` if the move was good.
    Judged(Option<Judgment>),
    /// The evaluations contradict each other.
    Withheld,
}

/// Judges a move by the evidence of the positions before and after it.
pub fn verdict(before: &Evidence, after: &Evidence, mover: Color) -> Verdict {
    if judge(before.own.value, after.own.value, mover).is_none() {
        return Verdict::Judged(None);
    }
    if before.own.is_incomparable(after.own) {
        return Verdict::Withheld;
    }
    let pairs = before.estimates().flat_map(|before| after.estimates().map(move |after| (before, after)));
    match pairs.map(|(before, after)| judge(before.value, after.value, mover)).min().flatten() {
        Some(mildest) => Verdict::Judged(Some(mildest)),
        None => Verdict::Withheld,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(cp: i32, depth: u16) -> Evidence {
        Evidence::of(Estimate { value: Value::Cp(cp), depth: Some(depth) })
    }

    fn linked(mut first: Evidence, mut next: Evidence) -> (Evidence, Evidence) {
        first.link(&mut next);
        (first, next)
    }

    const BLUNDER: Verdict = Verdict::Judged(Some(Judgment::Blunder));

    #[test]
    fn the_best_move_of_an_evaluation_is_never_judged_by_it() {
        for (before, after) in [(20, 20), (30, 8), (8, 30), (20, 24), (24, 20)] {
            let (first, next) = (evidence(300, before), evidence(0, after));
            let (linked, next_linked) = linked(first.clone(), next.clone());
            assert_eq!(verdict(&linked, &next_linked, Color::White), Verdict::Withheld, "{before} {after}");
            assert_eq!(verdict(&linked, &next_linked, Color::Black), Verdict::Judged(None));
        }
        // Estimates that are close to each other agree and leave no doubt.
        let (first, next) = linked(evidence(40, 20), evidence(20, 20));
        assert_eq!((first.others.len(), next.others.len()), (0, 0));
    }

    #[test]
    fn a_score_in_doubt_withholds_judgments_that_depend_on_it() {
        // White moved from 0 to −3, but Black's best move leads to 0 again.
        let (after, _) = linked(evidence(-300, 20), evidence(0, 20));
        assert_eq!(verdict(&evidence(0, 20), &after, Color::White), Verdict::Withheld);
        // The first search is clearly deeper, so its score counts.
        let (after, _) = linked(evidence(-300, 30), evidence(0, 20));
        assert_eq!(verdict(&evidence(0, 30), &after, Color::White), BLUNDER);
        // The doubt is about how bad the move was.
        let (after, _) = linked(evidence(-300, 20), evidence(-80, 20));
        assert_eq!(verdict(&evidence(0, 20), &after, Color::White), Verdict::Judged(Some(Judgment::Inaccuracy)));
    }

    #[test]
    fn a_shallow_search_is_not_compared_with_a_deep_search() {
        for (before, after, expected) in [
            (8, 30, Verdict::Withheld),
            (30, 8, Verdict::Withheld),
            (17, 23, Verdict::Withheld),
            (17, 22, BLUNDER),
            (8, 13, BLUNDER),
            (18, 60, BLUNDER),
        ] {
            assert_eq!(
                verdict(&evidence(300, before), &evidence(0, after), Color::White),
                expected,
                "{before} {after}"
            );
        }
        let unknown = Evidence::of(Estimate { value: Value::Cp(300), depth: None });
        assert_eq!(verdict(&unknown, &evidence(0, 30), Color::White), BLUNDER);
    }
}
