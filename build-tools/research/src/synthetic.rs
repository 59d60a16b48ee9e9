//! Synthetic games, and a dump of any size of their positions, from nothing but the sample of this repository and a seed.
//!
//! A game begins as the games of the sample do: at each position one of the moves that lead to another position of the
//! sample is drawn, all alike, and one time in eight the game leaves it. From there on moves are drawn by what they win
//! and risk at once, in pawns: `exp(gain)`. A game has 40 to 130 moves of either side, unless it ends before. Nobody
//! would play so, but pawn structures, openings that many games share and what is left of the men at each ply are those of
//! games. Evaluations are made up so that a record has about the moves of one of a real dump: one evaluation of two PVs
//! of eight moves, drawn likewise but more greedily; scores are material and a random walk along the game.

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

/// A game leaves the sample one time in so many moves.
const LEAVE: u32 = 8;
/// Moves of both sides that a game has, unless it ends before.
const PLIES: std::ops::RangeInclusive<usize> = 40..=130;
/// PVs of a position.
const PVS: usize = 2;
/// Moves of a PV.
const PV_PLIES: usize = 8;
/// How much less chance has a say in PVs than in games.
const GREED: f64 = 4.0;

/// Draws games, the same ones from the same seed.
pub struct Generator {
    random: fastrand::Rng,
    /// Positions of the sample, by hash.
    sample: HashSet<u64>,
    /// Positions that were written, by hash.
    written: HashSet<u64>,
}

impl Generator {
    /// Reads the sample, a dump compressed with zstd.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is not a dump.
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
        Ok(Generator { random: fastrand::Rng::with_seed(seed), sample: hashes, written: HashSet::new() })
    }

    /// The positions of the next game in order, first and last included.
    pub fn game(&mut self) -> Vec<Position> {
        let mut chess = Chess::default();
        let mut positions = vec![Position::from_chess(&chess)];
        let mut is_known = true;
        for _ in 0..self.random.usize(PLIES) {
            is_known = is_known && self.random.u32(..LEAVE) > 0;
            let known = if is_known { self.known(&chess) } else { Vec::new() };
            is_known = !known.is_empty();
            let Some(m) = self.random.choice(known).or_else(|| self.draw(&chess, 1.0)) else { break };
            chess.play_unchecked(m);
            positions.push(Position::from_chess(&chess));
        }
        positions
    }

    /// Writes `count` positions of further games that were not written before, as lines of a dump.
    ///
    /// # Errors
    ///
    /// `out` cannot be written to.
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
                // Nobody evaluates a game that has ended.
                let Some(eval) = self.evaluate(position, luck) else { continue };
                line.clear();
                lichess::push_line(&mut line, &eval);
                out.write_all(&line)?;
                left -= 1;
            }
        }
        Ok(())
    }

    /// The moves that lead to positions of the sample.
    fn known(&self, chess: &Chess) -> Vec<Move> {
        let leads_on = |m: &Move| {
            let mut next = chess.clone();
            next.play_unchecked(*m);
            self.sample.contains(&hash(&Position::from_chess(&next)))
        };
        chess.legal_moves().into_iter().filter(leads_on).collect()
    }

    /// Draws a legal move; none if the game has ended.
    fn draw(&mut self, chess: &Chess, greed: f64) -> Option<Move> {
        let moves = chess.legal_moves();
        let weights: Vec<f64> = moves.iter().map(|&m| (greed * gain(chess, m)).exp()).collect();
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
            let cp = if chess.turn().is_white() { score - worse } else { score + worse };
            let mut line = Vec::new();
            let mut played = chess.clone();
            while line.len() < PV_PLIES
                && let Some(m) = self.draw(&played, GREED)
            {
                played.play_unchecked(m);
                line.push(m);
            }
            // Two PVs do not begin alike.
            if pvs.iter().all(|pv| pv.line.first() != line.first()) {
                pvs.push(Pv { score: Score::Cp(cp), line });
            }
        }
        let knodes = (50.0 * (3.0 * self.random.f64()).exp()) as u64;
        let evaluation = Evaluation { depth: self.random.u16(8..=16), knodes, pvs };
        let has_moves = !evaluation.pvs.first()?.line.is_empty();
        has_moves.then(|| PositionEval { evaluations: vec![evaluation], position })
    }
}

fn hash(position: &Position) -> u64 {
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

/// White's men less Black's, in pawns.
fn balance(board: &Board) -> i32 {
    let side = |color| {
        Role::ALL
            .iter()
            .map(|&role| value(role) * (board.by_color(color) & board.by_role(role)).count() as i32)
            .sum::<i32>()
    };
    side(Color::White) - side(Color::Black)
}

/// What a move wins at once, in pawns: what it takes or becomes, the danger that it leaves, less that it meets.
fn gain(chess: &Chess, m: Move) -> f64 {
    let board = chess.board();
    let is_attacked = |square: Square| {
        (board.attacks_to(square, !chess.turn(), board.occupied()) & board.by_color(!chess.turn())).any()
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
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static-shards/famous.jsonl.zst");
        Generator::new(&sample, seed).unwrap()
    }

    #[test]
    fn the_same_seed_gives_the_same_games_and_another_one_others() {
        let games = |seed| {
            let mut generator = generator(seed);
            (0..3).map(|_| generator.game()).collect::<Vec<_>>()
        };
        assert_eq!(games(1), games(1));
        assert_ne!(games(1), games(2));
    }

    #[test]
    fn a_dump_has_as_many_positions_as_were_asked_for_each_once() {
        let mut generator = generator(1);
        let mut dump = Vec::new();
        generator.write(300, &mut dump).unwrap();
        generator.write(200, &mut dump).unwrap();
        let records = dump.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let records: Vec<_> = records.map(|line| shelfish_cli::evaluations::record::parse(line).unwrap()).collect();
        assert!(records.iter().all(|record| record.dropped == 0 && record.shortened == 0));
        let positions: HashSet<_> = records.iter().map(|record| record.position.to_string()).collect();
        assert_eq!((records.len(), positions.len()), (500, 500));
    }
}
