//! Any bytes are a Polyglot book or an error. A walk ends, and returns legal moves, each position once.
#![no_main]

use std::collections::HashSet;

use libfuzzer_sys::fuzz_target;
use shelfish::polyglot::{PolyglotBook, Walk, code, keys};
use shelfish::position::Position;
use shelfish::shakmaty::{Chess, Position as _};

fuzz_target!(|bytes: &[u8]| {
    let Ok(book) = PolyglotBook::open(bytes) else {
        return;
    };
    let all = book.len();
    let mut walk = Walk::new(book, &[Position::from_chess(&Chess::default())]);
    let mut seen = HashSet::new();
    let mut used = 0;
    for (position, moves) in walk.by_ref() {
        assert!(!keys(&position).is_empty());
        for (m, _) in &moves {
            assert!(position.chess().is_legal(*m));
            let _ = code(*m);
        }
        used += moves.len();
        assert!(seen.insert(position));
    }
    assert!(walk.entries() <= all && used + walk.illegal() <= walk.entries());
});
