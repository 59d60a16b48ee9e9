//! Any bytes with a valid checksum are a network or an error. A network evaluates every position within its limits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish_engine::Position;
use shelfish_engine::network::{Accumulators, BYTES, Network, seal};

const FENS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 b - - 0 1",
];

fuzz_target!(|bytes: &[u8]| {
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
});
