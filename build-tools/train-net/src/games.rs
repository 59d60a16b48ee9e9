//! Games in the format of `arena selfplay`: a start, moves with the scores of the searches that chose them, and a
//! result.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use shakmaty::{Move, Role, uci::UciMove};
use shelfish_engine::Position;

use crate::{BoxError, sample::Sample};

/// Inverse of the share of games that are held out.
const HELD_OUT: usize = 20;

/// Reads the samples of a file of games, plain or compressed with zstd.
pub fn read(path: &Path, samples: &mut Vec<Sample>) -> Result<(), BoxError> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let input: Box<dyn Read> = if path.extension().is_some_and(|ending| ending == "zst") {
        Box::new(zstd::Decoder::new(file)?)
    } else {
        Box::new(file)
    };
    for (number, line) in BufReader::new(input).lines().enumerate() {
        game(&line?, number.is_multiple_of(HELD_OUT), samples)
            .map_err(|error| format!("{}: line {}: {error}", path.display(), number + 1))?;
    }
    Ok(())
}

fn game(line: &str, held_out: bool, samples: &mut Vec<Sample>) -> Result<(), String> {
    let mut words: Vec<&str> = line.split(' ').collect();
    let result = match words.pop() {
        Some("1-0") => 2,
        Some("1/2-1/2") => 1,
        Some("0-1") => 0,
        other => return Err(format!("expected a result at the end, found {other:?}")),
    };
    let (start, moves) = words.split_first().ok_or("expected a FEN")?;
    let mut position: Position = start.replace('_', " ").parse().map_err(|error| format!("{start}: {error}"))?;
    // A random move separates the positions before it from the result of the game.
    let last_random = moves.iter().rposition(|word| !word.contains(':'));
    for (ply, word) in moves.iter().enumerate() {
        let (text, score) = word.split_once(':').map_or((*word, None), |(text, score)| (text, Some(score)));
        let m: Move = text
            .parse::<UciMove>()
            .ok()
            .and_then(|m| m.to_move(position.chess()).ok())
            .ok_or_else(|| format!("\"{text}\" is not a legal move"))?;
        if let Some(score) = score {
            let score: i32 = score.parse().map_err(|error| format!("score {score}: {error}"))?;
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
        let found: Vec<(i16, u8)> = samples.iter().map(|sample| (sample.score, sample.result)).collect();
        // Scores are from White's point of view. The capture is omitted. Black sees the win as a loss.
        assert_eq!(found, [(-10, NO_RESULT), (-20, NO_RESULT), (-140, 0)]);
    }

    #[test]
    fn the_error_of_an_invalid_game_names_the_invalid_part() {
        let error = |line: &str| game(line, false, &mut Vec::new()).unwrap_err();
        assert!(error(&format!("{START} e2e5 1-0")).contains("e2e5"));
        assert!(error(&format!("{START} e2e4")).contains("result"));
        assert!(error("x 1-0").contains('x'));
    }
}
