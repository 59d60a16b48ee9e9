//! Games of an engine against itself, for the training of a network. Each line contains a game in the format of
//! [`Game::line`](crate::game::Game::line).
//!
//! A game depends only on its seed. It consists of a random opening and moves of the engine at a fixed number of nodes.
//! Occasional random moves create unbalanced positions. A random move has no score, and positions before the last
//! random move are unrelated to the result.

use std::{io::Write, time::Duration};

use shakmaty::{Color, Position};

use shelfish_uci::{Engine, Error, Setup, UciScore};

use crate::game::{Adjudication, Game};

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
}

/// Inverse of the probability of a random move …
const RANDOM_MOVE: u64 = 24;
/// … up to this ply.
const RANDOM_UNTIL: usize = 90;
/// Maximum score in centipawns after the opening. Games with a larger score are skipped.
const BALANCED: i32 = 500;

/// Plays and prints the games.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = Engine::start(&Setup::parse(&args.engine)?)?;
    let mut out = std::io::stdout().lock();
    for seed in args.first..args.first + args.games {
        if let Some(line) = game(&mut engine, args.nodes, seed)? {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// Plays the game of a seed. Returns `None` if the opening is unbalanced.
fn game(engine: &mut Engine, nodes: u64, seed: u64) -> Result<Option<String>, Error> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut game = Game::default();
    let rules = Adjudication { longest: 300, ..Adjudication::default() };
    for _ in 0..random.usize(6..=10) {
        if !play_random(&mut game, &mut random) {
            return Ok(None);
        }
    }
    engine.new_game()?;
    let mut searched = 0;
    loop {
        if let Some(outcome) = game.over().or_else(|| game.judged(rules)) {
            return Ok((searched > 0).then(|| game.line(outcome)));
        }
        if searched > 0 && game.plies() < RANDOM_UNTIL && random.u64(0..RANDOM_MOVE) == 0 {
            play_random(&mut game, &mut random);
            continue;
        }
        let answer = engine.search(&game.uci(), &format!("nodes {nodes}"), Duration::from_secs(60))?;
        let m = game.legal(&answer.best).ok_or_else(|| Error::Line(answer.best.clone()))?;
        let score = answer.score.map_or(0, UciScore::centipawns);
        let white = if game.position().turn() == Color::White { score } else { -score };
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
