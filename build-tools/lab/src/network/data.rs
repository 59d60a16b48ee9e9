//! Samples from dumps of evaluations, and from games of Stockfish against itself.

use std::{
    io::{BufRead, BufReader},
    path::Path,
};

use anyhow::{Context, Result};
use shakmaty::{KnownOutcome, Move, Role};
use shelfish::eval::{Pv, Score};
use shelfish_engine::Position;

use super::sample::Sample;
use crate::dump;

/// Inverse of the share of games, and of pawn structures of evaluations, that are held out. Neighbouring positions of a game
/// mostly share their pawn structure, and a dump contains no games.
const HELD_OUT: u64 = 20;
/// Score of a mate.
const MATE: i32 = 3_000;

/// Reads the samples of a dump of evaluations: the deepest evaluation of each position, if its best move is quiet.
pub fn read_evaluations(path: &Path, samples: &mut Vec<Sample>) -> Result<()> {
    for record in dump::records(path)? {
        let record = record?;
        let best = record.evaluations.first().and_then(|best| best.pvs.first());
        let Some(Pv { score, line }) = best else {
            continue;
        };
        let position = Position::new(record.position.chess().clone());
        let score = match *score {
            Score::Cp(cp) => cp,
            Score::Mate(moves) => MATE * moves.signum(),
        };
        let held_out = position.pawn_key().is_multiple_of(HELD_OUT);
        if line.first().is_some_and(|m| is_quiet(&position, *m)) {
            samples.extend(Sample::new(&position, score, None, held_out));
        }
    }
    Ok(())
}

/// Reads the samples of a file of games.
pub fn read_games(path: &Path, samples: &mut Vec<Sample>) -> Result<()> {
    let text =
        BufReader::new(std::fs::File::open(path).with_context(|| path.display().to_string())?);
    for (number, line) in (0..).zip(text.lines()) {
        game(&line?, u64::is_multiple_of(number, HELD_OUT), samples)
            .with_context(|| format!("{}: line {}", path.display(), number + 1))?;
    }
    Ok(())
}

/// Adds the samples of a game.
fn game(line: &str, held_out: bool, samples: &mut Vec<Sample>) -> Result<()> {
    let mut words: Vec<&str> = line.split(' ').collect();
    let result = words.pop().unwrap_or_default();
    let parsed = result.parse::<KnownOutcome>();
    let outcome = parsed.with_context(|| {
        format!("expected the result 1-0, 1/2-1/2 or 0-1 at the end, found \"{result}\"")
    })?;
    let half_points = outcome.winner().map_or(1, |winner| winner.fold_wb(2, 0));
    let (start, moves) = words
        .split_first()
        .context("expected a FEN with _ for spaces, found only a result")?;
    let mut position: Position = start
        .replace('_', " ")
        .parse()
        .with_context(|| (*start).to_owned())?;
    // A random move separates the positions before it from the result of the game.
    let last_random = moves.iter().rposition(|word| !word.contains(':'));
    for (ply, word) in moves.iter().enumerate() {
        let (text, score) = word
            .split_once(':')
            .map_or((*word, None), |(text, score)| (text, Some(score)));
        let m = position
            .legal_move(text)
            .with_context(|| format!("ply {}: expected a legal move, found \"{text}\"", ply + 1))?;
        if let Some(score) = score {
            let score: i32 = score.parse().with_context(|| {
                format!(
                    "ply {}: expected a score in centipawns, found \"{score}\"",
                    ply + 1
                )
            })?;
            let result =
                Some(half_points).filter(|_| last_random.is_none_or(|random| ply > random));
            if is_quiet(&position, m) {
                samples.extend(Sample::new(&position, score, result, held_out));
            }
        }
        position = position.play(m);
    }
    Ok(())
}

/// Returns whether the network should evaluate the position without search: no check, and the best move is quiet.
fn is_quiet(position: &Position, best: Move) -> bool {
    !position.in_check() && !best.is_capture() && best.promotion() != Some(Role::Queen)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;
    use crate::network::sample::NO_RESULT;

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
}
