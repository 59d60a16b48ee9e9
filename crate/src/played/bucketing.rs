//! The division of a book's games into buckets: by speed, by rating and by year.

use core::fmt;
use core::str::FromStr;

use super::results::Bucket;

/// The speeds of games, from the fastest, as Lichess calls them.
pub const SPEEDS: [&str; 6] = [
    "ultraBullet",
    "bullet",
    "blitz",
    "rapid",
    "classical",
    "correspondence",
];

/// The buckets of a book, ordered by speed, then by range of ratings, then by period. The last speed is for games without a
/// time control, the last range for games without ratings, the last period for games without a date.
///
/// Its text consists of the word `speeds`, if the buckets depend on speed, the lowest ratings of the ranges, and the first years
/// of the periods: `speeds,1600,2000,since1990`.
///
/// ```
/// use shelfish::played::Bucketing;
///
/// let buckets: Bucketing = "speeds,1600,2000".parse()?;
/// assert_eq!(buckets.count(), 7 * 4);
/// let blitz = buckets.of(Some(2), Some(1999), None);
/// assert_eq!((blitz, buckets.name(blitz)), (9, "blitz 1600-1999".to_owned()));
/// assert_eq!(buckets.name(buckets.of(None, None, None)), "no speed, no rating");
/// let periods: Bucketing = "since1990,since2010".parse()?;
/// assert_eq!(periods.name(periods.of(None, None, Some(2009))), "years 1990-2009");
/// # Ok::<(), shelfish::played::BucketingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucketing {
    by_speed: bool,
    /// Ratings at which a band begins, ascending; the first band is below all.
    cuts: Vec<u64>,
    /// Years at which a period begins, ascending; the first period is before all.
    years: Vec<u64>,
}

/// Returns the number of ranges between cuts. The last range is for unknown numbers, if there are cuts.
fn ranges(cuts: &[u64]) -> usize {
    if cuts.is_empty() { 1 } else { cuts.len() + 2 }
}

/// Returns the range of a number.
fn range_of(cuts: &[u64], number: Option<u64>) -> usize {
    match number {
        _ if cuts.is_empty() => 0,
        None => cuts.len() + 1,
        Some(number) => cuts.partition_point(|cut| *cut <= number),
    }
}

/// Returns the lowest and the highest number of a range, if they are bounded; `None` if there are no cuts, or for unknown numbers.
fn ends(cuts: &[u64], range: usize) -> Option<(Option<u64>, Option<u64>)> {
    let least = range
        .checked_sub(1)
        .and_then(|range| cuts.get(range))
        .copied();
    let most = cuts.get(range).map(|cut| cut - 1);
    (least.is_some() || most.is_some())
        .then_some((least, most))
        .filter(|_| range <= cuts.len())
}

/// Returns the text of a range.
fn range_name((least, most): (Option<u64>, Option<u64>)) -> String {
    let end = |end: Option<u64>| end.map_or_else(String::new, |end| end.to_string());
    format!("{}-{}", end(least), end(most))
}

impl Bucketing {
    /// Returns the number of buckets.
    pub fn count(&self) -> usize {
        self.speeds() * ranges(&self.cuts) * ranges(&self.years)
    }

    fn speeds(&self) -> usize {
        if self.by_speed { SPEEDS.len() + 1 } else { 1 }
    }

    /// Returns the bucket of a game of a speed, by its number in [`SPEEDS`], of a rating, and of a year.
    pub fn of(&self, speed: Option<usize>, rating: Option<u64>, year: Option<u64>) -> usize {
        let speed = if self.by_speed {
            speed.unwrap_or(SPEEDS.len()).min(SPEEDS.len())
        } else {
            0
        };
        let band = speed * ranges(&self.cuts) + range_of(&self.cuts, rating);
        band * ranges(&self.years) + range_of(&self.years, year)
    }

    /// Returns the speed of a bucket's games; `None` if the buckets do not depend on speed, or if the games have no
    /// speed.
    pub fn speed(&self, bucket: usize) -> Option<&'static str> {
        SPEEDS
            .get(bucket / ranges(&self.years) / ranges(&self.cuts))
            .copied()
            .filter(|_| self.by_speed)
    }

    /// Returns the lowest and the highest rating of a bucket's games, if they are bounded; `None` if the buckets do not
    /// depend on ratings, or if the games have no rating.
    pub fn ratings(&self, bucket: usize) -> Option<(Option<u64>, Option<u64>)> {
        ends(
            &self.cuts,
            bucket / ranges(&self.years) % ranges(&self.cuts),
        )
    }

    /// Returns the first and the last year of a bucket's games, if they are bounded; `None` if the buckets do not depend on
    /// years, or if the games have no date.
    pub fn years(&self, bucket: usize) -> Option<(Option<u64>, Option<u64>)> {
        ends(&self.years, bucket % ranges(&self.years))
    }

    /// Returns the name of a bucket: `blitz 1600-1999`, `1600-1999, years 1990-2009`.
    pub fn name(&self, bucket: usize) -> String {
        let speed = self
            .by_speed
            .then(|| self.speed(bucket).unwrap_or("no speed").to_owned());
        let band = (!self.cuts.is_empty()).then(|| {
            self.ratings(bucket)
                .map_or_else(|| "no rating".to_owned(), range_name)
        });
        let separator = if self.speed(bucket).is_none() {
            ", "
        } else {
            " "
        };
        let games = [speed, band]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(separator);
        let period = (!self.years.is_empty()).then(|| {
            self.years(bucket).map_or_else(
                || "no year".to_owned(),
                |years| format!("years {}", range_name(years)),
            )
        });
        [Some(games).filter(|games| !games.is_empty()), period]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ")
    }
}

/// A text that is not a valid [`Bucketing`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BucketingError {
    /// A part that is neither `speeds`, nor a rating from 1 to 4095, nor a year from `since1` to `since9999`.
    #[error(
        "expected `speeds`, ratings and years at which a bucket begins: speeds,1600,2000,since1990"
    )]
    Syntax,
    /// More than [`Bucket::MAX_COUNT`] buckets.
    #[error(
        "{found} buckets, expected at most {}: choose fewer ratings and years",
        Bucket::MAX_COUNT
    )]
    TooMany {
        /// Number of buckets.
        found: usize,
    },
}

impl FromStr for Bucketing {
    type Err = BucketingError;

    fn from_str(text: &str) -> Result<Bucketing, BucketingError> {
        let mut buckets = Bucketing {
            by_speed: false,
            cuts: Vec::new(),
            years: Vec::new(),
        };
        for part in text.split(',').map(str::trim_ascii) {
            let (cuts, number, most) = match part.strip_prefix("since") {
                Some(year) => (&mut buckets.years, year, 9999),
                None => (&mut buckets.cuts, part, 4095),
            };
            match number.parse::<u64>() {
                _ if part == "speeds" => buckets.by_speed = true,
                Ok(cut) if (1..=most).contains(&cut) => {
                    if let Err(at) = cuts.binary_search(&cut) {
                        cuts.insert(at, cut);
                    }
                }
                _ => return Err(BucketingError::Syntax),
            }
        }
        match buckets.count() {
            ..=Bucket::MAX_COUNT => Ok(buckets),
            found => Err(BucketingError::TooMany { found }),
        }
    }
}

impl fmt::Display for Bucketing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let speeds = self.by_speed.then(|| "speeds".to_owned());
        let years = self.years.iter().map(|year| format!("since{year}"));
        let parts: Vec<String> = speeds
            .into_iter()
            .chain(self.cuts.iter().map(u64::to_string))
            .chain(years)
            .collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bucketings_survive_a_round_trip_and_bucket_names_are_distinct() {
        for text in [
            "speeds",
            "1600",
            "1600,2000,2400",
            "speeds,1000,1200,1400,1600,1800,2000,2200",
            "since1990",
            "speeds,since2000",
            "1600,since1990,since2010",
        ] {
            let buckets: Bucketing = text.parse().expect(text);
            assert_eq!(buckets.to_string(), text);
            let names: std::collections::BTreeSet<String> =
                (0..buckets.count()).map(|n| buckets.name(n)).collect();
            assert_eq!(names.len(), buckets.count(), "{names:?}");
        }
        let buckets: Bucketing = "2000,1600".parse().expect("ratings");
        let names: Vec<String> = (0..buckets.count()).map(|n| buckets.name(n)).collect();
        assert_eq!(names, ["-1599", "1600-1999", "2000-", "no rating"]);
        let buckets: Bucketing = "since2000,2000".parse().expect("ratings and years");
        let names: Vec<String> = (0..4).map(|n| buckets.name(n)).collect();
        assert_eq!(
            names,
            [
                "-1999, years -1999",
                "-1999, years 2000-",
                "-1999, no year",
                "2000-, years -1999"
            ]
        );
    }

    #[test]
    fn games_belong_to_the_bucket_of_their_speed_rating_and_year() {
        let buckets: Bucketing = "1600,2000".parse().expect("ratings");
        for (rating, bucket) in [
            (Some(1), 0),
            (Some(1599), 0),
            (Some(1600), 1),
            (Some(2000), 2),
            (None, 3),
        ] {
            assert_eq!(buckets.of(Some(1), rating, Some(1)), bucket, "{rating:?}");
        }
        let buckets: Bucketing = "speeds".parse().expect("speeds");
        assert_eq!(
            (
                buckets.of(Some(5), None, None),
                buckets.of(None, Some(1), Some(1))
            ),
            (5, 6)
        );
        let buckets: Bucketing = "1600,since2000".parse().expect("ratings and years");
        for (rating, year, bucket) in [
            (Some(1), Some(1999), 0),
            (Some(1600), Some(2000), 4),
            (None, None, 8),
        ] {
            assert_eq!(
                buckets.of(None, rating, year),
                bucket,
                "{rating:?}, {year:?}"
            );
        }
        assert_eq!(
            (buckets.ratings(4), buckets.years(4)),
            (Some((Some(1600), None)), Some((Some(2000), None)))
        );
        assert_eq!((buckets.ratings(8), buckets.years(8)), (None, None));
    }

    #[test]
    fn invalid_bucketings_are_errors() {
        for text in [
            "",
            "speed",
            "0",
            "5000",
            "-1",
            "speeds,1,2,3,4,5,6,7,8",
            "since",
            "since0",
            "since10000",
            "1990since",
        ] {
            assert!(text.parse::<Bucketing>().is_err(), "{text}");
        }
    }
}
