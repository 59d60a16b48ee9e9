//! Facts in a book's manifest about the details of its records.

use std::num::ParseIntError;
use std::str::FromStr;

use shelfish::played::{Bucketing, BucketingError, Details, GameId, GameRef, Ratings};
use shelfish::table::Manifest;

use super::{SOURCE_NAMES, Wanted};

/// An error of a malformed entry in the `info` of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its {name} {value:?}: {kind}")]
pub struct InfoError {
    /// The name of the entry.
    pub name: &'static str,
    /// The value.
    pub value: String,
    /// The reason.
    pub kind: InfoErrorKind,
}

/// Reasons why an entry is malformed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InfoErrorKind {
    /// The buckets are invalid.
    #[error(transparent)]
    Buckets(#[from] BucketingError),
    /// The value is not a number.
    #[error(transparent)]
    Number(#[from] ParseIntError),
}

/// The details that the manifest promises for all moves.
#[derive(Debug, PartialEq, Eq)]
pub struct DetailFacts {
    /// Number of buckets.
    buckets: usize,
    /// Whether there are ratings.
    ratings: bool,
    /// Maximum number of references of a move.
    references: usize,
    /// Number of inputs that references may name.
    sources: usize,
}

impl DetailFacts {
    /// Reads the facts.
    pub fn of(manifest: &Manifest) -> Result<DetailFacts, InfoError> {
        fn parse<T: FromStr>(
            manifest: &Manifest,
            name: &'static str,
        ) -> Result<Option<T>, InfoError>
        where
            T::Err: Into<InfoErrorKind>,
        {
            let parse = |value: &str| {
                value.parse().map_err(|error: T::Err| InfoError {
                    name,
                    value: value.to_owned(),
                    kind: error.into(),
                })
            };
            manifest.info_of(name).map(parse).transpose()
        }
        let buckets: Option<Bucketing> = parse(manifest, Wanted::BUCKETS)?;
        let references = parse(manifest, Wanted::GAME_IDS)?.unwrap_or(0);
        let ratings = manifest.info_of(Wanted::RATINGS).is_some();
        let sources = manifest
            .info_of(SOURCE_NAMES)
            .unwrap_or_default()
            .lines()
            .count();
        let buckets = buckets
            .as_ref()
            .map_or(usize::from(ratings), Bucketing::count);
        Ok(DetailFacts {
            buckets,
            ratings,
            references,
            sources,
        })
    }

    /// Returns how the details of a move contradict the manifest, if they do.
    pub fn contradiction(&self, details: &Details) -> Option<&'static str> {
        let is_unknown = |game: &GameRef| match game.id() {
            GameId::Listed { source, .. } => usize::from(source) >= self.sources,
            GameId::Lichess(_) => false,
        };
        if details.buckets.len() != self.buckets {
            Some("it has other buckets than the manifest says")
        } else if !self.ratings && details.ratings() != Ratings::default() {
            Some("it has ratings, but the manifest says that there are none")
        } else if details.games.len() > self.references {
            Some("it has more references to games than the manifest allows")
        } else if details.games.iter().any(is_unknown) {
            Some("it refers to a game of an input that the manifest does not name")
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
    fn details_that_contradict_the_manifest_are_found() {
        let facts = DetailFacts {
            buckets: 2,
            ratings: false,
            references: 1,
            sources: 1,
        };
        let of = |source| {
            GameRef::new(
                GameId::Listed { source, game: 3 },
                None,
                Results {
                    draws: 1,
                    ..Results::default()
                },
            )
        };
        let games: Vec<GameRef> = [0, 1].into_iter().filter_map(of).collect();
        let rated = Bucket {
            ratings: Ratings {
                games: 1,
                sum: 2000,
            },
            ..Bucket::default()
        };
        let (known, unknown) = games.split_at(1);
        let contradiction = |buckets: &[Bucket], games: &[GameRef]| {
            facts.contradiction(&Details {
                buckets: buckets.to_vec(),
                games: games.to_vec(),
            })
        };
        assert_eq!(contradiction(&[Bucket::default(); 2], known), None);
        for (buckets, games, why) in [
            (&[Bucket::default(); 3][..], known, "other buckets"),
            (&[], known, "other buckets"),
            (&[rated, Bucket::default()], known, "ratings"),
            (&[Bucket::default(); 2], &games[..], "more references"),
            (&[Bucket::default(); 2], unknown, "does not name"),
        ] {
            assert!(
                contradiction(buckets, games).is_some_and(|text| text.contains(why)),
                "{why}"
            );
        }
    }
}
