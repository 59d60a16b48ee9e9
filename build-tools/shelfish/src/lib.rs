//! The commands of `shelfish`, one module each.

pub mod analyse;
mod answers;
pub mod bench;
pub(crate) mod blocking;
pub mod book;
pub mod build;
pub mod cache;
pub mod database;
pub mod dumps;
pub mod engine;
pub mod explore;
pub mod export;
pub mod extract;
mod game_texts;
pub mod lichess;
pub mod lookup;
pub mod ordered;
mod output;
mod progress;
pub mod publish;
pub mod refresh;
mod report;
pub mod scan;
pub mod serve;
pub mod shown;
pub mod stats;
pub mod store;
pub mod summary;
pub mod verify;

/// Why a command failed, as it is printed.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// How a command ends: with an exit code, or with an error that `main` prints before it exits with 1.
///
/// 0 is success, 1 a failure or a problem found, 2 wrong usage, 130 and 143 an interruption by SIGINT and SIGTERM.
pub type Outcome = Result<std::process::ExitCode, Failure>;
