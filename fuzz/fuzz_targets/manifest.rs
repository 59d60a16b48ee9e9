//! Any bytes are a manifest or an error; a manifest is written as it was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::eval::Eval;
use shelfish::table::Manifest;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = Manifest::parse::<Eval>(bytes) {
        let again = manifest.to_bytes::<Eval>().expect("a manifest is JSON");
        assert_eq!(Manifest::parse::<Eval>(&again), Ok(manifest));
    }
});
