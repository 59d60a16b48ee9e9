//! Targets with the whole program.

use std::cmp::Reverse;
use std::io::{Seek, Write};
use std::sync::Arc;

use shelfish::eval::PositionEval;
use shelfish_analysis::pgn::read_main_line;
use shelfish_cli::commands::engine::{command::Command, options::Options};
use shelfish_cli::evaluations::record::{self, Record, parse_rows};
use shelfish_cli::games::{Date, LeftOut, Range, Selection, Speed};
use shelfish_cli::input::lines::Text;
use shelfish_cli::input::parquet::Table;

use crate::library::assert_kept;

/// Any line of a dump is a record or is rejected. The record of a line can be written, and is read as it was.
pub fn dump(line: &[u8]) {
    let Ok(Record {
        position,
        mut evaluations,
        ..
    }) = record::parse(line)
    else {
        return;
    };
    assert_eq!(
        PositionEval::fit(&position, &evaluations),
        evaluations.len(),
        "a record within its limits"
    );
    // A merge brings the evaluations into this order.
    evaluations.sort_by_key(|evaluation| {
        Reverse((evaluation.depth, evaluation.pvs.len(), evaluation.knodes))
    });
    let eval = PositionEval {
        position,
        evaluations,
    };
    assert_kept(&[eval]);
}

/// Any lines of a GUI are commands or are ignored. An option is set, or is an error and keeps its value.
pub fn uci(text: &str) {
    let mut options = Options::default();
    for line in text.lines() {
        match Command::parse(line) {
            Some(Command::SetOption { name, value }) => {
                let before = format!("{options:?}");
                if options.set(&name, &value).is_err() {
                    assert_eq!(format!("{options:?}"), before);
                }
            }
            Some(Command::Position {
                fen: Some(fen),
                moves,
            }) => {
                let _ = fen.parse::<shelfish_engine::Position>();
                assert!(moves.len() <= line.len());
            }
            _ => {}
        }
    }
}

const SPEEDS: [Speed; 6] = [
    Speed::UltraBullet,
    Speed::Bullet,
    Speed::Blitz,
    Speed::Rapid,
    Speed::Classical,
    Speed::Correspondence,
];

/// A criterion of a book leaves out a game for its reason only. Ranges and dates are read or rejected, and stay the same when they are
/// written and read again.
///
/// The input is a line with a range or a date, and a game.
pub fn games(text: &str) {
    let (line, pgn) = text.split_once('\n').unwrap_or((text, ""));
    if let Ok(range) = line.parse::<Range<u32>>() {
        assert_eq!(range.to_string().parse(), Ok(range));
    }
    if let Ok(date) = line.parse::<Date>() {
        assert_eq!(date.to_string().parse(), Ok(date));
        assert!(date <= date.last());
    }
    let game = read_main_line(pgn, 1);
    let all = Selection::default();
    assert_eq!(all.leaves_out(&game), None);
    let criteria: [(fn(&mut Selection), LeftOut); 4] = [
        (
            |all| {
                all.ratings = Some(Range {
                    least: Some(0),
                    most: None,
                })
            },
            LeftOut::Rating,
        ),
        (
            |all| {
                all.dates = Some(Range {
                    least: None,
                    most: None,
                })
            },
            LeftOut::Date,
        ),
        (|all| all.speeds = SPEEDS.to_vec(), LeftOut::Speed),
        (|all| all.no_bots = true, LeftOut::Bot),
    ];
    for (restrict, reason) in criteria {
        let mut selection = all.clone();
        restrict(&mut selection);
        assert!(
            selection
                .leaves_out(&game)
                .is_none_or(|found| found == reason)
        );
    }
    if let Some(date) = Date::of(&game) {
        let dates = Some(Range {
            least: Some(date),
            most: Some(date),
        });
        assert_eq!(Selection { dates, ..all }.leaves_out(&game), None);
    }
}

/// Maximum number of chunks that are read of a file. Each contains up to 4,096 rows.
const MOST_CHUNKS: usize = 20;

/// Any file in Parquet is rows of positions or is an error. A row is a record or is rejected.
///
/// The library panics on some damaged pages, and the program catches these panics.
pub fn parquet(bytes: &[u8]) {
    std::panic::set_hook(Box::new(|_| {}));
    let mut file = tempfile::tempfile().expect("a file in the temporary directory");
    file.write_all(bytes)
        .and_then(|()| file.rewind())
        .expect("a file is written");
    let Ok(table) = Table::open(file, Arc::default()) else {
        return;
    };
    for chunk in table.chunks().take(MOST_CHUNKS) {
        let Ok(chunk) = chunk else { return };
        let Text::Rows(positions) = chunk.text else {
            panic!("a chunk of a table has rows")
        };
        for rows in positions {
            assert_eq!(
                rows.evaluations()
                    .iter()
                    .map(|rows| rows.len())
                    .sum::<usize>(),
                rows.rows.len()
            );
            if let Ok(Record {
                position,
                evaluations,
                ..
            }) = parse_rows(&rows)
            {
                assert_eq!(
                    PositionEval::fit(&position, &evaluations),
                    evaluations.len(),
                    "a record within its limits"
                );
            }
        }
    }
}
