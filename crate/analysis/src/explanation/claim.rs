//! The claim of an explanation: facts about a bad move, from lines and scores.

use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};
use shelfish::eval::Score;
use shelfish::position::uci;

use super::capture::{Gain, gain};
use super::line::{Line, MAX_CUT, MAX_PROOF, draw, mating};
use super::material::{Exchanges, balance, value};
use super::{Begins, Ending, Explanation, Fact};
use crate::known::KnownEval;

/// Centipawns that a mate counts in the comparison of scores.
const MATE_CP: i32 = 10_000;

/// Centipawns by which the scores must differ for each pawn of material.
const CP_OF_A_PAWN: i32 = 50;

/// Maximum centipawns by which the scores may differ if a pawn is lost. A pawn is not the reason of a larger loss.
const MAX_DROP_FOR_A_PAWN: i32 = 200;

/// Maximum of the centipawns that the material before a line counts.
const MAX_BALANCE_CP: i32 = 300;

/// Explains a bad move by the evaluations before and after the move. Returns `None` if no claim is proven.
///
/// ```
/// use shakmaty::{Chess, Move, Position, Role, Square};
/// use shelfish_analysis::{Game, KnownEval, explanation::explain};
///
/// let game = Game::from_uci(None, ["e2e4", "e7e5", "d1h5", "g8f6", "h5h7"])?;
/// let before = game.positions().nth(4).ok_or("no position")?;
/// let mut after = KnownEval::cp(-700, 30);
/// after.line = vec!["h8h7".parse()?, "b1c3".parse()?];
/// let found = explain(&before, game.moves()[4], Some(&KnownEval::cp(20, 30)), Some(&after)).ok_or("no explanation")?;
/// assert_eq!(found.with_line(4), "loses the queen on h7 for a pawn: 3... Rxh7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain(
    before: &Chess,
    played: Move,
    known_before: Option<&KnownEval>,
    known_after: Option<&KnownEval>,
) -> Option<Explanation> {
    let mut after = before.clone();
    after.play_unchecked(played);
    let claim = Claim {
        mover: before.turn(),
        played,
        best: Line::new(before.clone(), known_before),
        refutation: Line::new(after, known_after),
        scores: (
            known_before.map(|known| known.score),
            known_after.map(|known| known.score),
        ),
    };
    let ending = |known: Option<&KnownEval>| Ending::of(known?, claim.mover);
    if let (Some(before), Some(after)) = (ending(known_before), ending(known_after))
        && after < before
    {
        return Some(claim.explanation(Fact::GivesAway { before, after }, MAX_CUT));
    }
    if claim.refutation.positions[0].is_game_over() {
        return claim.draws_now();
    }
    claim
        .allows_mate()
        .or_else(|| claim.draws())
        .or_else(|| claim.misses_mate())
        .or_else(|| claim.material())
}

/// Facts about a bad move.
struct Claim {
    mover: Color,
    played: Move,
    /// The best line before the move.
    best: Line,
    /// The best line after the move.
    refutation: Line,
    /// Scores before and after the move, from White's point of view.
    scores: (Option<Score>, Option<Score>),
}

impl Claim {
    /// Explains the move by a fact and the first moves of its line.
    fn explanation(&self, fact: Fact, count: usize) -> Explanation {
        let line = if fact.begins() == Begins::Before {
            &self.best
        } else {
            &self.refutation
        };
        let mut explanation = Explanation {
            fact,
            line: Vec::new(),
            san: Vec::new(),
        };
        for (m, position) in line.moves.iter().zip(&line.positions).take(count) {
            explanation.line.push(uci(*m, CastlingMode::Standard));
            let mut san = String::new();
            SanPlus::from_move(position.clone(), *m).append_to_string(&mut san);
            explanation.san.push(san);
        }
        explanation
    }

    /// Returns the number of moves in which a score mates for a side.
    fn mate(score: Option<Score>, side: Color) -> Option<u32> {
        match score? {
            Score::Mate(moves) if (moves > 0) == side.is_white() => Some(moves.unsigned_abs()),
            _ => None,
        }
    }

    fn draws_now(&self) -> Option<Explanation> {
        Some(self.explanation(Fact::Draws(draw(&self.refutation.positions[0])?), 0))
    }

    /// Returns whether the refutation ends in a draw by the rules, and the score agrees.
    fn draws(&self) -> Option<Explanation> {
        let (draw, count) = (draw(self.refutation.end())?, self.refutation.moves.len());
        let was_better = self
            .scores
            .0
            .is_some_and(|score| centipawns(score, self.mover) > 0);
        (was_better && count <= MAX_PROOF && self.scores.1 == Some(Score::Cp(0)))
            .then(|| self.explanation(Fact::Draws(draw), count))
    }

    fn allows_mate(&self) -> Option<Explanation> {
        let opponent = self.mover.other();
        let moves = Claim::mate(self.scores.1, opponent)?;
        if Claim::mate(self.scores.0, opponent).is_some() {
            return None;
        }
        Some(self.explanation(Fact::AllowsMate { moves }, mating(&self.refutation, moves)?))
    }

    fn misses_mate(&self) -> Option<Explanation> {
        let moves = Claim::mate(self.scores.0, self.mover)?;
        if self.scores.1.is_none()
            || Claim::mate(self.scores.1, self.mover).is_some()
            || self.is_best()
        {
            return None;
        }
        Some(self.explanation(Fact::MissesMate { moves }, mating(&self.best, moves)?))
    }

    fn is_best(&self) -> bool {
        self.best.moves.first() == Some(&self.played)
    }

    /// Returns the larger of a loss and a missed gain.
    fn material(&self) -> Option<Explanation> {
        let (Some(before), Some(after)) = self.scores else {
            return None;
        };
        let (mover, opponent) = (self.mover, self.mover.other());
        let drop = centipawns(before, mover) - centipawns(after, mover);
        let mut exchanges = Exchanges::new();
        let Claim {
            best, refutation, ..
        } = self;
        // A loss or a gain that both lines contain explains nothing.
        let start = balance(best.positions[0].board(), mover);
        let mut outcome = |end: &Chess| {
            let sign = if end.turn() == mover { 1 } else { -1 };
            Some(sign * exchanges.resolve(end)? - start)
        };
        let (by_best, by_played) = (outcome(best.end())?, outcome(refutation.end())?);
        let explains = |gain: &Gain, start: &Chess, winner: Color, score: Score, by_other: i32| {
            // The winner has no full compensation for the material.
            let material = (100 * balance(start.board(), winner)).min(MAX_BALANCE_CP);
            let support = CP_OF_A_PAWN * gain.pawns;
            let is_reason = drop >= support && (gain.pawns > 1 || drop <= MAX_DROP_FOR_A_PAWN);
            is_reason
                && centipawns(score, winner) >= material + support
                && 2 * (gain.pawns - by_other) >= gain.pawns
        };
        // If both moves take the same piece, the loss begins after that.
        let same = best
            .moves
            .first()
            .filter(|best| best.is_capture() && best.to() == self.played.to());
        let same = same.and(self.played.capture());
        let mut played = Line {
            positions: vec![best.positions[0].clone()],
            moves: Vec::new(),
        };
        played.push(self.played);
        refutation.moves.iter().for_each(|m| played.push(*m));
        let (line, lead, by_other) = match same {
            Some(taken) => (refutation, 0, value(taken) - by_best),
            None => (&played, 1, -by_best),
        };
        let loss = gain(line, lead, opponent, &mut exchanges)
            .filter(|loss| explains(loss, &line.positions[0], opponent, after, by_other));
        let missed = gain(best, 0, mover, &mut exchanges)
            .filter(|_| !refutation.moves.is_empty() && same.is_none() && !self.is_best())
            .filter(|missed| explains(missed, &best.positions[0], mover, before, by_played));
        let is_larger = |missed: &Gain| loss.as_ref().is_none_or(|loss| missed.pawns > loss.pawns);
        match missed.filter(is_larger) {
            Some(Gain {
                material, count, ..
            }) => Some(self.explanation(Fact::Misses(material), count)),
            None => loss.map(
                |Gain {
                     material, count, ..
                 }| self.explanation(Fact::Loses(material), count),
            ),
        }
    }
}

/// Returns a score in centipawns from the point of view of a side.
fn centipawns(score: Score, side: Color) -> i32 {
    let cp = match score {
        Score::Cp(cp) => cp.clamp(-MATE_CP, MATE_CP),
        Score::Mate(moves) => MATE_CP * moves.signum(),
    };
    side.fold_wb(cp, -cp)
}
