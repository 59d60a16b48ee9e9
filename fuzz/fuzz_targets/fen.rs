//! Any text is a position or an error. The FEN and the key of a position decode to the same position.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::position::{Key, Position};

fuzz_target!(|text: &str| {
    if let Ok(position) = text.parse::<Position>() {
        assert_eq!(position.to_string().parse(), Ok(position.clone()));
        assert_eq!(Key::decode(position.key().as_bytes()), Ok(position));
    }
});
