//! `research dumps`: large dumps of evaluations, from real games and variations of their moves.
//!
//! Each ply of a game begins a variation with a probability of three in ten. A move of a variation is the move with the
//! largest [`gain`] among three legal moves that are drawn. Each position of a game or variation is written once, with
//! a draw of evaluations and PVs: the first PV is the continuation of the game or variation. Scores are the material
//! and a random walk.
//!
//! The real dump has the positions of games and of the analysis of games, with 2.5 PVs each. These dumps have 2.6 PVs
//! and some 16 moves for each position, like `evals-sf`.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::mem;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use fastrand::Rng;
use shakmaty::{Chess, Move, Position as _};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::position::Position;
use shelfish_analysis::pgn;
use shelfish_cli::Outcome;
use shelfish_cli::input::game_texts::{GameTexts, decoded};
use shelfish_cli::input::{Dump, Input};
use shelfish_cli::lichess;
use shelfish_cli::terminal::progress::{Progress, Work};

use crate::synthetic::{balance, gain, hash};

/// Number of plies of a variation.
const VARIATION_PLIES: std::ops::RangeInclusive<usize> = 8..=26;
/// Number of plies of the first PV, unless the game or variation ends earlier.
const PV_PLIES: usize = 10;
/// Number of plies of the other PVs.
const OTHER_PV_PLIES: std::ops::RangeInclusive<usize> = 2..=6;
/// Numbers of evaluations of a position, and of PVs of an evaluation. Each number is equally probable.
const EVALUATIONS: [usize; 5] = [1, 1, 1, 1, 2];
const PVS: [usize; 5] = [1, 1, 2, 3, 4];
/// Size of the parts that the thread of the compression receives, in bytes.
const PART_BYTES: usize = 1 << 20;

/// Write large dumps of evaluations, from real games and variations of their moves.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo run --release -p shelfish-research -- dumps games.pgn.zst --positions 1000000,10000000 --out dumps
  shelfish build dumps/1.jsonl.zst dumps/2.jsonl.zst -o db

The file N.jsonl.zst has the positions that the number N adds. N-month.jsonl.zst has deeper evaluations of some of these positions.
The games with the numbers K, 2 K, 3 K and so on are left out, so that `shelfish bench traffic --every K` replays games that the
dumps do not have. The same arguments write the same bytes.")]
pub struct Args {
    /// PGN file with games, plain or compressed
    games: PathBuf,
    /// Numbers of positions, ascending
    #[arg(long, value_name = "N,...", value_delimiter = ',', required = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    positions: Vec<u32>,
    /// Directory of the dumps
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Leave every K-th game out
    #[arg(long, value_name = "K", default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..))]
    hold_out: u32,
    /// Share of the positions that the files of the month evaluate again, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0)]
    month: f64,
    /// Do not print progress
    #[arg(short, long)]
    quiet: bool,
}

/// Writes the dumps.
pub fn run(args: &Args) -> Outcome {
    if !args.positions.is_sorted() {
        return Err("--positions: expected ascending numbers".into());
    }
    fs::create_dir_all(&args.out)?;
    let written = Arc::new(AtomicU64::new(0));
    let total = args.positions.last().map(|&count| count.into());
    let progress = Progress::start(Work::positions("writing", &written, total), args.quiet);
    let mut generator = Generator {
        random: Rng::with_seed(1),
        seen: HashSet::new(),
    };
    let mut evals = Vec::new().into_iter();
    let mut games = games(&args.games, args.hold_out)?;
    for (&count, number) in args.positions.iter().zip(1..) {
        let mut out = Compressed::create(&args.out.join(format!("{number}.jsonl.zst")))?;
        let mut month = Compressed::create(&args.out.join(format!("{number}-month.jsonl.zst")))?;
        while written.load(Relaxed) < count.into() {
            let Some(eval) = evals.next() else {
                let Some(game) = games.next() else {
                    return Err(format!(
                        "{}: the games have no more new positions",
                        args.games.display()
                    )
                    .into());
                };
                evals = generator.evals(&game?).into_iter();
                continue;
            };
            written.fetch_add(1, Relaxed);
            out.push(&eval)?;
            if generator.random.f64() * 100.0 < args.month {
                month.push(&deeper(eval))?;
            }
        }
        out.finish()?;
        month.finish()?;
    }
    drop(progress);
    Ok(ExitCode::SUCCESS)
}

/// Returns the moves of the games from the initial position, except every game whose number is a multiple of `hold_out`
/// plus one. Reads the file again and again, because the variations of a game differ each time.
fn games(path: &Path, hold_out: u32) -> io::Result<impl Iterator<Item = io::Result<Vec<Move>>>> {
    let open = {
        let path = path.to_owned();
        move || Dump::text_of(&Input::from(path.as_path())).map(GameTexts::new)
    };
    let mut texts = open()?;
    let mut is_empty = true;
    Ok(std::iter::from_fn(move || {
        loop {
            let text = match texts.next() {
                Some(Ok(text)) => text,
                Some(Err(error)) => return Some(Err(error)),
                None if mem::replace(&mut is_empty, true) => return None,
                None => {
                    texts = match open() {
                        Ok(texts) => texts,
                        Err(error) => return Some(Err(error)),
                    };
                    continue;
                }
            };
            let is_held_out = (text.number - 1).is_multiple_of(hold_out.into());
            let main_line = pgn::read_main_line(&decoded(&text.text), text.line);
            if !is_held_out
                && main_line.error.is_none()
                && *main_line.game.start() == Chess::default()
            {
                is_empty = false;
                return Some(Ok(main_line.game.moves().to_vec()));
            }
        }
    }))
}

/// Generator of evaluations.
struct Generator {
    random: Rng,
    /// Hashes of the positions that were evaluated.
    seen: HashSet<u64>,
}

impl Generator {
    /// Evaluates the new positions of a game and of variations of the game.
    fn evals(&mut self, game: &[Move]) -> Vec<PositionEval> {
        let mut evals = Vec::new();
        self.push_path(&mut evals, Chess::default(), game);
        let mut chess = Chess::default();
        for &m in game {
            if self.random.u32(..10) < 3 {
                let moves = self.variation(chess.clone());
                self.push_path(&mut evals, chess.clone(), &moves);
            }
            chess.play_unchecked(m);
        }
        evals
    }

    fn variation(&mut self, mut chess: Chess) -> Vec<Move> {
        let mut moves = Vec::new();
        for _ in 0..self.random.usize(VARIATION_PLIES) {
            let Some(m) = self.draw(&chess) else { break };
            chess.play_unchecked(m);
            moves.push(m);
        }
        moves
    }

    /// Draws three legal moves, and returns the move with the largest gain. Returns `None` if the game has ended.
    fn draw(&mut self, chess: &Chess) -> Option<Move> {
        let legal = chess.legal_moves();
        let drawn: Vec<Move> = (0..3)
            .filter_map(|_| self.random.choice(&legal).copied())
            .collect();
        drawn
            .into_iter()
            .max_by(|&a, &b| gain(chess, a).total_cmp(&gain(chess, b)))
    }

    /// Evaluates the new positions of a path, except its last position.
    fn push_path(&mut self, evals: &mut Vec<PositionEval>, mut chess: Chess, moves: &[Move]) {
        let mut luck = 0;
        for (ply, &m) in moves.iter().enumerate() {
            luck += self.random.i32(-15..=15);
            let position = Position::from_chess(&chess);
            if self.seen.insert(hash(&position)) {
                let count = self.number(EVALUATIONS);
                let first = &moves[ply..moves.len().min(ply + PV_PLIES)];
                let evaluations = (0..count)
                    .map(|_| self.evaluation(&chess, first, luck))
                    .collect();
                evals.push(PositionEval {
                    evaluations,
                    position,
                });
            }
            chess.play_unchecked(m);
        }
    }

    fn evaluation(&mut self, chess: &Chess, first: &[Move], luck: i32) -> Evaluation {
        let mut score = 100 * balance(chess.board()) + luck + self.random.i32(-10..=10);
        let mut pvs = vec![Pv {
            score: Score::Cp(score),
            line: first.to_vec(),
        }];
        for _ in 1..self.number(PVS) {
            let step = self.random.i32(0..40);
            score += if chess.turn().is_white() { -step } else { step };
            let mut played = chess.clone();
            let mut line = Vec::new();
            for _ in 0..self.random.usize(OTHER_PV_PLIES) {
                let Some(m) = self.draw(&played) else { break };
                played.play_unchecked(m);
                line.push(m);
            }
            // PVs differ in their first move.
            if pvs.iter().all(|pv| pv.line.first() != line.first()) {
                pvs.push(Pv {
                    score: Score::Cp(score),
                    line,
                });
            }
        }
        let depth = self.random.u16(18..48);
        Evaluation {
            depth,
            knodes: 1 + self.random.u64(..1 << (8 + depth / 4)),
            pvs,
        }
    }

    fn number(&mut self, numbers: [usize; 5]) -> usize {
        numbers[self.random.usize(..numbers.len())]
    }
}

/// Returns one evaluation that is deeper than those of a position.
fn deeper(mut eval: PositionEval) -> PositionEval {
    eval.evaluations.truncate(1);
    for evaluation in &mut eval.evaluations {
        evaluation.depth += 30;
        evaluation.knodes *= 4;
    }
    eval
}

/// File that another thread compresses and writes.
struct Compressed {
    text: Vec<u8>,
    parts: SyncSender<Vec<u8>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Compressed {
    fn create(path: &Path) -> io::Result<Compressed> {
        let mut out = zstd::Encoder::new(File::create(path)?, 1)?;
        let (parts, received) = sync_channel::<Vec<u8>>(4);
        let writer = thread::spawn(move || {
            received.iter().try_for_each(|part| out.write_all(&part))?;
            out.finish()?.flush()
        });
        Ok(Compressed {
            text: Vec::new(),
            parts,
            writer,
        })
    }

    fn push(&mut self, eval: &PositionEval) -> io::Result<()> {
        lichess::push_line(&mut self.text, eval);
        if self.text.len() >= PART_BYTES {
            self.send()
        } else {
            Ok(())
        }
    }

    fn send(&mut self) -> io::Result<()> {
        // The thread ends before the last part only after an error, which `finish` returns.
        self.parts
            .send(mem::take(&mut self.text))
            .map_err(|_| io::Error::other("cannot write the dump"))
    }

    fn finish(mut self) -> io::Result<()> {
        let sent = self.send();
        drop(self.parts);
        self.writer
            .join()
            .map_err(|_| io::Error::other("the thread of a dump ended early"))??;
        sent
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use std::io::Read as _;

    use super::*;

    const PGN: &str = "[Event \"held out\"]\n\n1. a4 a5 2. b4 *\n\n[Event \"used\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 *\n";

    fn write(dir: &Path, positions: &[u32]) -> Vec<Vec<u8>> {
        let games = dir.join("games.pgn");
        fs::write(&games, PGN).unwrap();
        let out = dir.join("dumps");
        let positions = positions.to_vec();
        run(&Args {
            games,
            positions: positions.clone(),
            out: out.clone(),
            hold_out: 2,
            month: 50.0,
            quiet: true,
        })
        .unwrap();
        let names = (1..=positions.len()).flat_map(|n| [n.to_string(), format!("{n}-month")]);
        let read = |name: String| {
            let mut text = Vec::new();
            zstd::Decoder::new(File::open(out.join(name + ".jsonl.zst")).unwrap())
                .unwrap()
                .read_to_end(&mut text)
                .unwrap();
            text
        };
        names.map(read).collect()
    }

    fn positions(dump: &[u8]) -> Vec<String> {
        let lines = dump
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty());
        let records = lines.map(|line| shelfish_cli::evaluations::record::parse(line).unwrap());
        records
            .inspect(|record| assert_eq!((record.dropped, record.shortened), (0, 0)))
            .map(|record| record.position.to_string())
            .collect()
    }

    #[test]
    fn dumps_have_different_positions_and_continue_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let dumps = write(dir.path(), &[100, 300]);
        let [first, first_month, second, second_month] = [0, 1, 2, 3].map(|n| positions(&dumps[n]));
        assert_eq!((first.len(), second.len()), (100, 200));
        let text = String::from_utf8_lossy(&dumps[2]).into_owned();
        let scores = text
            .split("\"cp\":")
            .skip(1)
            .map(|rest| rest.split(',').next().unwrap().parse::<i32>().unwrap());
        assert!(
            scores.into_iter().all(|score| score.abs() < 10_000),
            "{text}"
        );
        assert_eq!(
            first.iter().chain(&second).collect::<HashSet<_>>().len(),
            300
        );
        for (month, all) in [(&first_month, &first), (&second_month, &second)] {
            let share = month.len() as f64 / all.len() as f64;
            assert!(
                (0.3..0.7).contains(&share) && month.iter().all(|position| all.contains(position)),
                "{share}"
            );
        }
        let held_out = "rnbqkbnr/pppppppp/8/8/P7/8/1PPPPPPP/RNBQKBNR b KQkq -";
        assert!(!first[..10].contains(&held_out.to_owned()));
    }

    #[test]
    fn the_same_arguments_write_the_same_bytes() {
        let [a, b] = [(); 2].map(|()| write(tempfile::tempdir().unwrap().path(), &[200]));
        assert_eq!(a, b);
    }
}
