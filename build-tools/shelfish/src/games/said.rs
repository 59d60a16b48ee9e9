//! What a book's manifest says of all of its records.

use shelfish::played::{Bucketing, Details, GameId, GameRef, Ratings};
use shelfish::table::Manifest;

use super::{SOURCE_NAMES, Wanted};

/// What the details of all moves have to be like.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// The buckets that are told.
    buckets: usize,
    /// Whether ratings are told.
    ratings: bool,
    /// The most references of a move.
    references: usize,
    /// The sources that references count by.
    sources: usize,
}

impl Said {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn of(manifest: &Manifest) -> Result<Said, String> {
        let wrong = |name: &str, why: String| format!("its {name} {:?}: {why}", manifest.info_of(name).unwrap_or(""));
        let buckets = manifest.info_of(Wanted::BUCKETS).map(str::parse::<Bucketing>).transpose();
        let buckets = buckets.map_err(|why| wrong(Wanted::BUCKETS, why.to_string()))?;
        let references = manifest.info_of(Wanted::GAME_IDS).map(str::parse::<usize>).transpose();
        let references = references.map_err(|why| wrong(Wanted::GAME_IDS, why.to_string()))?.unwrap_or(0);
        let ratings = manifest.info_of(Wanted::RATINGS).is_some();
        let sources = manifest.info_of(SOURCE_NAMES).unwrap_or_default().lines().count();
        let buckets = buckets.as_ref().map_or(usize::from(ratings), Bucketing::count);
        Ok(Said { buckets, ratings, references, sources })
    }

    /// What is wrong with the details of a move.
    pub fn fault(&self, details: &Details) -> Option<&'static str> {
        let is_unknown = |game: &GameRef| match game.id() {
            GameId::Listed { source, .. } => usize::from(source) >= self.sources,
            GameId::Lichess(_) => false,
        };
        if details.buckets.len() != self.buckets {
            Some("it has other buckets than the manifest tells of")
        } else if !self.ratings && details.ratings() != Ratings::default() {
            Some("it has ratings, of which the manifest does not tell")
        } else if details.games.len() > self.references {
            Some("it has more references to games than the manifest tells of")
        } else if details.games.iter().any(is_unknown) {
            Some("it refers to a game of a source that the manifest does not name")
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use shelfish::played::{Bucket, Results};

    use super::*;

    #[test]
    fn details_that_the_manifest_does_not_tell_of_are_faults() {
        let said = Said { buckets: 2, ratings: false, references: 1, sources: 1 };
        let of =
            |source| GameRef::new(GameId::Listed { source, game: 3 }, None, Results { draws: 1, ..Results::default() });
        let games: Vec<GameRef> = [0, 1].into_iter().filter_map(of).collect();
        let rated = Bucket { ratings: Ratings { games: 1, sum: 2000 }, ..Bucket::default() };
        let (known, unknown) = games.split_at(1);
        let fault = |buckets: &[Bucket], games: &[GameRef]| {
            said.fault(&Details { buckets: buckets.to_vec(), games: games.to_vec() })
        };
        assert_eq!(fault(&[Bucket::default(); 2], known), None);
        for (buckets, games, why) in [
            (&[Bucket::default(); 3][..], known, "other buckets"),
            (&[], known, "other buckets"),
            (&[rated, Bucket::default()], known, "ratings"),
            (&[Bucket::default(); 2], &games[..], "more references"),
            (&[Bucket::default(); 2], unknown, "does not name"),
        ] {
            assert!(fault(buckets, games).is_some_and(|fault| fault.contains(why)), "{why}");
        }
    }
}
