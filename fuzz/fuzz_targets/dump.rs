//! Any line of a dump is a record or is rejected. The record of a line can be written, and is read as it was.
#![no_main]

use std::cmp::Reverse;

use libfuzzer_sys::fuzz_target;
use shelfish::eval::PositionEval;
use shelfish::table::{Block, Chunk, KeyRange, encode_block};

#[path = "program/build.rs"]
mod build;
#[path = "program/dump.rs"]
mod dump;
#[path = "program/rows.rs"]
mod input;
#[path = "program/terminal.rs"]
mod terminal;

use dump::record::{self, Record};

fuzz_target!(|line: &[u8]| {
    let Ok(Record {
        position,
        mut evaluations,
        ..
    }) = record::parse(line)
    else {
        return;
    };
    assert_eq!(
        PositionEval::fit(&position, &evaluations),
        evaluations.len(),
        "a record within its limits"
    );
    // A merge brings the evaluations into this order.
    evaluations.sort_by_key(|evaluation| {
        Reverse((evaluation.depth, evaluation.pvs.len(), evaluation.knodes))
    });
    let eval = PositionEval {
        position,
        evaluations,
    };
    let block = encode_block(std::slice::from_ref(&eval)).expect("a record can be written");
    let at = Chunk {
        file: "fuzz".into(),
        range: 0..block.bytes.len() as u64,
        keys: KeyRange::all(),
    };
    let block = Block::open(&block.bytes, &at).expect("what was written is read");
    assert_eq!(block.find(&eval.position), Ok(Some(eval)));
});
