//! Any bytes under a right checksum are a block or an error; the records of a block, written again, are the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::eval::Eval;
use shelfish::table::{Block, BlockRef, Chunk, encode_block};

fuzz_target!(|bytes: &[u8]| {
    let open = |bytes: &[u8]| Block::<Eval>::open(bytes, &BlockRef { chunk: Chunk::of("fuzz", 0, bytes), separator: Vec::new() });
    let Ok(block) = open(bytes) else { return };
    let Ok(records) = block.records().collect::<Result<Vec<Eval>, _>>() else { return };
    if let Ok(again) = encode_block(&records) {
        let again = open(&again.bytes).expect("what was written can be read");
        assert_eq!(again.records().collect::<Result<Vec<Eval>, _>>(), Ok(records));
    }
});
