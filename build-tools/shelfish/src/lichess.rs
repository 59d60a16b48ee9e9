//! Texts in the formats of Lichess: lines of a dump, scores in JSON, and lines of moves.

use serde::Serialize;
use serde::ser::SerializeMap as _;
use shakmaty::{CastlingMode, Move};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::position;

/// Formats a record as a line. Castling is the king's move to the square of the rook; scores are from White's point of view.
pub fn line(eval: &PositionEval) -> serde_json::Result<String> {
    #[derive(Serialize)]
    struct Line {
        fen: String,
        evals: Vec<LineEvaluation>,
    }
    #[derive(Serialize)]
    struct LineEvaluation {
        pvs: Vec<LinePv>,
        knodes: u64,
        depth: u16,
    }
    #[derive(Serialize)]
    struct LinePv {
        #[serde(flatten)]
        score: ScoreMember,
        line: String,
    }
    let pv = |Pv { score, line }: &Pv| LinePv {
        score: ScoreMember(*score),
        line: uci(line, CastlingMode::Chess960),
    };
    let evaluation = |evaluation: &Evaluation| LineEvaluation {
        pvs: evaluation.pvs.iter().map(pv).collect(),
        knodes: evaluation.knodes,
        depth: evaluation.depth,
    };
    let line = Line {
        fen: eval.position.to_string(),
        evals: eval.evaluations.iter().map(evaluation).collect(),
    };
    Ok(serde_json::to_string(&line)? + "\n")
}

/// A score as the member `cp` or `mate` of a JSON object, from White's point of view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreMember(pub Score);

impl Serialize for ScoreMember {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (name, value) = match self.0 {
            Score::Cp(cp) => ("cp", cp),
            Score::Mate(moves) => ("mate", moves),
        };
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(name, &value)?;
        map.end()
    }
}

/// Formats a line in UCI notation.
pub(crate) fn uci(line: &[Move], mode: CastlingMode) -> String {
    line.iter()
        .map(|m| position::uci(*m, mode).to_string())
        .collect::<Vec<_>>()
        .join(" ")
}
