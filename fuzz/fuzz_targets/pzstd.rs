//! Any file that begins as `pzstd` writes it has the text that zstd reads of it, or ends with an error where zstd has one.
#![no_main]

use std::io::{Cursor, Read};

use libfuzzer_sys::fuzz_target;

// The program is too large to be built for coverage; what decodes the frames stands alone.
#[allow(dead_code)]
#[path = "../../build-tools/shelfish/src/build/frames.rs"]
mod frames;
#[allow(dead_code)]
#[path = "../../build-tools/shelfish/src/ordered.rs"]
mod ordered;

mod dump {
    /// As the program has it.
    pub const MAX_WINDOW_LOG: u32 = 27;
}

/// Enough of a text to compare.
const MOST: u64 = 1 << 20;

fn read(reader: impl Read) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let is_whole = reader.take(MOST).read_to_end(&mut text).is_ok();
    (text, is_whole)
}

/// What each header begins with.
const MARK: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0];

fuzz_target!(|bytes: &[u8]| {
    let file = [&MARK, bytes].concat();
    let (found, is_found_whole) = read(frames::Text::new(Cursor::new(file.clone()), 2));
    let mut decoder = zstd::Decoder::new(Cursor::new(file.clone())).expect("a decoder");
    decoder.window_log_max(dump::MAX_WINDOW_LOG).expect("a window");
    let (text, is_whole) = read(decoder);
    if is_whole {
        // A file that ends behind a header lacks its frame, of which zstd, which does not look into headers, knows nothing.
        let lacks_a_frame = file.len() >= 12 && file[file.len() - 12..].starts_with(&MARK);
        assert!(found == text && (is_found_whole || lacks_a_frame));
    } else {
        // What is damaged within a frame is told where it stands, so that more or less may come before.
        let both = text.len().min(found.len());
        assert!(found[..both] == text[..both]);
        // The one thing that a stream refuses and a frame in memory does not is a large window. It is all there, then.
        let is_all = || zstd::bulk::decompress(&file, MOST as usize).is_ok_and(|all| all == found);
        assert!(!is_found_whole || found.len() as u64 == MOST || is_all());
    }
});
