//! IndexedDB: what was fetched survives the page.
//!
//! `host.js` keeps the entries, bounds their bytes, survives lost connections and bounds every wait.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::{Cache, Keep};

#[wasm_bindgen(raw_module = "./host.js")]
extern "C" {
    #[derive(Debug)]
    type Store;

    #[wasm_bindgen(constructor)]
    fn new(name: &str, bytes: f64) -> Store;

    /// An array of byte arrays and `undefined`; empty if there is no telling.
    #[wasm_bindgen(method)]
    async fn get(this: &Store, names: Vec<String>) -> JsValue;

    #[wasm_bindgen(method)]
    fn put(this: &Store, name: &str, bytes: &[u8], longest: bool);

    #[wasm_bindgen(method)]
    fn remove(this: &Store, name: &str);

    #[wasm_bindgen(method)]
    fn close(this: &Store);
}

/// A cache in the browser's IndexedDB, shared by all tabs of an origin that use the same name.
#[derive(Debug)]
pub struct IndexedDb(Store);

impl IndexedDb {
    /// A cache of at most `bytes` in the IndexedDB database `name`. Where there is no IndexedDB it is always empty.
    pub fn new(name: &str, bytes: u64) -> IndexedDb {
        IndexedDb(Store::new(name, bytes as f64))
    }
}

impl Cache for IndexedDb {
    async fn get(&self, names: &[String]) -> Vec<Option<Vec<u8>>> {
        let found: Array = self.0.get(names.to_vec()).await.unchecked_into();
        let bytes = |n| found.get(n as u32).dyn_ref::<Uint8Array>().map(Uint8Array::to_vec);
        (0..names.len()).map(bytes).collect()
    }

    fn put(&self, name: &str, bytes: &[u8], keep: Keep) {
        self.0.put(name, bytes, keep == Keep::Longest);
    }

    fn remove(&self, name: &str) {
        self.0.remove(name);
    }
}

impl Drop for IndexedDb {
    fn drop(&mut self) {
        self.0.close();
    }
}
