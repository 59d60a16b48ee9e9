//! A fixed set of searches, like `bench` of Stockfish: its signature changes when the moves of the engine do, and its
//! speed is comparable between two builds.

use std::time::Instant;

use anyhow::Result;
use sha2::{Digest, Sha256};
use shakmaty::CastlingMode;
use shelfish_engine::{Game, Histories, Limits, Line, Silent, Table, search};

use crate::results::short;

/// Options of `lab bench`.
#[derive(clap::Args)]
pub struct Args {
    /// Depth of each search, in plies
    #[arg(long, default_value_t = DEPTH)]
    depth: usize,
}

/// The depth of the signature that results of matches are stored under.
const DEPTH: usize = 12;

/// Openings, middlegames, endgames and mates, and a position of Chess960.
const POSITIONS: [&str; 16] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19",
    "r3r1k1/2p2ppp/p1p1bn2/8/1q2P3/2NPQN2/PPP3PP/R4RK1 b - - 2 15",
    "rq3rk1/ppp2ppp/1bnpN3/3N2B1/4P3/7P/PPPQ1PP1/2KR3R b - - 0 14",
    "2rq1rk1/p3bppp/bpn1pn2/2pp4/3P4/1P2PNP1/PBPN1PBP/R2QR1K1 w - - 0 12",
    "3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "8/8/1p1r1k2/p1pPN1p1/P3KnP1/1P6/8/3R4 b - - 0 1",
    "2K5/p7/7P/5pR1/8/5k2/r7/8 w - - 0 1",
    "8/6pk/1p6/8/PP3p1p/5P2/4KP1q/3Q4 w - - 0 1",
    "8/3p3B/5p2/5P2/p7/PP5b/k7/6K1 w - - 82 120",
    "1rqbkrbn/1ppppp1p/1n6/p1N3p1/8/2P4P/PP1PPPP1/1RQBKRBN w FBfb - 0 9",
    "1Q6/R5pk/7p/8/7q/8/6P1/6K1 b - - 0 1",
    "r1b1k2r/ppppnppp/2n2q2/2b5/3NP3/2P1B3/PP3PPP/RN1QKB1R w KQkq - 0 1",
];

/// Searches all positions to a depth, each with an empty table. Returns the nodes, and a hash of the lines that were found.
fn bench(depth: usize) -> Result<(u64, String)> {
    let limits = Limits::to_depth(depth);
    let (mut nodes, mut hash) = (0, Sha256::new());
    for fen in POSITIONS {
        let (game, table) = (Game::new(fen.parse()?), Table::new(16 << 20));
        for line in search(
            &game,
            &table,
            &mut Histories::default(),
            &limits,
            &mut Silent,
        ) {
            nodes += line.nodes;
            hash.update(written(&line));
        }
    }
    Ok((nodes, short(hash)))
}

fn written(line: &Line) -> String {
    let moves = line
        .moves
        .iter()
        .map(|m| format!(" {}", m.to_uci(CastlingMode::Chess960)));
    format!(
        "{} {} {}{}\n",
        line.depth,
        line.nodes,
        line.score,
        moves.collect::<String>()
    )
}

/// Returns the signature of this engine at full strength.
pub fn signature() -> Result<String> {
    Ok(bench(DEPTH)?.1)
}

/// Prints nodes, signature and speed.
pub fn run(args: &Args) -> Result<()> {
    let start = Instant::now();
    let (nodes, signature) = bench(args.depth)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("nodes {nodes}\nsignature {signature}");
    println!(
        "{seconds:.2} s, {:.0} nodes a second",
        nodes as f64 / seconds
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of these values is a change of the engine's moves: measure it by matches, then update the values.
    #[test]
    fn the_moves_of_the_engine_have_not_changed() {
        let (nodes, signature) = bench(6).unwrap();
        assert_eq!((nodes, signature.as_str()), (13_465, "e34a3e526109"));
        // Browsers store results under the signature.
        let package = include_str!("../../../crate/js/engine/engine.ts");
        assert!(package.contains(&format!("const SIGNATURE = \"{signature}\";")));
    }
}
