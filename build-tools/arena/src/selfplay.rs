//! Games of an engine against itself, for the training of a network. Each line contains a game in the format of
//! [`Game::line`](crate::game::Game::line).
//!
//! A game depends only on its seed. It consists of an opening and moves of the engine at a fixed number of nodes. The opening
//! is a part of a real game, or it has random moves. After random openings, occasional random moves create unbalanced
//! positions. A random move has no score, and positions before the last random move are unrelated to the result.

use std::{io::Write, path::PathBuf, time::Duration};

use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position, fen::Fen};
use shelfish_analysis::pgn;
use shelfish_cli::input::game_texts::decoded;
use shelfish_uci::{Engine, Error, Setup, UciScore};

use crate::{
    error::ArenaError,
    game::{Adjudication, Game},
    sample::texts,
};

/// Options of `arena selfplay`.
#[derive(clap::Args)]
pub struct Args {
    /// Engine: a program, its arguments, and UCI options as NAME=VALUE
    #[arg(long, default_value = "stockfish Hash=8")]
    engine: String,
    /// Nodes per move
    #[arg(long, default_value_t = 1000)]
    nodes: u64,
    /// Seed of the first game
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Number of games
    #[arg(long)]
    games: u64,
    /// PGN file, plain or compressed with zstd: a seed continues the game with this number, instead of random moves
    #[arg(long, value_name = "FILE")]
    continue_games: Option<PathBuf>,
}

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

/// Plays and prints the games.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = Engine::start(&Setup::parse(&args.engine)?)?;
    let seeds = args.first..args.first + args.games;
    let Some(path) = &args.continue_games else {
        return seeds
            .into_iter()
            .try_for_each(|seed| play(&mut engine, args.nodes, seed, None));
    };
    for text in texts(path).map_err(ArenaError::file(path))? {
        let text = text.map_err(ArenaError::file(path))?;
        if text.number >= seeds.end {
            break;
        }
        if text.number >= seeds.start
            && let Ok(real) = pgn::read(&decoded(&text.text), 1)
            && *real.start() == Chess::default()
        {
            play(
                &mut engine,
                args.nodes,
                text.number,
                Some(real.game.moves()),
            )?;
        }
    }
    Ok(())
}

/// Plays and prints the game of a seed. The game continues the moves of a real game, if there are such moves.
fn play(
    engine: &mut Engine,
    nodes: u64,
    seed: u64,
    real: Option<&[Move]>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut random = fastrand::Rng::with_seed(seed);
    let (opening, random_until) = match real {
        Some(moves) => (Some(opening_of(moves, &mut random)), 0),
        None => (random_opening(&mut random), RANDOM_UNTIL),
    };
    if let Some(opening) = opening
        && let Some(line) = game(engine, nodes, opening, random_until, &mut random)?
    {
        writeln!(std::io::stdout(), "{line}")?;
    }
    Ok(())
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

/// Plays a game after its opening, with random moves up to a ply. Returns `None` if the opening is over or unbalanced.
fn game(
    engine: &mut Engine,
    nodes: u64,
    mut game: Game,
    random_until: usize,
    random: &mut fastrand::Rng,
) -> Result<Option<String>, Error> {
    let rules = Adjudication {
        longest: 300,
        ..Adjudication::default()
    };
    engine.new_game()?;
    let mut searched = 0;
    loop {
        if let Some(outcome) = game.over().or_else(|| game.judged(rules)) {
            return Ok((searched > 0).then(|| game.line(outcome)));
        }
        if searched > 0 && game.plies() < random_until && random.u64(0..RANDOM_MOVE) == 0 {
            play_random(&mut game, random);
            continue;
        }
        let answer = engine.search(
            &game.recent_uci(),
            &format!("nodes {nodes}"),
            Duration::from_secs(60),
        )?;
        let m = game
            .legal(&answer.best)
            .ok_or_else(|| Error::Line(answer.best.clone()))?;
        let score = answer.score.map_or(0, UciScore::centipawns);
        let white = if game.position().turn() == Color::White {
            score
        } else {
            -score
        };
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
