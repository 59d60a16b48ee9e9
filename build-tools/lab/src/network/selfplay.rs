//! Games of Stockfish against itself. Each line of a file contains a game in the format of [`Game::line`].
//!
//! A game depends only on its seed. It consists of an opening and moves of the engine at a fixed number of nodes. The opening
//! is a part of a real game, or it has random moves. After random openings, occasional random moves create unbalanced
//! positions. A random move has no score, and positions before the last random move are unrelated to the result.

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    ops::Range,
    path::Path,
    time::Duration,
};

use anyhow::{Context, Result};
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position, fen::Fen};
use shelfish_analysis::pgn;
use shelfish_cli::uci::{Answer, Engine, Setup};

use crate::game::{Adjudication, Game, centipawns};
use crate::judgments::texts;

/// Limit of the engine for each move.
const GO: &str = "nodes 300";
/// Inverse of the probability of a random move …
const RANDOM_MOVE: u64 = 24;
/// … up to this ply.
const RANDOM_UNTIL: usize = 90;
/// Maximum score in centipawns after the opening. Games with a larger score are skipped.
const BALANCED: i32 = 500;

/// Plies of a real game that are played at least …
const REAL_FROM: usize = 6;
/// … and at most.
const REAL_UNTIL: usize = 100;

/// Plays the games of some seeds and writes them to a file. The seed of a game is the number of the real game that it
/// continues, if there is a file of real games. The file gets its name when it is complete.
pub fn play(engine: &Setup, seeds: Range<u64>, real: Option<&Path>, path: &Path) -> Result<()> {
    let mut engine = Engine::start(engine)?;
    let part = path.with_extension("part");
    let mut file = BufWriter::new(File::create(&part).context(part.display().to_string())?);
    let mut play = |seed, real: Option<&[Move]>| -> Result<()> {
        engine.new_game()?;
        let mut search = |game: &Game| {
            let timeout = Duration::from_secs(60);
            Ok(engine.search(&game.uci(), GO, timeout)?)
        };
        if let Some(line) = game(&mut search, seed, real)? {
            writeln!(file, "{line}")?;
        }
        Ok(())
    };
    match real {
        None => seeds.into_iter().try_for_each(|seed| play(seed, None))?,
        Some(real) => {
            for text in texts(real)? {
                let text = text?;
                if text.number >= seeds.end {
                    break;
                }
                if seeds.contains(&text.number)
                    && let Ok(real) = pgn::read(&text.text, 1).checked()
                    && *real.start() == Chess::default()
                {
                    play(text.number, Some(real.game.moves()))?;
                }
            }
        }
    }
    file.flush()?;
    Ok(fs::rename(part, path)?)
}

/// Returns a game of random moves, or `None` if the game ends.
fn random_opening(random: &mut fastrand::Rng) -> Option<Game> {
    let mut game = Game::default();
    (0..random.usize(6..=10))
        .all(|_| play_random(&mut game, random))
        .then_some(game)
}

/// Returns a game that starts from a position of a real game.
fn opening_of(moves: &[Move], random: &mut fastrand::Rng) -> Game {
    let mut position = Chess::default();
    for &m in &moves[..random.usize(REAL_FROM..=REAL_UNTIL).min(moves.len())] {
        position.play_unchecked(m);
    }
    let fen = Fen::from_position(&position, EnPassantMode::Legal).to_string();
    Game::from(position, Some(fen), CastlingMode::Standard)
}

/// Plays the game of a seed, which continues the moves of a real game, if there are such moves. Returns `None` if the opening is
/// over or unbalanced.
fn game(
    search: &mut dyn FnMut(&Game) -> Result<Answer>,
    seed: u64,
    real: Option<&[Move]>,
) -> Result<Option<String>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let (opening, random_until) = match real {
        Some(moves) => (Some(opening_of(moves, &mut random)), 0),
        None => (random_opening(&mut random), RANDOM_UNTIL),
    };
    let Some(mut game) = opening else {
        return Ok(None);
    };
    let rules = Adjudication {
        longest: 300,
        ..Adjudication::default()
    };
    let mut searched = 0;
    loop {
        if let Some(outcome) = game.over().or_else(|| game.judged(rules)) {
            return Ok((searched > 0).then(|| game.line(outcome)));
        }
        if searched > 0 && game.plies() < random_until && random.u64(0..RANDOM_MOVE) == 0 {
            play_random(&mut game, &mut random);
            continue;
        }
        let answer = search(&game)?;
        let m = game
            .legal(&answer.best)
            .with_context(|| format!("illegal move {} in {}", answer.best, game.uci()))?;
        let white = game.position().turn().fold_wb(1, -1) * centipawns(answer.score);
        if searched == 0 && white.abs() > BALANCED {
            return Ok(None);
        }
        game.play(m, Some(white));
        game.note(white, rules);
        searched += 1;
    }
}

fn play_random(game: &mut Game, random: &mut fastrand::Rng) -> bool {
    let moves = game.position().legal_moves();
    if moves.is_empty() {
        return false;
    }
    game.play(moves[random.usize(0..moves.len())], None);
    true
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use shelfish_cli::uci::UciScore;

    use super::*;

    /// Plays the first legal move.
    fn play(seed: u64, real: Option<&[Move]>) -> Vec<String> {
        let mut search = |game: &Game| {
            let best = game.position().legal_moves()[0].to_uci(CastlingMode::Standard);
            let (best, score) = (best.to_string(), Some(UciScore::Cp(20)));
            Ok(Answer {
                best,
                score,
                ..Answer::default()
            })
        };
        let line = game(&mut search, seed, real).unwrap().unwrap();
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_game_depends_on_its_seed_and_begins_with_random_moves_without_scores() {
        let words = play(7, None);
        assert!(
            words[1..7].iter().all(|word| !word.contains(':')),
            "{words:?}"
        );
        assert!(words[11].contains(':'), "{words:?}");
        assert!(words == play(7, None) && words != play(8, None));
    }

    #[test]
    fn a_continued_game_starts_from_a_position_of_the_real_game_and_has_no_random_moves() {
        let real = "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 *";
        let real = pgn::read(real, 1);
        let words = play(1, Some(real.game.moves()));
        let positions: Vec<String> = real
            .game
            .positions()
            .map(|position| Fen::from_position(&position, EnPassantMode::Legal).to_string())
            .collect();
        assert!(
            positions[6..].contains(&words[0].replace('_', " ")),
            "{words:?}"
        );
        assert!(
            words[1..words.len() - 1]
                .iter()
                .all(|word| word.contains(':')),
            "{words:?}"
        );
    }
}
