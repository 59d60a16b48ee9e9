//! Any frame with a valid checksum is a page or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::table::{Chunk, KeyRange, Page, seal};

fuzz_target!(|frame: &[u8]| {
    let mut bytes = frame.to_vec();
    seal(&mut bytes);
    let start = 1 << 30;
    let at = Chunk {
        file: "fuzz".into(),
        range: start..start + bytes.len() as u64,
        keys: KeyRange::all(),
    };
    if let Ok(page) = Page::parse(&bytes, &at) {
        let blocks: Vec<Chunk> = page.blocks().collect();
        assert!(
            blocks.is_sorted_by(|a, b| a.keys.from < b.keys.from && a.range.end <= b.range.start)
        );
    }
});
