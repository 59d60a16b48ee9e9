//! Dumps of evaluations and games: files, hosts or standard input, plain or compressed, as lines, rows or texts of games.

pub mod dump;
pub mod frames;
pub mod game_texts;
#[cfg(feature = "parquet")]
pub mod parquet;
pub mod remote;
pub mod rows;
mod source;
