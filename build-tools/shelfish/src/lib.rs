//! The commands of `shelfish`, and the folders below them.
//!
//! Each folder depends only on folders before it in this list: `system`, `terminal` and `uci`; `lichess`; `input`
//! and `store`; `database`; `book`; `build`; `evaluations` and `games`; `publish`; `commands`. A test enforces it.

pub mod book;
pub mod build;
pub mod commands;
pub mod database;
pub mod evaluations;
pub mod games;
pub mod input;
pub mod lichess;
pub mod publish;
pub mod store;
pub mod system;
pub mod terminal;
pub mod uci;

/// Reason why a command failed, as printed.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// End of a command: an exit code, or an error that `main` prints before it exits with 1.
///
/// 0 is success, 1 a failure or a problem found, 2 wrong usage, 130 and 143 an interruption by SIGINT and SIGTERM.
pub type Outcome = Result<std::process::ExitCode, BoxError>;
