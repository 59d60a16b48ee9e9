//! Compares the judgments of `shelfish analyse`, by the program's engine or another engine, with Stockfish.
//!
//! Stockfish judges a move by its own scores of the positions before and after the move, by the thresholds of Lichess. Its
//! scores are stored in a file, so that an interrupted run continues. The file contains hashes instead of positions, because
//! the games may not be published.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::mem::take;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};
use shakmaty::fen::Epd;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position as _};
use shelfish::digits::hex;
use shelfish_analysis::pgn::{self, GameTexts, PgnGame};
use shelfish_analysis::{DEFAULT_NODES, Judgment, KnownEval, Score, Value, judge, report};
use shelfish_cli::input::{Dump, Input};
use shelfish_cli::uci::{Engine, Setup, UciScore};

use crate::{results::open_to_append, root, shelfish, stockfish};

/// Options of `lab judgments`.
#[derive(clap::Args)]
pub struct Args {
    /// PGN files, plain or compressed with zstd, and the distance of the chosen games in them
    #[arg(long, value_name = "FILE:STEP", default_values = GAMES, value_parser = selection)]
    games: Vec<(PathBuf, usize)>,
    /// Number of games of each file
    #[arg(long, default_value_t = 20)]
    count: usize,
    /// Number of games to skip before the first chosen game: other games than those the report was tuned on
    #[arg(long, default_value_t = 0)]
    offset: usize,
    /// Stop Stockfish after this number of minutes and compare the positions so far; the next run continues
    #[arg(long)]
    minutes: Option<u64>,
    /// Judge by this UCI engine instead of the program's: a program, its arguments, and options such as Hash=16
    #[arg(long, value_name = "PROGRAM")]
    uci: Option<String>,
    /// Nodes of the third pass
    #[arg(long, default_value_t = DEFAULT_NODES)]
    nodes: u64,
}

/// Files of games next to the checkout, and the distance of the chosen games.
const GAMES: [&str; 2] = [
    "../shared/data/games.pgn.zst:13000",
    "../shared/data/games-lichess.pgn.zst:85",
];
/// Nodes of Stockfish for each position.
const NODES: u64 = 1_000_000;
/// Nodes of Stockfish as a yardstick: it is compared with itself.
const YARDSTICK: u64 = 100_000;
/// Time limit of a search.
const TIMEOUT: Duration = Duration::from_secs(600);

/// Parses `FILE:STEP`.
fn selection(text: &str) -> Result<(PathBuf, usize)> {
    let parts = text.rsplit_once(':');
    let parts = parts.and_then(|(file, step)| Some((file.into(), step.parse().ok()?)));
    parts
        .filter(|(_, step)| *step > 0)
        .with_context(|| format!("expected FILE:STEP, like games.pgn.zst:100, found \"{text}\""))
}

/// Opens a PGN file, plain or compressed.
pub fn texts(file: &Path) -> Result<GameTexts<Box<dyn Read + Send>>> {
    let text = Dump::text_of(&Input::File(file.to_owned()));
    Ok(GameTexts::new(
        text.with_context(|| file.display().to_string())?,
    ))
}

/// Chooses different games of chess of 40 to 120 plies from all files: of each file every `step`-th game after the first
/// `offset` games, or the next such game.
fn games(args: &Args) -> Result<Vec<PgnGame>> {
    let (mut games, mut seen) = (Vec::new(), HashSet::new());
    for (path, step) in &args.games {
        let (mut next, last) = (args.offset, games.len() + args.count);
        for (number, text) in texts(path)?.enumerate() {
            let text = text?.text;
            if games.len() == last {
                break;
            }
            if number >= next
                && let Ok(game) = pgn::read(&text, 1).checked()
                && (40..=120).contains(&game.game.moves().len())
                && *game.start() == Chess::default()
                && seen.insert(game.game.moves().to_vec())
            {
                games.push(game);
                next += step;
            }
        }
    }
    Ok(games)
}

/// Scores and best moves of the reference by nodes and hash of the position.
type References = BTreeMap<(u64, String), (Score, String)>;

/// Parses a line of the file: nodes, hash, score, and best move.
fn reference(line: &str) -> Option<((u64, String), (Score, String))> {
    let [nodes, hash, score, best] = line.split('\t').collect::<Vec<_>>()[..] else {
        return None;
    };
    let score = match score.strip_prefix('#') {
        Some(moves) => Score::Mate(moves.parse().ok()?),
        None => Score::Cp(score.parse().ok()?),
    };
    Some((
        (nodes.parse().ok()?, hash.to_owned()),
        (score, best.to_owned()),
    ))
}

/// Returns a hash of the first four fields of the FEN.
fn hash(position: &Chess) -> String {
    let fen = Epd::from_position(position, EnPassantMode::Legal).to_string();
    hex(&Sha256::digest(fen)[..8])
}

/// A move of a game: the positions before and after it, the move, and its judgment by the program.
type Played = ([Chess; 2], Move, Option<Judgment>);

/// Accuracies of White and Black.
type Accuracies = [Option<f64>; 2];

/// The program's reports of games.
#[derive(Default)]
struct Analysed {
    moves: Vec<Played>,
    accuracies: Vec<Accuracies>,
    /// Positions and their winning chances.
    chances: Vec<(Chess, f64)>,
}

/// Counts of the comparison: moves; marks, and those of them that are right, nearly right, or on the reference's choice; severe marks,
/// and those that are right; severe errors by the reference, and those that have a mark.
#[derive(Default)]
struct Counts {
    moves: usize,
    marks: [usize; 4],
    severe: [usize; 2],
    errors: [usize; 2],
}

impl Counts {
    /// Adds a move by the values of the reference.
    fn add(
        &mut self,
        mark: Option<Judgment>,
        [before, after]: [Value; 2],
        mover: Color,
        is_first: bool,
    ) {
        let expected = judge(before, after, mover);
        let loss = mover.fold_wb(1.0, -1.0) * (before.chances() - after.chances());
        let is_severe = |judgment: Option<Judgment>| judgment >= Some(Judgment::Mistake);
        let is_right = expected.is_some();
        let count = |counts: &mut [usize], applies: &[bool]| {
            if applies[0] {
                counts
                    .iter_mut()
                    .zip(applies)
                    .for_each(|(count, applies)| *count += usize::from(*applies));
            }
        };
        self.moves += 1;
        let marked = [mark.is_some(), is_right, is_right || loss >= 0.05, is_first];
        count(&mut self.marks, &marked);
        count(&mut self.severe, &[is_severe(mark), is_severe(expected)]);
        count(&mut self.errors, &[is_severe(expected), mark.is_some()]);
    }

    fn row(&self, name: &str) -> String {
        let share = |part: usize, whole: usize| {
            format!(
                "{:.0} % of {whole}",
                100.0 * part as f64 / whole.max(1) as f64
            )
        };
        let [marks, right, half, first] = self.marks;
        format!(
            "| {name} | {} | {} | {} | {} | {} |",
            share(right, marks),
            share(half, marks),
            share(self.severe[1], self.severe[0]),
            share(self.errors[1], self.errors[0]),
            share(first, marks),
        )
    }
}

/// Chooses games, analyses them, searches their positions with Stockfish, and prints a table.
pub fn run(args: &Args) -> Result<()> {
    let games = games(args)?;
    let Analysed {
        moves,
        accuracies,
        chances,
    } = analysed(args, &games)?;
    let (mut file, text) = open_to_append(&root().join("build-tools/lab/judgments.tsv"))?;
    let mut references: References = text.lines().filter_map(reference).collect();
    search(args, &games, &mut references, &mut file)?;

    println!(
        "| judgments by | at least an inaccuracy | at least half of one | ? and ?? at least a mistake | mistakes found | first choice |"
    );
    println!("|---|---|---|---|---|---|");
    let (mut counts, mut yardstick) = (Counts::default(), Counts::default());
    for ([before, after], played, judgment) in &moves {
        let known = |nodes, position: &Chess| references.get(&(nodes, hash(position)));
        let value = |nodes, position: &Chess| {
            Value::by_the_rules(position).or_else(|| Some(known(nodes, position)?.0.into()))
        };
        let values = |nodes| Some([value(nodes, before)?, value(nodes, after)?]);
        let Some(expected) = values(NODES) else {
            continue;
        };
        let best = known(NODES, before)
            .and_then(|(_, best)| best.parse::<UciMove>().ok()?.to_move(before).ok());
        let (mover, is_first) = (before.turn(), best == Some(*played));
        counts.add(*judgment, expected, mover, is_first);
        if let Some([before, after]) = values(YARDSTICK) {
            yardstick.add(judge(before, after, mover), expected, mover, is_first);
        }
    }
    let judge = args.uci.as_deref().unwrap_or("`shelfish analyse --engine`");
    println!("{}", counts.row(&format!("{judge}, {} nodes", args.nodes)));
    if yardstick.moves > 0 {
        println!(
            "{}",
            yardstick.row(&format!("Stockfish at {YARDSTICK} nodes"))
        );
    }
    println!(
        "\n{} games, {} of {} moves compared with {NODES} nodes",
        games.len(),
        counts.moves,
        moves.len()
    );
    let pairs: Vec<[f64; 2]> = chances
        .iter()
        .filter(|(position, _)| !position.is_game_over())
        .filter_map(|(position, found)| {
            let (score, _) = references.get(&(NODES, hash(position)))?;
            Some([Value::from(*score).chances(), *found])
        })
        .collect();
    let size = |of: usize| pairs.iter().map(|pair| pair[of] * pair[of]).sum::<f64>();
    println!(
        "scale: winning chances of {} positions are {:.2} times those of Stockfish, by the root of the mean square",
        pairs.len(),
        (size(1) / size(0)).sqrt()
    );
    let distances: Vec<f64> = games
        .iter()
        .zip(&accuracies)
        .filter_map(|(game, found)| Some((reference_accuracies(game, &references)?, found)))
        .flat_map(|(expected, found)| expected.into_iter().zip(*found))
        .filter_map(|(expected, found)| Some(found? - expected?))
        .collect();
    let mean = |of: fn(f64) -> f64| {
        distances.iter().copied().map(of).sum::<f64>() / distances.len().max(1) as f64
    };
    println!(
        "accuracies of {} players: mean distance {:.2}, mean difference {:+.2} points",
        distances.len(),
        mean(f64::abs),
        mean(|distance| distance)
    );
    Ok(())
}

/// Computes the accuracies of both players from the scores of the reference. Returns `None` if a score is missing.
fn reference_accuracies(game: &PgnGame, references: &References) -> Option<Accuracies> {
    let known = game.game.positions().map(|position| {
        if position.is_game_over() {
            return Some(None);
        }
        let (score, best) = references.get(&(NODES, hash(&position)))?;
        Some(Some(KnownEval {
            knodes: Some(NODES / 1_000),
            line: best.parse().into_iter().collect(),
            ..KnownEval::new(*score, None)
        }))
    });
    let known: Vec<Option<KnownEval>> = known.collect::<Option<_>>()?;
    let report = report(&game.game, &known).ok()?;
    Some([report.white.accuracy, report.black.accuracy])
}

/// Analyses games with the program.
fn analysed(args: &Args, games: &[PgnGame]) -> Result<Analysed> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("games.pgn");
    let text: String = games.iter().map(|game| format!("{game}\n")).collect();
    fs::write(&path, text)?;
    let started = Instant::now();
    let mut command = Command::new(shelfish()?);
    command.args(["analyse", "--json"]);
    match &args.uci {
        Some(uci) => command.args(["--uci", uci]),
        None => command.arg("--engine"),
    };
    let run = command
        .arg("--nodes")
        .arg(args.nodes.to_string())
        .arg(&path)
        .stderr(Stdio::inherit())
        .output()?;
    ensure!(run.status.success(), "shelfish analyse: {}", run.status);
    eprintln!(
        "lab: {:.1} s a game",
        started.elapsed().as_secs_f64() / games.len() as f64
    );
    let mut all = Analysed::default();
    let (mut bad, mut explained) = (0, 0);
    for (line, game) in String::from_utf8(run.stdout)?.lines().zip(games) {
        let report: serde_json::Value =
            serde_json::from_str(line).context("expected a report of shelfish analyse in JSON")?;
        all.accuracies
            .push(["white", "black"].map(|side| report[side]["accuracy"].as_f64()));
        let positions: Vec<Chess> = game.game.positions().collect();
        for (position, found) in positions.iter().zip(0..) {
            let found = &report["evaluations"][found];
            let mate = found["mate"].as_i64().map(|mate| mate.signum() as f64);
            let cp = || Some(Value::Cp(found["cp"].as_i64()?.try_into().ok()?).chances());
            let chances = mate.or_else(cp);
            all.chances
                .extend(chances.map(|chances| (position.clone(), chances)));
        }
        for (n, played) in game.game.moves().iter().enumerate() {
            let found = &report["moves"][n];
            let judgment = match found["judgment"].as_str() {
                _ if found["settled"] != true => None,
                Some("inaccuracy") => Some(Judgment::Inaccuracy),
                Some("mistake") => Some(Judgment::Mistake),
                Some("blunder") => Some(Judgment::Blunder),
                _ => None,
            };
            bad += usize::from(judgment.is_some());
            explained += usize::from(found["explanation"].is_object());
            let around = [positions[n].clone(), positions[n + 1].clone()];
            all.moves.push((around, *played, judgment));
        }
    }
    eprintln!("lab: {explained} of {bad} bad moves are explained");
    Ok(all)
}

/// Searches the positions of the games that the file lacks. Each game is a new game of the engine.
fn search(
    args: &Args,
    games: &[PgnGame],
    references: &mut References,
    file: &mut File,
) -> Result<()> {
    let deadline = args
        .minutes
        .map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    let mut engine = Engine::start(&Setup::parse(&format!(
        "{} Hash=64",
        stockfish()?.display()
    ))?)?;
    for (number, game) in games.iter().enumerate() {
        for nodes in [NODES, YARDSTICK] {
            let mut line = String::from("startpos moves");
            let mut is_new = true;
            let played = game.game.moves().iter().map(Some).chain([None]);
            for (position, played) in game.game.positions().zip(played) {
                let key = hash(&position);
                if !position.is_game_over() && !references.contains_key(&(nodes, key.clone())) {
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        eprintln!("lab: stopped in game {} of {}", number + 1, games.len());
                        return Ok(());
                    }
                    if take(&mut is_new) {
                        engine.new_game()?;
                    }
                    let answer = engine.search(&line, &format!("nodes {nodes}"), TIMEOUT)?;
                    let sign = position.turn().fold_wb(1, -1);
                    let score = match answer.score.context("Stockfish found no score")? {
                        UciScore::Cp(cp) => (sign * cp).to_string(),
                        UciScore::Mate(moves) => format!("#{}", sign * moves),
                    };
                    let found = format!("{nodes}\t{key}\t{score}\t{}", answer.best);
                    writeln!(file, "{found}")?;
                    references.extend(reference(&found));
                }
                if let Some(played) = played {
                    line += &format!(" {}", played.to_uci(CastlingMode::Standard));
                }
            }
        }
        eprintln!("lab: game {} of {}", number + 1, games.len());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_by_the_scores_of_the_reference() {
        let mut counts = Counts::default();
        let values = |before, after| [Value::Cp(before), Value::Cp(after)];
        counts.add(
            Some(Judgment::Blunder),
            values(0, -400),
            Color::White,
            false,
        );
        counts.add(
            Some(Judgment::Inaccuracy),
            values(0, 40),
            Color::Black,
            false,
        );
        counts.add(Some(Judgment::Mistake), values(0, 0), Color::White, true);
        counts.add(None, values(0, -400), Color::White, false);
        counts.add(None, values(0, 400), Color::White, false);
        let row = counts.row("a");
        assert_eq!(
            row,
            "| a | 33 % of 3 | 67 % of 3 | 50 % of 2 | 50 % of 2 | 33 % of 3 |"
        );
        assert_eq!(counts.moves, 5);
    }
}
