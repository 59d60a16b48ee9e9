//! Which move a book plays: at random, by how often it was played and how it went.
//!
//! The site has the same in `www/src/play/choice.ts`; both are tested by `tests/data/choice.json`.

use std::cmp::Reverse;

use shakmaty::{CastlingMode, Move};

/// A move that a book may play, with what came of it for the side that plays it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The move.
    pub m: Move,
    /// How often it was played, also in games without a result.
    pub frequency: u64,
    /// Games that were won.
    pub wins: u64,
    /// Games that nobody won.
    pub draws: u64,
    /// Games that were lost.
    pub losses: u64,
}

impl Candidate {
    /// The chance to be played, against the weights of the others: the frequency times the score, from 0 to 1. The score is
    /// smoothed by a win and a loss more, after Laplace's rule of succession, so that one game is no proof.
    pub fn weight(&self) -> f64 {
        let [wins, draws, losses] = [self.wins, self.draws, self.losses].map(|games| games as f64);
        self.frequency as f64 * (wins + draws / 2.0 + 1.0) / (wins + draws + losses + 2.0)
    }
}

/// What is left to choose from: the heaviest first, then the more frequent, then by the letters of the move.
pub fn sorted(mut candidates: Vec<Candidate>, min_frequency: u64) -> Vec<Candidate> {
    candidates.retain(|candidate| candidate.frequency >= min_frequency.max(1));
    candidates.sort_by_cached_key(|candidate| {
        // Weights are positive: their bits are in the order of their values.
        let text = candidate.m.to_uci(CastlingMode::Chess960).to_string();
        (Reverse(candidate.weight().to_bits()), Reverse(candidate.frequency), text)
    });
    candidates
}

/// The number of the candidate to play, by a random number from 0 to 1, 1 excluded; with 0 it is the first.
pub fn choose(candidates: &[Candidate], random: f64) -> Option<usize> {
    let total: f64 = candidates.iter().map(Candidate::weight).sum();
    let mut rest = random * total;
    for (index, candidate) in candidates.iter().enumerate() {
        rest -= candidate.weight();
        if rest < 0.0 {
            return Some(index);
        }
    }
    candidates.len().checked_sub(1)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use shakmaty::uci::UciMove;
    use shakmaty::{Chess, Position as _};

    use super::*;

    #[derive(Deserialize)]
    struct Case {
        why: String,
        /// Move, frequency, wins, draws, losses.
        moves: Vec<(String, u64, u64, u64, u64)>,
        min_frequency: u64,
        /// In the order of [`sorted`], rounded to a millionth.
        weights: Vec<(String, f64)>,
        /// By random number.
        chosen: Vec<(f64, Option<String>)>,
    }

    #[test]
    fn moves_are_chosen_as_on_the_site() -> Result<(), Box<dyn std::error::Error>> {
        let cases: Vec<Case> = serde_json::from_str(include_str!("../../../../tests/data/choice.json"))?;
        for Case { why, moves, min_frequency, weights, chosen } in cases {
            let candidate = |(uci, frequency, wins, draws, losses): &(String, u64, u64, u64, u64)| {
                let m = uci.parse::<UciMove>().ok()?.to_move(&Chess::default()).ok()?;
                Some(Candidate { m, frequency: *frequency, wins: *wins, draws: *draws, losses: *losses })
            };
            let candidates = moves.iter().map(candidate).collect::<Option<Vec<_>>>().ok_or("an illegal move")?;
            let candidates = sorted(candidates, min_frequency);
            let name = |index: usize| candidates[index].m.to_uci(CastlingMode::Chess960).to_string();
            let found = (0..candidates.len()).map(|n| (name(n), (candidates[n].weight() * 1e6).round() / 1e6));
            assert_eq!(found.collect::<Vec<_>>(), weights, "{why}");
            for (random, expected) in chosen {
                assert_eq!(choose(&candidates, random).map(name), expected, "{why}: {random}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_move_is_chosen_as_often_as_it_weighs() {
        let legal = Chess::default().legal_moves();
        let moves = legal.iter().zip([9, 3, 1]);
        let candidates = moves.map(|(m, frequency)| Candidate { m: *m, frequency, wins: 0, draws: 0, losses: 0 });
        let candidates = sorted(candidates.collect(), 1);
        let mut random = fastrand::Rng::with_seed(5);
        let mut counts = [0u32; 3];
        for _ in 0..13_000 {
            counts[choose(&candidates, random.f64()).unwrap_or_default()] += 1;
        }
        let expected = [9_000, 3_000, 1_000];
        assert!(counts.iter().zip(expected).all(|(count, expected)| count.abs_diff(expected) < 200), "{counts:?}");
    }
}
