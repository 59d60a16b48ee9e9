//! A match of two engines: openings in pairs with colours changed, until a test is decided or the games are played.

use std::{
    fs,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use shakmaty::{Color, Position};

use crate::{
    game::{Adjudication, Game, Outcome},
    openings,
    stats::{Pairs, Sprt},
    uci::{Engine, Error, Score, Setup},
};

/// Options of `arena match`.
#[derive(clap::Args)]
pub struct Args {
    /// The engine under test: a program, its arguments, options of UCI as NAME=VALUE, with _ for a blank
    first: String,
    /// The engine that it is compared with
    second: String,
    #[command(flatten)]
    rules: Rules,
    /// What bounds a move of the second engine, if it differs
    #[arg(long)]
    second_go: Option<String>,
    /// Stop when it is decided whether the first engine is HIGH Elo better or no better than LOW
    #[arg(long, value_name = "LOW,HIGH", value_parser = sprt)]
    sprt: Option<Sprt>,
}

/// How matches are played.
#[derive(Clone, clap::Args)]
pub struct Rules {
    /// Files of openings: FENs, or lines as in Lichess' chess-openings
    #[arg(long, required = true, num_args = 1..)]
    openings: Vec<PathBuf>,
    /// Leave out openings of fewer plies
    #[arg(long, default_value_t = 0)]
    least_plies: usize,
    /// What bounds a move, as after `go` in UCI: "nodes 5000", "movetime 100"
    #[arg(long, default_value = "nodes 5000")]
    pub go: String,
    /// The most games
    #[arg(long, default_value_t = 1000)]
    games: usize,
    /// Games at the same time
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Which openings are drawn
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Judge no game by the engines' scores
    #[arg(long)]
    to_the_end: bool,
}

fn sprt(text: &str) -> Result<Sprt, String> {
    let (low, high) = text.split_once(',').ok_or("expected two numbers with a comma, like 0,10")?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|error| format!("{text}: {error}"));
    let (low, high) = (number(low)?, number(high)?);
    if low < high { Ok(Sprt { low, high }) } else { Err("the first number must be the smaller one".to_owned()) }
}

/// How long an engine may be silent beyond what it was told.
const PATIENCE: Duration = Duration::from_secs(60);

struct Tally {
    pairs: Pairs,
    plies: u64,
    depths: [(u64, u64); 2],
    failure: Option<String>,
    decided: Option<bool>,
}

impl Rules {
    /// The openings, shuffled.
    fn read(&self) -> Result<Vec<Game>, String> {
        let mut openings = Vec::new();
        for path in &self.openings {
            let named = |error: String| format!("{}: {error}", path.display());
            let text = fs::read_to_string(path).map_err(|error| named(error.to_string()))?;
            openings.extend(openings::read(&text).map_err(named)?);
        }
        openings.retain(|opening| opening.plies() >= self.least_plies);
        fastrand::Rng::with_seed(self.seed).shuffle(&mut openings);
        if openings.is_empty() { Err("there is no opening to play".to_owned()) } else { Ok(openings) }
    }
}

/// Plays the match and prints how it goes.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    play_match(args).map(drop)
}

/// Plays a match without an early end, prints how it goes and gives the result.
pub fn between(first: &str, second: &str, rules: &Rules) -> Result<Pairs, Box<dyn std::error::Error>> {
    let (first, second) = (first.to_owned(), second.to_owned());
    play_match(&Args { first, second, rules: rules.clone(), second_go: None, sprt: None })
}

fn play_match(args: &Args) -> Result<Pairs, Box<dyn std::error::Error>> {
    let (first, second) = (Setup::parse(&args.first)?, Setup::parse(&args.second)?);
    let openings = args.rules.read()?;
    let pairs = args.rules.games.div_ceil(2);
    let next = AtomicUsize::new(0);
    let tally =
        Mutex::new(Tally { pairs: Pairs::default(), plies: 0, depths: [(0, 0); 2], failure: None, decided: None });
    thread::scope(|scope| {
        for _ in 0..args.rules.concurrency.clamp(1, 64) {
            scope.spawn(|| {
                if let Err(error) = play_pairs(args, [&first, &second], &openings, pairs, &next, &tally)
                    && let Ok(mut tally) = tally.lock()
                {
                    tally.failure = Some(error.to_string());
                }
            });
        }
    });
    let tally = tally.into_inner().map_err(|_| "a game broke off")?;
    report(args, &tally);
    match tally.failure {
        Some(failure) => Err(failure.into()),
        None => Ok(tally.pairs),
    }
}

fn play_pairs(
    args: &Args,
    setups: [&Setup; 2],
    openings: &[Game],
    pairs: usize,
    next: &AtomicUsize,
    tally: &Mutex<Tally>,
) -> Result<(), Error> {
    let mut engines = [Engine::start(setups[0])?, Engine::start(setups[1])?];
    loop {
        let pair = next.fetch_add(1, Ordering::Relaxed);
        if pair >= pairs || tally.lock().is_ok_and(|tally| tally.failure.is_some() || tally.decided.is_some()) {
            return Ok(());
        }
        let opening = &openings[pair % openings.len()];
        let as_white = play(args, &mut engines, Color::White, opening.clone())?;
        let as_black = play(args, &mut engines, Color::Black, opening.clone())?;
        let Ok(mut tally) = tally.lock() else { return Ok(()) };
        tally.pairs.count(as_white.outcome, as_black.outcome);
        for game in [as_white, as_black] {
            tally.plies += game.plies;
            for (sum, depths) in tally.depths.iter_mut().zip(game.depths) {
                *sum = (sum.0 + depths.0, sum.1 + depths.1);
            }
        }
        tally.decided = args.sprt.and_then(|sprt| sprt.decided(&tally.pairs)).filter(|_| tally.pairs.number() >= 10);
        if tally.pairs.number() % 25 == 0 {
            report(args, &tally);
        }
    }
}

struct Played {
    outcome: Outcome,
    plies: u64,
    /// The sum of depths and the number of moves of each engine.
    depths: [(u64, u64); 2],
}

/// Plays a game; `first` is the colour of the first engine. Who makes an illegal move loses.
fn play(args: &Args, engines: &mut [Engine; 2], first: Color, mut game: Game) -> Result<Played, Error> {
    let adjudication = Adjudication::default();
    let start = game.plies();
    let mut depths = [(0, 0); 2];
    engines.iter_mut().try_for_each(Engine::new_game)?;
    let outcome = loop {
        let judged = || if args.rules.to_the_end { None } else { game.judged(adjudication) };
        if let Some(outcome) = game.over().or_else(judged) {
            break outcome;
        }
        let turn = game.position().turn();
        let side = usize::from(turn != first);
        let go = args.second_go.as_ref().filter(|_| side == 1).unwrap_or(&args.rules.go);
        let answer = engines[side].search(&game.uci(), go, PATIENCE)?;
        let Some(m) = game.legal(&answer.best) else {
            eprintln!("illegal move {} in {}", answer.best, game.uci());
            break Outcome::win(!turn);
        };
        depths[side] = (depths[side].0 + u64::from(answer.depth), depths[side].1 + 1);
        let white = answer.score.map_or(0, Score::centipawns) * if turn == Color::White { 1 } else { -1 };
        game.play(m, Some(white));
        game.note(white, adjudication);
    };
    Ok(Played { outcome, plies: (game.plies() - start) as u64, depths })
}

fn report(args: &Args, tally: &Tally) {
    let games = tally.pairs.number() * 2;
    let Some(elo) = tally.pairs.elo() else { return };
    let mean = |(sum, number): (u64, u64)| sum as f64 / number.max(1) as f64;
    let mut line = format!(
        "{games} games, pairs {}, Elo {elo}, {} plies a game, depth {:.1} and {:.1}",
        tally.pairs,
        tally.plies / games.max(1),
        mean(tally.depths[0]),
        mean(tally.depths[1]),
    );
    if let Some(sprt) = args.sprt {
        let ratio = tally.pairs.log_likelihood_ratio(sprt.low, sprt.high);
        line += &format!(", LLR {ratio:+.2} of ±{:.2} for {} against {}", Sprt::BOUND, sprt.high, sprt.low);
        match tally.decided {
            Some(true) => line += ": better",
            Some(false) => line += ": not better",
            None => {}
        }
    }
    println!("{line}");
}
