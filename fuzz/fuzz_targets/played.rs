//! Any frame with a valid checksum is a block of played moves or an error. The records of a block stay the same when they are
//! written again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::played::Played;
use shelfish::table::{Block, Chunk, KeyRange, TableError, encode_block, seal};

fuzz_target!(|frame: &[u8]| {
    let open = |bytes: &[u8]| -> Result<Block<Played>, TableError> {
        Block::open(
            bytes,
            &Chunk {
                file: "fuzz".into(),
                range: 0..bytes.len() as u64,
                keys: KeyRange::all(),
            },
        )
    };
    let mut bytes = frame.to_vec();
    seal(&mut bytes);
    let Ok(block) = open(&bytes) else { return };
    let Ok(records) = block.records().collect::<Result<Vec<Played>, _>>() else {
        return;
    };
    for record in &records {
        assert!(record.results().is_some_and(|results| results.games() > 0));
    }
    if let Ok(again) = encode_block(&records) {
        let again = open(&again.bytes).expect("what was written can be read");
        assert_eq!(
            again.records().collect::<Result<Vec<Played>, _>>(),
            Ok(records)
        );
    }
});
