//! `research orders`: number of blocks that games and openings touch, by the order in which positions are stored.
//!
//! Only the order matters: a block is a sequence of a fixed number of positions. A missing position touches the block
//! that could contain it. All orders use the same positions and games. Each order is compared with the first order,
//! which is the order of [`Key`](shelfish::position::Key), on the same draws of games.
//!
//! A position is a code of 256 bits. All codes of an order are in memory, with 32 bytes each.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use indicatif::HumanCount;
use serde::{Deserialize, Serialize};
use shakmaty::{Position as _, Square};
use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::table::{Block, TableError};
use twox_hash::XxHash64;

use shelfish_cli::Outcome;
use shelfish_cli::commands::bench::Sample;
use shelfish_cli::database;
use shelfish_cli::database::scan::{RawBlock, Scan};
use shelfish_cli::input::lines::{Chunk, Text};
use shelfish_cli::input::{Dump, DumpOptions, Input};
use shelfish_cli::system::ordered::ordered;

use crate::bootstrap::{DRAWS, Estimate, Resample};
use crate::report::{Finding, Report, Style, Table, figure};

/// Compare orders of keys by the number of blocks that games touch.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  cargo run --release -p shelfish-research -- orders lichess_db_eval.jsonl.zst --games games.pgn.zst --every 100
  cargo run --release -p shelfish-research -- orders -d db --games games.pgn.zst --blocks 400 --markdown
  cargo run --release -p shelfish-research -- orders dump.jsonl.zst --games games.pgn.zst --blocks 200 --from 'FEN'

A run is a sequence of adjacent blocks, which one request fetches. Intervals are of 95 %, by bootstrap over games. A ratio
compares means over the same draw of games (paired). The command needs 32 bytes of memory per position and reads the source
once per order. For an opening (--from), it counts the blocks that `shelfish extract` would read: blocks with positions that
moves reach without leaving the database, and blocks that could contain a successor of such a position.")]
pub struct Args {
    /// Dumps with the stored positions, plain or compressed
    #[arg(
        required_unless_present = "database",
        conflicts_with = "database",
        value_name = "SOURCE"
    )]
    sources: Vec<PathBuf>,
    /// Database with the stored positions: a directory or a URL
    #[arg(short, long, value_name = "DIR_OR_URL", value_parser = database::address)]
    database: Option<String>,
    #[command(flatten)]
    games: Sample,
    /// Number of positions per block
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_values_t = [200, 400, 800, 1600],
        value_parser = clap::value_parser!(u32).range(1..))]
    blocks: Vec<u32>,
    /// Also compare the blocks of all positions that follow this position; may be given several times
    #[arg(long, value_name = "FEN")]
    from: Vec<Position>,
    #[command(flatten)]
    style: Style,
}

/// Code of a position. Positions are stored in the order of their codes.
type Code = [u64; 4];

/// Order of positions.
#[derive(Clone, Copy)]
struct Order {
    name: &'static str,
    code: fn(&Position) -> Code,
}

/// Orders to compare. The first order is the order of this project.
const ORDERS: [Order; 4] = [
    Order {
        name: "pawns, material, pieces (ours)",
        code: pawns_first,
    },
    Order {
        name: "material, pawns, pieces",
        code: material_then_pawns,
    },
    Order {
        name: "material, board",
        code: material_then_board,
    },
    Order {
        name: "hash",
        code: hash,
    },
];

/// Bit string. Bits beyond the length of a code are dropped.
#[derive(Default)]
struct Bits {
    code: Code,
    count: usize,
}

impl Bits {
    fn push(&mut self, value: u64, bits: usize) {
        for bit in (0..bits).rev().map(|bit| value >> bit & 1) {
            if let Some(word) = self.code.get_mut(self.count / 64) {
                *word |= bit << (63 - self.count % 64);
            }
            self.count += 1;
        }
    }

    /// Appends bytes with six used bits each, except for the last four bytes.
    fn push_pieces(&mut self, pieces: &[u8]) {
        let (squares, state) = pieces.split_at(pieces.len().saturating_sub(4));
        squares
            .iter()
            .for_each(|&square| self.push(square.into(), 6));
        state
            .iter()
            .zip([1, 8, 8, 4])
            .for_each(|(&byte, bits)| self.push(byte.into(), bits));
    }
}

/// Number of bytes of a key that describe the pawns.
const PAWNS: usize = 10;
/// Number of bytes of a key that describe pawns and material.
const MATERIAL: usize = 16;

/// Returns the code of the order of keys. The key fits into a code if no side has promoted before the first exchange.
fn pawns_first(position: &Position) -> Code {
    let key = position.key();
    let mut bits = Bits::default();
    key.as_bytes()[..MATERIAL]
        .iter()
        .for_each(|&byte| bits.push(byte.into(), 8));
    bits.push_pieces(&key.as_bytes()[MATERIAL..]);
    bits.code
}

fn material_then_pawns(position: &Position) -> Code {
    let key = position.key();
    let mut bits = Bits::default();
    let (pawns, material) = key.as_bytes()[..MATERIAL].split_at(PAWNS);
    material
        .iter()
        .chain(pawns)
        .for_each(|&byte| bits.push(byte.into(), 8));
    bits.push_pieces(&key.as_bytes()[MATERIAL..]);
    bits.code
}

/// Returns a code of the counts of all pieces, followed by the board from a8 on as in a FEN.
fn material_then_board(position: &Position) -> Code {
    let key = position.key();
    let board = position.chess().board();
    let mut bits = Bits::default();
    let count = board.material();
    for side in [count.white, count.black] {
        [side.queen, side.rook, side.bishop, side.knight]
            .into_iter()
            .for_each(|n| bits.push(n.into(), 2));
        bits.push(side.pawn.into(), 4);
    }
    for square in (0..8)
        .rev()
        .flat_map(|rank| (0..8).map(move |file| Square::new(8 * rank + file)))
    {
        match board.piece_at(square) {
            Some(piece) => bits.push(
                8 + piece.role as u64 + 8 * u64::from(piece.color.is_black()),
                5,
            ),
            None => bits.push(0, 1),
        }
    }
    bits.push_pieces(&key.as_bytes()[key.as_bytes().len() - 4..]);
    bits.code
}

fn hash(position: &Position) -> Code {
    [XxHash64::oneshot(0, position.key().as_bytes()), 0, 0, 0]
}

/// Comparison of orders.
#[derive(Debug, Serialize)]
struct Comparison {
    /// Number of stored positions.
    positions: usize,
    /// Number of games.
    games: usize,
    /// Number of draws of games behind each interval.
    draws: usize,
    figures: Vec<Figure>,
    subtrees: Vec<Subtree>,
}

/// Cost of all positions that follow a position, in one order and one block size.
#[derive(Debug, Serialize)]
struct Subtree {
    from: String,
    /// Number of positions that follow.
    positions: usize,
    /// Number of positions per block.
    block: u32,
    order: &'static str,
    /// Positions in all blocks that contain one of the positions, divided by the number of these positions.
    used: f64,
    /// Positions in all blocks that contain one of the positions or could contain a successor, divided by the number of
    /// these positions.
    read: f64,
}

/// Cost of a game in one order and one block size.
#[derive(Debug, Serialize)]
struct Figure {
    /// Number of positions per block.
    block: u32,
    order: &'static str,
    /// Number of blocks that a game touches.
    blocks: Estimate,
    /// Ratio to the first order.
    blocks_ratio: Estimate,
    /// Difference to the first order.
    blocks_difference: Estimate,
    /// Number of runs of adjacent blocks that a game touches.
    runs: Estimate,
    /// Ratio to the first order.
    runs_ratio: Estimate,
    /// Difference to the first order.
    runs_difference: Estimate,
}

/// Counts blocks and prints the results.
pub fn run(args: Args) -> Outcome {
    if let Some(path) = args
        .sources
        .iter()
        .find(|path| path.as_os_str() == "-" || path.is_dir())
    {
        return Err(format!(
            "{}: expected a file, which is read once for each order",
            path.display()
        )
        .into());
    }
    let games = args.games.read()?;
    let mut positions = 0;
    // Blocks and runs by order, for each block size.
    let mut touched: Vec<[Vec<Vec<f64>>; 2]> = vec![Default::default(); args.blocks.len()];
    let mut walked: Vec<Vec<Position>> = Vec::new();
    let mut subtrees = Vec::new();
    for order in ORDERS {
        let stored = args.stored(order)?;
        positions = stored.len();
        if walked.is_empty() {
            walked = args
                .from
                .iter()
                .map(|from| walk(&stored, from, order))
                .collect::<Result<_, _>>()?;
        }
        for (from, walked) in args.from.iter().zip(&walked) {
            let used = ranks(&stored, walked, order);
            let mut read: Vec<usize> = walked
                .iter()
                .flat_map(children)
                .map(|child| rank(&stored, &child, order))
                .chain(used.clone())
                .collect();
            read.sort_unstable();
            for &block in &args.blocks {
                let times = |ranks: &[usize]| {
                    touch(ranks, block as usize).0 * f64::from(block) / walked.len() as f64
                };
                let (used, read) = (times(&used), times(&read));
                subtrees.push(Subtree {
                    from: from.to_string(),
                    positions: walked.len(),
                    block,
                    order: order.name,
                    used,
                    read,
                });
            }
        }
        let ranks: Vec<Vec<usize>> = games
            .iter()
            .map(|game| ranks(&stored, game, order))
            .collect();
        for (size, [blocks, runs]) in args.blocks.iter().zip(&mut touched) {
            let (some_blocks, some_runs) = ranks
                .iter()
                .map(|ranks| touch(ranks, *size as usize))
                .unzip();
            blocks.push(some_blocks);
            runs.push(some_runs);
        }
    }
    let mut figures = Vec::new();
    for (&block, [blocks, runs]) in args.blocks.iter().zip(touched) {
        let [blocks, runs] = [blocks, runs].map(|series| Resample::new(&series));
        figures.extend(ORDERS.iter().enumerate().map(|(n, order)| Figure {
            block,
            order: order.name,
            blocks: blocks.mean(n),
            blocks_ratio: blocks.ratio(n, 0),
            blocks_difference: blocks.difference(n, 0),
            runs: runs.mean(n),
            runs_ratio: runs.ratio(n, 0),
            runs_difference: runs.difference(n, 0),
        }));
    }
    subtrees.sort_by(|a: &Subtree, b| (&a.from, a.block).cmp(&(&b.from, b.block)));
    args.style.print(&Comparison {
        positions,
        games: games.len(),
        draws: DRAWS,
        figures,
        subtrees,
    })?;
    Ok(ExitCode::SUCCESS)
}

type Error = Box<dyn std::error::Error + Send + Sync>;

impl Args {
    /// Returns the codes of all positions, ascending and without duplicates.
    fn stored(&self, order: Order) -> Result<Vec<Code>, Error> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let mut codes = Vec::new();
        if let Some(database) = &self.database {
            let place = database::Args::of(database).source()?;
            let manifest = Arc::new(database::wait(database::manifest::<PositionEval>(&place))??);
            codes.reserve_exact(usize::try_from(manifest.positions)?);
            let read = move |block| match block {
                Ok(RawBlock { at, bytes, .. }) => codes_of_block(&Block::open(&bytes, &at)?, order),
                Err(error) => Err(Error::from(error)),
            };
            for some in ordered(Scan::new(place, manifest)?, threads, read) {
                codes.extend(some?);
            }
        }
        for path in &self.sources {
            let named = |error| format!("{}: {error}", path.display());
            let dump = Dump::open(
                &Input::from(path.as_path()),
                Default::default(),
                DumpOptions::default(),
            )
            .map_err(named)?;
            let read = move |chunk: std::io::Result<Chunk>| {
                chunk.map(|chunk| codes_of_lines(&chunk, order))
            };
            for some in ordered(dump.chunks(), threads, read) {
                codes.extend(some.map_err(named)?);
            }
        }
        codes.sort_unstable();
        codes.dedup();
        if codes.is_empty() {
            Err("there are no positions".into())
        } else {
            Ok(codes)
        }
    }
}

fn codes_of_block(block: &Block<PositionEval>, order: Order) -> Result<Vec<Code>, Error> {
    let codes = block
        .positions()
        .map(|position| position.map(|position| (order.code)(&position)));
    Ok(codes.collect::<Result<_, TableError>>()?)
}

/// Returns the codes of the lines that contain a position.
fn codes_of_lines(chunk: &Chunk, order: Order) -> Vec<Code> {
    #[derive(Deserialize)]
    struct Line<'a> {
        fen: &'a str,
    }
    let fens: Vec<&str> = match &chunk.text {
        Text::Lines(lines) => {
            let lines = lines.split(|&byte| byte == b'\n');
            lines
                .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
                .map(|line| line.fen)
                .collect()
        }
        Text::Rows(rows) => rows.iter().map(|rows| rows.fen.as_str()).collect(),
        Text::TooLong(_) => Vec::new(),
    };
    let positions = fens
        .into_iter()
        .filter_map(|fen| fen.parse::<Position>().ok());
    positions.map(|position| (order.code)(&position)).collect()
}

/// Returns the ranks of the positions of a game, ascending.
fn ranks(stored: &[Code], game: &[Position], order: Order) -> Vec<usize> {
    let mut ranks: Vec<usize> = game
        .iter()
        .map(|position| rank(stored, position, order))
        .collect();
    ranks.sort_unstable();
    ranks
}

/// Returns the index of a stored position. A missing position has the index of its predecessor.
fn rank(stored: &[Code], position: &Position, order: Order) -> usize {
    let code = (order.code)(position);
    stored
        .partition_point(|other| *other <= code)
        .saturating_sub(1)
}

/// Returns the positions that legal moves reach.
fn children(position: &Position) -> impl Iterator<Item = Position> {
    position.chess().legal_moves().into_iter().map(|m| {
        let mut child = position.chess().clone();
        child.play_unchecked(m);
        Position::from_chess(&child)
    })
}

/// Returns the stored positions that moves reach from `from` without leaving the stored positions. Includes `from`.
fn walk(stored: &[Code], from: &Position, order: Order) -> Result<Vec<Position>, Error> {
    let mut is_met = vec![false; stored.len()];
    let mut meet = |position: &Position| {
        let n = stored.binary_search(&(order.code)(position));
        n.is_ok_and(|n| !std::mem::replace(&mut is_met[n], true))
    };
    if !meet(from) {
        return Err(format!("{from} is not stored").into());
    }
    let mut walked = vec![from.clone()];
    let mut next = 0;
    while let Some(position) = walked.get(next) {
        let met: Vec<Position> = children(position).filter(&mut meet).collect();
        walked.extend(met);
        next += 1;
    }
    Ok(walked)
}

/// Counts the blocks that contain the ascending `ranks`, and the runs of adjacent blocks.
fn touch(ranks: &[usize], size: usize) -> (f64, f64) {
    let (mut blocks, mut runs) = (0, 0);
    let mut last = None;
    for block in ranks.iter().map(|rank| rank / size) {
        if last == Some(block) {
            continue;
        }
        blocks += 1;
        runs += u32::from(last.is_none_or(|last| last + 1 != block));
        last = Some(block);
    }
    (f64::from(blocks), f64::from(runs))
}

impl Finding for Comparison {
    fn report(&self) -> Report {
        let mut report = Report::default();
        report.notes.push(format!(
            "{} positions stored; {} games",
            HumanCount(self.positions as u64),
            self.games
        ));
        report.notes.push(format!(
            "intervals of 95 % by {} draws of games",
            HumanCount(self.draws as u64)
        ));
        for figures in self.figures.chunk_by(|a, b| a.block == b.block) {
            let title = format!("a game, in blocks of {} positions", figures[0].block);
            let mut table = Table::new(title, ["blocks", "× ours", "runs", "× ours"]);
            for figure in figures {
                let cells = [
                    figure.blocks,
                    figure.blocks_ratio,
                    figure.runs,
                    figure.runs_ratio,
                ];
                table.row(figure.order, cells.map(|estimate| estimate.to_string()));
            }
            report.tables.push(table);
        }
        for subtrees in self
            .subtrees
            .chunk_by(|a, b| (&a.from, a.block) == (&b.from, b.block))
        {
            let Subtree {
                from,
                positions,
                block,
                ..
            } = &subtrees[0];
            let positions = HumanCount(*positions as u64);
            let title = format!(
                "the {positions} positions from {from} on, in blocks of {block}: positions × own"
            );
            let mut table = Table::new(title, ["of blocks with any", "of blocks to read"]);
            for subtree in subtrees {
                table.row(subtree.order, [subtree.used, subtree.read].map(figure));
            }
            report.tables.push(table);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn adjacent_blocks_are_a_run() {
        assert_eq!(touch(&[0, 1, 9, 10, 30, 31, 45], 10), (4.0, 2.0));
        assert_eq!(touch(&[7], 10), (1.0, 1.0));
    }

    #[test]
    fn our_codes_have_the_order_of_keys() {
        let mut positions: Vec<Position> = include_str!("../../../tests/data/fen-canonical.tsv")
            .lines()
            .filter_map(|line| line.split('\t').nth(1)?.parse().ok())
            .collect();
        assert!(positions.len() > 10);
        positions.sort_unstable_by_key(Position::key);
        assert!(positions.is_sorted_by_key(pawns_first));
    }

    #[test]
    fn other_orders_first_compare_the_parts_in_their_names() {
        let [start, traded, moved] = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            "rnbqkb1r/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq -",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -",
        ]
        .map(|fen| fen.parse::<Position>().unwrap());
        let shared = |a: Code, b: Code| a[0] == b[0];
        assert!(
            shared(pawns_first(&start), pawns_first(&traded))
                && !shared(pawns_first(&start), pawns_first(&moved))
        );
        for (code, bits) in [
            (material_then_pawns as fn(&Position) -> Code, 48),
            (material_then_board, 24),
        ] {
            let [start, traded, moved] =
                [&start, &traded, &moved].map(|position| code(position)[0] >> (64 - bits));
            assert!(
                start == moved && start != traded,
                "{start:x} {traded:x} {moved:x}"
            );
        }
        assert_ne!(hash(&start), hash(&traded));
    }
}
