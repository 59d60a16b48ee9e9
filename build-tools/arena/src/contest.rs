//! Matches of two engines. Openings are played in pairs with reversed colours, until a test is decided or all games are
//! played.

use std::{
    fmt, fs,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use shakmaty::{Color, Position};

use shelfish_uci::{Engine, Error, Setup, UciScore};

use crate::{
    error::{ArenaError, OptionError},
    game::{Adjudication, Game, Outcome},
    openings,
    stats::{Pairs, Sprt},
};

/// Options of `arena match`.
#[derive(clap::Args)]
pub struct Args {
    /// Engine to test: a program, its arguments, and UCI options as NAME=VALUE, with _ for a space
    first: String,
    /// Opponent, in the same format
    second: String,
    #[command(flatten)]
    rules: Rules,
    /// Limit of a move of the second engine, if it differs
    #[arg(long)]
    second_go: Option<String>,
    /// Stop as soon as a test decides whether the first engine is better by HIGH Elo or by at most LOW Elo, with an
    /// error rate of 5 %
    #[arg(long, value_name = "LOW,HIGH", value_parser = sprt)]
    sprt: Option<Sprt>,
}

/// Rules of a match.
#[derive(Clone, clap::Args)]
pub struct Rules {
    /// Files of openings: FENs, or lines in the format of Lichess' chess-openings
    #[arg(long, required = true, num_args = 1..)]
    openings: Vec<PathBuf>,
    /// Leave out openings with fewer plies
    #[arg(long, default_value_t = 0)]
    least_plies: usize,
    /// Limit of a move, in the syntax of UCI's `go`: "nodes 5000", "movetime 100"
    #[arg(long, default_value = "nodes 5000")]
    pub go: String,
    /// Maximum number of games
    #[arg(long, default_value_t = 1000)]
    games: usize,
    /// Number of parallel games
    #[arg(long, default_value_t = 1)]
    pub concurrency: usize,
    /// Seed of the selection of openings
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Play all games to their end instead of adjudicating them by the engines' scores
    #[arg(long)]
    to_the_end: bool,
}

/// Parses `LOW,HIGH`.
fn sprt(text: &str) -> Result<Sprt, OptionError> {
    let error = || OptionError::form("two numbers with a comma, like 0,10", text);
    let (low, high) = text.split_once(',').ok_or_else(error)?;
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| error());
    let (low, high) = (number(low)?, number(high)?);
    if low < high {
        Ok(Sprt { low, high })
    } else {
        Err(OptionError::Range { low, high })
    }
}

/// Time that an engine may take beyond its limit.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Interval between two reports.
const REPORT: Duration = Duration::from_secs(30);
/// Minimum number of pairs before the test is decided.
const MIN_PAIRS: u64 = 10;

impl Rules {
    /// Returns the number of pairs to play.
    pub fn pairs(&self) -> usize {
        self.games.div_ceil(2)
    }

    /// Reads and shuffles the openings.
    fn read(&self) -> Result<Vec<Game>, ArenaError> {
        let mut openings = Vec::new();
        for path in &self.openings {
            let text = fs::read_to_string(path).map_err(ArenaError::file(path))?;
            openings.extend(
                openings::read(&text).map_err(|error| ArenaError::Line(path.clone(), error))?,
            );
        }
        openings.retain(|opening| opening.plies() >= self.least_plies);
        fastrand::Rng::with_seed(self.seed).shuffle(&mut openings);
        if openings.is_empty() {
            Err(ArenaError::NoOpening {
                least_plies: self.least_plies,
            })
        } else {
            Ok(openings)
        }
    }

    /// Returns a text that identifies the conditions of a pair. Only pairs with the same text are counted together.
    pub fn identity(&self) -> Result<String, ArenaError> {
        let openings: Vec<String> = self.read()?.iter().map(Game::uci).collect();
        let adjudication = (!self.to_the_end).then(Adjudication::default);
        Ok(format!(
            "{} {adjudication:?} {}",
            self.go,
            openings.join("\n")
        ))
    }
}

/// Results of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair {
    /// Number of the pair, which selects the opening.
    pub number: usize,
    /// Game in which the first engine is White, and game in which it is Black.
    pub outcomes: [Outcome; 2],
    /// Number of plies of both games after the opening.
    pub plies: u64,
    /// Sum of depths and number of moves of each engine.
    pub depths: [(u64, u64); 2],
}

/// Plays the match and prints reports.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let engines = [Setup::parse(&args.first)?, Setup::parse(&args.second)?];
    let mut tally = Tally {
        sprt: args.sprt,
        ..Tally::default()
    };
    let mut reported = Instant::now();
    let numbers: Vec<usize> = (0..args.rules.pairs()).collect();
    play_pairs(
        &engines,
        &args.rules,
        args.second_go.as_deref(),
        &numbers,
        &mut |pair| {
            tally.count(pair);
            if reported.elapsed() >= REPORT {
                reported = Instant::now();
                println!("{tally}");
            }
            tally.decided().is_none()
        },
    )?;
    println!("{tally}");
    Ok(())
}

/// Plays pairs of games in as many threads as the rules allow. Calls `seen` after each pair, and stops when `seen`
/// returns `false`.
pub fn play_pairs(
    engines: &[Setup; 2],
    rules: &Rules,
    second_go: Option<&str>,
    numbers: &[usize],
    seen: &mut (dyn FnMut(&Pair) -> bool + Send),
) -> Result<(), Box<dyn std::error::Error>> {
    let openings = rules.read()?;
    let next = AtomicUsize::new(0);
    let seen = Mutex::new((seen, true));
    let play_next = || -> Result<(), Error> {
        let mut engines = [Engine::start(&engines[0])?, Engine::start(&engines[1])?];
        while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
            if !seen.lock().is_ok_and(|seen| seen.1) {
                break;
            }
            let opening = &openings[number % openings.len()];
            let mut pair = Pair {
                number,
                ..Pair::default()
            };
            for (game, first) in [Color::White, Color::Black].into_iter().enumerate() {
                pair.outcomes[game] = play(
                    rules,
                    second_go,
                    &mut engines,
                    first,
                    opening.clone(),
                    &mut pair,
                )?;
            }
            let Ok(mut seen) = seen.lock() else { break };
            seen.1 = (seen.0)(&pair) && seen.1;
        }
        Ok(())
    };
    // An error in one thread stops the other threads.
    let worker =
        || play_next().inspect_err(|_| seen.lock().into_iter().for_each(|mut seen| seen.1 = false));
    let results: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..rules.concurrency.clamp(1, 64))
            .map(|_| scope.spawn(worker))
            .collect();
        workers.into_iter().map(|worker| worker.join()).collect()
    });
    for result in results {
        result.map_err(|_| "a game was aborted by a panic")??;
    }
    Ok(())
}

/// Plays a game. `first` is the colour of the first engine. An illegal move loses the game.
fn play(
    rules: &Rules,
    second_go: Option<&str>,
    engines: &mut [Engine; 2],
    first: Color,
    mut game: Game,
    pair: &mut Pair,
) -> Result<Outcome, Error> {
    let adjudication = Adjudication::default();
    let start = game.plies();
    engines.iter_mut().try_for_each(Engine::new_game)?;
    let outcome = loop {
        let judged = || {
            if rules.to_the_end {
                None
            } else {
                game.judged(adjudication)
            }
        };
        if let Some(outcome) = game.over().or_else(judged) {
            break outcome;
        }
        let turn = game.position().turn();
        let side = usize::from(turn != first);
        let go = second_go.filter(|_| side == 1).unwrap_or(&rules.go);
        let answer = engines[side].search(&game.uci(), go, TIMEOUT)?;
        let Some(m) = game.legal(&answer.best) else {
            eprintln!("illegal move {} in {}", answer.best, game.uci());
            break Outcome::win(!turn);
        };
        pair.depths[side] = (
            pair.depths[side].0 + u64::from(answer.depth),
            pair.depths[side].1 + 1,
        );
        let white = answer.score.map_or(0, UciScore::centipawns)
            * if turn == Color::White { 1 } else { -1 };
        game.play(m, Some(white));
        game.note(white, adjudication);
    };
    pair.plies += (game.plies() - start) as u64;
    Ok(outcome)
}

/// Results of a match so far.
#[derive(Default)]
struct Tally {
    pairs: Pairs,
    plies: u64,
    depths: [(u64, u64); 2],
    sprt: Option<Sprt>,
}

impl Tally {
    fn count(&mut self, pair: &Pair) {
        self.pairs.count(pair.outcomes[0], pair.outcomes[1]);
        self.plies += pair.plies;
        for (sum, depths) in self.depths.iter_mut().zip(pair.depths) {
            *sum = (sum.0 + depths.0, sum.1 + depths.1);
        }
    }

    fn decided(&self) -> Option<bool> {
        self.sprt
            .and_then(|sprt| sprt.decided(&self.pairs))
            .filter(|_| self.pairs.number() >= MIN_PAIRS)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let games = self.pairs.number() * 2;
        let Some(elo) = self.pairs.elo() else {
            return write!(f, "no game was played");
        };
        let [first, second] = self
            .depths
            .map(|(sum, number)| sum as f64 / number.max(1) as f64);
        write!(
            f,
            "{games} games, pairs {}, Elo {elo}, {} plies a game",
            self.pairs,
            self.plies / games
        )?;
        write!(f, ", depth {first:.1} and {second:.1}")?;
        let Some(sprt) = self.sprt else { return Ok(()) };
        let ratio = self.pairs.log_likelihood_ratio(sprt.low, sprt.high);
        write!(
            f,
            ", LLR {ratio:+.2} of ±{:.2} for {} against {}",
            Sprt::BOUND,
            sprt.high,
            sprt.low
        )?;
        f.write_str(match self.decided() {
            Some(true) => ": better",
            Some(false) => ": not better",
            None => "",
        })
    }
}
