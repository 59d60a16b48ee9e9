//! Any bytes are the key of one position or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::position::Key;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(position) = Key::decode(bytes) {
        assert_eq!(position.key().as_bytes(), bytes);
    }
});
