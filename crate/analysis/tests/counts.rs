//! Cases of the rule whose evaluation counts. The package `shelfish/score` has the same cases in tests/npm/score.test.mjs.
#![allow(clippy::unwrap_used)]

use shelfish_analysis::{KnownEval, Score};

#[test]
fn an_evaluation_counts_by_its_depth_and_nodes() {
    let rows: Vec<&str> = include_str!("counts.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect();
    assert!(rows.len() > 20);
    for row in rows {
        let fields: Vec<&str> = row.split('\t').collect();
        let [one, other] = [&fields[..3], &fields[3..6]].map(|fields| {
            let score = fields[0]
                .strip_prefix('#')
                .map(|moves| Score::Mate(moves.parse().unwrap()));
            let score = score.unwrap_or_else(|| Score::Cp(fields[0].parse().unwrap()));
            KnownEval {
                knodes: fields[2].parse().ok(),
                ..KnownEval::new(score, fields[1].parse().ok())
            }
        });
        let (is_shallow, counts) = (fields[6], fields[7]);
        assert_eq!(
            (one.is_shallow(), one.counts_over(&other)),
            (is_shallow == "yes", counts == "yes"),
            "{row}"
        );
    }
}
