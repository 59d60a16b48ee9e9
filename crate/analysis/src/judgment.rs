//! Judges moves as inaccuracies, mistakes and blunders.

use serde::Serialize;
use shakmaty::Color;

use crate::value::{Value, winning_chances};

/// Judgment of a bad move, from mild to severe.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgment {
    /// `?!`
    Inaccuracy,
    /// `?`
    Mistake,
    /// `??`
    Blunder,
}

impl Judgment {
    /// Returns `?!`, `?` or `??`.
    pub fn glyph(self) -> &'static str {
        match self {
            Judgment::Inaccuracy => "?!",
            Judgment::Mistake => "?",
            Judgment::Blunder => "??",
        }
    }

    /// Returns the numeric annotation glyph of PGN: 6, 2 or 4.
    pub fn nag(self) -> u8 {
        match self {
            Judgment::Inaccuracy => 6,
            Judgment::Mistake => 2,
            Judgment::Blunder => 4,
        }
    }
}

/// Losses of winning chances that make a blunder, a mistake and an inaccuracy (`winningChanceJudgements` of lila's `Advice`).
const LOSSES: [(f64, Judgment); 3] = [
    (0.3, Judgment::Blunder),
    (0.2, Judgment::Mistake),
    (0.1, Judgment::Inaccuracy),
];

/// Centipawns of a side beyond which a missed or an allowed mate matters less (`MateAdvice` of lila's `Advice`).
const WINNING: [(i64, Judgment); 2] = [(999, Judgment::Inaccuracy), (700, Judgment::Mistake)];

/// Judges a move of `mover` by the values of the positions before and after it.
///
/// The source is `Advice` of lila. The winning chances count between two scores in centipawns. A move that allows or misses a
/// mate is a blunder. It is a mistake if the score without the mate is beyond 7 pawns, and an inaccuracy if it is beyond 10
/// pawns. A mate that only takes longer is not judged.
///
/// ```
/// use shakmaty::Color;
/// use shelfish_analysis::{Judgment, Value, judge};
/// assert_eq!(judge(Value::Cp(20), Value::Cp(-40), Color::White), Some(Judgment::Inaccuracy));
/// assert_eq!(judge(Value::Cp(20), Value::Cp(-40), Color::Black), None);
/// assert_eq!(judge(Value::Mate(Color::White), Value::Cp(800), Color::White), Some(Judgment::Mistake));
/// ```
pub fn judge(before: Value, after: Value, mover: Color) -> Option<Judgment> {
    judge_beyond(0.0, before, after, mover)
}

/// Judges a move whose loss of winning chances must exceed the bounds by `doubt`.
pub(crate) fn judge_beyond(
    doubt: f64,
    before: Value,
    after: Value,
    mover: Color,
) -> Option<Judgment> {
    let own = |cp: i32| mover.fold_wb(i64::from(cp), -i64::from(cp));
    // `cp` is how clearly the game was lost before an allowed mate, or is won after a missed mate.
    let mate = |cp: i64| {
        let mild = WINNING.into_iter().find(|(bound, _)| cp > *bound);
        Some(mild.map_or(Judgment::Blunder, |(_, judgment)| judgment))
    };
    match (before, after) {
        (_, Value::Mated(_)) | (Value::Mated(_), _) => None,
        (Value::Cp(before), Value::Cp(after)) => {
            let loss = winning_chances(before) - winning_chances(after);
            let loss = mover.fold_wb(loss, -loss);
            LOSSES
                .into_iter()
                .find(|(least, _)| loss >= least + doubt)
                .map(|(_, judgment)| judgment)
        }
        (Value::Cp(before), Value::Mate(side)) => {
            (side != mover).then(|| mate(-own(before))).flatten()
        }
        (Value::Mate(side), Value::Cp(after)) => {
            (side == mover).then(|| mate(own(after))).flatten()
        }
        (Value::Mate(before), Value::Mate(after)) => {
            (before == mover && after != mover).then_some(Judgment::Blunder)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parses a value from the file of cases: centipawns, or `#` and moves to mate.
    fn value(text: &str) -> Value {
        match text.strip_prefix('#') {
            Some(moves) if moves.starts_with('-') => Value::Mate(Color::Black),
            Some(_) => Value::Mate(Color::White),
            None => Value::Cp(text.parse().expect("centipawns")),
        }
    }

    #[test]
    fn moves_are_judged_by_the_rules_of_lichess() {
        let cases = include_str!("../tests/judgments.tsv")
            .lines()
            .filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for line in cases {
            let fields: Vec<&str> = line.split('\t').collect();
            let [before, after, mover, expected] = fields[..] else {
                panic!("{line}")
            };
            let mover = if mover == "w" {
                Color::White
            } else {
                Color::Black
            };
            let found = judge(value(before), value(after), mover).map_or("", Judgment::glyph);
            assert_eq!(found, expected, "{line}");
            count += 1;
        }
        assert!(count >= 30, "{count}");
    }

    fn values() -> impl Strategy<Value = Value> {
        prop_oneof![
            4 => any::<i32>().prop_filter("a score", |cp| *cp != i32::MIN).prop_map(Value::Cp),
            4 => (-1500..1500).prop_map(Value::Cp),
            1 => any::<bool>().prop_map(|white| Value::Mate(if white { Color::White } else { Color::Black })),
        ]
    }

    fn mirrored(value: Value) -> Value {
        match value {
            Value::Cp(cp) => Value::Cp(-cp),
            Value::Mate(side) => Value::Mate(side.other()),
            Value::Mated(side) => Value::Mated(side.other()),
        }
    }

    proptest! {
        #[test]
        fn both_sides_are_judged_by_the_same_rules(before in values(), after in values()) {
            let white = judge(before, after, Color::White);
            prop_assert_eq!(white, judge(mirrored(before), mirrored(after), Color::Black));
        }

        #[test]
        fn a_worse_outcome_never_has_a_milder_judgment(before in -3000..3000, after in -3000..3000, more in 0..3000) {
            let judged = |after| judge(Value::Cp(before), Value::Cp(after), Color::White);
            prop_assert!(judged(after - more) >= judged(after));
        }
    }
}
