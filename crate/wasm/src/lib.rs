//! The WASM module: what `shelfish::web` exports, and nothing else.

#[cfg(target_arch = "wasm32")]
pub use shelfish::web::*;

/// Smaller and faster than the allocator of the standard library.
#[cfg(target_arch = "wasm32")]
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();
