//! The moves that were played from a position: the records of a book.
//!
//! Results are counted by winner, not by side to move. A game counts once per position, with the last move that it
//! played from the position.

mod block_columns;
mod block_games;
mod bucketing;
mod columns;
mod division;
mod explored;
mod game_ref;
mod layout;
mod move_games;
mod played_moves;
mod record;
mod results;
#[cfg(all(test, feature = "write"))]
mod tests;
mod traversal;

pub use bucketing::{Bucketing, BucketingError, SPEEDS};
pub use game_ref::{GameId, GameRef};
pub use played_moves::{Details, Played, PlayedMove};
pub use results::{Bucket, Ratings, Results};
