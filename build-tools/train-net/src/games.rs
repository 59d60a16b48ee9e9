//! Games in the format of `arena selfplay`: a start, moves with the scores of the searches that chose them, and a
//! result.

use std::{
    fmt,
    io::{BufRead, BufReader},
    path::Path,
};

use shakmaty::{Move, Role, uci::UciMove};
use shelfish_cli::input::{Dump, Input};
use shelfish_engine::{FenError, Position};

use crate::{BoxError, sample::Sample};

/// Inverse of the share of games that are held out.
const HELD_OUT: usize = 20;

/// Reads the samples of a file of games, plain or compressed.
pub fn read(path: &Path, samples: &mut Vec<Sample>) -> Result<(), BoxError> {
    let text = Dump::text_of(&Input::File(path.to_owned()))
        .map_err(|error| format!("{}: {error}", path.display()))?;
    for (number, line) in BufReader::new(text).lines().enumerate() {
        game(&line?, number.is_multiple_of(HELD_OUT), samples)
            .map_err(|error| format!("{}: line {}: {error}", path.display(), number + 1))?;
    }
    Ok(())
}

/// Reasons why a line is not a game.
#[derive(Debug)]
enum GameError {
    /// The last word is not a result.
    Result(String),
    /// The line has no word before the result.
    NoStart,
    /// The first word is not the FEN of a position.
    Start(String, FenError),
    /// The word is not a legal move.
    Move { ply: usize, found: String },
    /// The score of a move is not a number.
    Score { ply: usize, found: String },
}

impl fmt::Display for GameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GameError::Result(found) => {
                write!(
                    f,
                    "expected the result 1-0, 1/2-1/2 or 0-1 at the end, found \"{found}\""
                )
            }
            GameError::NoStart => {
                f.write_str("expected a FEN with _ for spaces, found only a result")
            }
            GameError::Start(found, error) => write!(f, "{found}: {error}"),
            GameError::Move { ply, found } => {
                write!(f, "ply {ply}: expected a legal move, found \"{found}\"")
            }
            GameError::Score { ply, found } => {
                write!(
                    f,
                    "ply {ply}: expected a score in centipawns, found \"{found}\""
                )
            }
        }
    }
}

impl std::error::Error for GameError {}

/// Adds the samples of a game.
fn game(line: &str, held_out: bool, samples: &mut Vec<Sample>) -> Result<(), GameError> {
    let mut words: Vec<&str> = line.split(' ').collect();
    let result = match words.pop().unwrap_or_default() {
        "1-0" => 2,
        "1/2-1/2" => 1,
        "0-1" => 0,
        found => return Err(GameError::Result(found.to_owned())),
    };
    let (start, moves) = words.split_first().ok_or(GameError::NoStart)?;
    let mut position: Position = start
        .replace('_', " ")
        .parse()
        .map_err(|error| GameError::Start((*start).to_owned(), error))?;
    // A random move separates the positions before it from the result of the game.
    let last_random = moves.iter().rposition(|word| !word.contains(':'));
    for (ply, word) in moves.iter().enumerate() {
        let (text, score) = word
            .split_once(':')
            .map_or((*word, None), |(text, score)| (text, Some(score)));
        let m: Move = text
            .parse::<UciMove>()
            .ok()
            .and_then(|m| m.to_move(position.chess()).ok())
            .ok_or_else(|| GameError::Move {
                ply: ply + 1,
                found: text.to_owned(),
            })?;
        if let Some(score) = score {
            let score: i32 = score.parse().map_err(|_| GameError::Score {
                ply: ply + 1,
                found: score.to_owned(),
            })?;
            let result = Some(result).filter(|_| last_random.is_none_or(|random| ply > random));
            if is_quiet(&position, m) {
                samples.extend(Sample::new(&position, score, result, held_out));
            }
        }
        position = position.play(m);
    }
    Ok(())
}

/// Returns whether the network should evaluate the position without search: no check, and the best move is quiet.
pub fn is_quiet(position: &Position, best: Move) -> bool {
    !position.in_check() && !best.is_capture() && best.promotion() != Some(Role::Queen)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::sample::NO_RESULT;

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR_w_KQkq_-_0_1";

    #[test]
    fn quiet_positions_become_samples_and_only_those_after_the_last_random_move_have_a_result() {
        let mut samples = Vec::new();
        let line = format!("{START} e2e4 e7e5:10 f2f4:-20 h7h6 f4e5:150 b8c6:140 1-0");
        game(&line, false, &mut samples).unwrap();
        let found: Vec<(i16, u8)> = samples
            .iter()
            .map(|sample| (sample.score, sample.result))
            .collect();
        // Scores are from White's point of view. The capture is omitted. Black sees the win as a loss.
        assert_eq!(found, [(-10, NO_RESULT), (-20, NO_RESULT), (-140, 0)]);
    }

    #[test]
    fn the_error_of_an_invalid_game_names_the_invalid_part() {
        let error = |line: &str| game(line, false, &mut Vec::new()).unwrap_err().to_string();
        assert!(error(&format!("{START} e2e5 1-0")).contains("e2e5"));
        assert!(error(&format!("{START} e2e4")).contains("result"));
        assert!(error("x 1-0").contains('x'));
    }
}
