//! Facts about moves and games that all answers of books contain.

use shakmaty::Color;

use super::{GameId, GameRef, Results};

impl Results {
    /// Returns the points per game of a side, from 0 to 1: wins and half of the draws.
    pub fn score(&self, side: Color) -> f64 {
        let wins = side.fold_wb(self.white, self.black) as f64;
        (wins + self.draws as f64 / 2.0) / self.games() as f64
    }
}

impl GameRef {
    /// Returns the winner, or `None` for a draw.
    pub fn winner(self) -> Option<&'static str> {
        match self.result() {
            Results { white: 1, .. } => Some("white"),
            Results { black: 1, .. } => Some("black"),
            _ => None,
        }
    }
}

impl GameId {
    /// Returns the URL of a game on Lichess.
    pub fn url(self) -> Option<String> {
        matches!(self, GameId::Lichess(_)).then(|| format!("https://lichess.org/{self}"))
    }
}
