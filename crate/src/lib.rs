//! Chess evaluations off the shelf.
//!
//! Data walks one way: canonical [`position`]s with their [`eval`]uations are written as a [`table`] of blocks; a
//! reader finds the block of a position by a small index and decodes its record. The writer is behind the
//! feature `write` and native; everything else is portable between native targets and wasm32.

pub mod eval;
pub mod moves;
pub mod position;
mod quoted;
pub mod reader;
pub mod source;
pub mod table;
#[cfg(target_arch = "wasm32")]
pub mod web;
