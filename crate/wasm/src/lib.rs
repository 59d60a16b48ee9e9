//! The WASM modules of the npm package: a reader as JavaScript takes it, of evaluations or, with the feature `moves`, of
//! the moves that games played. Each reads one kind alone, so that no page pays for the other.
//!
//! Options come and answers go as plain JavaScript values. The package's TypeScript loads the module and gives it its
//! face.
#![cfg(target_arch = "wasm32")]

mod answer;
#[cfg(feature = "cache")]
mod cache;
mod database;
#[cfg(not(feature = "moves"))]
mod evaluations;
mod failure;
#[cfg(feature = "moves")]
mod moves;
mod options;
mod place;

#[cfg(feature = "cache")]
pub use cache::Cache;
pub use database::{Database, open};
#[cfg(not(feature = "moves"))]
use evaluations as kind;
#[cfg(feature = "moves")]
use moves as kind;

/// Smaller and faster than the allocator of the standard library.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
