//! Compares the judgments of `shelfish analyse --engine` with a reference engine.
//!
//! The reference judges a move by its own scores of the positions before and after the move, by the thresholds of Lichess. Its
//! scores are stored in a file, so that an interrupted run continues. The file contains hashes instead of positions, because
//! the games may not be published.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use shakmaty::fen::Epd;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, EnPassantMode, Move, Position as _};
use shelfish_analysis::pgn::PgnGame;
use shelfish_analysis::{Judgment, Score, Value, judge};
use shelfish_uci::Engine;

use crate::error::ArenaError;
use crate::sample::{self, Sample, TIMEOUT};

/// Compare the judgments of `shelfish analyse --engine` with a reference engine
#[derive(clap::Args)]
#[command(after_help = "Example:
  arena judgments --games master.pgn.zst:13000 --games amateur.pgn.zst:85 --program target/release/shelfish \\
    --reference build-tools/arena/judgments.tsv")]
pub struct Args {
    #[command(flatten)]
    sample: Sample,
    /// Nodes of the reference as a yardstick: it is compared with itself; 0 for no yardstick
    #[arg(long, default_value_t = 100_000)]
    yardstick: u64,
    /// File of the reference's scores
    #[arg(long)]
    reference: PathBuf,
    /// Stop the reference after this number of minutes and compare the positions so far
    #[arg(long)]
    minutes: Option<u64>,
}

/// Score and best move of a position.
#[derive(Clone, Debug)]
struct Reference {
    score: Score,
    best: String,
}

/// Scores of the reference by nodes and hash of the position.
struct References {
    file: File,
    known: BTreeMap<(u64, String), Reference>,
}

impl References {
    fn open(path: &Path) -> io::Result<References> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let row = |line: &str| {
            let [nodes, hash, score, best] = line.split('\t').collect::<Vec<_>>()[..] else {
                return None;
            };
            let score = match score.strip_prefix('#') {
                Some(moves) => Score::Mate(moves.parse().ok()?),
                None => Score::Cp(score.parse().ok()?),
            };
            Some((
                (nodes.parse().ok()?, hash.to_owned()),
                Reference {
                    score,
                    best: best.to_owned(),
                },
            ))
        };
        Ok(References {
            file,
            known: text.lines().filter_map(row).collect(),
        })
    }

    fn add(&mut self, nodes: u64, hash: String, found: Reference) -> io::Result<()> {
        let score = match found.score {
            Score::Cp(cp) => cp.to_string(),
            Score::Mate(moves) => format!("#{moves}"),
        };
        writeln!(self.file, "{nodes}\t{hash}\t{score}\t{}", found.best)?;
        self.known.insert((nodes, hash), found);
        Ok(())
    }
}

/// Returns a hash of the first four fields of the FEN.
fn hash(position: &Chess) -> String {
    let fen = Epd::from_position(position, EnPassantMode::Legal).to_string();
    Sha256::digest(fen)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A move of a game, with its judgment by the program.
struct Played {
    before: Chess,
    after: Chess,
    played: Move,
    judgment: Option<Judgment>,
}

/// Counts of the comparison.
#[derive(Default)]
struct Counts {
    moves: usize,
    marks: usize,
    right: usize,
    half: usize,
    first: usize,
    severe: usize,
    severe_right: usize,
    reference_severe: usize,
    found: usize,
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
        self.moves += 1;
        if mark.is_some() {
            self.marks += 1;
            self.right += usize::from(expected.is_some());
            self.half += usize::from(expected.is_some() || loss >= 0.05);
            self.first += usize::from(is_first);
        }
        if is_severe(mark) {
            self.severe += 1;
            self.severe_right += usize::from(is_severe(expected));
        }
        if is_severe(expected) {
            self.reference_severe += 1;
            self.found += usize::from(mark.is_some());
        }
    }

    fn row(&self, name: &str) -> String {
        let share = |part: usize, whole: usize| {
            format!(
                "{:.0} % of {whole}",
                100.0 * part as f64 / whole.max(1) as f64
            )
        };
        format!(
            "| {name} | {} | {} | {} | {} | {} |",
            share(self.right, self.marks),
            share(self.half, self.marks),
            share(self.severe_right, self.severe),
            share(self.found, self.reference_severe),
            share(self.first, self.marks),
        )
    }
}

/// Chooses games, analyses them, searches their positions with the reference, and prints a table.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let games = args.sample.games()?;
    let moves = analysed(&args.sample, &games)?;
    let mut references =
        References::open(&args.reference).map_err(ArenaError::file(&args.reference))?;
    let deadline = args
        .minutes
        .map(|minutes| Instant::now() + Duration::from_secs(60 * minutes));
    search(args, &games, &mut references, deadline)?;

    println!(
        "| judgments by | at least an inaccuracy | at least half of one | ? and ?? at least a mistake | mistakes found | first choice |"
    );
    println!("|---|---|---|---|---|---|");
    let (mut counts, mut yardstick) = (Counts::default(), Counts::default());
    for Played {
        before,
        after,
        played,
        judgment,
    } in &moves
    {
        let value = |nodes: u64, position: &Chess| {
            let known = || {
                references
                    .known
                    .get(&(nodes, hash(position)))
                    .map(|known| known.score.into())
            };
            Value::by_the_rules(position).or_else(known)
        };
        let values = |nodes| Some([value(nodes, before)?, value(nodes, after)?]);
        let Some(expected) = values(args.sample.nodes) else {
            continue;
        };
        let best = references
            .known
            .get(&(args.sample.nodes, hash(before)))
            .map(|known| known.best.as_str());
        let best = best.and_then(|best| best.parse::<UciMove>().ok()?.to_move(before).ok());
        let mover = before.turn();
        counts.add(*judgment, expected, mover, best == Some(*played));
        if let Some([before, after]) = values(args.yardstick) {
            yardstick.add(
                judge(before, after, mover),
                expected,
                mover,
                best == Some(*played),
            );
        }
    }
    println!(
        "{}",
        counts.row(&format!("`shelfish analyse {}`", args.sample.options))
    );
    if yardstick.moves > 0 {
        println!(
            "{}",
            yardstick.row(&format!("the reference at {} nodes", args.yardstick))
        );
    }
    let Counts {
        moves: compared, ..
    } = counts;
    println!(
        "\n{} games, {compared} of {} moves compared with {} nodes",
        games.len(),
        moves.len(),
        args.sample.nodes
    );
    Ok(())
}

/// Returns the judgments of the moves of games by the program.
fn analysed(sample: &Sample, games: &[PgnGame]) -> Result<Vec<Played>, Box<dyn std::error::Error>> {
    let mut moves = Vec::new();
    for (report, game) in sample.reports(games)?.into_iter().zip(games) {
        let positions: Vec<Chess> = game.game.positions().collect();
        for (n, played) in game.game.moves().iter().enumerate() {
            let found = &report["moves"][n];
            let judgment = match found["judgment"]
                .as_str()
                .filter(|_| found["settled"] == true)
            {
                Some("inaccuracy") => Some(Judgment::Inaccuracy),
                Some("mistake") => Some(Judgment::Mistake),
                Some("blunder") => Some(Judgment::Blunder),
                _ => None,
            };
            let [before, after] = [positions[n].clone(), positions[n + 1].clone()];
            moves.push(Played {
                before,
                after,
                played: *played,
                judgment,
            });
        }
    }
    Ok(moves)
}

/// Searches the positions of the games that the file lacks. Each game is a new game of the engine.
fn search(
    args: &Args,
    games: &[PgnGame],
    references: &mut References,
    deadline: Option<Instant>,
) -> Result<(), Box<dyn std::error::Error>> {
    let mut engine = None;
    for (number, game) in games.iter().enumerate() {
        for nodes in [args.sample.nodes, args.yardstick]
            .into_iter()
            .filter(|nodes| *nodes > 0)
        {
            let mut line = String::from("startpos moves");
            let mut is_new = true;
            for (position, played) in game
                .game
                .positions()
                .zip(game.game.moves().iter().map(Some).chain([None]))
            {
                let key = hash(&position);
                if !position.is_game_over() && !references.known.contains_key(&(nodes, key.clone()))
                {
                    if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                        eprintln!("arena: stopped in game {} of {}", number + 1, games.len());
                        return Ok(());
                    }
                    let engine = match &mut engine {
                        Some(engine) => engine,
                        none => none.insert(Engine::start(&args.sample.engine)?),
                    };
                    if std::mem::take(&mut is_new) {
                        engine.new_game()?;
                    }
                    let answer = engine.search(&line, &format!("nodes {nodes}"), TIMEOUT)?;
                    let score = answer.score.ok_or(ArenaError::NoScore)?;
                    let score = sample::white_score(score, position.turn());
                    references.add(
                        nodes,
                        key,
                        Reference {
                            score,
                            best: answer.best,
                        },
                    )?;
                }
                if let Some(played) = played {
                    line.push(' ');
                    line.push_str(&played.to_uci(CastlingMode::Standard).to_string());
                }
            }
            eprintln!(
                "arena: game {} of {}, {nodes} nodes",
                number + 1,
                games.len()
            );
        }
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
