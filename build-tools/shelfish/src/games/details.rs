//! What a book tells of games beside their results: buckets, ratings, references.

use shelfish::played::{Bucketing, Details, GameId, GameRef, Results};
use shelfish_analysis::pgn::MainLine;

use super::Speed;

/// What is wanted of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// By what games go into buckets.
    pub buckets: Option<Bucketing>,
    /// Whether ratings are told.
    pub ratings: bool,
    /// References of a move at most.
    pub game_ids: u8,
}

/// What is told of one game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// The number of its bucket.
    pub bucket: usize,
    /// Its rating.
    pub rating: Option<u64>,
    /// The reference to it.
    pub game: Option<GameRef>,
}

impl Wanted {
    /// The most references of a move.
    pub const MAX_GAME_IDS: u8 = Details::MAX_REFERENCES as u8;

    /// Buckets that are told; none if results are told alone.
    pub fn buckets(&self) -> usize {
        self.buckets.as_ref().map_or(usize::from(self.ratings), Bucketing::count)
    }

    /// What is told of a game, which is one of a source by this number; nothing if results are told alone.
    pub fn of(&self, game: &MainLine, results: Results, source: Option<u16>, number: u64) -> Option<Told> {
        if *self == Wanted::default() {
            return None;
        }
        let rating = rating(game);
        let speed = || Speed::of(game.tag("TimeControl")?).map(|speed| speed as usize);
        let listed = || Some(GameId::Listed { source: source?, game: u32::try_from(number).ok()? });
        let id = || game.tag("Site").and_then(lichess_id).or_else(listed);
        Some(Told {
            bucket: self.buckets.as_ref().map_or(0, |buckets| buckets.of(speed(), rating)),
            rating: rating.filter(|_| self.ratings),
            game: if self.game_ids > 0 { id().and_then(|id| GameRef::new(id, rating, results)) } else { None },
        })
    }

    /// What is told of games of which nothing is known but their results.
    pub fn unknown(&self) -> Option<Told> {
        let bucket = self.buckets.as_ref().map_or(0, |buckets| buckets.of(None, None));
        (*self != Wanted::default()).then_some(Told { bucket, rating: None, game: None })
    }

    /// What the manifest says of it.
    pub fn describe(&self) -> [(&'static str, Option<String>); 3] {
        [
            (Wanted::BUCKETS, self.buckets.as_ref().map(Bucketing::to_string)),
            (Wanted::RATINGS, self.ratings.then(|| "true".to_owned())),
            (Wanted::GAME_IDS, (self.game_ids > 0).then(|| self.game_ids.to_string())),
        ]
    }

    /// The member of a manifest's `info` that tells of buckets.
    pub const BUCKETS: &'static str = "buckets";
    /// The one that says that ratings are told.
    pub const RATINGS: &'static str = "average_ratings";
    /// The one that has the most references of a move.
    pub const GAME_IDS: &'static str = "game_ids";
}

/// The rating of a game: the mean of its players' ratings, rounded down; `None` if one is missing or is none.
pub fn rating(game: &MainLine) -> Option<u64> {
    let rating = |name| game.tag(name)?.trim().parse::<u64>().ok().filter(|rating| (1..=4095).contains(rating));
    Some(rating("WhiteElo")?.midpoint(rating("BlackElo")?))
}

/// The id of a game on Lichess by its address there.
fn lichess_id(site: &str) -> Option<GameId> {
    let path = site.trim().strip_prefix("https://lichess.org/")?;
    GameId::lichess(path.split(['/', '?', '#']).next()?)
}

#[cfg(test)]
mod tests {
    use shelfish_analysis::pgn::read_main_line;

    use super::*;

    #[test]
    fn games_are_told_by_their_tags() {
        let wanted = Wanted { buckets: "speeds,2000".parse().ok(), ratings: true, game_ids: 2 };
        let of =
            |tags: &str| wanted.of(&read_main_line(&format!("{tags}\n\n1. e4 1-0"), 1), Results::default(), Some(3), 7);
        let told = of(
            "[Site \"https://lichess.org/Ab3xYz09\"]\n[WhiteElo \"2001\"]\n[BlackElo \"2000\"]\n[TimeControl \"180+2\"]",
        );
        let told = told.expect("details are wanted");
        assert_eq!((told.bucket, told.rating), (2 * 3 + 1, Some(2000)));
        assert_eq!(told.game.map(GameRef::id), GameId::lichess("Ab3xYz09"));
        assert_eq!(told.game.and_then(GameRef::rating), Some(2000));
        for site in ["Chess.com", "https://lichess.org/study/abcdefgh", "https://lichess.org/Ab3xYz0"] {
            let told =
                of(&format!("[Site \"{site}\"]\n[WhiteElo \"?\"]\n[BlackElo \"2000\"]")).expect("details are wanted");
            assert_eq!((told.bucket, told.rating), (6 * 3 + 2, None), "{site}");
            assert_eq!(told.game.map(GameRef::id), Some(GameId::Listed { source: 3, game: 7 }), "{site}");
        }
        assert_eq!(Wanted::default().of(&read_main_line("1. e4 1-0", 1), Results::default(), None, 0), None);
    }
}
