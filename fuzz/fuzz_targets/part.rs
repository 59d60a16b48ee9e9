//! Any bytes are a line of a part or an error. A record with valid numbers is an error, or stays the same when it is written and
//! read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::table::{Block, Chunk, KeyRange, encode_block};

#[path = "program/build.rs"]
mod build;
#[path = "program/evaluations.rs"]
mod evaluations;
#[path = "program/terminal.rs"]
mod terminal;

use evaluations::parts::lines;
use evaluations::payload;

fuzz_target!(|bytes: &[u8]| {
    let _ = lines::parse(bytes);
    let Some((&length, rest)) = bytes.split_first() else {
        return;
    };
    let Some((key, payload)) = rest.split_at_checked(length.into()) else {
        return;
    };
    // A forger can also compute the checksum.
    let mut line = String::new();
    lines::push(&mut line, 7, key, payload);
    assert_eq!(
        lines::parse(line.trim_end().as_bytes()),
        Ok((7, key.to_vec(), payload.to_vec()))
    );
    if payload::check(payload).is_err() {
        return;
    }
    let Ok((eval, _)) = payload::decode(key, payload) else {
        return;
    };
    let Ok(block) = encode_block(std::slice::from_ref(&eval)) else {
        return;
    };
    let at = Chunk {
        file: "fuzz".into(),
        range: 0..block.bytes.len() as u64,
        keys: KeyRange::all(),
    };
    let block = Block::open(&block.bytes, &at).expect("what was written is read");
    assert_eq!(block.find(&eval.position), Ok(Some(eval)));
});
