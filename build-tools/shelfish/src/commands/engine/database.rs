//! Lines of the engine from evaluations of a database.

use shelfish::eval::{PositionEval, Score};
use shelfish_engine::{Bound, Line, UciScore};

/// Returns the lines of the deepest evaluation, from the point of view of the side to move.
pub fn lines(eval: &PositionEval) -> Vec<Line> {
    let Some(best) = eval.best() else {
        return Vec::new();
    };
    let sign = if shakmaty::Position::turn(eval.position.chess()).is_white() {
        1
    } else {
        -1
    };
    let played = best.pvs.iter().filter(|pv| !pv.line.is_empty());
    let line = |(index, pv): (usize, &shelfish::eval::Pv)| Line {
        depth: best.depth.into(),
        seldepth: best.depth.into(),
        rank: index + 1,
        score: match pv.score {
            Score::Cp(cp) => UciScore::Cp(cp.saturating_mul(sign)),
            Score::Mate(moves) => UciScore::Mate(moves * sign),
        },
        bound: Bound::Exact,
        nodes: best.knodes.saturating_mul(1_000),
        hashfull: 0,
        moves: pv.line.clone(),
    };
    played.enumerate().map(line).collect()
}
