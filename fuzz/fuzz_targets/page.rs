//! Any bytes under a right checksum are a page or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::table::{Chunk, Page, PageRef};

fuzz_target!(|bytes: &[u8]| {
    let start = 1 << 30;
    let chunk = Chunk::of("fuzz", start, bytes);
    if let Ok(page) = Page::parse(bytes, &PageRef { chunk, separator: Vec::new() }) {
        assert!(page.blocks().is_sorted_by(|a, b| a.separator < b.separator && a.chunk.range.end <= b.chunk.range.start));
    }
});
