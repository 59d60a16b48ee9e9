//! Targets of the crate `shelfish-endgames`.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use shelfish::source::memory::Memory;
use shelfish_endgames::{Endgames, Index, IndexBuilder, TableError, TableName, parse_fen};
use twox_hash::XxHash64;

/// Any bytes with a valid checksum are an index of endgame tables or an error. A decoded index is encoded again without a change.
pub fn index(body: &[u8]) {
    let mut bytes = [b"endgames1", body].concat();
    bytes.extend(XxHash64::oneshot(0, &bytes).to_le_bytes());
    if let Ok(index) = Index::decode(&bytes) {
        let encoded = index.encode();
        let again = Index::decode(&encoded).expect("an index that was encoded is decoded");
        assert_eq!(again, index);
        let names = index.tables().iter().map(|table| table.name.to_string());
        assert!(names.is_sorted_by(|a, b| a < b));
    }
    let text = String::from_utf8_lossy(body);
    if let Ok(name) = text.parse::<TableName>() {
        assert_eq!(name.to_string(), text);
    }
}

/// Names of tables, and positions.
const TABLES: [(&str, [&str; 2]); 3] = [
    (
        "KQvK.rtbw",
        [
            "8/8/8/4k3/8/8/8/1Q2K3 w - - 0 1",
            "8/8/8/4k3/8/8/8/1Q2K3 b - - 0 1",
        ],
    ),
    ("KPvK.rtbw", PAWNS),
    ("KPvK.rtbz", PAWNS),
];
const PAWNS: [&str; 2] = [
    "8/8/8/8/3k4/8/4P3/4K3 w - - 0 1",
    "8/8/2k5/6P1/8/8/8/4K3 b - - 0 1",
];
/// A table of results for the tables of distances.
const RESULTS: (&str, &[u8]) = (
    "KPvK.rtbw",
    include_bytes!("../../static-shards/endgames/KPvK.rtbw"),
);
/// Maximum length of a table in bytes.
const MAX: u64 = 1 << 18;

/// Any bytes after the first bytes of a table are a table or an error. A probe of a table gives a result or an error.
pub fn table(input: &[u8]) {
    let Some((choice, body)) = input.split_first() else {
        return;
    };
    let (name, fens) = TABLES[usize::from(*choice) % TABLES.len()];
    let table: TableName = name.parse().expect("the name is valid");
    let first: [u8; 4] = if name.ends_with('w') {
        [0x71, 0xe8, 0x23, 0x5d]
    } else {
        [0xd7, 0x66, 0x0c, 0xa5]
    };
    let mut bytes = [&first, body].concat();
    // The length that the header announces. An input rarely has it.
    bytes.resize(bytes.len().next_multiple_of(64) + 16, 0);
    let mut builder = IndexBuilder::default();
    if let Err(TableError::Data { expected, .. }) = builder.add(&table, &bytes)
        && expected <= MAX
    {
        bytes.resize(expected as usize, 0);
    }
    builder
        .add(&RESULTS.0.parse().expect("the name is valid"), RESULTS.1)
        .expect("the table is valid");
    if builder.add(&table, &bytes).is_err() {
        return;
    }
    let files = [
        (RESULTS.0.to_string(), RESULTS.1.to_vec()),
        (name.to_string(), bytes),
    ];
    let endgames = Endgames::new(Memory::new(files), builder.finish().0, None);
    for fen in fens {
        let chess = parse_fen(fen).expect("the position is valid");
        let probe = pin!(endgames.probe(&chess)).poll(&mut Context::from_waker(Waker::noop()));
        assert!(
            matches!(probe, Poll::Ready(_)),
            "a source in memory answers at once"
        );
    }
}
