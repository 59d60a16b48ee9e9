//! The source of a database: `fetch`, or an object of the caller.

use core::cell::Cell;
use core::ops::Range;
use std::io::ErrorKind;

use futures_util::FutureExt as _;
use js_sys::{Function, Promise, Reflect};
use shelfish::source::retry::RetryPolicy;
use shelfish::source::{Source, SourceError, SourceErrorKind, Traffic};
use shelfish::web::{Fetch, FetchOptions, IndexedDb, bytes_of, is_isolated, reason, send};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// The source of the files of a database.
pub enum DatabaseSource {
    /// Files of a host.
    Fetch(Fetch),
    /// Files of an object of the caller.
    Custom(Custom),
}

/// An object of the caller with `whole(file, cap)` and `range(file, start, end)`, which return promises of bytes.
pub struct Custom {
    url: String,
    object: JsValue,
    retry: RetryPolicy,
}

impl Custom {
    async fn call(&self, method: &str, arguments: &[JsValue]) -> Result<Vec<u8>, SourceErrorKind> {
        let failed = |error: JsValue| {
            let get = |name: &str| Reflect::get(&error, &name.into()).unwrap_or_default();
            match (get("status").as_f64(), get("code").as_string().as_deref()) {
                (Some(status), _) => SourceErrorKind::Status(status as u16),
                (_, Some("missing" | "ENOENT")) => {
                    SourceErrorKind::Io(ErrorKind::NotFound, reason(&error))
                }
                (_, Some("range")) => SourceErrorKind::Io(ErrorKind::UnexpectedEof, reason(&error)),
                _ => SourceErrorKind::Network(reason(&error)),
            }
        };
        let function: Function = Reflect::get(&self.object, &method.into())
            .and_then(JsCast::dyn_into)
            .map_err(failed)?;
        let promise = function
            .apply(&self.object, &arguments.iter().collect())
            .map_err(failed)?;
        let bytes = JsFuture::from(Promise::resolve(&promise))
            .await
            .map_err(failed)?;
        bytes_of(&bytes)
            .ok_or_else(|| SourceErrorKind::Network(format!("{method} returned no Uint8Array")))
    }

    async fn get(
        &self,
        file: &str,
        method: &str,
        numbers: &[f64],
        most: u64,
    ) -> Result<Vec<u8>, SourceError> {
        let at = format!("{}{file}", self.url);
        let arguments: Vec<JsValue> = [file.into()]
            .into_iter()
            .chain(numbers.iter().map(|&number| number.into()))
            .collect();
        let attempt = async || {
            let bytes = self.call(method, &arguments).await;
            let bytes = bytes.and_then(|bytes| {
                if bytes.len() as u64 > most {
                    Err(SourceErrorKind::Long { expected: most })
                } else {
                    Ok(bytes)
                }
            });
            bytes.map_err(SourceError::from)
        };
        send(&at, &self.retry, &Cell::new(0), &mut || {
            attempt().boxed_local()
        })
        .await
    }
}

impl DatabaseSource {
    /// Creates the source of the files next to a manifest: `source` if it is an object of the caller, else `fetch`.
    pub fn new(url: &str, source: JsValue, options: FetchOptions) -> DatabaseSource {
        if source.is_object() {
            DatabaseSource::Custom(Custom {
                url: url.to_string(),
                object: source,
                retry: options.retry,
            })
        } else {
            DatabaseSource::Fetch(Fetch::new(url, options))
        }
    }

    /// Opens the cache of the files in IndexedDB, by its name and maximum size.
    pub fn cache(&self, named: Option<(String, u64)>) -> Option<IndexedDb> {
        named.map(|(name, bytes)| IndexedDb::open(&name, bytes, &self.locate("")))
    }
}

impl Source for DatabaseSource {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        match self {
            DatabaseSource::Fetch(fetch) => fetch.range(file, range).await,
            DatabaseSource::Custom(custom) => {
                let expected = range.end.saturating_sub(range.start);
                let numbers = [range.start as f64, range.end as f64];
                let bytes = custom.get(file, "range", &numbers, expected).await?;
                let found = bytes.len() as u64;
                let short = || {
                    SourceError::new(
                        self.locate(file),
                        SourceErrorKind::Short { expected, found },
                    )
                };
                if found < expected {
                    Err(short())
                } else {
                    Ok(bytes)
                }
            }
        }
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        match self {
            DatabaseSource::Fetch(fetch) => fetch.whole(file, cap).await,
            DatabaseSource::Custom(custom) => custom.get(file, "whole", &[cap as f64], cap).await,
        }
    }

    fn locate(&self, file: &str) -> String {
        match self {
            DatabaseSource::Fetch(fetch) => fetch.locate(file),
            DatabaseSource::Custom(custom) => format!("{}{file}", custom.url),
        }
    }

    fn is_offline(&self) -> bool {
        matches!(self, DatabaseSource::Fetch(fetch) if fetch.is_offline())
    }

    fn is_isolated(&self) -> bool {
        is_isolated()
    }

    fn traffic(&self) -> Option<Traffic> {
        match self {
            DatabaseSource::Fetch(fetch) => fetch.traffic(),
            DatabaseSource::Custom(_) => None,
        }
    }
}
