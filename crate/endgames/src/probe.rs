//! Results of a position and of its moves.

use core::cmp::{Ordering, Reverse};
use core::fmt;

use shakmaty::{Chess, Move, Position as _};

use crate::error::EndgameError;
use crate::resolve::{Distance, Resolver, played};

/// The result of a position for the side to move, with the 50-move rule.
///
/// The order is from the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Loss.
    Loss,
    /// Loss, or a draw by the 50-move rule. Rounded distances do not decide which.
    MaybeLoss,
    /// Draw by the 50-move rule. It would be a loss without the rule.
    BlessedLoss,
    /// Draw.
    Draw,
    /// Draw by the 50-move rule. It would be a win without the rule.
    CursedWin,
    /// Win, or a draw by the 50-move rule. Rounded distances do not decide which.
    MaybeWin,
    /// Win.
    Win,
}

/// All outcomes in their order, with their names.
const OUTCOMES: [(Outcome, &str); 7] = [
    (Outcome::Loss, "loss"),
    (Outcome::MaybeLoss, "maybe-loss"),
    (Outcome::BlessedLoss, "blessed-loss"),
    (Outcome::Draw, "draw"),
    (Outcome::CursedWin, "cursed-win"),
    (Outcome::MaybeWin, "maybe-win"),
    (Outcome::Win, "win"),
];

impl Outcome {
    /// The name, as in Lichess' API.
    pub fn name(self) -> &'static str {
        OUTCOMES[self as usize].1
    }

    /// Returns the outcome for the other side.
    pub fn reversed(self) -> Outcome {
        OUTCOMES[OUTCOMES.len() - 1 - self as usize].0
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The result of a position for the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The result. The half-move clock of the position counts.
    pub outcome: Outcome,
    /// Plies until the next capture or pawn move of the side that wins, negative for a loss, 0 for a draw. With the best
    /// play the side that wins reaches it in so many plies. The half-move clock does not count.
    pub dtz: i32,
    /// Whether `dtz` is rounded: it may be one ply nearer to 0 than the exact distance.
    pub is_rounded: bool,
}

impl Verdict {
    /// Returns an exact verdict without a distance.
    fn at_once(outcome: Outcome) -> Verdict {
        Verdict {
            outcome,
            dtz: 0,
            is_rounded: false,
        }
    }
}

/// Plies without a capture or pawn move after which a player can claim a draw.
const MAX_HALFMOVES: i32 = 100;

/// Returns the result of a position with a distance and a half-move clock.
fn outcome_of(distance: Distance, halfmoves: u32) -> Outcome {
    // A distance right after a capture or pawn move is exact if it decides between a win and a draw.
    let is_exact = !distance.is_rounded || halfmoves == 0;
    let halfmoves = halfmoves.try_into().unwrap_or(i32::MAX / 2);
    let plies = distance.plies + distance.plies.signum() * halfmoves;
    match (plies.signum(), plies.abs().cmp(&MAX_HALFMOVES)) {
        (0, _) => Outcome::Draw,
        (1, Ordering::Greater) => Outcome::CursedWin,
        (1, Ordering::Equal) if !is_exact => Outcome::MaybeWin,
        (1, _) => Outcome::Win,
        (_, Ordering::Greater) => Outcome::BlessedLoss,
        (_, Ordering::Equal) if !is_exact => Outcome::MaybeLoss,
        _ => Outcome::Loss,
    }
}

/// A legal move and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbedMove {
    /// The move.
    pub m: Move,
    /// The result after the move, for the other side.
    pub after: Verdict,
    /// Whether the move is a capture or a pawn move.
    pub is_zeroing: bool,
    /// Whether the move is checkmate.
    pub is_checkmate: bool,
    /// Whether the move is stalemate.
    pub is_stalemate: bool,
    /// Whether no side can win after the move.
    pub is_insufficient_material: bool,
}

impl ProbedMove {
    /// The result of the move for the side that moves.
    pub fn outcome(&self) -> Outcome {
        self.after.outcome.reversed()
    }

    /// Plies until the next capture or pawn move, this move included; negative for a loss, 0 for a draw.
    pub fn dtz(&self) -> i32 {
        match self.outcome().cmp(&Outcome::Draw) {
            Ordering::Equal => 0,
            Ordering::Greater if self.is_zeroing || self.is_checkmate => 1,
            Ordering::Less if self.is_zeroing => -1,
            Ordering::Greater => 1 - self.after.dtz,
            Ordering::Less => -1 - self.after.dtz,
        }
    }
}

/// The result of a position and of all its legal moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The result for the side to move.
    pub verdict: Verdict,
    /// The legal moves, the best move first. Winning moves are in the order of their distance, losing moves in the
    /// opposite order.
    pub moves: Vec<ProbedMove>,
}

/// Maximum number of plies of a line.
const MAX_LINE: usize = 100;

/// Returns the best moves of both sides from a position until the next capture or pawn move, which is included. A draw has
/// no line.
///
/// # Errors
///
/// Returns the first error of `probe`.
pub async fn line<E>(
    chess: &Chess,
    probe: impl AsyncFn(Chess) -> Result<Probe, E>,
) -> Result<Vec<ProbedMove>, E> {
    let mut chess = chess.clone();
    let mut line: Vec<ProbedMove> = Vec::new();
    while line.len() < MAX_LINE && !line.last().is_some_and(|last| last.is_zeroing) {
        match probe(chess.clone()).await?.moves.into_iter().next() {
            Some(best) if best.dtz() != 0 => {
                chess.play_unchecked(best.m);
                line.push(best);
            }
            _ => break,
        }
    }
    Ok(line)
}

/// Returns the result of a position as if its half-move clock was zero. Reads only tables of win, draw and loss.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) fn outcome(tables: &Resolver<'_>, chess: &Chess) -> Result<Outcome, EndgameError> {
    if chess.is_insufficient_material() {
        return Ok(Outcome::Draw);
    }
    tables.outcome(chess)
}

/// Returns the result of a position without its moves.
pub(crate) fn verdict(tables: &Resolver<'_>, chess: &Chess) -> Result<Verdict, EndgameError> {
    if chess.is_checkmate() {
        return Ok(Verdict::at_once(Outcome::Loss));
    }
    if chess.is_stalemate() || chess.is_insufficient_material() {
        return Ok(Verdict::at_once(Outcome::Draw));
    }
    let distance = tables.distance(chess)?;
    Ok(Verdict {
        outcome: outcome_of(distance, chess.halfmoves()),
        dtz: distance.plies,
        is_rounded: distance.is_rounded,
    })
}

/// Returns the result of a position and of its moves.
///
/// Every move is probed even after an error, so that all missing pages are found.
pub(crate) fn probe(tables: &Resolver<'_>, chess: &Chess) -> Result<Probe, EndgameError> {
    let own = verdict(tables, chess);
    let probed = |m: Move| -> Result<ProbedMove, EndgameError> {
        let after = played(chess, m);
        Ok(ProbedMove {
            m,
            after: verdict(tables, &after)?,
            is_zeroing: m.is_zeroing(),
            is_checkmate: after.is_checkmate(),
            is_stalemate: after.is_stalemate(),
            is_insufficient_material: after.is_insufficient_material(),
        })
    };
    let order = |probed: &ProbedMove| {
        let outcome = Reverse(probed.outcome());
        (outcome, !probed.is_checkmate, probed.dtz())
    };
    let mut moves = Vec::new();
    let mut failed = None;
    for probed in chess.legal_moves().into_iter().map(probed) {
        match probed {
            Ok(probed) => {
                let place = moves.partition_point(|other| order(other) <= order(&probed));
                moves.insert(place, probed);
            }
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok(Probe {
            verdict: own?,
            moves,
        }),
    }
}
