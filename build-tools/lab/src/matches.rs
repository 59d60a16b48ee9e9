//! Matches of two engines. Openings are played in pairs with reversed colours, until a test is decided or all games are
//! played.

use std::{
    fs,
    path::PathBuf,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use shakmaty::{Color, KnownOutcome, Position};
use shelfish_cli::uci::{Engine, Setup};

use crate::{
    game::{self, Adjudication, Game, centipawns},
    statistics::{Pairs, Sprt},
};

/// Options of `lab match`.
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
    /// Files of openings in the format of Lichess' chess-openings
    #[arg(long, required = true, num_args = 1..)]
    pub openings: Vec<PathBuf>,
    /// Leave out openings with fewer plies
    #[arg(long, default_value_t = 0)]
    pub least_plies: usize,
    /// Limit of a move, in the syntax of UCI's `go`: "nodes 5000", "movetime 100"
    #[arg(long, default_value = "nodes 5000")]
    pub go: String,
    /// Maximum number of games
    #[arg(long, default_value_t = 1000)]
    pub games: usize,
    /// Number of parallel games
    #[arg(long, default_value_t = 1)]
    pub concurrency: usize,
}

/// Parses `LOW,HIGH`.
fn sprt(text: &str) -> Result<Sprt> {
    let parse = || {
        let (low, high) = text.split_once(',')?;
        let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
        (low < high).then_some(Sprt { low, high })
    };
    parse().with_context(|| {
        format!("expected a smaller and a larger number, like 0,10, found \"{text}\"")
    })
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
    fn read(&self) -> Result<Vec<Game>> {
        let mut openings = Vec::new();
        for path in &self.openings {
            let read = || game::openings(&fs::read_to_string(path)?);
            openings.extend(read().with_context(|| path.display().to_string())?);
        }
        openings.retain(|opening| opening.plies() >= self.least_plies);
        fastrand::Rng::with_seed(1).shuffle(&mut openings);
        ensure!(
            !openings.is_empty(),
            "expected at least one opening of {} plies or more in --openings, found none",
            self.least_plies
        );
        Ok(openings)
    }

    /// Returns a text that identifies the conditions of a pair. Only pairs with the same text are counted together.
    pub fn identity(&self) -> Result<String> {
        let openings: Vec<String> = self.read()?.iter().map(Game::uci).collect();
        let adjudication = Some(Adjudication::default());
        Ok(format!(
            "{} {adjudication:?} {}",
            self.go,
            openings.join("\n")
        ))
    }
}

/// Results of a pair.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// Number of the pair, which selects the opening.
    pub number: usize,
    /// Game in which the first engine is White, and game in which it is Black.
    pub outcomes: [KnownOutcome; 2],
}

/// Plays the match and prints reports.
pub fn run(args: &Args) -> Result<()> {
    let engines = [Setup::parse(&args.first)?, Setup::parse(&args.second)?];
    let (mut pairs, mut reported) = (Pairs::default(), Instant::now());
    let numbers: Vec<usize> = (0..args.rules.pairs()).collect();
    let second_go = args.second_go.as_deref();
    let decided = |pairs: &Pairs| {
        let sprt = args.sprt.filter(|_| pairs.number() >= MIN_PAIRS)?;
        sprt.decided(pairs)
    };
    let report = |pairs: &Pairs| {
        let Some(elo) = pairs.elo() else {
            return println!("no game was played");
        };
        print!("{} games, pairs {pairs}, Elo {elo}", pairs.number() * 2);
        if let Some(sprt) = args.sprt {
            print!(", {}", sprt.shown(pairs));
        }
        println!(
            "{}",
            match decided(pairs) {
                Some(true) => ": better",
                Some(false) => ": not better",
                None => "",
            }
        );
    };
    play_pairs(&engines, &args.rules, second_go, &numbers, |pair| {
        pairs.count(pair.outcomes);
        if reported.elapsed() >= REPORT {
            reported = Instant::now();
            report(&pairs);
        }
        Ok(decided(&pairs).is_none())
    })?;
    report(&pairs);
    Ok(())
}

/// Plays pairs of games in as many threads as the rules allow. Calls `seen` after each pair, and stops when `seen`
/// returns `false`.
pub fn play_pairs(
    engines: &[Setup; 2],
    rules: &Rules,
    second_go: Option<&str>,
    numbers: &[usize],
    mut seen: impl FnMut(&Pair) -> Result<bool>,
) -> Result<()> {
    let openings = &rules.read()?;
    let go = [&rules.go, second_go.unwrap_or(&rules.go)];
    let next = &AtomicUsize::new(0);
    let (sender, pairs) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..rules.concurrency.clamp(1, 64) {
            let sender = sender.clone();
            scope.spawn(move || {
                let play_all = || -> Result<()> {
                    let mut engines = [Engine::start(&engines[0])?, Engine::start(&engines[1])?];
                    while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let opening = &openings[number % openings.len()];
                        let mut play = |first| play(&mut engines, go, first, opening.clone());
                        let outcomes = [play(Color::White)?, play(Color::Black)?];
                        if sender.send(Ok(Pair { number, outcomes })).is_err() {
                            break;
                        }
                    }
                    Ok(())
                };
                play_all().or_else(|error| sender.send(Err(error)))
            });
        }
        drop(sender);
        // The other threads stop when the receiver is dropped.
        for pair in pairs {
            if !seen(&pair?)? {
                break;
            }
        }
        Ok(())
    })
}

/// Plays a game with the limits of both engines. `first` is the colour of the first engine. An illegal move loses the game.
fn play(
    engines: &mut [Engine; 2],
    go: [&str; 2],
    first: Color,
    mut game: Game,
) -> Result<KnownOutcome> {
    let rules = Adjudication::default();
    engines.iter_mut().try_for_each(Engine::new_game)?;
    loop {
        if let Some(outcome) = game.over().or_else(|| game.judged(rules)) {
            return Ok(outcome);
        }
        let turn = game.position().turn();
        let side = usize::from(turn != first);
        let answer = engines[side].search(&game.uci(), go[side], TIMEOUT)?;
        let Some(m) = game.legal(&answer.best) else {
            eprintln!("illegal move {} in {}", answer.best, game.uci());
            return Ok(KnownOutcome::Decisive { winner: !turn });
        };
        let white = turn.fold_wb(1, -1) * centipawns(answer.score);
        game.play(m, Some(white));
        game.note(white, rules);
    }
}
