//! Targets with the whole program.

use std::cmp::Reverse;
use std::io::{Seek, Write};
use std::slice::from_ref;
use std::sync::Arc;

use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::shakmaty::Chess;
use shelfish::table::{Manifest, Part, WriterOptions};
use shelfish_analysis::pgn::read_main_line;
use shelfish_cli::book::learning::Learning;
use shelfish_cli::commands::engine::{command::Command, options::Options};
use shelfish_cli::commands::refresh::Config;
use shelfish_cli::evaluations::parts::fragment::Fragment;
use shelfish_cli::evaluations::parts::lines;
use shelfish_cli::evaluations::parts::plan::{MAX_PARTS, Plan, PlanErrorKind};
use shelfish_cli::evaluations::record::{self, Record, parse_rows};
use shelfish_cli::evaluations::{OverLimit, payload};
use shelfish_cli::games::{Date, LeftOut, Range, Selection, Speed};
use shelfish_cli::input::lines::Text;
use shelfish_cli::input::parquet::Table;
use shelfish_cli::input::remote;

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

/// Any bytes are a line of a part or an error. A record with valid numbers is an error, or stays the same when it is written and
/// read again.
pub fn part(bytes: &[u8]) {
    let _ = lines::parse(bytes);
    let Some((&length, rest)) = bytes.split_first() else {
        return;
    };
    let Some((key, payload)) = rest.split_at_checked(length.into()) else {
        return;
    };
    // A forger can also compute the checksum.
    let mut line = String::new();
    lines::push(&mut line, 7, key, payload);
    assert_eq!(
        lines::parse(line.trim_end().as_bytes()),
        Ok((7, key.to_vec(), payload.to_vec()))
    );
    if payload::check(payload).is_err() {
        return;
    }
    let Ok((eval, _)) = payload::decode(key, payload) else {
        return;
    };
    assert_kept(from_ref(&eval));
}

/// Parses a plan. Adds the identifier if the text has none, because a forger can also compute it.
fn parse(text: &[u8]) -> Option<Plan> {
    match Plan::parse(text) {
        Ok(plan) => Some(plan),
        Err(PlanErrorKind::Id { expected, found }) if found.is_empty() => {
            let end = text.iter().rposition(|&byte| byte == b'}')?;
            Plan::parse(
                format!(
                    "{},\"id\":\"{expected}\"}}",
                    std::str::from_utf8(&text[..end]).ok()?
                )
                .as_bytes(),
            )
            .ok()
        }
        Err(_) => None,
    }
}

/// Any text is a plan or an error. Any fragment gives a manifest that readers accept, or an error. A zero byte separates the two
/// inputs.
pub fn plan(bytes: &[u8]) {
    let mut texts = bytes.splitn(2, |byte| *byte == 0);
    let (text, table) = (
        texts.next().unwrap_or_default(),
        texts.next().unwrap_or_default(),
    );
    let Some(plan) = parse(text) else { return };
    let written = serde_json::to_vec(&plan).expect("a plan is JSON");
    let again = Plan::parse(&written).expect("what was written can be read");
    assert_eq!((again.id(), &again), (plan.id(), &plan));
    assert!(plan.parts() <= MAX_PARTS);
    for (n, boundary) in plan.boundaries().iter().enumerate() {
        assert_eq!(plan.part_of(boundary), n + 1);
        assert!(plan.keys_of(n + 1).contains(boundary) && !plan.keys_of(n).contains(boundary));
    }

    let _ = Fragment::parse(table, &plan, 0);
    let Ok(table) = serde_json::from_slice::<Part>(table) else {
        return;
    };
    // A forger can also compute the checksum.
    let forged = Fragment::new(&plan, 0, table, OverLimit::default(), 0);
    let text = forged.to_bytes().expect("a fragment is JSON");
    let Ok(fragment) = Fragment::parse(&text, &plan, 0) else {
        return;
    };
    assert_eq!(fragment, forged);
    let options = WriterOptions::default().with_inline_page_bytes(plan.inline_page_bytes);
    let Ok(manifest) = Part::join::<PositionEval>([fragment.table], &options) else {
        return;
    };
    let written = manifest
        .to_bytes::<PositionEval>()
        .expect("a manifest is JSON");
    let again = Manifest::parse::<PositionEval>(&written).expect("what was joined can be read");
    assert!(again == manifest);
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

/// Any text has checksums or none.
pub fn sums(text: &str) {
    let mut sums = remote::checksums(text);
    assert!(sums.all(|(name, digits)| !name.is_empty() && digits.len() == 64));
    assert!(remote::sums_url(text).ends_with("sha256sums.txt"));
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

/// Any file is a learning book or is an error. A book has counts, moves of each position, and rows in their order.
pub fn learning(bytes: &[u8]) {
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

/// Any configuration of `shelfish refresh` is read, or is an error that names the file. Its build has its sources.
pub fn refresh(text: &str) {
    let mut file = tempfile::NamedTempFile::new().expect("a file in the temporary directory");
    file.write_all(text.as_bytes()).expect("a file is written");
    let path = file.path();
    match Config::read(path) {
        Ok(config) => {
            assert!(!config.sources.is_empty() && (0.0..=100.0).contains(&config.max_loss));
            let build = config.build_at(path, None);
            assert!(build.is_ok_and(|build| build.reads().len() >= config.sources.len()));
        }
        Err(error) => assert!(error.to_string().starts_with(&*path.to_string_lossy())),
    }
}
