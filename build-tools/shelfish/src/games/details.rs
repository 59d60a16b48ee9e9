//! Details of games in addition to their results: buckets, ratings, references.

use shelfish::played::{Bucket, Bucketing, Details, GameId, GameRef, Ratings, Results};
use shelfish_analysis::pgn::PgnGame;

use super::selection::{Date, Speed, number};

/// The details that a book contains.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The rule of the buckets.
    pub buckets: Option<Bucketing>,
    /// Whether the book contains ratings.
    pub ratings: bool,
    /// Maximum number of references of a move.
    pub game_ids: u8,
    /// Whether there are references only to games of Lichess and to games that are used whole.
    pub linked_only: bool,
}

/// The details of one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameDetails {
    /// The number of its bucket.
    pub bucket: usize,
    /// Its rating, if it is known and the book contains ratings.
    pub ratings: Ratings,
    /// The reference to the game, if the book contains references.
    pub reference: Option<GameRef>,
}

impl Wanted {
    /// Limit of the number of references of a move.
    pub const MAX_GAME_IDS: u8 = Details::MAX_REFERENCES as u8;

    /// Returns the number of buckets; 0 for a book with only results.
    pub fn buckets(&self) -> usize {
        let buckets = self.buckets.as_ref().map(Bucketing::count);
        buckets.unwrap_or(self.ratings.into())
    }

    /// Returns the details of a move without games.
    pub fn no_games(&self) -> Details {
        Details {
            buckets: vec![Bucket::default(); self.buckets()],
            games: Vec::new(),
        }
    }

    fn bucket(&self, speed: Option<usize>, rating: Option<u64>, year: Option<u64>) -> usize {
        let buckets = self.buckets.as_ref();
        buckets.map_or(0, |buckets| buckets.of(speed, rating, year))
    }

    /// Returns the details of a game, the game `number` of an input, which is used whole or not.
    pub fn of(
        &self,
        game: &PgnGame,
        results: Results,
        source: Option<u16>,
        number: u64,
        is_whole: bool,
    ) -> GameDetails {
        let rating = rating(game);
        let speed = || Speed::of(game.tag("TimeControl")?).map(|speed| speed as usize);
        let source = source.filter(|_| is_whole || !self.linked_only);
        let listed = || {
            Some(GameId::Listed {
                source: source?,
                game: u32::try_from(number).ok()?,
            })
        };
        let reference = || {
            let id = game.tag("Site").and_then(lichess_id).or_else(listed)?;
            GameRef::new(id, rating, results)
        };
        GameDetails {
            bucket: self.bucket(speed(), rating, Date::of(game).map(Date::year)),
            ratings: rating
                .filter(|_| self.ratings)
                .map_or_else(Ratings::default, |sum| Ratings { games: 1, sum }),
            reference: (self.game_ids > 0).then(reference).flatten(),
        }
    }

    /// Returns the entries of the manifest.
    pub fn describe(&self) -> [(&'static str, Option<String>); 4] {
        [
            (
                Wanted::BUCKETS,
                self.buckets.as_ref().map(Bucketing::to_string),
            ),
            (Wanted::RATINGS, self.ratings.then(|| "true".to_owned())),
            (
                Wanted::GAME_IDS,
                (self.game_ids > 0).then(|| self.game_ids.to_string()),
            ),
            (
                Wanted::LINKED_ONLY,
                self.linked_only.then(|| "true".to_owned()),
            ),
        ]
    }

    /// The name of the manifest's entry for buckets.
    pub const BUCKETS: &'static str = "buckets";
    /// The name of the manifest's entry for ratings.
    pub const RATINGS: &'static str = "average_ratings";
    /// The name of the manifest's entry for references.
    pub const GAME_IDS: &'static str = "game_ids";
    /// The name of the manifest's entry for a book without references to other games than linked games.
    pub const LINKED_ONLY: &'static str = "linked_games_only";
}

/// Returns the mean of the players' ratings, rounded down; `None` if a rating is missing or invalid. `1500?` and `1500P` are ratings.
pub fn rating(game: &PgnGame) -> Option<u64> {
    let rating = |name| {
        let text = game.tag(name)?.trim();
        let marks = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_rating = |rating: &u64| {
            (1..=4095).contains(rating) && !marks.contains(|c: char| c.is_ascii_digit())
        };
        number(text).filter(is_rating)
    };
    Some(rating("WhiteElo")?.midpoint(rating("BlackElo")?))
}

/// Parses the id of a game from its URL on Lichess.
fn lichess_id(site: &str) -> Option<GameId> {
    let path = site.trim().strip_prefix("https://lichess.org/")?;
    GameId::lichess(path.split(['/', '?', '#']).next()?)
}

#[cfg(test)]
mod tests {
    use shelfish_analysis::pgn::read_main_line;

    use super::*;

    #[test]
    fn details_are_read_from_tags() {
        let wanted = Wanted {
            buckets: "speeds,2000".parse().ok(),
            ratings: true,
            game_ids: 2,
            linked_only: false,
        };
        let details = |wanted: &Wanted, tags: &str, is_whole| {
            let game = read_main_line(&format!("{tags}\n\n1. e4 1-0"), 1);
            wanted.of(&game, Results::default(), Some(3), 7, is_whole)
        };
        let of = |tags: &str| details(&wanted, tags, false);
        let game = of(
            "[Site \"https://lichess.org/Ab3xYz09\"]\n[WhiteElo \"2001\"]\n[BlackElo \"2000\"]\n[TimeControl \"180+2\"]",
        );
        assert_eq!((game.bucket, game.ratings.sum), (2 * 3 + 1, 2000));
        assert_eq!(game.reference.map(GameRef::id), GameId::lichess("Ab3xYz09"));
        assert_eq!(game.reference.and_then(GameRef::rating), Some(2000));
        for (elo, sum) in [
            ("1500?", 1500),
            ("1500P", 1500),
            (" 1500 (est.)", 1500),
            ("2.700", 0),
            ("2700-2800", 0),
            ("-1500", 0),
            ("0", 0),
            ("unr", 0),
        ] {
            let game = of(&format!("[WhiteElo \"{elo}\"]\n[BlackElo \"1500\"]"));
            assert_eq!(game.ratings.sum, sum, "{elo}");
        }
        for site in [
            "Chess.com",
            "https://lichess.org/study/abcdefgh",
            "https://lichess.org/Ab3xYz0",
        ] {
            let game = of(&format!(
                "[Site \"{site}\"]\n[WhiteElo \"?\"]\n[BlackElo \"2000\"]"
            ));
            assert_eq!((game.bucket, game.ratings.games), (6 * 3 + 2, 0), "{site}");
            assert_eq!(
                game.reference.map(GameRef::id),
                Some(GameId::Listed { source: 3, game: 7 }),
                "{site}"
            );
        }
        let linked = Wanted {
            buckets: "since2000".parse().ok(),
            linked_only: true,
            ..wanted.clone()
        };
        for (tags, is_whole, bucket, id) in [
            ("[Date \"1999.12.31\"]", false, 0, None),
            (
                "[Date \"1999.12.31\"]",
                true,
                0,
                Some(GameId::Listed { source: 3, game: 7 }),
            ),
            (
                "[UTCDate \"2000.01.01\"]\n[Site \"https://lichess.org/Ab3xYz09\"]",
                false,
                1,
                GameId::lichess("Ab3xYz09"),
            ),
            ("[Date \"????.??.??\"]", false, 2, None),
        ] {
            let game = details(&linked, tags, is_whole);
            assert_eq!(
                (game.bucket, game.reference.map(GameRef::id)),
                (bucket, id),
                "{tags}"
            );
        }
    }
}
