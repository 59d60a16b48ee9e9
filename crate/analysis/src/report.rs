//! Report of a game.

use core::fmt;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};
use shelfish::position::uci;

use crate::accuracy;
use crate::chances::INITIAL;
use crate::contradiction::{Estimate, Evidence, Verdict, verdict};
use crate::game::Game;
use crate::judgment::Judgment;
use crate::known::{KnownEval, Value};
use crate::phases::Phases;

/// Figures of a game's moves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Reports of the moves.
    pub moves: Vec<MoveReport>,
    /// Beginning of middlegame and endgame.
    pub phases: Phases,
    /// Summary of White's moves.
    pub white: SideReport,
    /// Summary of Black's moves.
    pub black: SideReport,
    /// Number of positions of the game: the number of moves plus one.
    pub positions: usize,
    /// Number of positions with a value: evaluated, over by the rules, or the initial position.
    pub known: usize,
}

/// Figures of a move. They are `None` if the position before or after it has no value, or if the two values contradict each
/// other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MoveReport {
    /// Number of the move, from 1.
    pub ply: usize,
    /// The move in SAN.
    pub san: String,
    /// Winning chances that the move lost, from 0 to 2.
    pub loss: Option<f64>,
    /// Centipawns that the move lost, with scores limited to ±1000.
    pub centipawns: Option<i32>,
    /// The accuracy of the move in percent.
    pub accuracy: Option<f64>,
    /// Judgment of the move, if it was bad.
    pub judgment: Option<Judgment>,
    /// Whether the judgment is withheld because the two evaluations contradict each other: see
    /// [`contradiction`](crate::contradiction).
    pub withheld: bool,
    /// Best move of the evaluation before it in UCI, if a different move was played. Castling is `e1g1` if the king stands on
    /// the e-file and the rook in the corner, else from the king to the rook, such as `b1a1`.
    pub best: Option<String>,
}

/// Summary of the moves of a side.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SideReport {
    /// Number of moves.
    pub moves: usize,
    /// Number of moves with figures: the positions before and after them have values that agree. The mating move is included,
    /// but counts in no average.
    pub judged: usize,
    /// Number of moves with a withheld judgment, because two evaluations contradict each other.
    pub withheld: usize,
    /// Number of inaccuracies (`?!`).
    pub inaccuracies: usize,
    /// Number of mistakes (`?`).
    pub mistakes: usize,
    /// Number of blunders (`??`).
    pub blunders: usize,
    /// Mean loss of its moves in centipawns (`AccuracyCP` of lila).
    pub average_centipawn_loss: Option<f64>,
    /// Accuracy in percent: see [`accuracy::of_side`].
    pub accuracy: Option<f64>,
}

/// Reason why evaluations do not belong to a game's positions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportError {
    /// The number of evaluations is not the number of positions.
    Count {
        /// Number of positions of the game.
        expected: usize,
        /// Number of evaluations.
        found: usize,
    },
    /// A best line begins with an illegal move, so the evaluation belongs to a different position.
    Line {
        /// Index of the evaluation.
        index: usize,
        /// The move.
        found: UciMove,
    },
}

impl fmt::Display for ReportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReportError::Count { expected, found } => {
                write!(f, "evaluations: expected {expected}, one more than moves, found {found}")
            }
            ReportError::Line { index, found } => {
                write!(f, "evaluations[{index}].line: expected a line of this position, found the illegal move {found}")
            }
        }
    }
}

impl core::error::Error for ReportError {}

/// Reports on a game by the evaluations of its positions: `known[0]` is that of the first position, `known[n]` that after move n.
///
/// A position that is over needs no evaluation, and a given evaluation of it is ignored. The initial position of chess counts as
/// 0.15 if it has no evaluation. The mating move counts in no average. Both are as at Lichess.
///
/// # Errors
///
/// The number of evaluations is not the number of positions, or an evaluation belongs to a different position.
pub fn report(game: &Game, known: &[Option<KnownEval>]) -> Result<Report, ReportError> {
    let expected = game.moves().len() + 1;
    if known.len() != expected {
        return Err(ReportError::Count { expected, found: known.len() });
    }
    let positions: Vec<Chess> = game.positions().collect();
    let mut evidence: Vec<Option<Evidence>> = positions
        .iter()
        .zip(known)
        .map(|(position, known)| Some(Evidence::of(estimate(position, known.as_ref())?)))
        .collect();
    let mut best = Vec::with_capacity(game.moves().len());
    for (index, ((position, played), known)) in positions.iter().zip(game.moves()).zip(known).enumerate() {
        let m = best_move(position, known.as_ref()).map_err(|found| ReportError::Line { index, found })?;
        if m == Some(*played)
            && let [Some(before), Some(after)] = &mut evidence[index..index + 2]
        {
            before.link(after);
        }
        best.push(m.filter(|m| m != played));
    }

    let moves: Vec<MoveReport> = positions
        .iter()
        .zip(game.moves())
        .zip(evidence.windows(2))
        .zip(best)
        .enumerate()
        .map(|(n, (((position, played), evidence), best))| {
            let report = MoveReport {
                ply: n + 1,
                san: SanPlus::from_move(position.clone(), *played).to_string(),
                loss: None,
                centipawns: None,
                accuracy: None,
                judgment: None,
                withheld: false,
                best: best.map(|m| uci(m, CastlingMode::Standard).to_string()),
            };
            match evidence {
                [Some(before), Some(after)] => report.judged(before, after, position.turn()),
                _ => report,
            }
        })
        .collect();

    let values: Vec<Option<Value>> = evidence.iter().map(|evidence| Some(evidence.as_ref()?.own().value)).collect();
    let first = game.start().turn();
    let side = |side: Color| SideReport::of(&moves, &values, side == first);
    Ok(Report {
        phases: Phases::of(positions.iter().map(|position| position.board())),
        white: side(Color::White),
        black: side(Color::Black),
        positions: expected,
        known: values.iter().flatten().count(),
        moves,
    })
}

/// Returns the estimate of a position by the rules, by its evaluation, or by convention.
fn estimate(position: &Chess, known: Option<&KnownEval>) -> Option<Estimate> {
    if let Some(value) = Value::by_the_rules(position) {
        return Some(Estimate { value, depth: None });
    }
    match known {
        Some(known) => Some(Estimate { value: known.score.into(), depth: known.depth }),
        None if *position == Chess::default() => Some(Estimate { value: Value::Cp(INITIAL), depth: None }),
        None => None,
    }
}

/// Returns the first move of an evaluation's line, if it has a line.
fn best_move(position: &Chess, known: Option<&KnownEval>) -> Result<Option<Move>, UciMove> {
    let Some(first) = known.and_then(|known| known.line.first()) else { return Ok(None) };
    first.to_move(position).map(Some).map_err(|_| *first)
}

impl MoveReport {
    /// Adds the figures that follow from the evidence.
    fn judged(mut self, before: &Evidence, after: &Evidence, mover: Color) -> MoveReport {
        match verdict(before, after, mover) {
            Verdict::Withheld => self.withheld = true,
            Verdict::Judged(judgment) => {
                let (before, after) = (before.own().value, after.own().value);
                let lost = |before: f64, after: f64| mover.fold_wb(before - after, after - before).max(0.0);
                self.judgment = judgment;
                self.loss = Some(lost(before.chances(), after.chances()));
                self.centipawns =
                    Some(mover.fold_wb(1, -1) * (before.centipawns() - after.centipawns())).map(|cp| cp.max(0));
                let percent = |value: Value| mover.fold_wb(value.percent(), 100.0 - value.percent());
                self.accuracy = Some(accuracy::of_move(percent(before), percent(after)));
            }
        }
        self
    }
}

impl SideReport {
    /// Summarizes the moves of the side that moved first, or of its opponent if not `first`.
    fn of(moves: &[MoveReport], values: &[Option<Value>], first: bool) -> SideReport {
        let own = || moves.iter().skip(usize::from(!first)).step_by(2);
        let count = |judgment| own().filter(|m| m.judgment == Some(judgment)).count();
        // The averages leave the mating move out.
        let mates = usize::from(!moves.is_empty() && matches!(values.last(), Some(Some(Value::Mated(_)))));
        let (counted, values) = (&moves[..moves.len() - mates], &values[..values.len() - mates]);
        let percents: Vec<Option<f64>> = values.iter().map(|value| value.map(Value::percent)).collect();
        let accuracies: Vec<Option<f64>> = counted.iter().map(|m| m.accuracy).collect();
        let losses: Vec<i32> =
            counted.iter().skip(usize::from(!first)).step_by(2).filter_map(|m| m.centipawns).collect();
        let sum: i64 = losses.iter().copied().map(i64::from).sum();
        SideReport {
            moves: own().count(),
            judged: own().filter(|m| m.loss.is_some()).count(),
            withheld: own().filter(|m| m.withheld).count(),
            inaccuracies: count(Judgment::Inaccuracy),
            mistakes: count(Judgment::Mistake),
            blunders: count(Judgment::Blunder),
            average_centipawn_loss: (!losses.is_empty()).then(|| sum as f64 / losses.len() as f64),
            accuracy: accuracy::of_side(&percents, &accuracies, first),
        }
    }
}
