//! Any bytes with a valid checksum are an index of endgame tables or an error. A decoded index is encoded again without a change.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish_endgames::{Index, TableName};
use twox_hash::XxHash64;

fuzz_target!(|body: &[u8]| {
    let mut bytes = [b"endgames1", body].concat();
    bytes.extend(XxHash64::oneshot(0, &bytes).to_le_bytes());
    if let Ok(index) = Index::decode(&bytes) {
        let encoded = index.encode();
        let again = Index::decode(&encoded).expect("an index that was encoded is decoded");
        assert_eq!(again, index);
        assert!(index.tables().is_sorted_by(|a, b| a.name < b.name));
    }
    let text = String::from_utf8_lossy(body);
    if let Ok(name) = text.parse::<TableName>() {
        assert_eq!(name.to_string(), text);
    }
});
