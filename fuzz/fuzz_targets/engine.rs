//! Targets of the crate `shelfish-engine`.

use std::{env, str, sync::LazyLock};

use shelfish_engine::network::{Accumulators, BYTES, Network, seal};
use shelfish_engine::{Game, Histories, Limits, Position, Silent, Table, search};

/// Maximum number of nodes of a search by default: few, so that a run of the target tests many positions.
static MOST_NODES: LazyLock<u64> = LazyLock::new(|| {
    env::var("SHELFISH_FUZZ_NODES").map_or(20_000, |nodes| {
        nodes.parse().expect("SHELFISH_FUZZ_NODES is a number")
    })
});

/// The search ends within its limits and returns legal lines, from any position, after any legal moves and with any limits.
///
/// The input is a FEN, the end of a line, three bytes of limits, and a byte for each move that is played first.
pub fn search_position(data: &[u8]) {
    let Some(end) = data.iter().position(|&byte| byte == b'\n') else {
        return;
    };
    let (fen, [_, nodes, depth, lines, walk @ ..]) = data.split_at(end) else {
        return;
    };
    let Ok(Ok(start)) = str::from_utf8(fen).map(str::parse::<Position>) else {
        return;
    };
    let mut game = Game::new(start);
    for &byte in walk.iter().take(300) {
        let moves = game.position().legal_moves();
        let Some(&m) = moves.get(usize::from(byte) % moves.len().max(1)) else {
            break;
        };
        game.play(m);
    }
    let nodes = (u64::from(*nodes).pow(2) * *MOST_NODES / u64::from(u8::MAX).pow(2)).max(1);
    let mut limits = Limits::to_nodes(nodes);
    limits.depth = (depth % 4 > 0).then_some(usize::from(depth / 4));
    limits.mate = (lines & 0x80 > 0).then_some(2);
    limits.lines = usize::from(lines % 8);
    let found = search(
        &game,
        &Table::new(1 << 16),
        &mut Histories::default(),
        &limits,
        &mut Silent,
    );
    assert_eq!(found.is_empty(), game.position().legal_moves().is_empty());
    for line in found {
        assert!(line.nodes <= nodes, "{} nodes of {nodes}", line.nodes);
        let mut position = game.position().clone();
        for m in line.moves {
            assert!(
                position.legal_moves().contains(&m),
                "{m:?} is not legal in {position:?}"
            );
            position = position.play(m);
        }
    }
}

const FENS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
];

/// Any bytes with a valid checksum are a network or an error. A network evaluates every position within its limits.
pub fn network(bytes: &[u8]) {
    let _ = Network::from_bytes(bytes);
    // A network is longer than most inputs, so that an input is repeated. A forger can also compute the checksum.
    let Some(length) = BYTES.checked_sub(8).filter(|_| !bytes.is_empty()) else {
        return;
    };
    let mut weights: Vec<u8> = bytes.iter().copied().cycle().take(length).collect();
    seal(&mut weights);
    let Ok(network) = Network::from_bytes(&weights) else {
        return;
    };
    for fen in FENS {
        let position: Position = fen.parse().expect("the position is valid");
        let score = network.evaluate(&position, &Accumulators::of_position(&network, &position));
        assert!(score.abs() < 100_000, "{score}");
    }
}
