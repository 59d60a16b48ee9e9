//! `lab fit-order`: learns the tree that orders positions, or compares it with the order without a tree.
//!
//! A node takes the question that changes least often from ply to ply in relation to its entropy over the distinct
//! positions. A large tree is grown, and those nodes stay that save the most blocks.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use shakmaty::{Chess, Position as _};
use shelfish::position::Key;
use shelfish_analysis::pgn;

use crate::judgments::texts;
use crate::order::{LEAF, QUESTIONS, holds};

/// Options of `lab fit-order`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  lab fit-order --fit games.pgn.zst@0/2 amateurs.pgn@0/2
  lab fit-order games.pgn.zst@1/4 --unseen games.pgn.zst@399/400 --unseen amateurs.pgn@1/4")]
pub struct Args {
    /// Files of games; with @N/M, those whose number leaves the remainder N when divided by M
    #[arg(required = true, value_name = "PGN[@N/M]")]
    games: Vec<String>,
    /// Learn the tree and write it; otherwise only print how many blocks the unseen games touch
    #[arg(long)]
    fit: bool,
    /// Most leaves of the tree
    #[arg(long, default_value_t = 2500)]
    leaves: usize,
    /// Games to replay in a table that has the positions of the other games
    #[arg(long, value_name = "PGN[@N/M]")]
    unseen: Vec<String>,
    /// File of the tree
    #[arg(long, default_value = "crate/src/position/order.bin")]
    tree: PathBuf,
}

/// Positions of a block of a table.
const BLOCK: usize = 350;
/// Positions of a block while the tree is learned, as if there were more games.
const DENSE_BLOCK: usize = 200;
/// Exponent of the entropy. With 1, splits are so uneven that more nodes save less.
const EVENNESS: f64 = 1.8;
/// Least entropy of a question.
const LEAST_ENTROPY: f64 = 0.05;

const WORDS: usize = QUESTIONS.div_ceil(64) as usize;
type Answers = [u64; WORDS];

/// A position of a game.
struct Visit {
    game: u32,
    answers: Answers,
    /// The beginning of the key without the leaf.
    key: [u8; 32],
    leaf: u16,
    is_first: bool,
    ply: u16,
    pieces: u8,
}

/// Learns a tree, or compares it.
pub fn run(args: &Args) -> Result<()> {
    let visits = read(&args.games)?;
    if args.fit {
        let tree = fit(&visits, args.leaves);
        std::fs::write(&args.tree, &tree)?;
        println!("{}: {} bytes", args.tree.display(), tree.len());
        return Ok(());
    }
    for file in &args.unseen {
        let unseen = read(std::slice::from_ref(file))?;
        for (name, has_tree) in [("without the tree", false), ("with the tree", true)] {
            println!("{file}, {name}: {}", compare(&visits, &unseen, has_tree));
        }
    }
    Ok(())
}

fn read(files: &[String]) -> Result<Vec<Visit>> {
    let (mut visits, mut seen, mut games) = (Vec::new(), HashSet::new(), 0);
    for file in files {
        let (path, share) = file.split_once('@').unwrap_or((file, "0/1"));
        let share = share.split_once('/');
        let share = share.and_then(|(n, m)| Some((n.parse().ok()?, m.parse().ok()?)));
        let (remainder, divisor): (usize, usize) =
            share.with_context(|| format!("expected PGN@N/M, found \"{file}\""))?;
        ensure!(divisor > remainder, "expected N below M in \"{file}\"");
        for (n, text) in texts(Path::new(path))?.enumerate() {
            let text = text?;
            if n % divisor != remainder {
                continue;
            }
            let game = pgn::read_main_line(&text.text, text.line).game;
            for (ply, chess) in game.positions().enumerate() {
                visits.push(visit(games, ply, &chess, &mut seen));
            }
            games += 1;
        }
    }
    Ok(visits)
}

fn visit(game: u32, ply: usize, chess: &Chess, seen: &mut HashSet<u64>) -> Visit {
    let whole = Key::of_game(chess);
    let mut hasher = DefaultHasher::new();
    whole.hash(&mut hasher);
    let bytes = whole.as_bytes();
    let rest = &bytes[2..bytes.len().min(34)];
    let mut key = [0; 32];
    key[..rest.len()].copy_from_slice(rest);
    let mut answers = [0; WORDS];
    for question in 0..QUESTIONS {
        answers[usize::from(question / 64)] |=
            u64::from(holds(question, chess.board())) << (question % 64);
    }
    Visit {
        game,
        answers,
        key,
        leaf: u16::from_be_bytes([bytes[0], bytes[1]]),
        is_first: seen.insert(hasher.finish()),
        ply: ply as u16,
        pieces: chess.board().occupied().count() as u8,
    }
}

/// Counts of the bits of many answers, as planes of binary digits.
#[derive(Default)]
struct Counts {
    planes: [Answers; 32],
}

impl Counts {
    fn add(&mut self, mut answers: Answers) {
        for plane in &mut self.planes {
            for (digit, carry) in plane.iter_mut().zip(&mut answers) {
                (*digit, *carry) = (*digit ^ *carry, *digit & *carry);
            }
            if answers == [0; WORDS] {
                break;
            }
        }
    }

    fn of(&self, question: u8) -> f64 {
        let planes = self.planes.iter().enumerate();
        let digit =
            |(n, plane): (usize, &Answers)| f64::from(bit(plane, question)) * (n as f64).exp2();
        planes.map(digit).sum()
    }
}

fn bit(answers: &Answers, question: u8) -> bool {
    answers[usize::from(question / 64)] >> (question % 64) & 1 == 1
}

/// A grown tree. `blocks` counts the pairs of a game and a block that it touches, if the node is a leaf.
struct Grown {
    blocks: f64,
    split: Option<(u8, Box<[Grown; 2]>)>,
}

struct Learner<'a> {
    visits: &'a [Visit],
    /// The place of each visit in the order without a tree.
    ranks: Vec<u32>,
}

fn fit(visits: &[Visit], leaves: usize) -> Vec<u8> {
    let mut order: Vec<u32> = (0..visits.len() as u32).collect();
    order.sort_unstable_by_key(|n| visits[*n as usize].key);
    let mut ranks = vec![0; visits.len()];
    for (rank, neighbours) in order.windows(2).enumerate() {
        let [a, b] = [neighbours[0], neighbours[1]].map(|n| n as usize);
        let is_same = visits[a].key == visits[b].key;
        ranks[b] = if is_same { ranks[a] } else { rank as u32 + 1 };
    }
    let learner = Learner { visits, ranks };
    order.sort_unstable();
    let grown = learner.grow(&mut order);
    // The price of a leaf at which the tree has the wanted size.
    let mut prices = 0.0..visits.len() as f64;
    for _ in 0..50 {
        let price = (prices.start + prices.end) / 2.0;
        let mut tree = Vec::new();
        prune(&grown, price, &mut tree);
        let is_large = tree.len().div_ceil(2) > leaves;
        *(if is_large {
            &mut prices.start
        } else {
            &mut prices.end
        }) = price;
    }
    let mut tree = Vec::new();
    prune(&grown, prices.end, &mut tree);
    tree
}

/// Appends the cheapest tree and returns its blocks with the price of its leaves.
fn prune(grown: &Grown, price: f64, tree: &mut Vec<u8>) -> f64 {
    let (start, as_leaf) = (tree.len(), grown.blocks + price);
    if let Some((question, children)) = &grown.split {
        tree.push(*question);
        let as_node: f64 = children.iter().map(|child| prune(child, price, tree)).sum();
        if as_node < as_leaf {
            return as_node;
        }
    }
    tree.truncate(start);
    tree.push(LEAF);
    as_leaf
}

impl Learner<'_> {
    /// Grows the tree of some visits, which are in the order of the games.
    fn grow(&self, some: &mut [u32]) -> Grown {
        let (mut ones, mut changes, mut distinct) = (Counts::default(), Counts::default(), 0);
        let mut last: Option<&Visit> = None;
        for visit in some.iter().map(|n| &self.visits[*n as usize]) {
            if visit.is_first {
                ones.add(visit.answers);
                distinct += 1;
            }
            if let Some(last) = last.filter(|last| last.game == visit.game) {
                let change = core::array::from_fn(|n| last.answers[n] ^ visit.answers[n]);
                changes.add(change);
            }
            last = Some(visit);
        }
        let blocks = self.blocks(some, distinct / DENSE_BLOCK);
        let cost = |question: u8| {
            let share = ones.of(question) / distinct as f64;
            let entropy = -share * share.log2() - (1.0 - share) * (1.0 - share).log2();
            // The entropy of a question with one answer is not a number.
            (entropy >= LEAST_ENTROPY)
                .then(|| (changes.of(question) + 0.5) / entropy.powf(EVENNESS))
        };
        let costs = (0..QUESTIONS).filter_map(|question| Some((cost(question)?, question)));
        let best = costs.min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, question)) = best.filter(|_| 2 * distinct > 3 * DENSE_BLOCK) else {
            return Grown {
                blocks,
                split: None,
            };
        };
        let is_yes = |n: &u32| bit(&self.visits[*n as usize].answers, question);
        let (mut yes, mut no): (Vec<u32>, Vec<u32>) = some.iter().partition(|n| is_yes(n));
        let children = [&mut no, &mut yes].map(|child| self.grow(child));
        Grown {
            blocks,
            split: Some((question, Box::new(children))),
        }
    }

    /// Returns the number of pairs of a game and a block, in the order without a tree.
    fn blocks(&self, some: &[u32], blocks: usize) -> f64 {
        let first = some.iter().filter(|n| self.visits[**n as usize].is_first);
        let mut ranks: Vec<u32> = first.map(|n| self.ranks[*n as usize]).collect();
        ranks.sort_unstable();
        let blocks = blocks.max(1);
        let bounds: Vec<u32> = (1..blocks)
            .filter_map(|n| ranks.get(n * ranks.len() / blocks).copied())
            .collect();
        let block = |n: &u32| bounds.partition_point(|bound| *bound <= self.ranks[*n as usize]);
        let games =
            some.chunk_by(|a, b| self.visits[*a as usize].game == self.visits[*b as usize].game);
        games
            .map(|game| distinct(game.iter().map(block)).len())
            .sum::<usize>() as f64
    }
}

fn distinct(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut numbers: Vec<usize> = numbers.collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Describes the blocks that unseen games touch in a table of known positions.
fn compare(known: &[Visit], unseen: &[Visit], has_tree: bool) -> String {
    let order = |visit: &Visit| (if has_tree { visit.leaf } else { 0 }, visit.key);
    let mut keys: Vec<_> = known
        .iter()
        .filter(|visit| visit.is_first)
        .map(order)
        .collect();
    keys.sort_unstable();
    let bounds: Vec<_> = keys.iter().step_by(BLOCK).collect();
    let block = |visit: &Visit| bounds.partition_point(|bound| **bound <= order(visit));
    let (mut games, mut blocks, mut requests) = (0, 0, 0);
    // Plies and changes of the block in openings, middlegames and endings.
    let mut plies = [[0; 2]; 3];
    for game in unseen.chunk_by(|a, b| a.game == b.game) {
        let touched = distinct(game.iter().map(block));
        games += 1;
        blocks += touched.len();
        requests += 1 + touched.windows(2).filter(|two| two[1] - two[0] > 4).count();
        for two in game.windows(2) {
            let phase = match &two[1] {
                Visit { pieces: ..=12, .. } => 2,
                Visit { ply: 20.., .. } => 1,
                _ => 0,
            };
            plies[phase][0] += 1;
            plies[phase][1] += usize::from(block(&two[0]) != block(&two[1]));
        }
    }
    let of_games = |n: usize| n as f64 / f64::from(games);
    let [opening, middlegame, ending] =
        plies.map(|[n, changed]| 100.0 * changed as f64 / n.max(1) as f64);
    format!(
        "{games} games, {} blocks of {BLOCK}; {:.2} blocks a game, {:.2} requests with gaps of three blocks; the block \
         changes at {opening:.1} % of plies before ply 20, {middlegame:.1} % later, {ending:.1} % with at most 12 pieces",
        bounds.len(),
        of_games(blocks),
        of_games(requests),
    )
}
