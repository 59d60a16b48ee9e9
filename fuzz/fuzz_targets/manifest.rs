//! Any text with a valid checksum is a manifest or an error. A written manifest is read and written again without a change.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish::eval::PositionEval;
use shelfish::table::Manifest;
use twox_hash::XxHash64;

fuzz_target!(|body: &str| {
    let sum = XxHash64::oneshot(0, body.as_bytes());
    let text = format!("{body},\"checksum\":\"{sum:016x}\"}}\n");
    if let Ok(manifest) = Manifest::parse::<PositionEval>(text.as_bytes()) {
        let written = manifest
            .to_bytes::<PositionEval>()
            .expect("a manifest is JSON");
        let again =
            Manifest::parse::<PositionEval>(&written).expect("what was written can be read");
        assert_eq!(
            again
                .to_bytes::<PositionEval>()
                .expect("a manifest is JSON"),
            written
        );
        assert!(again.pages().eq(manifest.pages()));
    }
});
