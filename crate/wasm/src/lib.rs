//! The WASM module of the npm package: a reader of evaluations as JavaScript takes it.
//!
//! Options come and answers go as plain JavaScript values. The package's TypeScript loads the module and gives it its
//! face.
#![cfg(target_arch = "wasm32")]

mod answer;
#[cfg(feature = "cache")]
mod cache;
mod database;
mod failure;
mod options;
mod place;

#[cfg(feature = "cache")]
pub use cache::Cache;
pub use database::{Database, open};

/// Smaller and faster than the allocator of the standard library.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
