//! Filters of the opening explorer, as buckets of a book.

use std::collections::BTreeSet;
use std::fmt;

use shelfish::played::{Bucketing, SPEEDS};

/// Lowest ratings of the groups of Lichess. A group ends below the next group.
const RATINGS: [u64; 9] = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

/// A month: a year, and the number of the month from 1.
type Month = (u64, u64);

/// The games that a question wants.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Wanted speeds; `None` for all.
    speeds: Option<Vec<&'static str>>,
    /// Lowest ratings of the wanted groups; `None` for all.
    ratings: Option<Vec<u64>>,
    /// First month.
    since: Option<Month>,
    /// Last month.
    until: Option<Month>,
}

/// A value that is not valid for a parameter.
#[derive(Debug, PartialEq, Eq)]
pub struct FilterError {
    /// Expected values.
    pub expected: String,
    /// The wrong value.
    pub found: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {:?}", self.expected, self.found)
    }
}

impl std::error::Error for FilterError {}

/// Reads a list of values, separated by commas. A list of no or of all values filters nothing.
fn list<T: Copy + ToString>(text: &str, known: &[T]) -> Result<Option<Vec<T>>, FilterError> {
    let mut wanted = BTreeSet::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        let found = known.iter().position(|value| value.to_string() == word);
        let expected = || {
            known
                .iter()
                .map(T::to_string)
                .collect::<Vec<_>>()
                .join(", ")
        };
        wanted.insert(found.ok_or_else(|| FilterError {
            expected: expected(),
            found: word.to_owned(),
        })?);
    }
    let is_filter = !wanted.is_empty() && wanted.len() < known.len();
    Ok(is_filter.then(|| {
        wanted
            .into_iter()
            .filter_map(|n| known.get(n).copied())
            .collect()
    }))
}

/// Reads a year, or a year and a month. `whole` is the month of a year alone.
fn month(text: &str, whole: u64) -> Result<Option<Month>, FilterError> {
    let digits =
        |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    let (year, month) = text.split_once('-').unwrap_or((text, ""));
    let number = if month.is_empty() && !text.contains('-') {
        Some(whole)
    } else {
        month.parse().ok()
    };
    match number
        .filter(|number| (1..=12).contains(number) && (month.is_empty() || digits(month, 2)))
    {
        _ if text.is_empty() => Ok(None),
        Some(number) if digits(year, 4) => Ok(year.parse().ok().map(|year| (year, number))),
        _ => Err(FilterError {
            expected: "a year or a month such as 2016-01".to_owned(),
            found: text.to_owned(),
        }),
    }
}

impl Filter {
    /// Reads a parameter. Returns whether the parameter is part of a filter.
    pub fn read(&mut self, name: &str, value: &str) -> Result<bool, FilterError> {
        match name {
            "speeds" => self.speeds = list(value, &SPEEDS)?,
            "ratings" => self.ratings = list(value, &RATINGS)?,
            "since" => self.since = month(value, 1)?,
            "until" => self.until = month(value, 12)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the numbers of the buckets with wanted games, and the names of the parameters that divide a bucket: all games
    /// of the bucket count. A book without buckets has all games in bucket 0.
    pub fn buckets(&self, buckets: Option<&Bucketing>) -> (Vec<usize>, BTreeSet<&'static str>) {
        let mut inexact = BTreeSet::new();
        let count = buckets.map_or(1, Bucketing::count);
        let chosen = (0..count)
            .filter(|n| self.wants(buckets, *n, &mut inexact))
            .collect();
        (chosen, inexact)
    }

    fn wants(
        &self,
        buckets: Option<&Bucketing>,
        n: usize,
        inexact: &mut BTreeSet<&'static str>,
    ) -> bool {
        let mut divided = Vec::new();
        let speed = |n| buckets.and_then(|buckets| buckets.speed(n));
        let ratings = |n| buckets.and_then(|buckets| buckets.ratings(n));
        let years = |n| buckets.and_then(|buckets| buckets.years(n));
        // A bucket without a value has games of all values, or of an unknown value if other buckets have a value.
        let others = || 0..buckets.map_or(1, Bucketing::count);
        if let Some(wanted) = &self.speeds {
            match speed(n) {
                Some(speed) if !wanted.contains(&speed) => return false,
                None if others().any(|n| speed(n).is_some()) => return false,
                Some(_) => {}
                None => divided.push("speeds"),
            }
        }
        if let Some(wanted) = &self.ratings {
            if ratings(n).is_none() && others().any(|n| ratings(n).is_some()) {
                return false;
            }
            let (least, most) = ratings(n).unwrap_or_default();
            let ends = RATINGS.iter().skip(1).copied().chain([u64::MAX]);
            let overlaps = |(group, end): &(u64, u64)| {
                *group <= most.unwrap_or(u64::MAX) && *end > least.unwrap_or(0)
            };
            let groups: Vec<u64> = RATINGS
                .into_iter()
                .zip(ends)
                .filter(overlaps)
                .map(|(group, _)| group)
                .collect();
            if !groups.iter().any(|group| wanted.contains(group)) {
                return false;
            }
            if !groups.iter().all(|group| wanted.contains(group)) {
                divided.push("ratings");
            }
        }
        if self.since.is_some() || self.until.is_some() {
            if years(n).is_none() && others().any(|n| years(n).is_some()) {
                return false;
            }
            let (first, last) = years(n).unwrap_or_default();
            let (from, to) = (
                first.map_or((0, 0), |year| (year, 1)),
                last.map_or((u64::MAX, 12), |year| (year, 12)),
            );
            if self.since.is_some_and(|since| to < since)
                || self.until.is_some_and(|until| from > until)
            {
                return false;
            }
            if self.since.is_some_and(|since| from < since) {
                divided.push("since");
            }
            if self.until.is_some_and(|until| to > until) {
                divided.push("until");
            }
        }
        inexact.extend(divided);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(parameters: &[(&str, &str)]) -> Result<Filter, FilterError> {
        let mut filter = Filter::default();
        for (name, value) in parameters {
            assert!(filter.read(name, value)?, "{name}");
        }
        Ok(filter)
    }

    #[test]
    fn filters_that_follow_the_buckets_are_exact() -> Result<(), Box<dyn std::error::Error>> {
        let buckets: Bucketing = "speeds,2000,since2010".parse()?;
        let names = |parameters: &[(&str, &str)]| -> Result<(Vec<String>, Vec<&str>), FilterError> {
            let (chosen, inexact) = filter(parameters)?.buckets(Some(&buckets));
            Ok((
                chosen.into_iter().map(|n| buckets.name(n)).collect(),
                inexact.into_iter().collect(),
            ))
        };
        let exact = [
            ("speeds", "blitz"),
            ("ratings", "2000,2200,2500"),
            ("since", "2010"),
            ("until", ""),
        ];
        assert_eq!(
            names(&exact)?,
            (vec!["blitz 2000-, years 2010-".to_owned()], vec![])
        );
        let divided = [
            ("speeds", "blitz"),
            ("ratings", "1800,2000"),
            ("since", "2008-03"),
            ("until", "2009-12"),
        ];
        let expected = vec![
            "blitz -1999, years -2009".to_owned(),
            "blitz 2000-, years -2009".to_owned(),
        ];
        assert_eq!(names(&divided)?, (expected, vec!["ratings", "since"]));
        Ok(())
    }

    #[test]
    fn a_list_of_all_values_wants_all_games_of_every_book() -> Result<(), FilterError> {
        let speeds = SPEEDS.join(",");
        let all = filter(&[
            ("speeds", &speeds),
            ("ratings", "0,1000,1200,1400,1600,1800,2000,2200,2500,"),
        ])?;
        assert_eq!(all, Filter::default());
        assert_eq!(all.buckets(None), (vec![0], BTreeSet::new()));
        let some = filter(&[("speeds", "blitz"), ("until", "2012-01")])?;
        assert_eq!(
            some.buckets(None),
            (vec![0], BTreeSet::from(["speeds", "until"]))
        );
        Ok(())
    }

    #[test]
    fn unknown_values_are_refused() {
        for (name, value) in [
            ("speeds", "fast"),
            ("ratings", "1700"),
            ("since", "12"),
            ("until", "2012-13"),
            ("since", "2012-"),
            ("since", "2012-1"),
        ] {
            assert!(
                filter(&[(name, value)]).is_err_and(|error| error.found == value),
                "{name}={value}"
            );
        }
    }
}
