//! The cache in IndexedDB, for its tests.

use shelfish::reader::{Cache as _, Keep};
use shelfish::web::IndexedDb;
use wasm_bindgen::prelude::*;

/// See [`IndexedDb`].
#[wasm_bindgen]
pub struct Cache(IndexedDb);

#[wasm_bindgen]
impl Cache {
    /// Opens the cache of a name.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str, bytes: f64, folder: &str) -> Cache {
        Cache(IndexedDb::open(name, bytes as u64, folder))
    }

    /// Reads entries.
    pub async fn get(&self, names: Vec<String>) -> Vec<JsValue> {
        let found = self.0.get(names).await.into_iter();
        found
            .map(|bytes| {
                bytes.map_or(JsValue::UNDEFINED, |bytes| {
                    js_sys::Uint8Array::from(&*bytes).into()
                })
            })
            .collect()
    }

    /// Writes an entry.
    pub fn put(&self, name: &str, bytes: &[u8], longest: bool) {
        self.0.put(
            name,
            bytes,
            if longest { Keep::Longest } else { Keep::Recent },
        );
    }

    /// Removes an entry.
    pub fn remove(&self, name: &str) {
        self.0.remove(name);
    }

    /// Removes all entries of the database.
    pub fn clear(&self) {
        self.0.clear();
    }

    /// Waits for all writes.
    pub async fn written(&self) {
        self.0.written().await;
    }

    /// Closes the connection.
    pub fn close(&self) {
        self.0.close();
    }
}
