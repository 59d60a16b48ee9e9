//! `lab real-mix`: writes a dump that is like the evaluation database of Lichess, of which only a thousand records are at hand.
//!
//! Positions, scores and the beginnings of lines are those of short searches of human games. Endings come from other games, with
//! scores of this project's engine. Depths, kilonodes and mates follow the real records, given the number of pieces.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context as _, Result};
use fastrand::Rng;
use shakmaty::{Chess, Position as _};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::position::Position;
use shelfish_analysis::pgn;
use shelfish_cli::evaluations::record::Record;
use shelfish_cli::lichess;
use shelfish_engine::{Game, Histories, Limits, Silent, Table, UciScore, search};

use crate::dump;
use crate::judgments::texts;

/// Options of `lab real-mix`.
#[derive(clap::Args)]
#[command(after_help = "Example:
  lab real-mix evals-sf.jsonl.zst evals-lichess-seed.jsonl games.pgn.zst | zstd > real-mix.jsonl.zst")]
pub struct Args {
    /// Dump of human games in the order of the games
    dump: PathBuf,
    /// Records of Lichess
    records: PathBuf,
    /// Games whose endings complete the dump
    games: PathBuf,
    /// Most records to write
    #[arg(long, default_value_t = usize::MAX)]
    limit: usize,
}

/// Moves of a line.
const MOVES: usize = 10;
/// Nodes for the continuation of a line, and for an ending.
const NODES: [u64; 2] = [2_000, 10_000];
/// Most lines of an evaluation, and most evaluations of a record.
const MOST: [usize; 2] = [20, 5];
/// The most pieces of each class of positions.
const CLASSES: [usize; 6] = [5, 8, 16, 24, 29, 32];
/// Number of classes of endings.
const ENDINGS: usize = 2;
/// Number of consecutive records that are kept or left out together: a game.
const RUN: usize = 64;
/// Centipawns that are a mate in a deep search.
const WON: i32 = 200;

fn pieces(position: &Chess) -> usize {
    position.board().occupied().count()
}

fn class(position: &Chess) -> usize {
    CLASSES.partition_point(|most| *most < pieces(position))
}

/// Writes the records.
pub fn run(args: &Args) -> Result<()> {
    let (real, dumped) = (all(&args.records)?, all(&args.dump)?);
    let mut records = chosen(&real, dumped);
    let share = |class, real: &[PositionEval]| {
        real.iter()
            .filter(|record| self::class(record.position.chess()) == class)
            .count()
    };
    let wanted = std::array::from_fn(|class| {
        (share(class, &real) * records.len() / real.len()).saturating_sub(share(class, &records))
    });
    records.extend(endings(&args.games, wanted, &records)?);
    records.truncate(args.limit);
    let size = records
        .len()
        .div_ceil(thread::available_parallelism()?.get());
    let efforts = efforts(&real);
    thread::scope(|scope| {
        for (part, records) in records.chunks_mut(size).enumerate() {
            let efforts = &efforts;
            scope.spawn(move || {
                for (n, record) in records.iter_mut().enumerate() {
                    deepen(
                        record,
                        efforts,
                        &mut Rng::with_seed((part * size + n) as u64),
                    );
                }
            });
        }
    });
    mate(&mut records, &real);
    let mut out = BufWriter::new(io::stdout());
    for mut record in records {
        PositionEval::normalise(&mut record.evaluations);
        out.write_all(lichess::line(&record)?.as_bytes())?;
    }
    out.flush().context("standard output")
}

/// Reads the records of a dump.
fn all(path: &Path) -> Result<Vec<PositionEval>> {
    let record = |record: Result<Record>| {
        record.map(|record| PositionEval {
            position: record.position,
            evaluations: record.evaluations,
        })
    };
    dump::records(path)?.map(record).collect()
}

/// Chooses records so that the classes have the shares of the real records, as far as there are enough.
fn chosen(real: &[PositionEval], dumped: Vec<PositionEval>) -> Vec<PositionEval> {
    let shares = |records: &[PositionEval]| {
        let mut shares = [0.0; CLASSES.len()];
        for record in records {
            shares[class(record.position.chess())] += 1.0 / records.len() as f64;
        }
        shares
    };
    let (real, have) = (shares(real), shares(&dumped));
    let ratios: Vec<f64> = real
        .iter()
        .zip(have)
        .map(|(real, have)| real / have)
        .collect();
    let greatest = ratios[ENDINGS..].iter().copied().fold(0.0, f64::max);
    let mut records = dumped.into_iter().enumerate().filter(|(n, record)| {
        let chance = Rng::with_seed((n / RUN) as u64).f64();
        chance < ratios[class(record.position.chess())] / greatest
    });
    records.by_ref().map(|(_, record)| record).collect()
}

/// Returns new positions of the endings of games, as many of each class as are `wanted`, without evaluations.
fn endings(
    games: &Path,
    mut wanted: [usize; ENDINGS],
    known: &[PositionEval],
) -> Result<Vec<PositionEval>> {
    let mut seen: HashSet<Position> = known.iter().map(|record| record.position.clone()).collect();
    let mut found = Vec::new();
    for text in texts(games)? {
        let Ok(game) = pgn::read(&text?.text, 1).checked() else {
            continue;
        };
        let mut chess = game.start().clone();
        for m in game.game.moves() {
            chess.play_unchecked(*m);
            let Some(wanted) = wanted.get_mut(class(&chess)).filter(|wanted| **wanted > 0) else {
                continue;
            };
            let position = Position::from(&chess);
            if !chess.is_game_over() && seen.insert(position.clone()) {
                *wanted -= 1;
                let evaluations = Vec::new();
                found.push(PositionEval {
                    position,
                    evaluations,
                });
            }
        }
        if wanted == [0; ENDINGS] {
            break;
        }
    }
    Ok(found)
}

/// Depths and kilonodes of real records, for each number of pieces.
type Efforts = Vec<Vec<(u16, u64)>>;

/// Returns the efforts of the records with about so many pieces, at least 40 of them.
fn efforts(real: &[PositionEval]) -> Efforts {
    let near = |count: usize| {
        let mut sorted: Vec<&PositionEval> = real.iter().collect();
        sorted.sort_by_key(|record| pieces(record.position.chess()).abs_diff(count));
        let distance = |record: &PositionEval| pieces(record.position.chess()).abs_diff(count);
        let most = distance(sorted[40.min(sorted.len()) - 1]);
        let near = sorted.iter().take_while(|record| distance(record) <= most);
        near.map(|record| (record.evaluations[0].depth, record.evaluations[0].knodes))
            .collect()
    };
    (0..=32).map(near).collect()
}

/// Completes a record: evaluations, moves, depths and kilonodes.
fn deepen(record: &mut PositionEval, efforts: &Efforts, rng: &mut Rng) {
    let chess = record.position.chess().clone();
    let (table, mut histories) = (Table::new(1 << 18), Histories::default());
    let mut lines = |chess: &Chess, nodes, lines| {
        let mut limits = Limits::to_nodes(nodes);
        limits.lines = lines;
        let game = Game::new(shelfish_engine::Position::new(chess.clone()));
        search(&game, &table, &mut histories, &limits, &mut Silent)
    };
    let many = rng.u32(..500) == 0;
    if many || record.evaluations.is_empty() {
        let count = if many {
            MOST[0]
        } else {
            [1, 1, 1, 3, 5][rng.usize(..5)]
        };
        let pvs = lines(&chess, NODES[1], count).into_iter().map(|line| Pv {
            score: match line.score {
                UciScore::Cp(cp) => Score::Cp(chess.turn().fold_wb(cp, -cp)),
                UciScore::Mate(moves) => Score::Mate(chess.turn().fold_wb(moves, -moves)),
            },
            line: line.moves,
        });
        record.evaluations.push(Evaluation {
            depth: 0,
            knodes: 0,
            pvs: pvs.collect(),
        });
    }
    // Lichess keeps evaluations of fewer lines next to one of more.
    let last = record.evaluations[record.evaluations.len() - 1].clone();
    while rng.u32(..20) == 0 && record.evaluations.len() < MOST[1] {
        let mut fewer = last.clone();
        fewer.pvs.truncate(rng.usize(1..=last.pvs.len()));
        record.evaluations.insert(0, fewer);
    }
    for pv in record
        .evaluations
        .iter_mut()
        .flat_map(|evaluation| &mut evaluation.pvs)
    {
        let mut chess = chess.clone();
        pv.line.truncate(MOVES);
        pv.line.iter().for_each(|m| chess.play_unchecked(*m));
        while pv.line.len() < MOVES && !chess.is_game_over() {
            for m in lines(&chess, NODES[0], 1).swap_remove(0).moves {
                if pv.line.len() < MOVES {
                    chess.play_unchecked(m);
                    pv.line.push(m);
                }
            }
        }
    }
    let mut drawn: Vec<(u16, u64)> = Vec::new();
    while drawn.len() < record.evaluations.len() {
        let (depth, knodes) = efforts[pieces(&chess)][rng.usize(..efforts[pieces(&chess)].len())];
        // Records of one position have different depths, and no two searches the same nodes.
        if drawn.iter().all(|(other, _)| *other != depth) {
            drawn.push((depth, knodes * rng.u64(900..1100) / 1000));
        }
    }
    drawn.sort_unstable_by_key(|(depth, _)| Reverse(*depth));
    for (evaluation, effort) in record.evaluations.iter_mut().zip(drawn) {
        (evaluation.depth, evaluation.knodes) = effort;
    }
}

/// Makes mates of the highest scores of each class, as many and as long as in the real records. Lower scores become longer mates.
fn mate(records: &mut [PositionEval], real: &[PositionEval]) {
    for class in 0..CLASSES.len() {
        let is_in = |record: &&PositionEval| self::class(record.position.chess()) == class;
        let real: Vec<Score> = real
            .iter()
            .filter(is_in)
            .map(|record| record.evaluations[0].pvs[0].score)
            .collect();
        let mut mates: Vec<i32> = real
            .iter()
            .filter_map(|score| Some(score.cp_and_mate().1?.abs()))
            .collect();
        mates.sort_unstable();
        let size = |score: Score| match score {
            Score::Cp(cp) => cp.abs(),
            Score::Mate(_) => i32::MAX,
        };
        let pvs = |record: &PositionEval| -> Vec<i32> {
            record
                .evaluations
                .iter()
                .flat_map(|evaluation| &evaluation.pvs)
                .map(|pv| size(pv.score))
                .collect()
        };
        let mut sizes: Vec<i32> = records.iter().filter(is_in).flat_map(pvs).collect();
        sizes.sort_unstable_by_key(|size| Reverse(*size));
        for record in records.iter_mut().filter(|record| is_in(&&**record)) {
            for pv in record
                .evaluations
                .iter_mut()
                .flat_map(|evaluation| &mut evaluation.pvs)
            {
                if let Score::Cp(cp) = pv.score
                    && cp.abs() >= WON
                {
                    let above = sizes.partition_point(|size| *size > cp.abs());
                    if let Some(moves) = mates.get(above * real.len() / sizes.len()) {
                        pv.score = Score::Mate(cp.signum() * moves);
                    }
                }
            }
        }
    }
}
