//! The moves of a game.

use shakmaty::uci::UciMove;
use shakmaty::{Chess, Move, Position as _};
use shelfish::position::{FenError, Key, Position};

/// A position and the legal moves that were played from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    start: Chess,
    moves: Vec<Move>,
}

/// Reason why moves are not a game.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GameError {
    /// The FEN of the first position is invalid.
    #[error(transparent)]
    Fen(#[from] FenError),
    /// A move is not legal, or not written in UCI.
    #[error(
        "moves[{index}]: expected a legal move in UCI such as e2e4, found {}",
        found.chars().take(12).filter(|c| !c.is_control()).collect::<String>()
    )]
    Move {
        /// Number of moves before it.
        index: usize,
        /// The move.
        found: String,
    },
}

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
    pub fn from_uci<'a>(
        fen: Option<&str>,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<Game, GameError> {
        let start = match fen {
            Some(fen) => fen.parse::<Position>()?.chess().clone(),
            None => Chess::default(),
        };
        let mut position = start.clone();
        let play = |(index, text): (usize, &str)| {
            let played = UciMove::from_ascii(text.as_bytes())
                .ok()
                .and_then(|m| m.to_move(&position).ok());
            let played = played.ok_or_else(|| GameError::Move {
                index,
                found: text.to_owned(),
            })?;
            position.play_unchecked(played);
            Ok::<_, GameError>(played)
        };
        let moves = moves
            .into_iter()
            .enumerate()
            .map(play)
            .collect::<Result<_, _>>()?;
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

    /// Returns each position of the first `max_plies` moves once, in the order of its first occurrence, with the last move
    /// played from it.
    ///
    /// ```
    /// use shelfish_analysis::Game;
    /// let game = Game::from_uci(None, "g1f3 g8f6 f3g1 f6g8 e2e4".split(' '))?;
    /// let moves = game.last_moves(100);
    /// assert_eq!(moves.len(), 5);
    /// assert_eq!(moves[0].last_move, game.moves().last().copied());
    /// # Ok::<(), shelfish_analysis::GameError>(())
    /// ```
    pub fn last_moves(&self, max_plies: usize) -> Vec<LastMove> {
        let mut found: Vec<LastMove> = Vec::new();
        let mut chess = Position::from_chess(&self.start).chess().clone();
        // Positions before a capture or pawn move do not occur again.
        let mut since = 0;
        let moves = self.moves.iter().take(max_plies).map(|m| Some(*m));
        for last_move in moves.chain([None]) {
            let key = Key::of_game(&chess);
            match found[since..].iter_mut().find(|before| before.key == key) {
                Some(before) => before.last_move = last_move,
                None => found.push(LastMove {
                    key,
                    position: chess.clone(),
                    last_move,
                }),
            }
            if let Some(m) = last_move {
                chess.play_unchecked(m);
                if m.is_zeroing() {
                    since = found.len();
                }
            }
        }
        found
    }
}

/// A position of a game with the last move played from it.
#[derive(Clone, Debug)]
pub struct LastMove {
    /// The exact code of the position.
    pub key: Key,
    /// The position.
    pub position: Chess,
    /// The move; `None` if the game ended there.
    pub last_move: Option<Move>,
}
