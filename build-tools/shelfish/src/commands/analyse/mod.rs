//! `shelfish analyse`: reports on games, from the evaluations of a database.

mod json;
mod people;
mod search;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use clap::error::ErrorKind;
use shakmaty::{CastlingMode, Chess, Position as _};
use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::Options;
use shelfish::table::Manifest;
use shelfish_analysis::pgn::{self, GameTexts, PgnGame};
use shelfish_analysis::{DEFAULT_NODES, KnownEval, Review, annotate_review};
use shelfish_endgames::{EndgameError, Outcome as EndgameOutcome, Probe};
use tokio::runtime::Runtime;

use self::search::Engines;
use crate::database::endgames::EndgameTables;
use crate::database::{self, OpenError};
use crate::input::{Dump, Input, MEMORY};
use crate::system::output;
use crate::system::output::named;
use crate::terminal::progress::{Progress, Work};
use crate::terminal::shown::{counted, shown};
use crate::{BoxError, Outcome};

/// Number of games whose positions are looked up together. Batches reduce the effect of the latency of a host.
const BATCH: usize = 16;

/// Report mistakes, accuracy and average centipawn loss of games.
#[derive(clap::Args, Debug)]
#[command(override_usage = "shelfish analyse [OPTIONS] [DATABASE] <GAMES>...")]
#[command(after_help = "Examples:
  shelfish analyse db game.pgn
  shelfish analyse https://example.org/evals games.pgn.zst --json > reports.jsonl
  shelfish analyse db game.pgn --engine --endgames syzygy
  shelfish analyse game.pgn --uci \"stockfish Hash=64\" --nodes 1000000 --threads 4
  shelfish analyse db games.pgn --pgn -o annotated.pgn
  curl -L https://lichess.org/game/export/q7ZvsdUF | shelfish analyse db - --use-pgn-evals

Inaccuracies (?!), mistakes (?), blunders (??), accuracy and average centipawn loss follow the formulas that Lichess
publishes. The report says how many moves contribute to each figure. A judgment by two evaluations that are not comparable is
provisional and contributes to no figure. A bad move is explained if its line proves a reason, such as a lost piece or a mate.
An only move (□): every other legal move loses at least 0.2 winning chances. A great move (!): the only move that keeps a win
(winning chances of at least 0.5, 3 pawns) or a draw. Both need a search with two lines; moves out of check,
recaptures and other obvious moves are left out.

With --engine, the report is final. An engine searches all positions whose evaluations are missing, shallow or not comparable:
first with few nodes, then again with more nodes before and after each move that is near an
inaccuracy or worse, until two searches agree. The limit is a number of nodes, so that the report of a game is the same in each
run, with any number of threads, and on the page.

--json prints one object per game: \"game\" (its number), \"line\", \"tags\", \"moves\" (\"ply\", \"san\", \"uci\", \"loss\" of winning
chances from 0 to 2, \"centipawns\", \"accuracy\" in percent, \"judgment\", \"mark\" (\"only\", \"great\"), \"settled\", \"best\", \"explanation\": \"kind\", \"text\", and
the \"line\" that proves the text), \"phases\", \"white\" and \"black\"
(\"moves\", \"judged\", \"provisional\", \"inaccuracies\", \"mistakes\", \"blunders\", \"averageCentipawnLoss\", \"accuracy\", \"accuracyByPhase\", \"onlyMoves\",
\"greatMoves\"), \"positions\",
\"known\", and \"evaluations\", one more than moves (\"cp\" or \"mate\" from White's point of view, \"depth\", \"line\", \"source\").
A game with an error is reported up to there, and the object contains \"error\". If no move can be read, it contains only \"game\",
\"line\" and \"error\".

Exit codes: 0 if every game could be read and looked up; 1 otherwise (the other games are still reported); 2 if the usage is
wrong.")]
pub struct Args {
    /// Database, as a directory or URL; then PGN files, plain or compressed with zstd, gzip or bzip2, `-` for standard input.
    /// Without a database, the first argument is a file
    #[arg(id = "database", required = true, value_name = "DATABASE_OR_GAMES")]
    games: Vec<PathBuf>,
    /// Syzygy tables, whose exact results replace evaluations: a directory, or a URL with an index by `shelfish endgames index`
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    endgames: Option<String>,
    #[command(flatten)]
    search: search::Args,
    /// Print one JSON object per game
    #[arg(long)]
    json: bool,
    /// Print the games as PGN with [%eval], glyphs, explanations, and better lines; comments and variations are kept
    #[arg(long, conflicts_with = "json")]
    pgn: bool,
    /// Use evaluations in the comments of the games ([%eval 0.17]) for positions that the database lacks
    #[arg(long)]
    use_pgn_evals: bool,
    /// Write to FILE instead of standard output; an existing file is replaced when the new file is complete
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print no progress and no summary, only errors and reports
    #[arg(short, long)]
    quiet: bool,
}

impl Args {
    /// Returns the database and the games. An engine and the evaluations of a PGN need no database, so the first argument is
    /// the database only if it is no file with games.
    fn operands(&self) -> (Option<&Path>, &[PathBuf]) {
        let is_file =
            |path: &Path| path.exists() && !path.is_dir() && !path.ends_with(Manifest::FILE);
        match self.games.split_first() {
            Some((first, games))
                if !(first.as_os_str() == "-" || is_file(first))
                    && (!games.is_empty() || first.is_dir()) =>
            {
                (Some(first), games)
            }
            _ => (None, &self.games),
        }
    }
}

/// Game of a file.
struct Entry {
    /// Number of the game in the file, from 1.
    number: u64,
    /// Number of the line in which the game begins, from 1.
    line: u64,
    /// The game, up to an error, if it has one.
    game: PgnGame,
}

impl Entry {
    /// Returns whether no move could be read because of an error.
    fn is_refused(&self) -> bool {
        self.game.error.is_some() && self.game.game.moves().is_empty()
    }
}

/// Answer of a database.
type Answer = Result<Option<PositionEval>, shelfish::reader::ReadError>;

/// Counts for the final message.
#[derive(Default)]
struct Totals {
    games: u64,
    refused: u64,
    positions: u64,
    known: u64,
    failed: u64,
}

/// Analyses games and prints the reports.
pub fn run(args: Args) -> Outcome {
    let (database, games) = args.operands();
    let is_enough =
        database.is_some() || args.endgames.is_some() || args.search.is_on() || args.use_pgn_evals;
    let why = if games.is_empty() {
        "expected a PGN file after the database, or `-`\n"
    } else {
        "expected a database before the games, an engine (--engine or --uci), --endgames, or --use-pgn-evals\n"
    };
    if !is_enough || games.is_empty() {
        clap::Command::new("shelfish analyse")
            .error(ErrorKind::MissingRequiredArgument, why)
            .exit();
    }
    if let Some(path) = &args.out {
        output::check(path, games.iter().map(PathBuf::as_path))?;
    }
    // Downloads of games have their own runtime, so only the lookups run in this one.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut totals = Totals::default();
    let done = match &args.out {
        Some(path) => output::whole(path, |out| {
            analyse(&runtime, &args, out, &mut totals, false)
        }),
        None => {
            let stdout = io::stdout().lock();
            let is_terminal = stdout.is_terminal();
            let mut out = io::BufWriter::new(stdout);
            analyse(&runtime, &args, &mut out, &mut totals, is_terminal)
        }
    };
    // An abandoned request may still resolve the name of a host, which must not block.
    runtime.shutdown_background();
    done?;
    Ok(if totals.refused + totals.failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Writes the reports.
fn analyse(
    runtime: &Runtime,
    args: &Args,
    out: &mut impl Write,
    totals: &mut Totals,
    is_terminal: bool,
) -> Result<(), BoxError> {
    let started = Instant::now();
    let (database, games) = args.operands();
    let reader = if let Some(database) = database {
        let database =
            database::Args::of(&database::address(&database.display().to_string())?).source()?;
        Some(
            runtime
                .block_on(database.reader(Options::default()))
                .map_err(OpenError::from)?,
        )
    } else {
        None
    };
    let endgames = match &args.endgames {
        Some(tables) => Some(runtime.block_on(EndgameTables::open(tables))?),
        None => None,
    };
    let mut engines = args.search.start(args.quiet)?;
    let (read, positions) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let sources: Vec<Input> = games
        .iter()
        .map(|path| Input::from(path.as_path()))
        .collect();
    let sizes = sources.iter().map(|source| {
        std::fs::metadata(source.path()?)
            .ok()
            .map(|metadata| metadata.len())
    });
    let work = Work {
        phase: "Analysing",
        done: read.clone(),
        total: sizes.sum::<Option<u64>>().filter(|total| *total > 0),
        is_bytes: true,
        positions: Some(positions.clone()),
    };
    // On a terminal, the reports show the progress, and a bar would interrupt them.
    let progress = Progress::start(work, args.quiet || is_terminal || engines.is_some());
    for source in &sources {
        let named = named(source);
        let text = Dump::open(source, read.clone(), MEMORY)
            .and_then(Dump::text)
            .map_err(named)?;
        let mut games = GameTexts::new(text).map(|text| {
            text.map(|text| Entry {
                number: text.number,
                line: text.line,
                game: pgn::read(&text.text, text.line),
            })
        });
        let before = totals.games;
        loop {
            let batch = games
                .by_ref()
                .take(BATCH)
                .collect::<io::Result<Vec<Entry>>>()
                .map_err(named)?;
            if batch.is_empty() {
                break;
            }
            let answers = match &reader {
                Some(reader) => runtime.block_on(reader.lookup_many(&positions_of(&batch))),
                None => Vec::new(),
            };
            let mut answers = answers.into_iter();
            for entry in batch {
                let engines = engines.as_mut();
                let exact = endgames.as_ref().filter(|_| !entry.is_refused());
                let exact =
                    exact.map(|endgames| runtime.block_on(endgame_evals(endgames, &entry.game)));
                report(
                    args,
                    (&mut answers, exact),
                    engines,
                    source,
                    entry,
                    totals,
                    out,
                )?;
            }
            positions.store(totals.positions, Relaxed);
            if is_terminal {
                out.flush()?;
            }
        }
        if totals.games == before {
            return Err(format!("{source}: no game was found, expected a PGN").into());
        }
    }
    out.flush()?;
    drop(progress);
    if !args.quiet {
        let seconds = started.elapsed().as_secs_f64();
        eprintln!("shelfish: {totals}, {seconds:.1} s");
    }
    Ok(())
}

/// Returns the positions of all moves of some games.
fn positions_of(batch: &[Entry]) -> Vec<Position> {
    batch
        .iter()
        .filter(|entry| !entry.is_refused())
        .flat_map(|entry| entry.game.game.positions())
        .map(|chess| Position::from_chess(&chess))
        .collect()
}

/// Results of endgame tables for the positions of a game.
type Exact = Result<Vec<Option<KnownEval>>, EndgameError>;

async fn endgame_evals(endgames: &EndgameTables, game: &PgnGame) -> Exact {
    let mut known = Vec::new();
    for chess in game.game.positions() {
        known.push(match endgames.probe(&chess).await {
            Ok(probe) => Some(endgame_eval(&chess, &probe)),
            Err(EndgameError::Uncovered(_)) => None,
            Err(error) => return Err(error),
        });
    }
    Ok(known)
}

/// Converts a result of endgame tables.
fn endgame_eval(chess: &Chess, probe: &Probe) -> KnownEval {
    let winner = match probe.verdict.outcome {
        EndgameOutcome::Win | EndgameOutcome::MaybeWin => Some(chess.turn()),
        EndgameOutcome::Loss | EndgameOutcome::MaybeLoss => Some(chess.turn().other()),
        _ => None,
    };
    let line = probe
        .moves
        .first()
        .map(|best| best.m.to_uci(CastlingMode::Chess960))
        .into_iter()
        .collect();
    KnownEval {
        line,
        ..KnownEval::of_endgame(winner)
    }
}

/// Writes the report of a game, whose positions have the next answers of a database, if there is one, and results of endgame tables.
fn report(
    args: &Args,
    (answers, exact): (&mut impl Iterator<Item = Answer>, Option<Exact>),
    engines: Option<&mut Engines>,
    source: &Input,
    mut entry: Entry,
    totals: &mut Totals,
    out: &mut impl Write,
) -> Result<(), BoxError> {
    totals.games += 1;
    let Entry { number, game, .. } = &entry;
    let complain = |what: &dyn std::fmt::Display| {
        eprintln!(
            "shelfish: {source}, game {number}{}",
            shown(&what.to_string())
        );
    };
    if let Some(error) = &game.error {
        totals.refused += 1;
        complain(&format_args!(", {error}"));
        if entry.is_refused() {
            if args.json {
                json::refused(out, *number, error)?;
            }
            return Ok(());
        }
    }
    let count = game.game.moves().len() + 1;
    let mut failed = Vec::new();
    let mut known: Vec<Option<KnownEval>> = vec![None; count];
    for (known, answer) in known.iter_mut().zip(answers.take(count)) {
        match answer {
            Ok(eval) => *known = eval.as_ref().and_then(best),
            Err(error) => failed.push(error),
        }
    }
    if let Some(error) = failed.first() {
        totals.failed += 1;
        let count = counted(failed.len() as u64, "position");
        complain(&format_args!(
            ": {count} positions could not be looked up: {error}"
        ));
    }
    let nodes = engines
        .as_ref()
        .map_or(DEFAULT_NODES, |engines| engines.nodes);
    let mut review = Review::new(game.game.clone(), nodes);
    review.give(&known)?;
    match exact {
        None => {}
        Some(Ok(exact)) => review.give(&exact)?,
        Some(Err(error)) => {
            totals.failed += 1;
            complain(&format_args!(": {error}"));
        }
    }
    if args.use_pgn_evals {
        review.give(&game.evaluations())?;
    }
    if let Some(engines) = engines {
        engines.settle(&mut review)?;
    }
    let report = if args.pgn {
        let report = annotate_review(&mut entry.game, &review)?;
        writeln!(out, "{}", entry.game)?;
        report
    } else {
        let report = review.report();
        let write = if args.json {
            json::write
        } else {
            people::write
        };
        write(out, &entry, &review.evaluations(), &report)?;
        report
    };
    totals.positions += report.positions as u64;
    totals.known += report.known as u64;
    Ok(())
}

/// Returns the first line of the best evaluation, and the score of its second line.
fn best(eval: &PositionEval) -> Option<KnownEval> {
    let evaluation = eval.best()?;
    let pv = evaluation.pvs.first()?;
    let line = pv
        .line
        .iter()
        .map(|m| m.to_uci(CastlingMode::Chess960))
        .collect();
    let known = KnownEval::new(pv.score, Some(evaluation.depth));
    let second = evaluation.pvs.get(1).map(|pv| pv.score);
    Some(KnownEval {
        knodes: Some(evaluation.knodes),
        line,
        second,
        ..known
    })
}

impl std::fmt::Display for Totals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Totals {
            games,
            refused,
            positions,
            known,
            failed,
        } = self;
        let share = 100.0 * *known as f64 / (*positions).max(1) as f64;
        write!(
            f,
            "{}, {}, {known} of them known ({share:.1} %)",
            counted(*games, "game"),
            counted(*positions, "position")
        )?;
        if *refused > 0 {
            write!(f, ", not read to the end: {}", counted(*refused, "game"))?;
        }
        if *failed > 0 {
            write!(
                f,
                ", not looked up completely: {}",
                counted(*failed, "game")
            )
        } else {
            Ok(())
        }
    }
}
