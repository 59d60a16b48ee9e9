//! Texts in the formats of Lichess: lines of a dump, scores in JSON, and lines of moves.

use serde::Serialize;
use serde::ser::SerializeMap as _;
use shakmaty::{CastlingMode, Move};
use shelfish::eval::{PositionEval, Score};
use shelfish::position;

/// Appends a record as a line. Castling is the king's move to the square of the rook; scores are from White's point of
/// view.
pub fn push_line(out: &mut Vec<u8>, eval: &PositionEval) {
    use std::io::Write;
    // Writing to a `Vec` does not fail, and no text needs escaping.
    let mut write = |arguments: std::fmt::Arguments| {
        let _ = out.write_fmt(arguments);
    };
    write(format_args!("{{\"fen\":\"{}\",\"evals\":[", eval.position));
    for (n, evaluation) in eval.evaluations.iter().enumerate() {
        write(format_args!("{}{{\"pvs\":[", if n == 0 { "" } else { "," }));
        for (n, pv) in evaluation.pvs.iter().enumerate() {
            let comma = if n == 0 { "" } else { "," };
            match pv.score {
                Score::Cp(cp) => write(format_args!("{comma}{{\"cp\":{cp},\"line\":\"")),
                Score::Mate(moves) => write(format_args!("{comma}{{\"mate\":{moves},\"line\":\"")),
            }
            for (n, m) in pv.line.iter().enumerate() {
                write(format_args!(
                    "{}{}",
                    if n == 0 { "" } else { " " },
                    m.to_uci(CastlingMode::Chess960)
                ));
            }
            write(format_args!("\"}}"));
        }
        write(format_args!(
            "],\"knodes\":{},\"depth\":{}}}",
            evaluation.knodes, evaluation.depth
        ));
    }
    write(format_args!("]}}\n"));
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
