//! The WASM module: what `shelfish::web` exports, and nothing else.

#[cfg(target_arch = "wasm32")]
pub use shelfish::web::*;
