//! Explains bad moves by facts that follow from lines, exchange values and the rules.
//!
//! An explanation is a claim with the moves that prove it. Material is lost if a line wins it and the rest of the line does not
//! win it back. Captures that are possible at the end of the line count too. The scores must agree: they differ by at least
//! half of the material. A threat is what a move wins if the other side passes. A line is a proof only as far as its moves are the
//! best moves. If no claim is proven, a move has no explanation.

mod capture;
mod line;
mod threat;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _, Role, Square};
use shelfish::eval::Score;
use shelfish::position::uci;

use self::capture::{Gain, gain};
pub(crate) use self::line::value;
use self::line::{Exchanges, Line, MAX_CUT, MAX_PROOF, balance, draw, mating};
use self::threat::new_threat;
use crate::known::KnownEval;

/// Explanation of a bad move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// Kind of the claim, such as `allowsMate`.
    pub kind: &'static str,
    /// The claim, such as `allows mate in 1`.
    pub text: String,
    /// Number of moves to mate.
    pub mate: Option<u32>,
    /// Role of the piece that is won or threatened, or of the pawn that promotes.
    pub role: Option<&'static str>,
    /// Its square before the line. `None` if exchanges leave open which of several pieces is lost.
    pub square: Option<String>,
    /// Position in which the line begins.
    pub begins: Begins,
    /// The moves that prove the claim, in UCI. Castling is written as in [`MoveReport::best`](crate::MoveReport::best).
    pub line: Vec<String>,
    /// The same moves in SAN.
    pub san: Vec<String>,
}

/// Position in which a line begins.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Begins {
    /// The position before the explained move.
    Before,
    /// The position after the explained move.
    After,
}

/// A piece on the board before the line.
#[derive(Copy, Clone, PartialEq)]
struct Piece {
    role: Role,
    square: Option<Square>,
}

impl Piece {
    fn text(&self) -> String {
        let role = name(self.role);
        match self.square {
            Some(square) if self.role != Role::King => {
                ["the ", role, " on ", &square.to_string()].concat()
            }
            Some(_) => ["the ", role].concat(),
            None => ["a ", role].concat(),
        }
    }
}

fn name(role: Role) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][role as usize - 1]
}

impl Explanation {
    /// Returns the claim with its line as a sentence, such as `Allows mate in 1: 2... Qh4#.`
    pub fn sentence(&self, ply: usize) -> String {
        let text = self.with_line(ply);
        let (first, rest) = text.split_at_checked(1).unwrap_or_default();
        [&first.to_ascii_uppercase(), rest, "."].concat()
    }

    /// Returns the claim with its line, such as `loses the knight on f6: 12. Bxf6 Qxf6 13. Nd5`. `ply` is the number of plies of
    /// the game before the move.
    pub fn with_line(&self, ply: usize) -> String {
        let mut text = self.text.clone();
        let first = ply + usize::from(self.begins == Begins::After);
        for (n, (ply, san)) in (first..).zip(&self.san).enumerate() {
            text.push_str(if n == 0 { ": " } else { " " });
            if n == 0 || ply.is_multiple_of(2) {
                text.push_str(&number(ply));
            }
            text.push_str(san);
        }
        // The line of a long mate is cut.
        let is_cut = |moves: u32| self.san.len() + 1 < 2 * moves as usize;
        if !self.san.is_empty() && self.mate.is_some_and(is_cut) {
            text.push_str(" …");
        }
        text
    }
}

/// Returns the number of a move and a blank, such as `12. ` or `12... `. `ply` is the number of plies before the move.
pub fn number(ply: usize) -> String {
    let dots = if ply.is_multiple_of(2) { ". " } else { "... " };
    [&(ply / 2 + 1).to_string(), dots].concat()
}

/// Centipawns that a mate counts in the comparison of scores.
const MATE_CP: i32 = 10_000;

/// Centipawns by which the scores must differ for each pawn of material.
const CP_OF_A_PAWN: i32 = 50;

/// Maximum centipawns by which the scores may differ if a pawn is lost. A pawn is not the reason of a larger loss.
const MAX_DROP_FOR_A_PAWN: i32 = 300;

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
    // Results of endgame tables for the mover: 0 is a loss, 1 a draw, 2 a win.
    let ending = |known: Option<&KnownEval>| match known?.score {
        Score::Cp(cp) if known?.is_exact() => {
            Some((1 + claim.mover.fold_wb(cp, -cp).signum()) as usize)
        }
        _ => None,
    };
    if let (Some(before), Some(after)) = (ending(known_before), ending(known_after))
        && after < before
    {
        let kind = ["givesAwayDraw", "givesAwayWin"][before - 1];
        let [before, after] = [before, after].map(|result| ["loss", "draw", "win"][result]);
        let text = ["gives away the ", before, " (tables: ", after, ")"].concat();
        return Some(claim.explanation(Begins::After, kind, text, MAX_CUT));
    }
    if claim.refutation.positions[0].is_game_over() {
        return Some(claim.draw(draw(&claim.refutation.positions[0])?, 0));
    }
    claim
        .allows_mate()
        .or_else(|| claim.draws())
        .or_else(|| claim.misses_mate())
        .or_else(|| claim.material())
        .or_else(|| claim.threat())
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
    /// Explains the move by a claim and the first moves of its line.
    fn explanation(
        &self,
        begins: Begins,
        kind: &'static str,
        text: String,
        count: usize,
    ) -> Explanation {
        let line = match begins {
            Begins::Before => &self.best,
            Begins::After => &self.refutation,
        };
        let moves = || line.moves.iter().zip(&line.positions).take(count);
        let san = |(m, position): (&Move, &Chess)| {
            let mut san = String::new();
            SanPlus::from_move(position.clone(), *m).append_to_string(&mut san);
            san
        };
        Explanation {
            kind,
            text,
            mate: None,
            role: None,
            square: None,
            begins,
            line: moves()
                .map(|(m, _)| uci(*m, CastlingMode::Standard).to_string())
                .collect(),
            san: moves().map(san).collect(),
        }
    }

    fn draw(&self, text: &str, count: usize) -> Explanation {
        self.explanation(Begins::After, "draws", text.to_owned(), count)
    }

    /// Returns the number of moves in which a score mates for a side.
    fn mate(score: Option<Score>, side: Color) -> Option<u32> {
        match score? {
            Score::Mate(moves) if (moves > 0) == side.is_white() => Some(moves.unsigned_abs()),
            _ => None,
        }
    }

    /// Returns whether the refutation ends in a draw by the rules, and the score agrees.
    fn draws(&self) -> Option<Explanation> {
        let (text, count) = (draw(self.refutation.end())?, self.refutation.moves.len());
        let was_better = self
            .scores
            .0
            .is_some_and(|score| centipawns(score, self.mover) > 0);
        (was_better && count <= MAX_PROOF && self.scores.1 == Some(Score::Cp(0)))
            .then(|| self.draw(text, count))
    }

    fn allows_mate(&self) -> Option<Explanation> {
        let opponent = self.mover.other();
        let moves = Claim::mate(self.scores.1, opponent)?;
        if Claim::mate(self.scores.0, opponent).is_some() {
            return None;
        }
        self.mates(Begins::After, moves)
    }

    fn misses_mate(&self) -> Option<Explanation> {
        let moves = Claim::mate(self.scores.0, self.mover)?;
        if self.scores.1.is_none()
            || Claim::mate(self.scores.1, self.mover).is_some()
            || self.is_best()
        {
            return None;
        }
        self.mates(Begins::Before, moves)
    }

    fn mates(&self, begins: Begins, moves: u32) -> Option<Explanation> {
        let (line, kind, text) = match begins {
            Begins::Before => (&self.best, "missesMate", "misses mate in "),
            Begins::After => (&self.refutation, "allowsMate", "allows mate in "),
        };
        let (text, count) = ([text, &moves.to_string()].concat(), mating(line, moves)?);
        Some(Explanation {
            mate: Some(moves),
            ..self.explanation(begins, kind, text, count)
        })
    }

    /// Returns the centipawns that the move lost.
    fn drop(&self) -> Option<i32> {
        let [before, after] = [self.scores.0?, self.scores.1?];
        Some(centipawns(before, self.mover) - centipawns(after, self.mover))
    }

    fn is_best(&self) -> bool {
        self.best.moves.first() == Some(&self.played)
    }

    /// Returns the threat of the best answer that the best move does not allow, or the threat of the best move that the played
    /// move does not make.
    fn threat(&self) -> Option<Explanation> {
        let best = *self.best.moves.first()?;
        if self.is_best() || self.drop()? < CP_OF_A_PAWN {
            return None;
        }
        let [before, instead, after] = [
            &self.best.positions[0],
            &self.best.positions[1],
            &self.refutation.positions[0],
        ];
        let allowed = |answer: &Move| new_threat((after, *answer), (instead, *answer));
        let (begins, kind, verb, piece) = match self.refutation.moves.first().and_then(allowed) {
            Some(piece) => (Begins::After, "allowsThreat", "allows", piece),
            None => {
                let piece = new_threat((before, best), (before, self.played))?;
                (Begins::Before, "missesThreat", "misses", piece)
            }
        };
        let aim = match piece.square {
            Some(_) => ["to take ", &piece.text()].concat(),
            None => "of mate in 1".to_owned(),
        };
        Some(Explanation {
            role: piece.square.map(|_| name(piece.role)),
            square: piece.square.map(|square| square.to_string()),
            ..self.explanation(begins, kind, [verb, " the threat ", &aim].concat(), 1)
        })
    }

    /// Returns the larger of a loss and a missed gain.
    fn material(&self) -> Option<Explanation> {
        let (Some(before), Some(after)) = self.scores else {
            return None;
        };
        let (mover, opponent, drop) = (self.mover, self.mover.other(), self.drop()?);
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
            // The winner has no full compensation for the material, or the move costs much more than half of it.
            let material = (100 * balance(start.board(), winner)).min(MAX_BALANCE_CP);
            let support = CP_OF_A_PAWN * gain.pawns;
            let is_reason = drop >= support && (gain.pawns > 1 || drop <= MAX_DROP_FOR_A_PAWN);
            is_reason
                && (centipawns(score, winner) >= material + support || 2 * drop >= 3 * support)
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
        let loss = gain(line, lead, opponent, true, &mut exchanges)
            .filter(|loss| explains(loss, &line.positions[0], opponent, after, by_other));
        let missed = gain(best, 0, mover, false, &mut exchanges)
            .filter(|_| !refutation.moves.is_empty() && same.is_none() && !self.is_best())
            .filter(|missed| explains(missed, &best.positions[0], mover, before, by_played));
        let is_larger = |missed: &Gain| loss.as_ref().is_none_or(|loss| missed.pawns > loss.pawns);
        let (begins, gain) = match missed.filter(is_larger) {
            Some(missed) => (Begins::Before, missed),
            None => (Begins::After, loss?),
        };
        let (kind, text, piece) = gain.claim;
        Some(Explanation {
            role: Some(name(piece.role)),
            square: piece.square.map(|square| square.to_string()),
            ..self.explanation(begins, kind, text, gain.count)
        })
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
