//! One line of a dump: JSON to a canonical position with legal lines, or the reason why not.
//!
//! Lenient where nothing is lost (unknown fields, `20.0` for `20`, castling as `e1g1` or `e1h1`), strict elsewhere: what
//! cannot be read as it was meant is rejected, never guessed.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};
use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position as _};
use shelfish::eval::{Evaluation, Pv, Score};
use shelfish::position::{FenError, Position};

/// What a line gave.
#[derive(Debug)]
pub struct Record {
    /// The position, canonical.
    pub position: Position,
    /// As in the source, illegal moves cut. Never empty.
    pub evaluations: Vec<Evaluation>,
    /// PVs that turned illegal after their first move and were kept up to there.
    pub cut: u64,
    /// PVs that were dropped because their first move is illegal.
    pub dropped: u64,
}

/// Why a line cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reject {
    /// Not JSON, or not the JSON of an evaluation.
    Json(String),
    /// Longer than [`super::dump::MAX_LINE`].
    TooLong,
    /// The FEN is malformed.
    Fen(FenError),
    /// The position has no legal play.
    Unplayable(FenError),
    /// A score that no database holds.
    Score(String),
    /// A depth or node count that no database holds.
    Effort(String),
    /// No PV has a legal first move; the first of these moves.
    IllegalMove(String),
    /// There is no PV at all.
    Empty,
}

impl Reject {
    /// The reasons, as they are counted.
    pub const REASONS: [&str; 8] = [
        "broken JSON",
        "line over 16 MiB",
        "malformed FEN",
        "position without legal play",
        "score out of range",
        "depth or node count out of range",
        "illegal PV move",
        "no evaluation",
    ];

    /// The place of this reason in [`Reject::REASONS`].
    pub fn reason(&self) -> usize {
        match self {
            Reject::Json(_) => 0,
            Reject::TooLong => 1,
            Reject::Fen(_) => 2,
            Reject::Unplayable(_) => 3,
            Reject::Score(_) => 4,
            Reject::Effort(_) => 5,
            Reject::IllegalMove(_) => 6,
            Reject::Empty => 7,
        }
    }
}

/// The fact behind the reason; may be empty.
impl fmt::Display for Reject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reject::TooLong | Reject::Empty => Ok(()),
            Reject::Fen(error) | Reject::Unplayable(error) => error.fmt(f),
            Reject::Json(fact) | Reject::Score(fact) | Reject::Effort(fact) | Reject::IllegalMove(fact) => {
                f.write_str(fact)
            }
        }
    }
}

#[derive(Deserialize)]
struct RawRecord<'a> {
    #[serde(borrow)]
    fen: Cow<'a, str>,
    #[serde(borrow)]
    evals: Vec<RawEvaluation<'a>>,
}

#[derive(Deserialize)]
struct RawEvaluation<'a> {
    #[serde(borrow)]
    pvs: Vec<RawPv<'a>>,
    knodes: Int,
    depth: Int,
}

#[derive(Deserialize)]
struct RawPv<'a> {
    cp: Option<Int>,
    mate: Option<Int>,
    #[serde(borrow)]
    line: Cow<'a, str>,
}

/// A whole number of any size, however JSON writes it; beyond 64 bits it saturates, out of every range here.
#[derive(Clone, Copy)]
struct Int(i128);

impl<'de> Deserialize<'de> for Int {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Int, D::Error> {
        deserializer.deserialize_any(IntVisitor)
    }
}

struct IntVisitor;

impl Visitor<'_> for IntVisitor {
    type Value = Int;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E>(self, value: i64) -> Result<Int, E> {
        Ok(Int(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Int, E> {
        Ok(Int(value.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Int, E> {
        if value.fract() == 0.0 { Ok(Int(value as i128)) } else { Err(E::custom(format!("{value} is not whole"))) }
    }
}

/// Reads a line.
///
/// # Errors
///
/// The line cannot be used.
pub fn parse(line: &[u8]) -> Result<Record, Reject> {
    let raw: RawRecord = serde_json::from_slice(line).map_err(|error| Reject::Json(error.to_string()))?;
    let position: Position = raw.fen.parse().map_err(|error| match error {
        FenError::Unplayable(_) => Reject::Unplayable(error),
        _ => Reject::Fen(error),
    })?;
    let mut record = Record { position, evaluations: Vec::with_capacity(raw.evals.len()), cut: 0, dropped: 0 };
    let mut illegal = None;
    for raw in &raw.evals {
        let mut pvs = Vec::with_capacity(raw.pvs.len());
        for pv in &raw.pvs {
            let score = score(pv)?;
            let line = play(record.position.chess(), &pv.line);
            match line {
                Line::Legal(line) => pvs.push(Pv { score, line }),
                Line::Cut(line) => {
                    record.cut += 1;
                    pvs.push(Pv { score, line });
                }
                Line::Illegal(found) => {
                    record.dropped += 1;
                    illegal.get_or_insert_with(|| beginning(found));
                }
            }
        }
        let depth = u16::try_from(raw.depth.0).map_err(|_| Reject::Effort(format!("depth {}", raw.depth.0)))?;
        let knodes = u64::try_from(raw.knodes.0).map_err(|_| Reject::Effort(format!("knodes {}", raw.knodes.0)))?;
        if !pvs.is_empty() {
            record.evaluations.push(Evaluation { depth, knodes, pvs });
        }
    }
    match illegal {
        _ if !record.evaluations.is_empty() => Ok(record),
        Some(found) => Err(Reject::IllegalMove(found)),
        None => Err(Reject::Empty),
    }
}

fn score(pv: &RawPv) -> Result<Score, Reject> {
    let (score, name, value) = match (pv.cp, pv.mate) {
        (Some(Int(cp)), None) => (i32::try_from(cp).map(Score::Cp), "cp", cp),
        (None, Some(Int(mate))) => (i32::try_from(mate).map(Score::Mate), "mate", mate),
        (Some(_), Some(_)) => return Err(Reject::Json(serde_json::Error::custom("both cp and mate").to_string())),
        (None, None) => return Err(Reject::Json(serde_json::Error::custom("neither cp nor mate").to_string())),
    };
    score.ok().filter(|score| score.is_in_range()).ok_or_else(|| Reject::Score(format!("{name} {value}")))
}

enum Line<'a> {
    Legal(Vec<Move>),
    Cut(Vec<Move>),
    Illegal(&'a str),
}

fn play<'a>(chess: &Chess, text: &'a str) -> Line<'a> {
    let mut line = Vec::with_capacity(text.len() / 5 + 1);
    let mut chess = chess.clone();
    for word in text.split_ascii_whitespace() {
        match UciMove::from_ascii(word.as_bytes()).ok().and_then(|uci| uci.to_move(&chess).ok()) {
            Some(m) => {
                chess.play_unchecked(m);
                line.push(m);
            }
            None if line.is_empty() => return Line::Illegal(word),
            None => return Line::Cut(line),
        }
    }
    Line::Legal(line)
}

/// Enough of a text to recognise it by, on one line.
pub fn beginning(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    text.chars().take(100).map(escape).collect()
}
