//! Selection of the games and moves of a book.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use shelfish::played::SPEEDS;
use shelfish::position::Position;
use shelfish_analysis::pgn::PgnGame;

use super::details::{Wanted, rating};
use crate::input::Input;

/// Selection of the games and moves of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Maximum number of moves of each game.
    pub max_plies: usize,
    /// Minimum number of games of a position.
    pub min_games: u64,
    /// Range of the mean rating of the players.
    pub ratings: Option<Range<u32>>,
    /// Speeds of the games; empty for all speeds.
    pub speeds: Vec<Speed>,
    /// Range of the dates of the games.
    pub dates: Option<Range<Date>>,
    /// Inputs whose games are used to their end with all positions.
    pub whole: Vec<Input>,
    /// Start positions of walks through Polyglot books; empty for the initial position.
    pub starts: Vec<Position>,
    /// Details in addition to results.
    pub details: Wanted,
}

impl Default for Selection {
    fn default() -> Selection {
        Selection {
            max_plies: 50,
            min_games: 1,
            ratings: None,
            speeds: Vec::new(),
            dates: None,
            whole: Vec::new(),
            starts: Vec::new(),
            details: Wanted::default(),
        }
    }
}

/// Inclusive range with optional bounds: `1600-2200`, `2000-`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<T> {
    /// Lower bound.
    pub least: Option<T>,
    /// Upper bound.
    pub most: Option<T>,
}

impl<T: PartialOrd> Range<T> {
    fn contains(&self, value: &T) -> bool {
        self.least.as_ref().is_none_or(|least| least <= value)
            && self.most.as_ref().is_none_or(|most| value <= most)
    }
}

impl FromStr for Range<u32> {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Range<u32>, SelectionError> {
        let error = || SelectionError::Range(text.to_owned());
        let (least, most) = text.split_once('-').ok_or_else(error)?;
        let end = |text: &str| {
            (!text.is_empty())
                .then(|| text.parse().map_err(|_| error()))
                .transpose()
        };
        let range = Range {
            least: end(least)?,
            most: end(most)?,
        };
        if range
            .least
            .zip(range.most)
            .is_some_and(|(least, most)| least > most)
            || text == "-"
        {
            return Err(error());
        }
        Ok(range)
    }
}

/// Errors of texts that select games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The text is not a range of ratings.
    #[error("expected two ratings such as 1600-2200, 2000- or -1500, found {0:?}")]
    Range(String),
    /// The text is not a date.
    #[error("expected a date such as 2013, 2013-01 or 2013-01-31, found {0:?}")]
    Date(String),
}

impl fmt::Display for Range<u32> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |end: Option<u32>| end.map_or_else(String::new, |end| end.to_string());
        write!(f, "{}-{}", end(self.least), end(self.most))
    }
}

/// Year, month and day; 0 if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Returns the date of a game.
    pub fn of(game: &PgnGame) -> Option<Date> {
        game.tag("UTCDate")
            .and_then(Date::of_pgn)
            .or_else(|| Date::of_pgn(game.tag("Date")?))
    }

    /// Returns the year.
    pub fn year(self) -> u64 {
        self.year.into()
    }

    /// Parses a date of PGN, `2013.01.31`, with `??` for unknown parts.
    fn of_pgn(text: &str) -> Option<Date> {
        let mut parts = text.split('.');
        let mut number = || {
            parts
                .next()
                .map(|part| part.trim().parse::<u16>().unwrap_or(0))
                .unwrap_or(0)
        };
        let (year, month, day) = (number(), number(), number());
        (year > 0).then(|| Date {
            year,
            month: month.min(12) as u8,
            day: day.min(31) as u8,
        })
    }

    /// Returns the last date of this year or month.
    pub fn last(self) -> Date {
        let full = |part: u8| if part == 0 { u8::MAX } else { part };
        let day = if self.month == 0 {
            u8::MAX
        } else {
            full(self.day)
        };
        Date {
            month: full(self.month),
            day,
            ..self
        }
    }
}

impl FromStr for Date {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Date, SelectionError> {
        let wrong = || SelectionError::Date(text.to_owned());
        let parts = text
            .split('-')
            .map(|part| part.parse::<u16>().map_err(|_| wrong()));
        let parts = parts.collect::<Result<Vec<u16>, SelectionError>>()?;
        let (year, month, day) = match parts[..] {
            [year] => (year, 0, 0),
            [year, month @ 1..=12] => (year, month, 0),
            [year, month @ 1..=12, day @ 1..=31] => (year, month, day),
            _ => return Err(wrong()),
        };
        Ok(Date {
            year,
            month: month as u8,
            day: day as u8,
        })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}", self.year)?;
        for part in [self.month, self.day] {
            if (1..=31).contains(&part) {
                write!(f, "-{part:02}")?;
            }
        }
        Ok(())
    }
}

/// Speed of a game: base time plus 40 increments, with the limits of Lichess
/// (<https://github.com/lichess-org/scalachess/blob/master/core/src/main/scala/Speed.scala>).
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[value(rename_all = "camelCase")]
pub enum Speed {
    /// Below 30 s
    UltraBullet,
    /// Below 180 s
    Bullet,
    /// Below 480 s
    Blitz,
    /// Below 1,500 s
    Rapid,
    /// Below 21,600 s
    Classical,
    /// More
    Correspondence,
}

impl Speed {
    const CUTS: [(u64, Speed); 5] = [
        (30, Speed::UltraBullet),
        (180, Speed::Bullet),
        (480, Speed::Blitz),
        (1_500, Speed::Rapid),
        (21_600, Speed::Classical),
    ];

    /// Returns the speed of a time control such as `180+2`. `-` has no speed.
    pub fn of(control: &str) -> Option<Speed> {
        if control == "-" {
            return Some(Speed::Correspondence);
        }
        let (base, increment) = control.split_once('+').unwrap_or((control, "0"));
        let (base, increment): (u64, u64) = (base.parse().ok()?, increment.parse().ok()?);
        let seconds = increment.checked_mul(40)?.checked_add(base)?;
        Some(
            Speed::CUTS
                .iter()
                .find(|(cut, _)| seconds < *cut)
                .map_or(Speed::Correspondence, |(_, speed)| *speed),
        )
    }

    fn name(self) -> &'static str {
        SPEEDS[self as usize]
    }
}

/// Reasons why a game is left out of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// The mean rating is outside of the range, or a rating is missing.
    Rating,
    /// The speed is not selected, or the time control is missing.
    Speed,
    /// The date is outside of the range or missing.
    Date,
}

impl LeftOut {
    /// Names of the reasons.
    pub const NAMES: [&'static str; 3] = ["rating", "speed", "date"];
}

impl Selection {
    /// Returns the reason why a game is left out.
    pub fn leaves_out(&self, game: &PgnGame) -> Option<LeftOut> {
        let mean = || rating(game).map(|mean| mean as u32);
        if self
            .ratings
            .is_some_and(|ratings| !mean().is_some_and(|mean| ratings.contains(&mean)))
        {
            return Some(LeftOut::Rating);
        }
        let speed = || Speed::of(game.tag("TimeControl")?);
        if !self.speeds.is_empty() && !speed().is_some_and(|speed| self.speeds.contains(&speed)) {
            return Some(LeftOut::Speed);
        }
        if self
            .dates
            .is_some_and(|dates| !Date::of(game).is_some_and(|date| dates.contains(&date)))
        {
            return Some(LeftOut::Date);
        }
        None
    }

    /// Returns whether properties of games are selected.
    pub fn chooses_games(&self) -> bool {
        let usual = Selection::default();
        let [own, usual] = [self, &usual].map(|selection| {
            let details = Wanted::default();
            Selection {
                min_games: 1,
                whole: Vec::new(),
                starts: Vec::new(),
                details,
                ..selection.clone()
            }
        });
        own != usual
    }

    /// Returns the entries of the manifest for the selection.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let mut speeds = self.speeds.clone();
        speeds.sort_unstable();
        speeds.dedup();
        let speeds: Vec<&str> = speeds.into_iter().map(Speed::name).collect();
        let date = |date: Option<Date>| date.map(|date| date.to_string());
        [
            (
                "max_plies",
                Some(self.max_plies.to_string()).filter(|_| self.max_plies != usize::MAX),
            ),
            (
                "min_games",
                Some(self.min_games.to_string()).filter(|_| self.min_games > 1),
            ),
            ("ratings", self.ratings.map(|ratings| ratings.to_string())),
            (
                "speeds",
                Some(speeds.join(",")).filter(|speeds| !speeds.is_empty()),
            ),
            ("since", date(self.dates.and_then(|dates| dates.least))),
            ("until", date(self.dates.and_then(|dates| dates.most))),
        ]
        .into_iter()
        .chain(self.details.describe())
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use shelfish_analysis::pgn::read_main_line;

    use super::*;

    #[test]
    fn speeds_have_the_limits_of_lichess() {
        for (control, speed) in [
            ("15+0", Some(Speed::UltraBullet)),
            ("29+0", Some(Speed::UltraBullet)),
            ("30", Some(Speed::Bullet)),
            ("60+2", Some(Speed::Bullet)),
            ("60+3", Some(Speed::Blitz)),
            ("479", Some(Speed::Blitz)),
            ("480", Some(Speed::Rapid)),
            ("900+15", Some(Speed::Classical)),
            ("21599", Some(Speed::Classical)),
            ("21600", Some(Speed::Correspondence)),
            ("-", Some(Speed::Correspondence)),
            ("?", None),
            ("40/9000", None),
            ("1+99999999999999999999", None),
        ] {
            assert_eq!(Speed::of(control), speed, "{control}");
        }
    }

    #[test]
    fn excluded_games_have_a_reason() -> Result<(), SelectionError> {
        let tags = "[WhiteElo \"2000\"]\n[BlackElo \"1800\"]\n[TimeControl \"180+2\"]\n[Date \"2013.02.??\"]\n\n";
        let game = read_main_line(&format!("{tags}1. e4 1-0"), 1);
        let with = |change: &dyn Fn(&mut Selection) -> Result<(), SelectionError>| {
            let mut selection = Selection::default();
            change(&mut selection).map(|()| selection)
        };
        let dates = |least: &str, most: &str| {
            let (least, most) = (least.parse()?, most.parse::<Date>()?.last());
            with(&|all| {
                let (least, most) = (Some(least), Some(most));
                all.dates = Some(Range { least, most });
                Ok(())
            })
        };
        let ratings = |range: &str| {
            with(&|all| {
                all.ratings = Some(range.parse()?);
                Ok(())
            })
        };
        let speed = |speed| {
            with(&|all| {
                all.speeds = vec![speed];
                Ok(())
            })
        };
        for (selection, expected) in [
            (Selection::default(), None),
            (ratings("1900-")?, None),
            (ratings("1901-")?, Some(LeftOut::Rating)),
            (speed(Speed::Blitz)?, None),
            (speed(Speed::Rapid)?, Some(LeftOut::Speed)),
            (dates("2013", "2013-02")?, None),
            (dates("2013-03", "2014")?, Some(LeftOut::Date)),
        ] {
            assert_eq!(selection.leaves_out(&game), expected, "{selection:?}");
        }
        Ok(())
    }

    #[test]
    fn invalid_ranges_and_dates_are_rejected() {
        for text in ["", "-", "5", "9-1", "a-b", "1-2-3"] {
            assert!(text.parse::<Range<u32>>().is_err(), "{text}");
        }
        for text in ["", "x", "2013-13", "2013-01-32", "2013-01-01-01", "2013-0"] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
