//! Any file in Parquet is rows of positions or is an error. A row is a record or is rejected.
#![no_main]

use std::io::{Seek, Write};
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use shelfish::eval::PositionEval;
use shelfish_cli::evaluations::record::{Record, parse_rows};
use shelfish_cli::input::lines::Text;
use shelfish_cli::input::parquet::Table;

/// Maximum number of chunks that are read of a file. Each contains up to 4,096 rows.
const MOST_CHUNKS: usize = 20;

fuzz_target!(
    // The library panics on some damaged pages, and the program catches these panics. Other panics still end the target.
    init: std::panic::set_hook(Box::new(|_| {})),
    |bytes: &[u8]| {
        let mut file = tempfile::tempfile().expect("a file in the temporary directory");
        file.write_all(bytes).and_then(|()| file.rewind()).expect("a file is written");
        let Ok(table) = Table::open(file, Arc::default()) else { return };
        for chunk in table.chunks().take(MOST_CHUNKS) {
            let Ok(chunk) = chunk else { return };
            let Text::Rows(positions) = chunk.text else { panic!("a chunk of a table has rows") };
            for rows in positions {
                assert_eq!(rows.evaluations().iter().map(|rows| rows.len()).sum::<usize>(), rows.rows.len());
                if let Ok(Record { position, evaluations, .. }) = parse_rows(&rows) {
                    assert_eq!(PositionEval::fit(&position, &evaluations), evaluations.len(), "a record within its limits");
                }
            }
        }
    }
);
