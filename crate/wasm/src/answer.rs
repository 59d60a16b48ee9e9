//! Answers for all kinds of records as plain JavaScript values.

use std::sync::Arc;

use js_sys::{Array, Function, Object, Reflect};
use serde::Serialize;
use shelfish::position::FenError;
use shelfish::reader::{self, Cache, Fetched, Observer, Origin};
use shelfish::source::Source as _;
use shelfish::table;
use shelfish::web::{Fetch, IndexedDb};
use shelfish_wasm_shared::to_js;
use wasm_bindgen::JsValue;

use crate::error::{into_js, invalid_fen};

/// Converts a manifest, and adds the two fields of the kind of record.
pub fn manifest(manifest: &table::Manifest, fields: [(&str, JsValue); 2]) -> JsValue {
    #[derive(Serialize)]
    struct Manifest<'a> {
        format: u64,
        positions: f64,
        bytes: f64,
        shards: Vec<Shard<'a>>,
        #[serde(with = "serde_wasm_bindgen::preserve")]
        info: Object,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Shard<'a> {
        file: &'a str,
        bytes: f64,
        page_bytes: f64,
        positions: f64,
    }
    let shards = manifest
        .shards()
        .iter()
        .enumerate()
        .map(|(n, shard)| Shard {
            file: &shard.file,
            bytes: shard.bytes as f64,
            page_bytes: manifest.pages_of(n).map(|page| page.len()).sum::<usize>() as f64,
            positions: shard.positions as f64,
        });
    let info = Object::new();
    for (name, value) in &manifest.info {
        let _ = Reflect::set(&info, &name.into(), &value.into());
    }
    let value = to_js(&Manifest {
        format: table::Manifest::FORMAT,
        positions: manifest.positions as f64,
        bytes: manifest.bytes() as f64,
        shards: shards.collect(),
        info,
    });
    for (name, field) in fields {
        let _ = Reflect::set(&value, &name.into(), &field);
    }
    value
}

/// Converts totals since the database was opened.
pub fn stats(stats: &reader::Stats) -> JsValue {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Stats {
        requests: f64,
        bytes: f64,
        memory_hits: f64,
        #[serde(rename = "indexedDBHits")]
        indexed_db_hits: f64,
        network_blocks: f64,
        lookups: f64,
        milliseconds: f64,
    }
    to_js(&Stats {
        requests: stats.requests as f64,
        bytes: stats.bytes as f64,
        memory_hits: stats.memory_hits as f64,
        indexed_db_hits: stats.cache_hits as f64,
        network_blocks: stats.network_blocks as f64,
        lookups: stats.lookups as f64,
        milliseconds: stats.milliseconds,
    })
}

/// Returns an observer that calls a function with each byte range.
pub fn observer(function: Function) -> Observer {
    Box::new(move |range: &Fetched<'_>| {
        // Ignores exceptions of the listener.
        let _ = function.call1(&JsValue::UNDEFINED, &fetched(range));
    })
}

/// Converts a byte range that was fetched, or that failed.
fn fetched(fetched: &Fetched<'_>) -> JsValue {
    #[derive(Serialize)]
    struct Request<'a> {
        url: &'a str,
        start: f64,
        end: f64,
        bytes: f64,
        parts: usize,
        milliseconds: f64,
        from: &'static str,
        ok: bool,
    }
    let (start, end) = (fetched.range.start as f64, fetched.range.end as f64);
    to_js(&Request {
        url: &fetched.at,
        start,
        end,
        bytes: if fetched.is_good { end - start } else { 0.0 },
        parts: fetched.parts,
        milliseconds: fetched.elapsed.as_secs_f64() * 1e3,
        from: if fetched.origin == Origin::Cache {
            "indexedDB"
        } else {
            "network"
        },
        ok: fetched.is_good,
    })
}

/// Opens the cache of files in IndexedDB, by its name and maximum size.
pub fn cache(files: &Fetch, named: Option<(String, u64)>) -> Option<IndexedDb> {
    named.map(|(name, bytes)| IndexedDb::open(&name, bytes, &files.locate("")))
}

/// Returns a cache for a reader.
#[allow(
    clippy::arc_with_non_send_sync,
    reason = "readers of all targets share their cache by an Arc"
)]
pub fn shared(cache: &Option<IndexedDb>) -> Option<Arc<dyn Cache>> {
    let cache = cache.clone()?;
    Some(Arc::new(cache))
}

/// Parses FENs. Returns the list of answers with the errors of malformed FENs, and the other positions with their places in it.
pub fn parse_fens<T>(
    fens: &Array,
    parse: impl Fn(&str) -> Result<T, FenError>,
) -> (Array, Vec<u32>, Vec<T>) {
    let answers = Array::new_with_length(fens.length());
    let (mut places, mut positions) = (Vec::new(), Vec::new());
    for (place, fen) in (0..).zip(fens.iter()) {
        match parse(&fen.as_string().unwrap_or_default()) {
            Ok(position) => {
                places.push(place);
                positions.push(position);
            }
            Err(error) => answers.set(place, into_js(invalid_fen(error))),
        }
    }
    (answers, places, positions)
}
