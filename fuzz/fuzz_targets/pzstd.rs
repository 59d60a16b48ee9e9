//! Any file that begins like a file of `pzstd` decodes to the text that zstd decodes, or fails if zstd fails.
#![no_main]

use std::io::{BufReader, Cursor, Read};

use libfuzzer_sys::fuzz_target;

#[path = "program/input.rs"]
mod input;
#[path = "program/system.rs"]
mod system;

use input::{frames, zstd_stream};

/// Maximum length of the compared texts.
const MOST: u64 = 1 << 20;

fn read(reader: impl Read) -> (Vec<u8>, bool) {
    let mut text = Vec::new();
    let is_whole = reader.take(MOST).read_to_end(&mut text).is_ok();
    (text, is_whole)
}

/// Magic number of each header.
const MARK: [u8; 8] = [0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0];

fuzz_target!(|bytes: &[u8]| {
    let file = [&MARK, bytes].concat();
    let (found, is_found_whole) = read(frames::Text::new(
        Cursor::new(file.clone()),
        2,
        zstd_stream::MAX_WINDOW_LOG,
    ));
    let mut decoder = zstd::Decoder::new(Cursor::new(file.clone())).expect("a decoder");
    decoder
        .window_log_max(zstd_stream::MAX_WINDOW_LOG)
        .expect("a window");
    let (text, is_whole) = read(decoder);
    if is_whole {
        // A file that ends after a header lacks a frame. zstd does not read headers and misses this.
        let lacks_a_frame = file.len() >= 12 && file[file.len() - 12..].starts_with(&MARK);
        assert!(found == text && (is_found_whole || lacks_a_frame));
    } else {
        // The two decoders may report damage in a frame after a different number of bytes.
        let both = text.len().min(found.len());
        assert!(found[..both] == text[..both]);
        // Only a large window is refused by the stream but not by the decoder in memory. The text is then complete.
        let is_all = || zstd::bulk::decompress(&file, MOST as usize).is_ok_and(|all| all == found);
        // zstd compares the content size of a frame that ends with an empty block only if the frame arrives at once.
        let is_all_in_pieces = || {
            let bytewise = BufReader::with_capacity(1, Cursor::new(file.clone()));
            let mut decoder = zstd::Decoder::with_buffer(bytewise).expect("a decoder");
            decoder
                .window_log_max(zstd_stream::MAX_WINDOW_LOG)
                .expect("a window");
            read(decoder) == (found.clone(), true)
        };
        assert!(!is_found_whole || found.len() as u64 == MOST || is_all() || is_all_in_pieces());
    }
});
