//! The moves of a game.

use core::fmt;

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position as _};
use shelfish::position::{FenError, Position};

/// A position and the legal moves that were played from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    start: Chess,
    moves: Vec<Move>,
}

/// Reason why moves are not a game.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GameError {
    /// The FEN of the first position is invalid.
    Fen(FenError),
    /// A move is not legal, or not written in UCI.
    Move {
        /// Number of moves before it.
        index: usize,
        /// The move.
        found: String,
    },
}

impl fmt::Display for GameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GameError::Fen(error) => error.fmt(f),
            GameError::Move { index, found } => {
                write!(f, "moves[{index}]: expected a legal move in UCI such as e2e4, found ")?;
                found.chars().take(12).filter(|c| !c.is_control()).try_for_each(|c| write!(f, "{c}"))
            }
        }
    }
}

impl core::error::Error for GameError {}

impl Game {
    /// Returns a game of moves from a position. The moves must be legal; they are not checked.
    pub(crate) fn new(start: Chess, moves: Vec<Move>) -> Game {
        Game { start, moves }
    }

    /// Reads moves in UCI, castling written either way, from the position of a FEN or from the starting position.
    ///
    /// # Errors
    ///
    /// The FEN is invalid, or a move is not legal.
    pub fn from_uci<'a>(fen: Option<&str>, moves: impl IntoIterator<Item = &'a str>) -> Result<Game, GameError> {
        let start = match fen {
            Some(fen) => fen.parse::<Position>().map_err(GameError::Fen)?.chess().clone(),
            None => Chess::default(),
        };
        let mut position = start.clone();
        let play = |(index, text): (usize, &str)| {
            let played = UciMove::from_ascii(text.as_bytes()).ok().and_then(|m| m.to_move(&position).ok());
            let played = played.ok_or_else(|| GameError::Move { index, found: text.to_owned() })?;
            position.play_unchecked(played);
            Ok(played)
        };
        let moves = moves.into_iter().enumerate().map(play).collect::<Result<_, _>>()?;
        Ok(Game { start, moves })
    }

    /// Returns the position before the first move.
    pub fn start(&self) -> &Chess {
        &self.start
    }

    /// Returns the moves.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Returns the positions in order, including the first and the last.
    pub fn positions(&self) -> impl Iterator<Item = Chess> {
        let mut position = self.start.clone();
        core::iter::once(self.start.clone()).chain(self.moves.iter().map(move |m| {
            position.play_unchecked(*m);
            position.clone()
        }))
    }
}
