//! The WASM module of `shelfish/explorer`: reads evaluations and the moves that games played. The two kinds of records share most of
//! the code.
#![cfg(target_arch = "wasm32")]

shelfish_wasm_reader::export!(
    Database,
    open_database,
    "openDatabase",
    shelfish_wasm_reader::Evaluations
);
shelfish_wasm_reader::export!(Book, open_book, "openBook", shelfish_wasm_reader::Moves);
