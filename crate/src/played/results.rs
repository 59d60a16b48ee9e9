//! Results and ratings of games.

/// Counts of results of games.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "write", derive(serde::Serialize))]
pub struct Results {
    /// Games that White won.
    pub white: u64,
    /// Drawn games.
    pub draws: u64,
    /// Games that Black won.
    pub black: u64,
}

impl Results {
    /// Maximum number of games of a position. Floating-point numbers are exact up to this.
    pub const MAX_GAMES: u64 = (1 << 53) - 1;

    /// Returns the number of all games; as many as fit into 64 bits.
    pub fn games(&self) -> u64 {
        self.white
            .saturating_add(self.draws)
            .saturating_add(self.black)
    }

    /// Returns the sum of both; `None` beyond [`Results::MAX_GAMES`].
    pub fn checked_add(self, other: Results) -> Option<Results> {
        let games = self.games().saturating_add(other.games());
        (games <= Results::MAX_GAMES).then(|| Results {
            white: self.white + other.white,
            draws: self.draws + other.draws,
            black: self.black + other.black,
        })
    }

    fn checked_sub(self, other: Results) -> Option<Results> {
        Some(Results {
            white: self.white.checked_sub(other.white)?,
            draws: self.draws.checked_sub(other.draws)?,
            black: self.black.checked_sub(other.black)?,
        })
    }
}

/// The ratings of games, added up. That of a game is the mean of its players' ratings.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ratings {
    /// Games that have a rating.
    pub games: u64,
    /// The sum of their ratings.
    pub sum: u64,
}

impl Ratings {
    /// The highest rating of a game.
    pub const MAX: u64 = 4095;
    /// The most games with a rating in a bucket of a position.
    pub const MAX_GAMES: u64 = 1 << 50;

    /// Returns the mean of the ratings; `None` without any.
    pub fn average(&self) -> Option<f64> {
        (self.games > 0).then(|| self.sum as f64 / self.games as f64)
    }

    /// Returns the sum of both, as far as 64 bits hold it.
    #[must_use]
    pub fn and(self, other: Ratings) -> Ratings {
        Ratings {
            games: self.games.saturating_add(other.games),
            sum: self.sum.saturating_add(other.sum),
        }
    }
}

/// The games of a bucket, which [`Bucketing`](super::Bucketing) gives a name: how they ended, and their ratings.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// Results of the games.
    pub results: Results,
    /// Their ratings; zero games if the book does not contain ratings.
    pub ratings: Ratings,
}

impl Bucket {
    /// The most buckets of a book.
    pub const MAX_COUNT: usize = 64;

    pub(super) fn games(&self) -> u64 {
        self.results.games()
    }

    /// Returns the sum; `None` if it exceeds the limits of a record.
    pub(super) fn checked_add(self, other: Bucket) -> Option<Bucket> {
        let ratings = self.ratings.and(other.ratings);
        let results = self.results.checked_add(other.results)?;
        (ratings.games <= Ratings::MAX_GAMES).then_some(Bucket { results, ratings })
    }

    /// Returns the difference; `None` if it is not possible.
    pub(super) fn checked_sub(self, other: Bucket) -> Option<Bucket> {
        let games = self.ratings.games.checked_sub(other.ratings.games)?;
        let ratings = Ratings {
            games,
            sum: self.ratings.sum.checked_sub(other.ratings.sum)?,
        };
        let left = Bucket {
            results: self.results.checked_sub(other.results)?,
            ratings,
        };
        left.is_consistent().then_some(left)
    }

    /// Returns whether these ratings are possible.
    pub(super) fn is_consistent(&self) -> bool {
        let Ratings { games, sum } = self.ratings;
        games <= Ratings::MAX_GAMES && games <= self.games() && sum <= games * Ratings::MAX
    }
}
