//! Cases of the rule whose evaluation counts. The package `shelfish/score` has the same cases in tests/npm/score.test.mjs.
#![allow(clippy::unwrap_used)]

use shelfish_analysis::{KnownEval, Score};

#[test]
fn an_evaluation_counts_by_its_depth_and_nodes() {
    let rows: Vec<&str> = include_str!("counts.tsv").lines().filter(|line| !line.starts_with('#')).collect();
    assert!(rows.len() > 20);
    for row in rows {
        let [depth, knodes, other_depth, other_knodes, is_shallow, counts] =
            <[&str; 6]>::try_from(row.split('\t').collect::<Vec<_>>()).unwrap();
        let known = |depth: &str, knodes: &str| KnownEval {
            knodes: knodes.parse().ok(),
            ..KnownEval::new(Score::Cp(20), depth.parse().ok())
        };
        let (one, other) = (known(depth, knodes), known(other_depth, other_knodes));
        assert_eq!((one.is_shallow(), one.counts_over(&other)), (is_shallow == "yes", counts == "yes"), "{row}");
    }
}
