//! The division of a book's games into buckets: by speed and by rating.

use core::fmt;
use core::str::FromStr;

use super::results::Bucket;

/// The speeds of games, from the fastest, as Lichess calls them.
pub const SPEEDS: [&str; 6] = ["ultraBullet", "bullet", "blitz", "rapid", "classical", "correspondence"];

/// The buckets of a book, ordered by speed, then by range of ratings. The last speed is for games without a time control,
/// the last range for games without ratings.
///
/// Its text consists of the word `speeds`, if the buckets depend on speed, and the lowest ratings of the ranges:
/// `speeds,1600,2000`.
///
/// ```
/// use shelfish::played::Bucketing;
///
/// let buckets: Bucketing = "speeds,1600,2000".parse()?;
/// assert_eq!(buckets.count(), 7 * 4);
/// let blitz = buckets.of(Some(2), Some(1999));
/// assert_eq!((blitz, buckets.name(blitz)), (9, "blitz 1600-1999".to_owned()));
/// assert_eq!(buckets.name(buckets.of(None, None)), "no speed, no rating");
/// # Ok::<(), shelfish::played::BucketingError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bucketing {
    by_speed: bool,
    /// Ratings at which a band begins, ascending; the first band is below all.
    cuts: Vec<u64>,
}

impl Bucketing {
    /// The number of buckets.
    pub fn count(&self) -> usize {
        self.speeds() * self.bands()
    }

    fn speeds(&self) -> usize {
        if self.by_speed { SPEEDS.len() + 1 } else { 1 }
    }

    fn bands(&self) -> usize {
        if self.cuts.is_empty() { 1 } else { self.cuts.len() + 2 }
    }

    /// The bucket of a game of a speed, by its number in [`SPEEDS`], and of a rating.
    pub fn of(&self, speed: Option<usize>, rating: Option<u64>) -> usize {
        let speed = if self.by_speed { speed.unwrap_or(SPEEDS.len()).min(SPEEDS.len()) } else { 0 };
        let band = match rating {
            _ if self.cuts.is_empty() => 0,
            None => self.cuts.len() + 1,
            Some(rating) => self.cuts.partition_point(|cut| *cut <= rating),
        };
        speed * self.bands() + band
    }

    /// Returns the speed of a bucket's games; `None` if the buckets do not depend on speed, or if the games have no
    /// speed.
    pub fn speed(&self, bucket: usize) -> Option<&'static str> {
        SPEEDS.get(bucket / self.bands()).copied().filter(|_| self.by_speed)
    }

    /// Returns the lowest and the highest rating of a bucket's games, if they are bounded; `None` if the buckets do not
    /// depend on ratings, or if the games have no rating.
    pub fn ratings(&self, bucket: usize) -> Option<(Option<u64>, Option<u64>)> {
        let band = bucket % self.bands();
        let least = band.checked_sub(1).and_then(|band| self.cuts.get(band)).copied();
        let most = self.cuts.get(band).map(|cut| cut - 1);
        (least.is_some() || most.is_some()).then_some((least, most)).filter(|_| band <= self.cuts.len())
    }

    /// The name of a bucket: `blitz 1600-1999`.
    pub fn name(&self, bucket: usize) -> String {
        let speed = self.by_speed.then(|| self.speed(bucket).unwrap_or("no speed").to_owned());
        let band = (!self.cuts.is_empty()).then(|| match self.ratings(bucket) {
            Some((least, most)) => {
                let end = |end: Option<u64>| end.map_or_else(String::new, |end| end.to_string());
                format!("{}-{}", end(least), end(most))
            }
            None => "no rating".to_owned(),
        });
        let separator = if self.speed(bucket).is_none() { ", " } else { " " };
        [speed, band].into_iter().flatten().collect::<Vec<_>>().join(separator)
    }
}

/// A text that is not a valid [`Bucketing`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BucketingError {
    /// A part that is neither `speeds` nor a rating from 1 to 4095.
    Syntax,
    /// More than [`Bucket::MAX_COUNT`] buckets.
    TooMany {
        /// Number of buckets.
        found: usize,
    },
}

impl fmt::Display for BucketingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BucketingError::Syntax => {
                f.write_str("expected `speeds`, ratings at which a bucket begins, or both: speeds,1600,2000")
            }
            BucketingError::TooMany { found } => {
                write!(f, "{found} buckets, expected at most {}: choose fewer ratings", Bucket::MAX_COUNT)
            }
        }
    }
}

impl core::error::Error for BucketingError {}

impl FromStr for Bucketing {
    type Err = BucketingError;

    fn from_str(text: &str) -> Result<Bucketing, BucketingError> {
        let mut buckets = Bucketing { by_speed: false, cuts: Vec::new() };
        for part in text.split(',') {
            match part.trim_ascii().parse::<u64>() {
                _ if part.trim_ascii() == "speeds" => buckets.by_speed = true,
                Ok(cut @ 1..=4095) => {
                    if let Err(at) = buckets.cuts.binary_search(&cut) {
                        buckets.cuts.insert(at, cut);
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
        let parts: Vec<String> = speeds.into_iter().chain(self.cuts.iter().map(u64::to_string)).collect();
        f.write_str(&parts.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_has_a_name_of_its_own() {
        for text in ["speeds", "1600", "1600,2000,2400", "speeds,1000,1200,1400,1600,1800,2000,2200"] {
            let buckets: Bucketing = text.parse().expect(text);
            assert_eq!(buckets.to_string(), text);
            let names: std::collections::BTreeSet<String> = (0..buckets.count()).map(|n| buckets.name(n)).collect();
            assert_eq!(names.len(), buckets.count(), "{names:?}");
        }
        let buckets: Bucketing = "2000,1600".parse().expect("ratings");
        let names: Vec<String> = (0..buckets.count()).map(|n| buckets.name(n)).collect();
        assert_eq!(names, ["-1599", "1600-1999", "2000-", "no rating"]);
    }

    #[test]
    fn games_go_where_the_names_say() {
        let buckets: Bucketing = "1600,2000".parse().expect("ratings");
        for (rating, bucket) in [(Some(1), 0), (Some(1599), 0), (Some(1600), 1), (Some(2000), 2), (None, 3)] {
            assert_eq!(buckets.of(Some(1), rating), bucket, "{rating:?}");
        }
        let buckets: Bucketing = "speeds".parse().expect("speeds");
        assert_eq!((buckets.of(Some(5), None), buckets.of(None, Some(1))), (5, 6));
    }

    #[test]
    fn words_that_are_no_buckets_are_refused() {
        for text in ["", "speed", "0", "5000", "-1", "speeds,1,2,3,4,5,6,7,8"] {
            assert!(text.parse::<Bucketing>().is_err(), "{text}");
        }
    }
}
