//! Synthetic games and dumps of their positions, from the sample of this repository and a seed.
//!
//! A game begins like the games of the sample: the generator draws a move that leads to another position of the sample.
//! With a probability of one in eight, the game leaves the sample. From then on, the generator draws moves with the
//! weight `exp(gain)`, where the gain is the material that a move wins or risks at once, in pawns. A game has 40 to 130
//! plies, unless it ends earlier.
//!
//! The play is poor, but the games share openings, and pawn structures and material develop as in real games. The
//! evaluations are invented. A record has about as many moves as a record of a real dump: one evaluation with two PVs
//! of eight moves, drawn more greedily. Scores are the material plus a random walk along the game.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use serde::Deserialize;
use shakmaty::{Board, Chess, Color, Move, Position as _, Role, Square};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::position::Position;
use shelfish_cli::lichess;
use twox_hash::XxHash64;

/// Inverse of the probability that a game leaves the sample at a move.
const LEAVE: u32 = 8;
/// Number of plies of a game, unless it ends earlier.
const PLIES: std::ops::RangeInclusive<usize> = 40..=130;
/// Number of PVs of a position.
const PVS: usize = 2;
/// Number of plies of a PV.
const PV_PLIES: usize = 8;
/// Factor of the gain for moves of PVs.
const GREED: f64 = 4.0;

/// Generator of games. The same seed generates the same games.
pub struct Generator {
    random: fastrand::Rng,
    /// Hashes of the positions of the sample.
    sample: HashSet<u64>,
    /// Hashes of the positions that were written.
    written: HashSet<u64>,
}

impl Generator {
    /// Reads the sample, a dump compressed with zstd.
    pub fn new(sample: &Path, seed: u64) -> io::Result<Generator> {
        #[derive(Deserialize)]
        struct Line {
            fen: String,
        }
        let mut hashes = HashSet::new();
        for line in BufReader::new(zstd::Decoder::new(File::open(sample)?)?).lines() {
            let Line { fen } = serde_json::from_str(&line?)?;
            hashes.insert(hash(&fen.parse().map_err(io::Error::other)?));
        }
        Ok(Generator {
            random: fastrand::Rng::with_seed(seed),
            sample: hashes,
            written: HashSet::new(),
        })
    }

    /// Returns all positions of the next game, including the first and the last.
    pub fn game(&mut self) -> Vec<Position> {
        let mut chess = Chess::default();
        let mut positions = vec![Position::from_chess(&chess)];
        let mut is_known = true;
        for _ in 0..self.random.usize(PLIES) {
            is_known = is_known && self.random.u32(..LEAVE) > 0;
            let known = if is_known {
                self.known(&chess)
            } else {
                Vec::new()
            };
            is_known = !known.is_empty();
            let Some(m) = self.random.choice(known).or_else(|| self.draw(&chess, 1.0)) else {
                break;
            };
            chess.play_unchecked(m);
            positions.push(Position::from_chess(&chess));
        }
        positions
    }

    /// Writes `count` new positions of further games as lines of a dump.
    pub fn write(&mut self, count: usize, out: &mut impl Write) -> io::Result<()> {
        let mut left = count;
        let mut line = Vec::new();
        while left > 0 {
            let mut luck = 0;
            for position in self.game() {
                luck += self.random.i32(-15..=15);
                if left == 0 || !self.written.insert(hash(&position)) {
                    continue;
                }
                // A position without legal moves has no evaluation.
                let Some(eval) = self.evaluate(position, luck) else {
                    continue;
                };
                line.clear();
                lichess::push_line(&mut line, &eval);
                out.write_all(&line)?;
                left -= 1;
            }
        }
        Ok(())
    }

    /// Returns the moves that lead to positions of the sample.
    fn known(&self, chess: &Chess) -> Vec<Move> {
        let leads_on = |m: &Move| {
            let mut next = chess.clone();
            next.play_unchecked(*m);
            self.sample.contains(&hash(&Position::from_chess(&next)))
        };
        chess.legal_moves().into_iter().filter(leads_on).collect()
    }

    /// Draws a legal move, unless the game has ended.
    fn draw(&mut self, chess: &Chess, greed: f64) -> Option<Move> {
        let moves = chess.legal_moves();
        let weights: Vec<f64> = moves
            .iter()
            .map(|&m| (greed * gain(chess, m)).exp())
            .collect();
        let mut point = self.random.f64() * weights.iter().sum::<f64>();
        let drawn = weights.iter().position(|weight| {
            point -= weight;
            point < 0.0
        });
        moves.get(drawn.unwrap_or(0)).copied()
    }

    fn evaluate(&mut self, position: Position, luck: i32) -> Option<PositionEval> {
        let chess = position.chess();
        let score = 100 * balance(chess.board()) + luck;
        let mut pvs: Vec<Pv> = Vec::new();
        for n in 0..PVS {
            let worse = if n == 0 { 0 } else { self.random.i32(5..60) };
            let cp = if chess.turn().is_white() {
                score - worse
            } else {
                score + worse
            };
            let mut line = Vec::new();
            let mut played = chess.clone();
            while line.len() < PV_PLIES
                && let Some(m) = self.draw(&played, GREED)
            {
                played.play_unchecked(m);
                line.push(m);
            }
            // PVs differ in their first move.
            if pvs.iter().all(|pv| pv.line.first() != line.first()) {
                pvs.push(Pv {
                    score: Score::Cp(cp),
                    line,
                });
            }
        }
        let knodes = (50.0 * (3.0 * self.random.f64()).exp()) as u64;
        let evaluation = Evaluation {
            depth: self.random.u16(8..=16),
            knodes,
            pvs,
        };
        let has_moves = !evaluation.pvs.first()?.line.is_empty();
        has_moves.then(|| PositionEval {
            evaluations: vec![evaluation],
            position,
        })
    }
}

pub fn hash(position: &Position) -> u64 {
    XxHash64::oneshot(0, position.key().as_bytes())
}

fn value(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 0,
    }
}

/// Returns White's material minus Black's material, in pawns.
pub fn balance(board: &Board) -> i32 {
    let side = |color| {
        Role::ALL
            .iter()
            .map(|&role| value(role) * (board.by_color(color) & board.by_role(role)).count() as i32)
            .sum::<i32>()
    };
    side(Color::White) - side(Color::Black)
}

/// Estimates the immediate gain of a move in pawns: material won, plus half of the risk of staying, minus the risk of
/// moving.
pub fn gain(chess: &Chess, m: Move) -> f64 {
    let board = chess.board();
    let is_attacked = |square: Square| {
        (board.attacks_to(square, !chess.turn(), board.occupied()) & board.by_color(!chess.turn()))
            .any()
    };
    let Some(from) = m.from() else { return 0.0 };
    if m.is_castle() {
        return 2.0;
    }
    let own = f64::from(value(m.role()));
    let won = m.capture().map_or(0, value) + m.promotion().map_or(0, |role| value(role) - 1);
    let risk = |square| if is_attacked(square) { own } else { 0.0 };
    f64::from(won) + 0.5 * risk(from) - risk(m.to())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn generator(seed: u64) -> Generator {
        let sample =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.jsonl.zst");
        Generator::new(&sample, seed).unwrap()
    }

    #[test]
    fn the_same_seed_generates_the_same_games_and_another_seed_other_games() {
        let games = |seed| {
            let mut generator = generator(seed);
            (0..3).map(|_| generator.game()).collect::<Vec<_>>()
        };
        assert_eq!(games(1), games(1));
        assert_ne!(games(1), games(2));
    }

    #[test]
    fn a_dump_has_the_requested_number_of_different_positions() {
        let mut generator = generator(1);
        let mut dump = Vec::new();
        generator.write(300, &mut dump).unwrap();
        generator.write(200, &mut dump).unwrap();
        let records = dump
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty());
        let records: Vec<_> = records
            .map(|line| shelfish_cli::evaluations::record::parse(line).unwrap())
            .collect();
        assert!(
            records
                .iter()
                .all(|record| record.dropped == 0 && record.shortened == 0)
        );
        let positions: HashSet<_> = records
            .iter()
            .map(|record| record.position.to_string())
            .collect();
        assert_eq!((records.len(), positions.len()), (500, 500));
    }
}
