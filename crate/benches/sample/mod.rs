//! Positions of the repository's sample.

use serde_json::Value;
use shakmaty::Position as _;
use shakmaty::uci::UciMove;
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::position::Position;

/// Returns the first `count` positions of the sample in the order of keys, each with its line.
pub fn records(count: usize) -> Vec<(Vec<u8>, PositionEval)> {
    let dump = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../static-shards/sample.jsonl.zst"
    );
    let text = zstd::decode_all(std::fs::File::open(dump).unwrap()).unwrap();
    let lines = text
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .take(count);
    let mut records: Vec<_> = lines
        .map(|line| {
            (
                line.to_vec(),
                record(&serde_json::from_slice(line).unwrap()),
            )
        })
        .collect();
    records.sort_by_cached_key(|(_, record)| record.position.key());
    records.dedup_by(|(_, a), (_, b)| a.position == b.position);
    records
}

/// Returns the weight of a record in a block.
pub fn weight(record: &PositionEval) -> usize {
    let pvs = || {
        record
            .evaluations
            .iter()
            .flat_map(|evaluation| &evaluation.pvs)
    };
    PositionEval::weight(
        record.evaluations.len(),
        pvs().count(),
        pvs().map(|pv| pv.line.len()).sum(),
    )
}

/// Parses a line of the dump.
fn record(line: &Value) -> PositionEval {
    let position: Position = line["fen"].as_str().unwrap().parse().unwrap();
    let int = |value: &Value| value.as_i64().and_then(|n| i32::try_from(n).ok());
    let pv = |pv: &Value| {
        let mut chess = position.chess().clone();
        let line = pv["line"]
            .as_str()
            .unwrap()
            .split_ascii_whitespace()
            .map(|uci| {
                let m = uci.parse::<UciMove>().unwrap().to_move(&chess).unwrap();
                chess.play_unchecked(m);
                m
            });
        let line = line.collect();
        Pv {
            score: int(&pv["cp"]).map_or_else(|| Score::Mate(int(&pv["mate"]).unwrap()), Score::Cp),
            line,
        }
    };
    let evaluations = line["evals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|evaluation| Evaluation {
            depth: evaluation["depth"].as_u64().unwrap().try_into().unwrap(),
            knodes: evaluation["knodes"].as_u64().unwrap(),
            pvs: evaluation["pvs"]
                .as_array()
                .unwrap()
                .iter()
                .map(pv)
                .collect(),
        });
    let mut evaluations = evaluations.collect();
    PositionEval::normalise(&mut evaluations);
    PositionEval {
        position,
        evaluations,
    }
}
