//! References to games, eight bytes each.

use core::fmt;

use super::results::{Ratings, Results};

/// A reference to a game: its rating, its result and its location. References are ordered by rating first.
///
/// A number of 64 bits. From the highest bit: 12 bits for the rating (0 for no rating), 2 for the result (2 if White
/// won, 1 for a draw, 0 if Black won), 1 bit that is set for a game of a source, 1 unused bit, 48 bits for the id or
/// the location.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GameRef(u64);

/// The location of a game.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum GameId {
    /// On Lichess, by its id: eight letters and digits.
    Lichess([u8; 8]),
    /// In a source of the book.
    Listed {
        /// The number of the source in the book's list of sources, from 0.
        source: u16,
        /// The number of the game in it, from 0.
        game: u32,
    },
}

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID: u64 = (1 << 48) - 1;
const IS_LISTED: u64 = 1 << 49;

impl GameId {
    /// Returns the id of a game on Lichess.
    pub fn lichess(text: &str) -> Option<GameId> {
        let id = <[u8; 8]>::try_from(text.as_bytes()).ok()?;
        id.iter()
            .all(u8::is_ascii_alphanumeric)
            .then_some(GameId::Lichess(id))
    }
}

/// The id on Lichess, or source and game: `2#17`.
impl fmt::Display for GameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GameId::Lichess(id) => id
                .iter()
                .try_for_each(|&letter| fmt::Write::write_char(f, letter.into())),
            GameId::Listed { source, game } => write!(f, "{source}#{game}"),
        }
    }
}

impl GameRef {
    /// Creates a reference to a game with a rating and a result, which counts one game. `None` if the id is invalid. A
    /// rating above [`Ratings::MAX`] counts as the maximum.
    pub fn new(id: GameId, rating: Option<u64>, result: Results) -> Option<GameRef> {
        let place = match id {
            GameId::Lichess(id) => id.iter().try_fold(0, |sum, letter| {
                let digit = DIGITS.iter().position(|digit| digit == letter)?;
                Some(sum * DIGITS.len() as u64 + digit as u64)
            })?,
            GameId::Listed { source, game } => {
                IS_LISTED | u64::from(source) << 32 | u64::from(game)
            }
        };
        let result = if result.white > 0 {
            2
        } else {
            result.draws.min(1)
        };
        Some(GameRef(
            rating.unwrap_or(0).min(Ratings::MAX) << 52 | result << 50 | place,
        ))
    }

    /// Returns the reference of a number; `None` if the number is invalid.
    pub fn from_bits(bits: u64) -> Option<GameRef> {
        let is_listed = bits & IS_LISTED != 0;
        let is_spare_set = bits >> 48 & 1 == 1;
        let is_id = is_listed || bits & ID < (DIGITS.len() as u64).pow(8);
        (bits >> 50 & 3 < 3 && !is_spare_set && is_id).then_some(GameRef(bits))
    }

    /// Returns the number of the reference.
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Returns the rating of the game.
    pub fn rating(self) -> Option<u64> {
        Some(self.0 >> 52).filter(|rating| *rating > 0)
    }

    /// Returns the result of the game, as counts with a sum of 1.
    pub fn result(self) -> Results {
        let [black, draws, white] = [0, 1, 2].map(|result| u64::from(self.0 >> 50 & 3 == result));
        Results {
            white,
            draws,
            black,
        }
    }

    /// Returns the location of the game.
    pub fn id(self) -> GameId {
        let place = self.0 & ID;
        if self.0 & IS_LISTED != 0 {
            return GameId::Listed {
                source: (place >> 32) as u16,
                game: place as u32,
            };
        }
        let mut rest = place;
        let mut id = [b'0'; 8];
        for letter in id.iter_mut().rev() {
            *letter = DIGITS[(rest % DIGITS.len() as u64) as usize];
            rest /= DIGITS.len() as u64;
        }
        GameId::Lichess(id)
    }

    /// Puts references into their order, each once, and keeps the first `most`.
    pub fn settle(games: &mut Vec<GameRef>, most: usize) {
        games.sort_unstable_by_key(|game| core::cmp::Reverse(*game));
        games.dedup();
        games.truncate(most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_reference_contains_its_id_rating_and_result() {
        let results = [(1, 0, 0), (0, 1, 0), (0, 0, 1)].map(|(white, draws, black)| Results {
            white,
            draws,
            black,
        });
        let ids = ["00000000", "zzzzzzzz", "Ab3xYz09"].map(|id| GameId::lichess(id).expect(id));
        let listed = [(0, 0), (u16::MAX, u32::MAX), (3, 17)]
            .map(|(source, game)| GameId::Listed { source, game });
        for id in ids.into_iter().chain(listed) {
            for result in results {
                for rating in [None, Some(1), Some(4095)] {
                    let game = GameRef::new(id, rating, result).expect("a reference");
                    assert_eq!(
                        (game.id(), game.rating(), game.result()),
                        (id, rating, result)
                    );
                    assert_eq!(GameRef::from_bits(game.to_bits()), Some(game));
                }
            }
        }
    }

    #[test]
    fn invalid_numbers_and_ids_of_games_are_rejected() {
        let most = 62u64.pow(8);
        assert!(GameRef::from_bits(most - 1).is_some() && GameRef::from_bits(most).is_none());
        assert!(GameRef::from_bits(3 << 50).is_none() && GameRef::from_bits(1 << 48).is_none());
        for text in ["", "1234567", "123456789", "1234567/", "é234567"] {
            assert_eq!(GameId::lichess(text), None, "{text}");
        }
    }

    #[test]
    fn the_games_with_the_highest_ratings_are_kept() {
        let game = |id: &str, rating| {
            GameRef::new(
                GameId::lichess(id).expect(id),
                Some(rating),
                Results::default(),
            )
            .expect("a reference")
        };
        let mut games = vec![
            game("aaaaaaaa", 1500),
            game("bbbbbbbb", 2500),
            game("aaaaaaaa", 1500),
            game("c0000000", 900),
        ];
        GameRef::settle(&mut games, 2);
        assert_eq!(games, [game("bbbbbbbb", 2500), game("aaaaaaaa", 1500)]);
    }
}
