//! Conversion of a line of a dump, or of the rows of a position, to a canonical position with legal lines.
//!
//! The parser is lenient if nothing is lost (unknown fields, `20.0` for `20`, castling as `e1g1` or `e1h1`). It rejects
//! ambiguous input instead of guessing.

use std::cmp::Reverse;
use std::fmt::Display;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position as _};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::position::{FenError, Position};

use super::json::{Int, RawEvaluation, RawPv, RawRecord};
use super::payload::Surplus;
use crate::input::rows::{Row, Rows};
use crate::terminal::shown::shown;

/// Maximum length of a PV in bytes, enough for about a thousand moves.
pub const MAX_PV_BYTES: usize = 5 << 10;

/// Parsed line.
#[derive(Debug)]
pub struct Record {
    /// Canonical position.
    pub position: Position,
    /// Evaluations in the order of the source, best first, without illegal moves, limited to a record. Never empty.
    pub evaluations: Vec<Evaluation>,
    /// Counts of evaluations that exceed a record.
    pub surplus: Surplus,
    /// Number of PVs that were truncated at an illegal move after the first move.
    pub cut: u64,
    /// Number of PVs that were dropped because their first move is illegal.
    pub dropped: u64,
    /// Number of PVs that were truncated because the moves of their evaluation exceed a record.
    pub shortened: u64,
}

/// Reasons why a line is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The line is not JSON, or not an evaluation.
    Json,
    /// The line is longer than [`crate::input::lines::MAX_LINE`].
    TooLong,
    /// The FEN is malformed.
    Fen,
    /// The position does not allow legal play.
    Unplayable,
    /// The score is outside of the range of a database.
    Score,
    /// The depth or node count is outside of the range of a database.
    Effort,
    /// No PV has a legal first move. The details name the first illegal move.
    IllegalMove,
    /// There is no PV.
    Empty,
    /// A count exceeds the limits of a database.
    TooMuch,
}

/// A reason, with details that may be empty.
#[derive(Debug)]
pub struct Reject {
    /// The reason.
    pub reason: Reason,
    /// The details.
    pub fact: String,
}

impl Reject {
    /// Names of the reasons in summaries, in the order of [`Reason`].
    pub const REASONS: [&str; 9] = [
        "broken JSON",
        "line over 16 MiB",
        "malformed FEN",
        "position without legal play",
        "score out of range",
        "depth or node count out of range",
        "illegal PV move",
        "no evaluation",
        "too many evaluations, PVs or moves",
    ];

    /// Creates a reject.
    pub fn new(reason: Reason, fact: impl Display) -> Reject {
        let fact = fact.to_string();
        Reject { reason, fact }
    }

    /// Creates the reject of a record with `found` items, where at most `most` are allowed.
    pub fn too_much(items: &str, found: usize, most: usize) -> Reject {
        let fact = format_args!("{found} {items}, expected at most {most}");
        Reject::new(Reason::TooMuch, fact)
    }
}

/// Parses a line.
pub fn parse(line: &[u8]) -> Result<Record, Reject> {
    read(&serde_json::from_slice(line).map_err(|error| Reject::new(Reason::Json, error))?)
}

/// Parses the rows of a position.
pub fn parse_rows(rows: &Rows) -> Result<Record, Reject> {
    let pv = |row: &Row| RawPv {
        cp: row.cp.map(Int),
        mate: row.mate.map(Int),
        line: row.line.clone().into(),
    };
    let evaluation = |rows: &&[Row]| {
        let (knodes, depth) = rows.first().map_or((0, 0), |row| (row.knodes, row.depth));
        RawEvaluation {
            pvs: rows.iter().map(pv).collect(),
            knodes: Int(knodes),
            depth: Int(depth),
        }
    };
    read(&RawRecord {
        fen: (&*rows.fen).into(),
        evals: rows.evaluations().iter().map(evaluation).collect(),
    })
}

fn read(raw: &RawRecord) -> Result<Record, Reject> {
    let position: Position = raw.fen.parse().map_err(|error| match error {
        FenError::Unplayable(_) => Reject::new(Reason::Unplayable, error),
        _ => Reject::new(Reason::Fen, error),
    })?;
    let mut record = Record {
        position,
        evaluations: Vec::new(),
        surplus: Surplus::default(),
        cut: 0,
        dropped: 0,
        shortened: 0,
    };
    let mut ranked = Vec::with_capacity(raw.evals.items.len());
    for raw in raw.evals.all("evaluations")? {
        let pvs = raw.pvs.all("PVs of an evaluation")?;
        for pv in pvs {
            score(pv)?;
            if pv.line.len() > MAX_PV_BYTES {
                let found = pv.line.len();
                return Err(Reject::too_much("bytes of a PV", found, MAX_PV_BYTES));
            }
        }
        let depth: u16 = effort("depth", raw.depth)?;
        let knodes: u64 = effort("knodes", raw.knodes)?;
        ranked.push((depth, pvs.iter().collect::<Vec<_>>(), knodes));
    }
    let mut illegal = None;
    let all = || ranked.iter().flat_map(|(_, pvs, _)| pvs);
    // If not all evaluations fit, the best evaluations come first. Invalid PVs take no space.
    if all().count() > PositionEval::MAX_PVS
        || all().map(|pv| pv.line.len() / 4).sum::<usize>() > PositionEval::SAFE_PLIES
    {
        for (_, pvs, _) in &mut ranked {
            pvs.retain(|pv| {
                let (_, found) = play(record.position.chess(), &pv.line, 1);
                record.dropped += u64::from(found.is_some());
                illegal = illegal.or(found);
                found.is_none()
            });
        }
        ranked.sort_by_key(|(depth, pvs, knodes)| Reverse((*depth, pvs.len(), *knodes)));
    }
    let mut shortened = Vec::new();
    let (mut count, mut plies) = (0, 0);
    for (depth, raw, knodes) in ranked {
        count += raw.len();
        if count > PositionEval::MAX_PVS || plies > PositionEval::MAX_PLIES {
            if !raw.is_empty() {
                record.surplus.add(raw.len());
            }
            continue;
        }
        let mut pvs = Vec::with_capacity(raw.len());
        for pv in raw {
            let score = score(pv)?;
            let (line, found) = play(record.position.chess(), &pv.line, usize::MAX);
            if found.is_some() && line.is_empty() {
                record.dropped += 1;
                illegal = illegal.or(found);
            } else {
                record.cut += u64::from(found.is_some());
                pvs.push(Pv { score, line });
            }
        }
        if !pvs.is_empty() {
            let mut evaluation = Evaluation { depth, knodes, pvs };
            shortened.push(evaluation.shorten(&record.position));
            plies += evaluation.plies();
            record.evaluations.push(evaluation);
        }
    }
    let fit = PositionEval::fit(&record.position, &record.evaluations);
    record.shortened = shortened[..fit].iter().sum::<usize>() as u64;
    for evaluation in record.evaluations.drain(fit..) {
        record.surplus.add(evaluation.pvs.len());
    }
    match illegal {
        _ if !record.evaluations.is_empty() => Ok(record),
        Some(found) => Err(Reject::new(Reason::IllegalMove, beginning(found))),
        None => Err(Reject::new(Reason::Empty, "")),
    }
}

fn score(pv: &RawPv) -> Result<Score, Reject> {
    let json = |text| Err(Reject::new(Reason::Json, text));
    let (score, field, found) = match (pv.cp, pv.mate) {
        (Some(Int(cp)), None) => (i32::try_from(cp).map(Score::Cp), "cp", cp),
        (None, Some(Int(mate))) => (i32::try_from(mate).map(Score::Mate), "mate", mate),
        (Some(_), Some(_)) => return json("both cp and mate"),
        (None, None) => return json("neither cp nor mate"),
    };
    score
        .ok()
        .filter(|score| score.is_in_range())
        .ok_or_else(|| Reject::new(Reason::Score, format_args!("{field} {found}")))
}

/// Converts a depth or a node count.
fn effort<T: TryFrom<i128>>(field: &str, Int(found): Int) -> Result<T, Reject> {
    found
        .try_into()
        .map_err(|_| Reject::new(Reason::Effort, format_args!("{field} {found}")))
}

/// Plays at most `max` moves of a line. Returns the legal moves and the first illegal move.
fn play<'a>(chess: &Chess, text: &'a str, max: usize) -> (Vec<Move>, Option<&'a str>) {
    let mut line = Vec::with_capacity((text.len() / 5 + 1).min(max));
    let mut chess = chess.clone();
    for word in text.split_ascii_whitespace().take(max) {
        let uci = UciMove::from_ascii(word.as_bytes()).ok();
        let Some(m) = uci.and_then(|uci| uci.to_move(&chess).ok()) else {
            return (line, Some(word));
        };
        chess.play_unchecked(m);
        line.push(m);
    }
    (line, None)
}

/// Returns the beginning of a text on one line, long enough to recognize it.
pub fn beginning(text: &str) -> String {
    shown(&text.chars().take(100).collect::<String>())
}

#[cfg(test)]
mod tests {
    use shakmaty::CastlingMode;

    use super::*;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    const CASTLE: &str = "4k3/8/8/8/8/8/8/R3K2R w KQ -";

    fn line(fen: &str, pvs: &str) -> String {
        format!(r#"{{"fen":"{fen}","evals":[{{"pvs":[{pvs}],"knodes":7,"depth":20}}]}}"#)
    }

    fn lines_of(text: &str) -> Vec<String> {
        let record = parse(text.as_bytes()).expect("usable");
        let pvs = record
            .evaluations
            .iter()
            .flat_map(|evaluation| &evaluation.pvs);
        pvs.map(|pv| {
            pv.line
                .iter()
                .map(|m| m.to_uci(CastlingMode::Chess960).to_string())
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
    }

    #[track_caller]
    fn rejected(text: &str, reason: &str) {
        match parse(text.as_bytes()) {
            Err(reject) => assert_eq!(
                Reject::REASONS[reject.reason as usize],
                reason,
                "{} of {text}",
                reject.fact
            ),
            Ok(_) => panic!("used: {text}"),
        }
    }

    #[test]
    fn both_notations_of_castling_are_accepted() {
        for uci in ["e1g1", "e1h1"] {
            assert_eq!(
                lines_of(&line(CASTLE, &format!(r#"{{"cp":1,"line":"{uci} e8e7"}}"#))),
                ["e1h1 e8e7"]
            );
        }
        for uci in ["e1c1", "e1a1"] {
            assert_eq!(
                lines_of(&line(CASTLE, &format!(r#"{{"cp":1,"line":"{uci} e8e7"}}"#))),
                ["e1a1 e8e7"]
            );
        }
    }

    #[test]
    fn a_line_is_kept_up_to_its_first_illegal_move() {
        for illegal in [
            "e2e4 e7e5 e4e5",
            "e2e4 e7e5 e9e5",
            "e2e4 e7e5 0000",
            "e2e4 e7e5 N@d3",
            "e2e4 e7e5 \u{2654}e2",
        ] {
            let text = line(START, &format!(r#"{{"cp":1,"line":"{illegal} a2a3"}}"#));
            assert_eq!(lines_of(&text), ["e2e4 e7e5"]);
            assert_eq!(
                parse(text.as_bytes())
                    .map(|record| (record.cut, record.dropped))
                    .ok(),
                Some((1, 0))
            );
        }
    }

    #[test]
    fn a_line_without_a_legal_move_is_dropped_and_a_record_without_lines_rejected() {
        let text = line(START, r#"{"cp":1,"line":"e2e5"},{"cp":2,"line":"d2d4"}"#);
        assert_eq!(lines_of(&text), ["d2d4"]);
        assert_eq!(
            parse(text.as_bytes())
                .map(|record| (record.cut, record.dropped))
                .ok(),
            Some((0, 1))
        );
        rejected(&line(START, r#"{"cp":1,"line":"e2e5"}"#), "illegal PV move");
        rejected(&line(START, r#"{"cp":1,"line":"e7e5"}"#), "illegal PV move");
    }

    #[test]
    fn an_empty_line_is_a_score_without_moves() {
        assert_eq!(lines_of(&line(START, r#"{"mate":-3,"line":""}"#)), [""]);
    }

    #[test]
    fn integers_are_accepted_in_all_notations() {
        for cp in ["20", "20.0", "2e1", "2.0E+1"] {
            let record = parse(line(START, &format!(r#"{{"cp":{cp},"line":"e2e4"}}"#)).as_bytes())
                .expect("usable");
            assert_eq!(record.evaluations[0].pvs[0].score, Score::Cp(20));
        }
    }

    #[test]
    fn unknown_fields_null_and_escapes_are_accepted() {
        let text = r#"{"site":{"a":[1,2.5]},"fen":"rnbqkbnr\/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1","evals":
            [{"pvs":[{"cp":null,"mate":3,"line":"e2e4","wdl":[1,2,3]}],"knodes":1,"depth":2,"seldepth":30}],"x":null}"#;
        assert_eq!(lines_of(text), ["e2e4"]);
    }

    #[test]
    fn unusable_lines_are_rejected_with_a_reason() {
        let pv = r#"{"cp":1,"line":"e2e4"}"#;
        for broken in [
            "",
            "x",
            "{",
            "[]",
            "null",
            "{}",
            r#"{"fen":1,"evals":[]}"#,
            &line(START, pv)[1..],
            &line(START, pv).replace("}]}", "}"),
            &format!("{} {{}}", line(START, pv)),
            &line(START, r#"{"line":"e2e4"}"#),
            &line(START, r#"{"cp":1,"mate":1,"line":"e2e4"}"#),
            &line(START, r#"{"cp":1,"cp":2,"line":"e2e4"}"#),
            &line(START, r#"{"cp":1.5,"line":"e2e4"}"#),
            &line(START, r#"{"cp":"1","line":"e2e4"}"#),
            &line(START, r#"{"cp":1}"#),
            &line(START, r#"{"cp":1e999,"line":"e2e4"}"#),
            &"[".repeat(100_000),
        ] {
            rejected(broken, "broken JSON");
        }
        let is_json = |line: &[u8]| parse(line).is_err_and(|reject| reject.reason == Reason::Json);
        assert!(is_json(b"\xff\xfe{}"));
        assert!(is_json(b"{\"fen\":\"\xff\",\"evals\":[]}"));
        rejected(&line("", pv), "malformed FEN");
        rejected(&line("8/8/8/8/8/8/8/8/8 w - -", pv), "malformed FEN");
        rejected(&line(&"k".repeat(10_000), pv), "malformed FEN");
        rejected(
            &line("8/8/8/8/8/8/8/K7 w - -", pv),
            "position without legal play",
        );
        rejected(
            &line("4k3/4R3/8/8/8/8/8/4K3 w - -", pv),
            "position without legal play",
        );
        for score in [
            r#""mate":0"#,
            r#""cp":2147483648"#,
            r#""cp":-99999999999999999999999"#,
            r#""mate":1e6"#,
        ] {
            rejected(
                &line(START, &format!(r#"{{{score},"line":"e2e4"}}"#)),
                "score out of range",
            );
        }
        for effort in [
            r#""knodes":-1,"depth":1"#,
            r#""knodes":1,"depth":-1"#,
            r#""knodes":1,"depth":65536"#,
        ] {
            let text = line(START, pv).replace(r#""knodes":7,"depth":20"#, effort);
            rejected(&text, "depth or node count out of range");
        }
        let many = |n| vec![pv; n].join(",");
        rejected(
            &line(START, &many(257)),
            "too many evaluations, PVs or moves",
        );
        rejected(
            &line(START, &many(1).replace("e2e4", &"e2e4 ".repeat(2000))),
            "too many evaluations, PVs or moves",
        );
        assert!(parse(line(START, &many(256)).as_bytes()).is_ok());
        rejected(&line(START, ""), "no evaluation");
        rejected(
            &format!(r#"{{"fen":"{START}","evals":[]}}"#),
            "no evaluation",
        );
    }

    #[test]
    fn unreachable_positions_are_accepted() {
        for fen in [
            "QQQQQQQQ/QQQQQQQQ/8/8/8/8/k7/2K5 b - -",
            "4k3/8/8/8/8/8/8/4K3 w KQkq -",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq e6",
        ] {
            let text = line(fen, r#"{"cp":1,"line":""}"#);
            assert!(
                parse(text.as_bytes()).is_ok(),
                "{fen}: {:?}",
                parse(text.as_bytes()).err()
            );
        }
    }
}
