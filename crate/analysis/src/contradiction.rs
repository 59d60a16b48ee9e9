//! When two evaluations contradict each other, so that nothing is said of the move between them.
//!
//! Evaluations of neighbouring positions come from different searches, and do not always agree. A judgment compares two of
//! them, so one that is wrong makes a good move a blunder. There are two signs of it, and each withholds the judgment:
//!
//! - **A search's own line.** The best line of an evaluation begins with the move that was played. Then its score is an
//!   estimate of the next position, too, at one ply less. If it and the score that the next position has by itself lie so
//!   far apart that a move between them would be judged, then there are two estimates of either position, and it is not
//!   known which is right, unless one search was clearly deeper. A move is judged as mildly as any pair of these estimates
//!   does; if one of them finds nothing wrong with it, the judgment is withheld. So the best move of an evaluation is never
//!   judged by that evaluation, as at Lichess.
//! - **Unlike depth.** One of the two searches was [`SHALLOW`], and the other [`UNLIKE`] plies deeper or more. What a move
//!   seems to lose then may be what the shallow search did not see.
//!
//! What is withheld counts in no average either.

use shakmaty::Color;

use crate::judgment::{Judgment, judge};
use crate::known::Value;

/// Plies by which one search is clearly deeper than another. A ply or two, or more lines at a time, make little of a
/// difference between searches of Stockfish; six plies take some five times as long.
pub const UNLIKE: u16 = 6;

/// From this depth on an evaluation may be set against any other, however deep.
pub const DEEP: u16 = 18;

/// Below [`DEEP`]: not to be set against a clearly deeper evaluation.
pub const SHALLOW: core::ops::Range<u16> = 0..DEEP;

/// An estimate of a position, and the depth of the search that it comes from, if it was told.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// What the position is worth.
    pub value: Value,
    /// In plies.
    pub depth: Option<u16>,
}

impl Estimate {
    /// Whether this search was clearly deeper than another. Of one whose depth is not known nothing is clear.
    fn is_clearly_deeper(self, other: Estimate) -> bool {
        matches!((self.depth, other.depth), (Some(own), Some(other)) if own >= other.saturating_add(UNLIKE))
    }

    /// Whether the two cannot be set against each other.
    fn is_unlike(self, other: Estimate) -> bool {
        let is_beyond = |deep: Estimate, shallow: Estimate| {
            deep.is_clearly_deeper(shallow) && shallow.depth.is_some_and(|depth| SHALLOW.contains(&depth))
        };
        is_beyond(self, other) || is_beyond(other, self)
    }

    /// Whether two estimates of one position lie so far apart that a move between them would be judged.
    fn contradicts(self, other: Estimate) -> bool {
        let judged = |mover| judge(self.value, other.value, mover).or_else(|| judge(other.value, self.value, mover));
        Color::ALL.into_iter().any(|mover| judged(mover).is_some())
    }
}

/// What is known of a position of a game: its own evaluation, and what others say against it.
#[derive(Clone, Debug)]
pub struct Evidence {
    own: Estimate,
    others: Vec<Estimate>,
}

impl Evidence {
    /// Its evaluation.
    pub fn of(own: Estimate) -> Evidence {
        Evidence { own, others: Vec::new() }
    }

    /// Its evaluation, by itself.
    pub fn own(&self) -> Estimate {
        self.own
    }

    /// Notes that two positions are worth the same, as the best line of the first led to the `next`: where they contradict
    /// each other, each has the other's estimate, too, unless that is clearly shallower.
    pub fn link(&mut self, next: &mut Evidence) {
        let (first, second) = (self.own, next.own);
        // Where they agree, nothing is in doubt.
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

/// What is said of a move.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A judgment, or none if the move was good.
    Told(Option<Judgment>),
    /// The evaluations contradict each other.
    Withheld,
}

/// Judges a move by the evidence of the positions before and after it.
pub fn verdict(before: &Evidence, after: &Evidence, mover: Color) -> Verdict {
    if judge(before.own.value, after.own.value, mover).is_none() {
        return Verdict::Told(None);
    }
    if before.own.is_unlike(after.own) {
        return Verdict::Withheld;
    }
    let pairs = before.estimates().flat_map(|before| after.estimates().map(move |after| (before, after)));
    match pairs.map(|(before, after)| judge(before.value, after.value, mover)).min().flatten() {
        Some(mildest) => Verdict::Told(Some(mildest)),
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

    const BLUNDER: Verdict = Verdict::Told(Some(Judgment::Blunder));

    #[test]
    fn the_best_move_of_an_evaluation_is_never_judged_by_it() {
        for (before, after) in [(20, 20), (30, 8), (8, 30), (20, 24), (24, 20)] {
            let (first, next) = (evidence(300, before), evidence(0, after));
            let (linked, next_linked) = linked(first.clone(), next.clone());
            assert_eq!(verdict(&linked, &next_linked, Color::White), Verdict::Withheld, "{before} {after}");
            assert_eq!(verdict(&linked, &next_linked, Color::Black), Verdict::Told(None));
        }
        // Close to each other they agree, and nothing is in doubt.
        let (first, next) = linked(evidence(40, 20), evidence(20, 20));
        assert_eq!((first.others.len(), next.others.len()), (0, 0));
    }

    #[test]
    fn a_score_in_doubt_withholds_what_rests_on_it() {
        // White moved from 0 to −3, but Black's best move leads to 0 again.
        let (after, _) = linked(evidence(-300, 20), evidence(0, 20));
        assert_eq!(verdict(&evidence(0, 20), &after, Color::White), Verdict::Withheld);
        // It is clearly the deeper one: it stands.
        let (after, _) = linked(evidence(-300, 30), evidence(0, 20));
        assert_eq!(verdict(&evidence(0, 30), &after, Color::White), BLUNDER);
        // The doubt is about how bad the move was.
        let (after, _) = linked(evidence(-300, 20), evidence(-80, 20));
        assert_eq!(verdict(&evidence(0, 20), &after, Color::White), Verdict::Told(Some(Judgment::Inaccuracy)));
    }

    #[test]
    fn a_shallow_search_is_not_set_against_a_deep_one() {
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
