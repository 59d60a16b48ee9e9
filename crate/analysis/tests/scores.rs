//! Texts and winning chances of scores. The package `shelfish/score` has the same cases in tests/npm/score.test.mjs.
#![allow(clippy::unwrap_used)]

use shelfish_analysis::{Score, Value};

#[test]
fn scores_have_the_texts_and_winning_chances_of_the_table() {
    let rows: Vec<&str> = include_str!("scores.tsv").lines().skip(1).collect();
    assert!(rows.len() > 20);
    for row in rows {
        let fields: Vec<&str> = row.split('\t').collect();
        let score = fields[0]
            .strip_prefix('#')
            .map(|moves| Score::Mate(moves.parse().unwrap()));
        let score = score.unwrap_or_else(|| Score::Cp(fields[0].parse().unwrap()));
        assert_eq!(score.to_string(), fields[1], "{row}");
        let chances: f64 = fields[2].parse().unwrap();
        assert!(
            (Value::from(score).chances() - chances).abs() < 1e-11,
            "{row}"
        );
    }
}
