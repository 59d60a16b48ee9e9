//! Commands in comments.

use core::ops::Range;

use shelfish::eval::Score;

/// Returns the score and the depth of a command such as `[%eval 0.17]`, `[%eval 0.17,18]`, `[%eval #-3]` or `[%eval #-3,18]`.
/// The score is from White's point of view, as Lichess writes it.
///
/// ```
/// use shelfish_analysis::{Score, pgn::evaluation};
/// assert_eq!(evaluation("[%eval 0.17] [%clk 0:01:30]"), Some((Score::Cp(17), None)));
/// assert_eq!(evaluation("[%clk 0:01:30][%eval #-3,18] Ouch."), Some((Score::Mate(-3), Some(18))));
/// assert_eq!(evaluation("[%eval nonsense]"), None);
/// ```
pub fn evaluation(comment: &str) -> Option<(Score, Option<u16>)> {
    let value = &comment[range(comment)?];
    let (score, depth) = match value.split_once(',') {
        Some((score, depth)) => (score, Some(depth.trim().parse().ok()?)),
        None => (value, None),
    };
    let score = match score.trim().strip_prefix('#') {
        Some(moves) => Score::Mate(moves.parse().ok()?),
        None => Score::Cp(centipawns(score.trim())?),
    };
    score.is_in_range().then_some((score, depth))
}

const COMMAND: &[u8] = b"[%eval ";

/// Returns the bytes of the value of the first command. Searches for texts would be a large part of the module.
fn range(comment: &str) -> Option<Range<usize>> {
    let mut windows = comment.as_bytes().windows(COMMAND.len());
    let start = windows.position(|window| window == COMMAND)? + COMMAND.len();
    Some(start..start + comment[start..].find(']')?)
}

/// Parses pawns with any number of decimals.
fn centipawns(text: &str) -> Option<i32> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (pawns, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(pawns)
        || !is_number(decimals)
        || pawns.len() + decimals.len() == 0
        || pawns.len() > 8
    {
        return None;
    }
    let hundredths = decimals.bytes().chain([b'0'; 3]).take(2);
    let whole = pawns
        .bytes()
        .chain(hundredths)
        .fold(0, |sum, digit| 10 * sum + i64::from(digit - b'0'));
    let is_up = decimals
        .as_bytes()
        .get(2)
        .is_some_and(|digit| *digit >= b'5');
    let sign = if text.starts_with('-') { -1 } else { 1 };
    i32::try_from(sign * (whole + i64::from(is_up))).ok()
}

/// Returns the comment with the command `[%eval]` of this value. It replaces an earlier command, or begins the comment.
pub(crate) fn with_evaluation(comment: &str, value: &str) -> String {
    let command = format!("[%eval {value}]");
    match range(comment) {
        Some(value) => {
            let (start, end) = (value.start - COMMAND.len(), value.end + 1);
            [&comment[..start], &command, &comment[end..]].concat()
        }
        None if comment.trim().is_empty() => format!(" {command} "),
        None => format!(" {command} {}", comment.trim_start()),
    }
}

/// Returns a score as text of the command.
pub(crate) fn value(score: Score, depth: Option<u16>) -> String {
    let score = score.to_string();
    let score = score.trim_start_matches('+');
    depth.map_or_else(|| score.to_owned(), |depth| format!("{score},{depth}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn evaluations_are_parsed() {
        for (comment, expected) in [
            ("[%eval 1.84]", Some((Score::Cp(184), None))),
            ("[%eval -0.05,20]", Some((Score::Cp(-5), Some(20)))),
            ("[%eval 3]", Some((Score::Cp(300), None))),
            ("[%eval .5]", Some((Score::Cp(50), None))),
            ("[%eval +0.3]", Some((Score::Cp(30), None))),
            ("[%eval 0.125]", Some((Score::Cp(13), None))),
            (
                "[%eval 21474836.47,20]",
                Some((Score::Cp(i32::MAX), Some(20))),
            ),
            ("[%eval -21474836.47]", Some((Score::Cp(-i32::MAX), None))),
            ("[%eval 21474836.48]", None),
            ("[%eval -21474836.48]", None),
            ("[%eval #4]", Some((Score::Mate(4), None))),
            (
                "before [%csl Ga4] [%eval #-4,33] after",
                Some((Score::Mate(-4), Some(33))),
            ),
            ("[%eval #0]", None),
            ("[%eval ]", None),
            ("[%eval -]", None),
            ("[%eval .]", None),
            ("[%eval 1e9]", None),
            ("[%eval 99999999]", None),
            ("[%eval 0.17,x]", None),
            ("[%eval 0.17", None),
            ("0.17", None),
        ] {
            assert_eq!(evaluation(comment), expected, "{comment}");
        }
    }

    #[test]
    fn an_evaluation_replaces_the_earlier_evaluation_and_keeps_the_rest() {
        for (comment, expected) in [
            ("", " [%eval 0.20,30] "),
            (
                " [%eval -1.00] [%clk 0:01:30] ",
                " [%eval 0.20,30] [%clk 0:01:30] ",
            ),
            (" [%clk 0:01:30] ", " [%eval 0.20,30] [%clk 0:01:30] "),
            ("Ouch!", " [%eval 0.20,30] Ouch!"),
            ("[%clk 0:01:30][%eval #3]", "[%clk 0:01:30][%eval 0.20,30]"),
        ] {
            assert_eq!(with_evaluation(comment, "0.20,30"), expected);
        }
    }

    proptest! {
        #[test]
        fn a_written_evaluation_is_read_back(
            score in prop_oneof![
                (-Score::MAX_CP..=Score::MAX_CP).prop_map(Score::Cp),
                (1..=Score::MAX_MATE).prop_flat_map(|n| prop::sample::select(vec![Score::Mate(n), Score::Mate(-n)])),
            ],
            depth in prop::option::of(any::<u16>()),
        ) {
            let comment = with_evaluation("", &value(score, depth));
            prop_assert_eq!(evaluation(&comment), Some((score, depth)));
        }

        #[test]
        fn any_comment_is_accepted(comment in ".*", more in "\\[%eval [-+#0-9.,x]*\\]?.*") {
            evaluation(&comment);
            evaluation(&more);
        }
    }
}
