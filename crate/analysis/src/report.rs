//! Report of a game.

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};
use shelfish::position::uci;

use crate::accuracy::{self, MIN_SETTLED};
use crate::comparison::Comparison;
use crate::explanation::{Explanation, explain};
use crate::game::Game;
use crate::judgment::Judgment;
use crate::known::KnownEval;
use crate::mark::Mark;
use crate::phases::{PhaseAccuracy, Phases};
use crate::value::Value;

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
    /// Whether every move is settled, so that the report is final.
    pub settled: bool,
}

/// Figures of a move. They are `None` if the position before or after it has no value, or if they are not settled.
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
    /// Judgment of the move, if it was bad. It is provisional if the move is not settled.
    pub judgment: Option<Judgment>,
    /// Mark of a settled good move, if the evidence proves it: see [`mark`](crate::mark).
    pub mark: Option<Mark>,
    /// Whether the figures are final: see [`comparison`](crate::comparison).
    pub settled: bool,
    /// Best move of the evaluation before it in UCI, if a different move was played. Castling is `e1g1` if the king stands on
    /// the e-file and the rook in the corner, else from the king to the rook, such as `b1a1`.
    pub best: Option<String>,
    /// The best move in SAN.
    #[serde(skip)]
    pub best_san: Option<String>,
    /// Explanation of a settled judgment, if a claim is proven: see [`explanation`](crate::explanation).
    pub explanation: Option<Explanation>,
}

/// Summary of the moves of a side.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SideReport {
    /// Number of moves.
    pub moves: usize,
    /// Number of settled moves. The mating move is included, but counts in no average.
    pub judged: usize,
    /// Number of moves with a provisional judgment, which counts in no figure.
    pub provisional: usize,
    /// Number of inaccuracies (`?!`).
    pub inaccuracies: usize,
    /// Number of mistakes (`?`).
    pub mistakes: usize,
    /// Number of blunders (`??`).
    pub blunders: usize,
    /// Mean loss of its moves in centipawns (`AccuracyCP` of lila). `None` if less than [`MIN_SETTLED`] percent of the moves
    /// are settled.
    pub average_centipawn_loss: Option<f64>,
    /// Accuracy in percent: see [`accuracy::of_side`]. `None` if less than [`MIN_SETTLED`] percent of the moves are settled.
    pub accuracy: Option<f64>,
    /// Accuracy of each phase.
    pub accuracy_by_phase: PhaseAccuracy,
    /// Number of only moves (`□`) that are not great moves.
    pub only_moves: usize,
    /// Number of great moves (`!`).
    pub great_moves: usize,
}

/// Reason why evaluations do not belong to a game's positions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The number of evaluations is not the number of positions.
    #[error("evaluations: expected {expected}, one more than moves, found {found}")]
    Count {
        /// Number of positions of the game.
        expected: usize,
        /// Number of evaluations.
        found: usize,
    },
    /// A best line begins with an illegal move, so the evaluation belongs to a different position.
    #[error(
        "evaluations[{index}].line: expected a line of this position, found the illegal move {found}"
    )]
    Line {
        /// Index of the evaluation.
        index: usize,
        /// The move.
        found: UciMove,
    },
}

impl Report {
    /// Returns the report of a game by the values and evaluations of its positions and the comparisons of its moves.
    pub(crate) fn new(
        game: &Game,
        values: &[Option<Value>],
        comparisons: &[Option<Comparison>],
        known: &[Option<&KnownEval>],
        marks: &[Option<Mark>],
    ) -> Report {
        let positions: Vec<Chess> = game.positions().collect();
        let moves = game
            .moves()
            .iter()
            .zip(&positions)
            .zip(comparisons.iter().zip(known.windows(2)))
            .enumerate();
        let moves: Vec<MoveReport> = moves
            .map(|(n, ((played, position), (comparison, known)))| {
                let best = known[0].and_then(|known| known.line.first()?.to_move(position).ok());
                let best = best.filter(|best| best != played);
                let san = |m: Move| SanPlus::from_move(position.clone(), m).to_string();
                let mover = position.turn();
                let settled = comparison.filter(|comparison| comparison.is_settled);
                let percents = |found: Comparison| {
                    [found.before, found.after]
                        .map(|value| mover.fold_wb(value.percent(), 100.0 - value.percent()))
                };
                let centipawns = |found: Comparison| {
                    let lost = found.before.centipawns() - found.after.centipawns();
                    mover.fold_wb(lost, -lost).max(0)
                };
                MoveReport {
                    ply: n + 1,
                    san: san(*played),
                    loss: settled.map(|found| found.loss(mover)),
                    centipawns: settled.map(centipawns),
                    accuracy: settled.map(|found| accuracy::of_move(percents(found))),
                    judgment: comparison.and_then(|found| found.judgment),
                    mark: marks[n],
                    settled: settled.is_some(),
                    best: best.map(|m| uci(m, CastlingMode::Standard).to_string()),
                    best_san: best.map(san),
                    explanation: settled
                        .and_then(|found| found.judgment)
                        .and_then(|_| explain(position, *played, known[0], known[1])),
                }
            })
            .collect();
        let first = game.start().turn();
        let phases = Phases::of(positions.iter().map(|position| position.board()));
        let side = |side: Color| SideReport::of(&moves, values, phases, side == first);
        Report {
            phases,
            white: side(Color::White),
            black: side(Color::Black),
            positions: positions.len(),
            known: values.iter().flatten().count(),
            settled: moves.iter().all(|m| m.settled),
            moves,
        }
    }
}

impl SideReport {
    /// Summarizes the moves of the side that moved first, or of its opponent if not `first`.
    fn of(
        moves: &[MoveReport],
        values: &[Option<Value>],
        phases: Phases,
        first: bool,
    ) -> SideReport {
        let own = || moves.iter().skip(usize::from(!first)).step_by(2);
        let count = |is: &dyn Fn(&MoveReport) -> bool| own().filter(|m| is(m)).count();
        let judged_as = |judgment| count(&|m| m.settled && m.judgment == Some(judgment));
        let marked = |mark| count(&|m| m.mark == Some(mark));
        // The averages leave the mating move out.
        let mates =
            usize::from(!moves.is_empty() && matches!(values.last(), Some(Some(Value::Mated(_)))));
        let (counted, values) = (
            &moves[..moves.len() - mates],
            &values[..values.len() - mates],
        );
        let percents: Vec<Option<f64>> = values
            .iter()
            .map(|value| value.map(Value::percent))
            .collect();
        let accuracies: Vec<Option<f64>> = counted.iter().map(|m| m.accuracy).collect();
        let losses: Vec<i32> = counted
            .iter()
            .skip(usize::from(!first))
            .step_by(2)
            .filter_map(|m| m.centipawns)
            .collect();
        let sum: i64 = losses.iter().copied().map(i64::from).sum();
        let (all, judged) = (own().count(), count(&|m| m.settled));
        let is_covered = judged * 100 >= all * MIN_SETTLED;
        SideReport {
            moves: all,
            judged,
            provisional: count(&|m| !m.settled && m.judgment.is_some()),
            inaccuracies: judged_as(Judgment::Inaccuracy),
            mistakes: judged_as(Judgment::Mistake),
            blunders: judged_as(Judgment::Blunder),
            average_centipawn_loss: (is_covered && !losses.is_empty())
                .then(|| sum as f64 / losses.len() as f64),
            accuracy: accuracy::of_side(&percents, &accuracies, 0..accuracies.len(), first)
                .filter(|_| is_covered),
            accuracy_by_phase: PhaseAccuracy::of(&percents, &accuracies, phases, first),
            only_moves: marked(Mark::Only),
            great_moves: marked(Mark::Great),
        }
    }
}
