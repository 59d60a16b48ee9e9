//! Any file is a learning book or is an error. A book has counts, moves of each position, and rows in their order.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use shakmaty::Chess;
use shelfish::position::Position;
use shelfish_cli::book::learning::Learning;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a file in the temporary directory");
    file.write_all(bytes).expect("a file is written");
    let Ok(book) = Learning::open(file.path()) else {
        return;
    };
    let _ = book.counts();
    let _ = book.moves(&Position::from_chess(&Chess::default()));
    if let Ok(rows) = book.rows_behind("", "", 100) {
        assert!(rows.len() <= 100);
        for row in rows {
            assert!(row.to_bytes().len() >= row.position.len() + row.m.len() + 34);
        }
    }
    assert_eq!(
        std::fs::read(file.path()).expect("the file"),
        bytes,
        "a reader changes nothing"
    );
});
