//! Questions of clients in the query of a URL.

use std::fmt;

use percent_encoding::percent_decode_str;
use shelfish::position::{FenError, Position};

use super::explorer::FilterError;
use crate::terminal::shown::beginning;

/// Maximum number of PVs of a question.
const MAX_PVS: usize = 256;

/// Question of a client.
pub struct Question {
    /// FEN as the client wrote it.
    pub fen: String,
    pub position: Position,
    pub pvs: usize,
}

/// Reasons why a query is not a question.
#[derive(Debug)]
pub enum QuestionError {
    /// The value of a parameter is not UTF-8.
    Utf8 {
        /// Beginning of the name of the parameter.
        parameter: String,
    },
    /// The number of PVs is out of range.
    Pvs {
        /// Beginning of the value.
        found: String,
    },
    /// The value of a parameter is not a number.
    Number {
        /// Beginning of the name of the parameter.
        parameter: String,
        /// Beginning of the value.
        found: String,
    },
    /// A value of a filter is invalid.
    Filter {
        /// Beginning of the name of the parameter.
        parameter: String,
        /// Expected and found values.
        error: FilterError,
    },
    /// A played move is not legal.
    Move {
        /// Beginning of the move.
        found: String,
    },
    /// The variant is unknown.
    Variant {
        /// Beginning of the value.
        found: String,
    },
    /// The query has no FEN.
    NoFen {
        /// Path of the request.
        path: &'static str,
    },
    /// The FEN is invalid.
    Fen(FenError),
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuestionError::Utf8 { parameter } => write!(f, "{parameter}: expected UTF-8"),
            QuestionError::Pvs { found } => {
                write!(
                    f,
                    "multiPv: expected a number from 1 to {MAX_PVS}, found {found:?}"
                )
            }
            QuestionError::Number { parameter, found } => {
                write!(f, "{parameter}: expected a number, found {found:?}")
            }
            QuestionError::Filter { parameter, error } => write!(f, "{parameter}: {error}"),
            QuestionError::Move { found } => write!(f, "play: {found:?} is not a legal move"),
            QuestionError::Variant { found } => {
                write!(f, "variant: expected standard or chess960, found {found:?}")
            }
            QuestionError::NoFen { path } => {
                write!(f, "fen: expected {path}?fen=FEN, found no fen")
            }
            QuestionError::Fen(error) => write!(f, "fen: {error}"),
        }
    }
}

impl std::error::Error for QuestionError {}

/// Returns the names and encoded values of a query.
pub fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|part| part.split_once('='))
}

/// Returns the text of an encoded value, or `None` if the text is not UTF-8.
pub fn decoded(value: &str) -> Option<String> {
    Some(
        percent_decode_str(&value.replace('+', " "))
            .decode_utf8()
            .ok()?
            .into_owned(),
    )
}

/// Returns the FEN of a query as the client wrote it, for the log.
pub fn fen_of(query: &str) -> Option<String> {
    parameters(query)
        .filter(|(name, _)| *name == "fen")
        .last()
        .and_then(|(_, value)| decoded(value))
}

/// Reads the question of a query.
pub fn question(query: &str) -> Result<Question, QuestionError> {
    let (mut fen, mut pvs) = (None, 1);
    for (name, value) in parameters(query) {
        let value = decoded(value).ok_or_else(|| QuestionError::Utf8 {
            parameter: beginning(name),
        })?;
        match name {
            // Lichess accepts underscores instead of spaces.
            "fen" => fen = Some(value.replace('_', " ")),
            "multiPv" => {
                pvs = value
                    .parse()
                    .ok()
                    .filter(|pvs| (1..=MAX_PVS).contains(pvs))
                    .ok_or_else(|| QuestionError::Pvs {
                        found: beginning(&value),
                    })?;
            }
            "variant" => rules_of_chess(&value)?,
            _ => {}
        }
    }
    let fen = fen.ok_or(QuestionError::NoFen {
        path: "/api/cloud-eval",
    })?;
    let position = fen.parse().map_err(QuestionError::Fen)?;
    Ok(Question { fen, position, pvs })
}

/// Checks that a variant has the rules of chess.
pub fn rules_of_chess(variant: &str) -> Result<(), QuestionError> {
    match variant {
        "" | "standard" | "chess960" | "fromPosition" => Ok(()),
        _ => Err(QuestionError::Variant {
            found: beginning(variant),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_as_browsers_write_them() -> Result<(), QuestionError> {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for query in [
            format!("fen={}", fen.replace(' ', "%20")),
            format!(
                "multiPv=1&fen={}&x=y&z",
                fen.replace(' ', "+").replace('/', "%2F")
            ),
            format!("variant=standard&fen={fen}"),
        ] {
            let question = question(&query)?;
            assert_eq!((question.fen.as_str(), question.pvs), (fen, 1));
        }
        for (query, words) in [
            ("", "expected /api/cloud-eval?fen=FEN"),
            ("fen=x", "fen: "),
            ("fen=%ff", "UTF-8"),
            ("multiPv=0&fen=x", "from 1 to 256"),
            ("multiPv=999&fen=x", "from 1 to 256"),
            ("variant=atomic&fen=x", "standard or chess960"),
        ] {
            assert!(
                question(query).is_err_and(|error| error.to_string().contains(words)),
                "{query}"
            );
        }
        Ok(())
    }
}
