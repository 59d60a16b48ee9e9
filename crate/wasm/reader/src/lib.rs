//! An open database for JavaScript. The modules of the npm package export it with [`export`], each for a kind of record, so
//! that a page only loads the code of the records that it reads.
//!
//! Options and answers are plain JavaScript values. The package's TypeScript adds the types.
#![cfg(target_arch = "wasm32")]

mod answer;
mod calls;
mod database;
mod error;
mod evaluations;
mod kind;
mod moves;
mod options;
mod source;

pub use answer::observer;
pub use calls::{Pending, Running, call, check, promise, unless_aborted};
pub use database::{Database, open};
pub use error::{at_opening, closed, into_js, invalid_fen, read_error, source_error};
pub use evaluations::Evaluations;
pub use kind::Kind;
pub use moves::Moves;
pub use options::{Open, Request, Values};
pub use source::DatabaseSource;

/// Exports a class and a function that opens it, for a [`Kind`]. The function has a name in Rust and a name in JavaScript.
#[macro_export]
macro_rules! export {
    ($class:ident, $open:ident, $name:tt, $kind:ty) => {
        /// An open database. Every method returns a promise. Errors are plain objects, also among the answers.
        #[wasm_bindgen::prelude::wasm_bindgen]
        pub struct $class($crate::Database<$kind>);

        /// Opens the database of a manifest's URL.
        ///
        /// `source` is an object of the caller, instead of `fetch`. `response` is the promise of a response to a request for the
        /// manifest, and `controller` aborts the request.
        #[wasm_bindgen::prelude::wasm_bindgen(js_name = $name)]
        pub fn $open(
            url: String,
            source: wasm_bindgen::JsValue,
            options: wasm_bindgen::JsValue,
            response: Option<js_sys::Promise>,
            controller: Option<web_sys::AbortController>,
        ) -> js_sys::Promise {
            let wrap = |database| $class(database).into();
            $crate::open::<$kind>(url, source, options, response.zip(controller), wrap)
        }

        #[wasm_bindgen::prelude::wasm_bindgen]
        impl $class {
            /// Looks up a position.
            pub fn lookup(&self, fen: &str, options: &wasm_bindgen::JsValue) -> js_sys::Promise {
                self.0.lookup(fen, options)
            }

            /// Looks up positions, in the same order. Without `has_answers`, only fills the caches.
            #[wasm_bindgen(js_name = lookupMany)]
            pub fn lookup_many(
                &self,
                fens: &js_sys::Array,
                options: &wasm_bindgen::JsValue,
                has_answers: bool,
            ) -> js_sys::Promise {
                self.0.lookup_many(fens, options, has_answers)
            }

            /// Clears the caches of the database in memory and in IndexedDB.
            pub fn clear(&self) -> js_sys::Promise {
                self.0.clear()
            }

            /// Returns the manifest.
            pub fn manifest(&self) -> Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue> {
                self.0.manifest()
            }

            /// Returns totals since the database was opened.
            pub fn stats(&self) -> Result<wasm_bindgen::JsValue, wasm_bindgen::JsValue> {
                self.0.stats()
            }

            /// Ends all lookups and frees the memory.
            pub fn close(&self) {
                self.0.close();
            }
        }
    };
}
