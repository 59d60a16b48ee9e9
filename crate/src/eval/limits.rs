//! Limits of a record.
//!
//! A reader decodes a record synchronously, in a browser on the main thread. The limits are far above the evaluations
//! of engines, and so low that no record blocks a page for long. Readers enforce the limits; a writer omits the
//! evaluations beyond them.

#[cfg(feature = "write")]
use super::Evaluation;
use super::PositionEval;
use crate::moves;
#[cfg(feature = "write")]
use crate::position::Position;

impl PositionEval {
    /// The most evaluations of a record.
    pub const MAX_EVALUATIONS: usize = 256;
    /// The most PVs of one evaluation: no position that a game reaches has more than 218 legal moves.
    pub const MAX_EVALUATION_PVS: usize = 256;
    /// The most PVs of all evaluations of a record.
    pub const MAX_PVS: usize = 4096;
    /// Maximum number of moves of all PVs of a record. In positions with many legal moves the maximum is lower; see
    /// `FORMAT.md`.
    pub const MAX_PLIES: usize = moves::MAX_PLIES;
    /// A record may always have this many moves, however many legal moves its positions have.
    #[cfg(feature = "write")]
    pub const SAFE_PLIES: usize = moves::SAFE_PLIES;

    /// Returns the number of evaluations of `position`, in their order, that fit into a record. A record contains the
    /// first evaluations without gaps, so that its content does not depend on the evaluations after them.
    #[cfg(feature = "write")]
    pub fn fit(position: &Position, evaluations: &[Evaluation]) -> usize {
        let (mut pvs, mut plies) = (0, 0);
        let room = evaluations
            .iter()
            .take(PositionEval::MAX_EVALUATIONS)
            .take_while(|evaluation| {
                pvs += evaluation.pvs.len();
                plies += evaluation.plies();
                evaluation.pvs.len() <= PositionEval::MAX_EVALUATION_PVS
                    && pvs <= PositionEval::MAX_PVS
                    && plies <= PositionEval::MAX_PLIES
            });
        let room = room.count();
        if plies <= PositionEval::SAFE_PLIES {
            return room;
        }
        let mut cost = moves::DecodingCost::default();
        let mut lines = |evaluation: &Evaluation| {
            evaluation
                .pvs
                .iter()
                .for_each(|pv| cost.add(position.chess(), &pv.line));
            cost.cost <= moves::MAX_COST
        };
        evaluations[..room]
            .iter()
            .take_while(|evaluation| lines(evaluation))
            .count()
    }
}

#[cfg(feature = "write")]
impl Evaluation {
    /// Returns the number of moves of all PVs.
    pub fn plies(&self) -> usize {
        self.pvs.iter().map(|pv| pv.line.len()).sum()
    }

    /// Cuts all lines to the same length if the evaluation does not fit into a record otherwise. Returns the number of
    /// lines that were cut.
    pub fn shorten(&mut self, position: &Position) -> usize {
        let longest = self.pvs.iter().map(|pv| pv.line.len()).max().unwrap_or(0);
        let cut_to = |evaluation: &Evaluation, plies| {
            let mut evaluation = evaluation.clone();
            evaluation
                .pvs
                .iter_mut()
                .for_each(|pv| pv.line.truncate(plies));
            evaluation
        };
        let (mut short, mut long) = (0, longest + 1);
        let mut middle = longest;
        while short + 1 < long {
            let fits = PositionEval::fit(position, &[cut_to(self, middle)]) > 0;
            if fits {
                short = middle
            } else {
                long = middle
            }
            middle = short.midpoint(long);
        }
        let cut = self.pvs.iter().filter(|pv| pv.line.len() > short).count();
        if cut > 0 {
            *self = cut_to(self, short);
        }
        cut
    }
}

#[cfg(all(test, feature = "write"))]
mod tests {
    use shakmaty::{Move, Position as _};

    use super::*;
    use crate::eval::{Pv, Score};
    use crate::table::{Block, Chunk, KeyRange, encode_block};

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    /// No position has more legal moves.
    const CROWD: &str = "kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - -";

    fn position(fen: &str) -> Position {
        fen.parse().expect("a position")
    }

    /// Returns an evaluation of lines that part at once: the n-th line begins with the n-th move, as long as moves remain.
    fn evaluation(position: &Position, depth: u16, pvs: usize, plies: usize) -> Evaluation {
        let line = |n: usize| -> Vec<Move> {
            let mut chess = position.chess().clone();
            let mut choose = n;
            let mut line = Vec::new();
            while line.len() < plies {
                let moves = chess.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let m = moves[choose % moves.len()];
                choose = choose / moves.len() + usize::from(depth);
                chess.play_unchecked(m);
                line.push(m);
            }
            line
        };
        let pvs = (0..pvs)
            .map(|n| Pv {
                score: Score::Cp(0),
                line: line(n),
            })
            .collect();
        Evaluation {
            depth,
            knodes: 1,
            pvs,
        }
    }

    fn is_readable(position: &Position, evaluations: Vec<Evaluation>) -> bool {
        let record = PositionEval {
            position: position.clone(),
            evaluations,
        };
        let Ok(block) = encode_block(std::slice::from_ref(&record)) else {
            return false;
        };
        let at = Chunk {
            file: "test".into(),
            range: 0..block.bytes.len() as u64,
            keys: KeyRange::all(),
        };
        Block::open(&block.bytes, &at).and_then(|block| block.find(position)) == Ok(Some(record))
    }

    #[test]
    fn a_record_within_the_limits_is_readable_and_a_larger_record_is_not() {
        for (fen, pvs, plies) in [
            (START, 1, 1),
            (START, 256, 3),
            (START, 1, 300),
            (START, 20, 40),
            (CROWD, 200, 2),
        ] {
            let position = position(fen);
            let all: Vec<Evaluation> = (0..300)
                .rev()
                .map(|depth| evaluation(&position, depth, pvs, plies))
                .collect();
            let fit = PositionEval::fit(&position, &all);
            assert!(
                fit > 0 && fit < all.len(),
                "{fit} evaluations of {pvs} PVs of {plies} moves"
            );
            assert!(
                is_readable(&position, all[..fit].to_vec()),
                "{fit} evaluations of {pvs} PVs of {plies} moves"
            );
            assert!(
                !is_readable(&position, all[..=fit].to_vec()),
                "{fit} evaluations and one more"
            );
        }
    }

    #[test]
    fn the_contents_of_a_reduced_record_do_not_depend_on_earlier_reductions() {
        let position = position(START);
        let mut all: Vec<Evaluation> = (0..40)
            .map(|depth| evaluation(&position, depth, 30, 20))
            .collect();
        PositionEval::normalise(&mut all);
        let fit = PositionEval::fit(&position, &all);
        for every in [2, 3, 7] {
            let (mut some, mut others): (Vec<_>, Vec<_>) = all
                .iter()
                .cloned()
                .enumerate()
                .partition(|(n, _)| n % every == 0);
            let mut both = Vec::new();
            for part in [&mut some, &mut others] {
                let part: Vec<Evaluation> =
                    part.drain(..).map(|(_, evaluation)| evaluation).collect();
                both.extend_from_slice(&part[..PositionEval::fit(&position, &part)]);
            }
            PositionEval::normalise(&mut both);
            let again = PositionEval::fit(&position, &both);
            assert_eq!(both[..again], all[..fit]);
        }
    }

    #[test]
    fn an_oversized_evaluation_is_shortened_to_the_longest_lines_that_fit() {
        for (fen, pvs, plies) in [(START, 256, 60), (START, 10, 900), (START, 100, 100)] {
            let position = position(fen);
            let whole = evaluation(&position, 20, pvs, plies);
            let mut short = whole.clone();
            assert_eq!(
                PositionEval::fit(&position, std::slice::from_ref(&whole)),
                0
            );
            assert!(short.shorten(&position) > 0);
            let longest = short.pvs.iter().map(|pv| pv.line.len()).max().unwrap_or(0);
            assert!(
                is_readable(&position, vec![short.clone()]),
                "{pvs} PVs of {longest} moves"
            );
            assert_eq!(short.shorten(&position), 0, "once is enough");
            let mut longer = whole.clone();
            longer
                .pvs
                .iter_mut()
                .for_each(|pv| pv.line.truncate(longest + 1));
            assert_eq!(
                PositionEval::fit(&position, &[longer]),
                0,
                "one more move than {longest} would not fit"
            );
        }
    }
}
