//! Random choice of a book move by frequency and results.
//!
//! `tests/data/choice.json` has cases of the choice.

use std::cmp::Reverse;

use serde::Serialize;
use shakmaty::{CastlingMode, Move};

/// Move of a book with its results for the side that plays the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// The move.
    #[serde(skip)]
    pub m: Move,
    /// Number of games with the move, including games without a result.
    pub frequency: u64,
    /// Number of games won.
    pub wins: u64,
    /// Number of games drawn.
    pub draws: u64,
    /// Number of games lost.
    pub losses: u64,
}

impl Candidate {
    /// Returns the weight of the move: its frequency times its score from 0 to 1.
    ///
    /// The score is smoothed by an additional win and an additional loss (Laplace's rule of succession), because a
    /// single game proves little.
    pub fn weight(&self) -> f64 {
        let [wins, draws, losses] = [self.wins, self.draws, self.losses].map(|games| games as f64);
        self.frequency as f64 * (wins + draws / 2.0 + 1.0) / (wins + draws + losses + 2.0)
    }
}

/// Sorts moves by weight, then by frequency, both descending, then by the text of the move.
pub fn sorted(mut candidates: Vec<Candidate>) -> Vec<Candidate> {
    candidates.retain(|candidate| candidate.frequency > 0);
    candidates.sort_by_cached_key(|candidate| {
        // Weights are positive, so their bits have the order of their values.
        let text = candidate.m.to_uci(CastlingMode::Chess960).to_string();
        (
            Reverse(candidate.weight().to_bits()),
            Reverse(candidate.frequency),
            text,
        )
    });
    candidates
}

/// Returns the index of the move to play. `random` is at least 0 and less than 1; 0 selects the first move.
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
    use shakmaty::Chess;
    use shakmaty::uci::UciMove;

    use super::*;

    #[derive(Deserialize)]
    struct Case {
        why: String,
        /// Move, frequency, wins, draws, losses.
        moves: Vec<(String, u64, u64, u64, u64)>,
        /// Weights in the order of [`sorted`], rounded to six decimals.
        weights: Vec<(String, f64)>,
        /// Chosen move by random number.
        chosen: Vec<(f64, Option<String>)>,
    }

    #[test]
    fn moves_are_chosen_as_on_the_site() -> Result<(), Box<dyn std::error::Error>> {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../../../tests/data/choice.json"))?;
        for Case {
            why,
            moves,
            weights,
            chosen,
        } in cases
        {
            let candidate =
                |(uci, frequency, wins, draws, losses): &(String, u64, u64, u64, u64)| {
                    let m = uci
                        .parse::<UciMove>()
                        .ok()?
                        .to_move(&Chess::default())
                        .ok()?;
                    Some(Candidate {
                        m,
                        frequency: *frequency,
                        wins: *wins,
                        draws: *draws,
                        losses: *losses,
                    })
                };
            let candidates = moves
                .iter()
                .map(candidate)
                .collect::<Option<Vec<_>>>()
                .ok_or("an illegal move")?;
            let candidates = sorted(candidates);
            let name = |index: usize| {
                candidates[index]
                    .m
                    .to_uci(CastlingMode::Chess960)
                    .to_string()
            };
            let found = (0..candidates.len())
                .map(|n| (name(n), (candidates[n].weight() * 1e6).round() / 1e6));
            assert_eq!(found.collect::<Vec<_>>(), weights, "{why}");
            for (random, expected) in chosen {
                assert_eq!(
                    choose(&candidates, random).map(name),
                    expected,
                    "{why}: {random}"
                );
            }
        }
        Ok(())
    }
}
