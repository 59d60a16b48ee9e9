//! A criterion of a book leaves out a game for its reason only. Ranges and dates are read or rejected, and stay the same when they are
//! written and read again.
//!
//! The input is a line with a range or a date, and a game.
#![no_main]

use libfuzzer_sys::fuzz_target;
use shelfish_analysis::pgn::read_main_line;
use shelfish_cli::games::{Date, LeftOut, Range, Selection, Speed};

fuzz_target!(|text: &str| {
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
    let any = [
        Speed::UltraBullet,
        Speed::Bullet,
        Speed::Blitz,
        Speed::Rapid,
        Speed::Classical,
        Speed::Correspondence,
    ];
    for (selection, reason) in [
        (
            Selection {
                ratings: Some(Range {
                    least: Some(0),
                    most: None,
                }),
                ..all.clone()
            },
            LeftOut::Rating,
        ),
        (
            Selection {
                speeds: any.to_vec(),
                ..all.clone()
            },
            LeftOut::Speed,
        ),
        (
            Selection {
                dates: Some(Range {
                    least: None,
                    most: None,
                }),
                ..all.clone()
            },
            LeftOut::Date,
        ),
        (
            Selection {
                no_bots: true,
                ..all.clone()
            },
            LeftOut::Bot,
        ),
    ] {
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
});
