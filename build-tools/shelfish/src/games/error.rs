//! Errors of builds of games.

use std::fmt;

use crate::build::BuildError;
use crate::build::base::BaseError;
use crate::input::Input;

/// An error of a build of games. The previous database is unchanged.
#[derive(Debug)]
pub enum GamesError {
    /// The table cannot be built.
    Build(BuildError),
    /// The games of an input are counted already.
    Repeated(Input),
    /// A Polyglot book cannot be merged with games, because it has no results.
    Weights(Input),
    /// Games cannot be selected from a book of an engine, because its moves are counted already.
    Counted(Input),
}

impl fmt::Display for GamesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GamesError::Build(error) => error.fmt(f),
            GamesError::Repeated(input) => write!(
                f,
                "{input} has the same games as another input, or as an input of a base: --again counts them twice"
            ),
            GamesError::Weights(input) => {
                write!(
                    f,
                    "{input} is a Polyglot book, which has weights instead of games and results: build it alone"
                )
            }
            GamesError::Counted(input) => write!(
                f,
                "{input} is a book whose moves are counted already: --ratings, --speeds, --since, --until, --ending, \
                 --no-bots, --max-plies and --whole select games, build it without these options"
            ),
        }
    }
}

impl std::error::Error for GamesError {}

impl From<BuildError> for GamesError {
    fn from(error: BuildError) -> GamesError {
        GamesError::Build(error)
    }
}

impl From<BaseError> for GamesError {
    fn from(error: BaseError) -> GamesError {
        GamesError::Build(error.into())
    }
}
