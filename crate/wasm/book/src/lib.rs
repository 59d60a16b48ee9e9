//! The WASM module of `shelfish/book`: reads the moves that games played.
#![cfg(target_arch = "wasm32")]

shelfish_wasm_reader::export!(Book, open, "open", shelfish_wasm_reader::Moves);
