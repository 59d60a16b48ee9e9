//! Selection of the games and moves of a book.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use shelfish::played::SPEEDS;
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
    pub ratings: Option<RatingRange>,
    /// Speeds of the games; empty for all speeds.
    pub speeds: Vec<Speed>,
    /// The first date of games.
    pub since: Option<Date>,
    /// The last date of games.
    pub until: Option<Date>,
    /// Inputs whose games are used to their end with all positions.
    pub whole: Vec<Input>,
    /// Details in addition to results.
    pub details: Wanted,
}

impl Selection {
    /// Returns whether the ratings, the speed and the date of a game are selected. A game without a property that is
    /// selected is left out.
    pub fn contains(&self, game: &PgnGame) -> bool {
        let date = || Date::of(game);
        self.ratings.as_ref().is_none_or(|RatingRange(range)| {
            rating(game).is_some_and(|rating| range.contains(&rating))
        }) && (self.speeds.is_empty()
            || game
                .tag("TimeControl")
                .and_then(Speed::of)
                .is_some_and(|speed| self.speeds.contains(&speed)))
            && self.since.is_none_or(|since| date() >= Some(since))
            && self
                .until
                .is_none_or(|until| date().is_some_and(|date| date <= until.last()))
    }

    /// Returns the entries of the manifest for the selection.
    pub fn describe(&self) -> BTreeMap<String, String> {
        let max_plies = Some(self.max_plies).filter(|plies| *plies != usize::MAX);
        let min_games = Some(self.min_games).filter(|games| *games > 1);
        let mut speeds: Vec<usize> = self.speeds.iter().map(|speed| *speed as usize).collect();
        speeds.sort_unstable();
        speeds.dedup();
        let speeds: Vec<&str> = speeds.into_iter().map(|speed| SPEEDS[speed]).collect();
        let ratings = self.ratings.as_ref().map(RatingRange::to_string);
        [
            ("max_plies", max_plies.map(|plies| plies.to_string())),
            ("min_games", min_games.map(|games| games.to_string())),
            ("ratings", ratings),
            ("speeds", (!speeds.is_empty()).then(|| speeds.join(","))),
            ("since", self.since.map(|date| date.to_string())),
            ("until", self.until.map(|date| date.last().to_string())),
        ]
        .into_iter()
        .chain(self.details.describe())
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }
}

/// Inclusive range of ratings: `1600-2200`, `2000-`, `-1500`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RatingRange(RangeInclusive<u64>);

impl FromStr for RatingRange {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<RatingRange, SelectionError> {
        let range = || {
            let (least, most) = text.split_once('-').filter(|_| text != "-")?;
            let end = |text: &str, open| match text {
                "" => Some(open),
                text => text.parse::<u32>().ok().map(u64::from),
            };
            let (least, most) = (end(least, 0)?, end(most, u64::MAX)?);
            (least <= most).then_some(RatingRange(least..=most))
        };
        range().ok_or_else(|| SelectionError::Ratings(text.to_owned()))
    }
}

impl fmt::Display for RatingRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |end: u64, open| match end == open {
            true => String::new(),
            false => end.to_string(),
        };
        let (least, most) = (*self.0.start(), *self.0.end());
        write!(f, "{}-{}", shown(least, 0), shown(most, u64::MAX))
    }
}

/// Errors of texts that select games.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// The text is not a range of ratings.
    #[error("expected two ratings such as 1600-2200, 2000- or -1500, found {0:?}")]
    Ratings(String),
    /// The text is not a date.
    #[error("expected a date such as 2013, 2013-01 or 2013-01-31, found {0:?}")]
    Date(String),
}

/// Year, month and day; 0 if unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date([u16; 3]);

impl Date {
    /// Returns the date of a game.
    pub fn of(game: &PgnGame) -> Option<Date> {
        let date = |name| Date::of_pgn(game.tag(name)?);
        date("UTCDate").or_else(|| date("Date"))
    }

    /// Returns the year.
    pub fn year(self) -> u64 {
        self.0[0].into()
    }

    /// Parses a date of PGN, `2013.01.31`, with `??` for unknown parts.
    fn of_pgn(text: &str) -> Option<Date> {
        let mut parts = text.split('.');
        let mut number = |most: u16| {
            let part = parts.next().and_then(|part| part.trim().parse().ok());
            part.unwrap_or(0).min(most)
        };
        let date = [number(u16::MAX), number(12), number(31)];
        (date[0] > 0).then_some(Date(date))
    }

    /// Returns the last date of this year or month.
    fn last(self) -> Date {
        let [year, month, day] = self.0;
        let full = |part| if part == 0 { u16::MAX } else { part };
        Date([year, full(month), full(day)])
    }
}

impl FromStr for Date {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Date, SelectionError> {
        let numbers = text.split('-').map(str::parse);
        let numbers: Result<Vec<u16>, _> = numbers.collect();
        match numbers.as_deref() {
            Ok(&[year]) => Ok(Date([year, 0, 0])),
            Ok(&[year, month @ 1..=12]) => Ok(Date([year, month, 0])),
            Ok(&[year, month @ 1..=12, day @ 1..=31]) => Ok(Date([year, month, day])),
            _ => Err(SelectionError::Date(text.to_owned())),
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [year, month, day] = self.0;
        write!(f, "{year:04}")?;
        for part in [month, day] {
            if (1..=31).contains(&part) {
                write!(f, "-{part:02}")?;
            }
        }
        Ok(())
    }
}

/// Speed of a game: base time plus 40 increments, with the limits of Lichess
/// (<https://github.com/lichess-org/scalachess/blob/master/core/src/main/scala/Speed.scala>).
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
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
}

#[cfg(test)]
mod tests {
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
    fn invalid_ranges_and_dates_are_rejected() {
        for text in ["", "-", "5", "9-1", "a-b", "1-2-3"] {
            assert!(text.parse::<RatingRange>().is_err(), "{text}");
        }
        for text in ["", "x", "2013-13", "2013-01-32", "2013-01-01-01", "2013-0"] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
