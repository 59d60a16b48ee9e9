//! The WASM module of the npm package `shelfish`: reads evaluations.
#![cfg(target_arch = "wasm32")]

#[cfg(feature = "cache")]
mod cache;

#[cfg(feature = "cache")]
pub use cache::Cache;

shelfish_wasm_reader::export!(Database, open, "open", shelfish_wasm_reader::Evaluations);
