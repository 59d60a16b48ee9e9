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

    /// Parses a date of PGN, `2013.01.31`, with `??` for unknown parts, and dates as people write them: `2013-01-31`, `20130131`,
    /// `31.01.2013`, `1/31/2013`, `2013.01`, `01.2013`. If month and day could be swapped, both are unknown.
    fn of_pgn(text: &str) -> Option<Date> {
        let text = text.trim();
        let compact = number(text).filter(|n| (10_000_000..100_000_000).contains(n));
        let compact = compact.map(|n| [n / 10_000, n / 100 % 100, n % 100].map(Some).to_vec());
        let parts = text.split(|c: char| !c.is_alphanumeric() && c != '?');
        let parts = parts.filter(|part| !part.is_empty()).take(3);
        let unknown = |part: &str| part.starts_with('?').then_some(0);
        let parts =
            compact.unwrap_or_else(|| parts.map(|part| number(part).or(unknown(part))).collect());
        let year = parts.iter().flatten().find(|n| YEARS.contains(*n))?;
        let (month, day) = match parts[..] {
            [Some(first), ref rest @ ..] if first == *year => {
                let part = |n| rest.get(n).copied().flatten().unwrap_or(0);
                (part(0), part(1))
            }
            [Some(month), _] => (month, 0),
            [Some(month), Some(day @ 13..=31), _] => (month, day),
            [Some(day), Some(month), _] if text.contains('.') || day > 12 || day == month => {
                (month, day)
            }
            _ => (0, 0),
        };
        let month = Some(month).filter(|month| (1..=12).contains(month));
        let day = Some(day).filter(|day| month.is_some() && (1..=31).contains(day));
        let date = [*year, month.unwrap_or(0), day.unwrap_or(0)];
        Some(Date(date.map(|part| part as u16)))
    }

    /// Returns the last date of this year or month.
    fn last(self) -> Date {
        let [year, month, day] = self.0;
        let full = |part| if part == 0 { u16::MAX } else { part };
        Date([year, full(month), full(day)])
    }
}

/// Years in which games were played. Other numbers are no year.
const YEARS: RangeInclusive<u64> = 1_000..=2_999;

/// Returns the number at the beginning of a text.
pub(super) fn number(text: &str) -> Option<u64> {
    let is_other = |c: char| !c.is_ascii_digit();
    text[..text.find(is_other).unwrap_or(text.len())]
        .parse()
        .ok()
}

impl FromStr for Date {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Date, SelectionError> {
        let numbers = text.split('-').map(str::parse);
        let numbers: Result<Vec<u16>, _> = numbers.collect();
        let numbers = numbers
            .ok()
            .filter(|numbers| YEARS.contains(&numbers[0].into()));
        match numbers.as_deref() {
            Some(&[year]) => Ok(Date([year, 0, 0])),
            Some(&[year, month @ 1..=12]) => Ok(Date([year, month, 0])),
            Some(&[year, month @ 1..=12, day @ 1..=31]) => Ok(Date([year, month, day])),
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
    const CUTS: [(f64, Speed); 5] = [
        (30.0, Speed::UltraBullet),
        (180.0, Speed::Bullet),
        (480.0, Speed::Blitz),
        (1_500.0, Speed::Rapid),
        (21_600.0, Speed::Classical),
    ];

    /// Returns the speed of a time control such as `180+2`, `40/7200:3600` or `*180`: the seconds for 40 moves. `-` is a game
    /// without a clock.
    pub fn of(control: &str) -> Option<Speed> {
        let control = control.trim();
        if control == "-" {
            return Some(Speed::Correspondence);
        }
        let number = |text: &str| {
            let is_plain = text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.');
            let number = text.parse::<f64>().ok().filter(|_| is_plain)?;
            (number < 1e9).then_some(number)
        };
        let (mut seconds, mut left) = (0.0, 40.0);
        let mut periods = control.trim_start_matches('*').split(':').peekable();
        while let Some(period) = periods.next() {
            let (moves, time) = period.split_once('/').unwrap_or(("1000", period));
            let (base, increment) = time.split_once('+').unwrap_or((time, "0"));
            let (moves, base, increment) = (number(moves)?, number(base)?, number(increment)?);
            // Such a time is written in minutes or hours.
            if moves < 1.0 || base + increment == 0.0 {
                return None;
            }
            // The last period is repeated.
            let most = if periods.peek().is_some() { 1.0 } else { 40.0 };
            let times = f64::min((left / moves).ceil(), most);
            let played = f64::min(times * moves, left);
            seconds += times * base + played * increment;
            left -= played;
        }
        let mut cuts = Speed::CUTS.iter();
        let speed = cuts.find(|(cut, _)| seconds < *cut);
        Some(speed.map_or(Speed::Correspondence, |(_, speed)| *speed))
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
            ("10+0.1", Some(Speed::UltraBullet)),
            ("60+0.6", Some(Speed::Bullet)),
            ("*180", Some(Speed::Blitz)),
            ("0+1", Some(Speed::Bullet)),
            (" 300+0 ", Some(Speed::Blitz)),
            ("20/300:300", Some(Speed::Rapid)),
            ("40/300:300", Some(Speed::Blitz)),
            ("40/9000", Some(Speed::Classical)),
            ("10/600", Some(Speed::Classical)),
            ("40/7200:3600", Some(Speed::Classical)),
            ("40/5400+30:1800+30", Some(Speed::Classical)),
            ("40/7200:20/3600:900+30", Some(Speed::Classical)),
            ("1/86400", Some(Speed::Correspondence)),
            ("1+99999999999999999999", None),
            ("40/2:00:00", None),
            ("1:30:00", None),
            ("0/180", None),
            ("0", None),
            ("?", None),
            ("", None),
            ("inf", None),
            ("180+", None),
            ("1e3", None),
            ("-180", None),
            ("blitz", None),
        ] {
            assert_eq!(Speed::of(control), speed, "{control}");
        }
    }

    #[test]
    fn dates_are_read_as_people_write_them() {
        for (text, date) in [
            ("2022.06.22", "2022-06-22"),
            ("2022-06-22", "2022-06-22"),
            ("2022/6/22", "2022-06-22"),
            ("2022-06-22T18:30:00Z", "2022-06-22"),
            ("2022.06.22 18:30", "2022-06-22"),
            ("20220622", "2022-06-22"),
            ("22.06.2022", "2022-06-22"),
            ("1.2.2022", "2022-02-01"),
            ("22-6-2022", "2022-06-22"),
            ("22/06/2022", "2022-06-22"),
            ("06/22/2022", "2022-06-22"),
            ("01/02/2022", "2022"),
            ("2022.06", "2022-06"),
            ("2022.06.??", "2022-06"),
            ("??.06.2022", "2022-06"),
            ("06/2022", "2022-06"),
            ("2022", "2022"),
            ("2022.??.22", "2022"),
            ("2022.13.05", "2022"),
            ("2022.06.32", "2022-06"),
            ("22 June 2022", "2022"),
            ("June 5, 2022", "2022"),
            ("January 2022", "2022"),
            ("22.06.22", ""),
            ("22", ""),
            ("0022.01.01", ""),
            ("99999", ""),
            ("9999.01.01", ""),
            ("????.??.??", ""),
            ("20229999", "2022"),
            ("é.2022.06", "2022"),
            ("", ""),
        ] {
            let found = Date::of_pgn(text).map(|date| date.to_string());
            assert_eq!(found.unwrap_or_default(), date, "{text}");
        }
    }

    #[test]
    fn invalid_ranges_and_dates_are_rejected() {
        for text in ["", "-", "5", "9-1", "a-b", "1-2-3"] {
            assert!(text.parse::<RatingRange>().is_err(), "{text}");
        }
        for text in [
            "",
            "x",
            "22",
            "2013-13",
            "2013-01-32",
            "2013-01-01-01",
            "2013-0",
        ] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
