//! Compression of text and modules for clients that accept it.
//!
//! The types follow GitHub Pages: the parts of a page, JSON and WebAssembly. Files of a database are not compressed.
//! Answers to range requests are not compressed either, because ranges refer to the bytes of the file.

use std::{
    collections::VecDeque,
    io::Write,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderValue, Method, StatusCode,
        header::{
            ACCEPT_ENCODING, ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG,
            IF_NONE_MATCH, RANGE, VARY,
        },
    },
    middleware::Next,
    response::{IntoResponse, Response},
};
use flate2::{Compression, write::GzEncoder};
use tokio::task::spawn_blocking;

use crate::BoxError;

const VARIES: HeaderValue = HeaderValue::from_static("accept-encoding");

/// Maximum size of a compressed file, in bytes. Larger files are sent without compression.
const MAX_FILE: usize = 16 << 20;

/// Maximum size of the cache of compressed files, in bytes, including their names.
const MAX_KEPT: usize = 32 << 20;

/// Quality of Brotli, from 0 to 11. Hosts that compress each answer use similar qualities.
const BROTLI_QUALITY: i32 = 5;

/// Types of files that hosts compress. Shards have the type `application/octet-stream`.
const TYPES: [&str; 11] = [
    "text/html",
    "text/css",
    "text/javascript",
    "text/plain",
    "text/xml",
    "application/javascript",
    "application/json",
    "application/manifest+json",
    "application/wasm",
    "application/xml",
    "image/svg+xml",
];

/// Content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Brotli,
    Gzip,
}

impl Coding {
    pub(super) fn name(self) -> &'static str {
        match self {
            Coding::Brotli => "br",
            Coding::Gzip => "gzip",
        }
    }

    fn encode(self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Coding::Brotli => {
                let mut out = Vec::new();
                let params = brotli::enc::BrotliEncoderParams {
                    quality: BROTLI_QUALITY,
                    lgwin: 22,
                    ..Default::default()
                };
                brotli::BrotliCompress(&mut &*bytes, &mut out, &params)?;
                Ok(out)
            }
            Coding::Gzip => {
                let mut out = GzEncoder::new(Vec::new(), Compression::default());
                out.write_all(bytes)?;
                out.finish()
            }
        }
    }
}

/// Returns the best coding that a client accepts, by the weights of [RFC
/// 9110](https://www.rfc-editor.org/rfc/rfc9110#field.accept-encoding).
///
/// A client without `Accept-Encoding` gets the uncompressed file.
pub(super) fn wanted(headers: &HeaderMap) -> Option<Coding> {
    let values = headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok());
    let (mut brotli, mut gzip, mut identity, mut any) = (None, None, None, None);
    for item in values.flat_map(|value| value.split(',')) {
        let mut parts = item.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight =
            parts.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        // An unreadable weight refuses the coding, which only costs bandwidth.
        let weight = weight.map_or(1.0, |weight| weight.trim().parse::<f32>().unwrap_or(0.0));
        match name.as_str() {
            "br" => brotli = Some(weight),
            "gzip" | "x-gzip" => gzip = Some(weight),
            "identity" => identity = Some(weight),
            "*" => any = Some(weight),
            _ => {}
        }
    }
    let brotli = brotli.or(any).unwrap_or(0.0);
    let gzip = gzip.or(any).unwrap_or(0.0);
    let best = if brotli >= gzip {
        (brotli, Coding::Brotli)
    } else {
        (gzip, Coding::Gzip)
    };
    (best.0 > 0.0 && identity.is_none_or(|identity| best.0 >= identity)).then_some(best.1)
}

/// Cache of recently compressed files.
#[derive(Default)]
pub(super) struct Compressor {
    /// Compressed files by path and ETag, the oldest first.
    kept: Mutex<VecDeque<(String, Bytes)>>,
}

impl Compressor {
    async fn encode(&self, key: String, coding: Coding, body: Body) -> Result<Bytes, BoxError> {
        if let Some((_, bytes)) = self.kept().iter().find(|(kept, _)| *kept == key) {
            return Ok(bytes.clone());
        }
        let bytes = to_bytes(body, MAX_FILE).await?;
        let bytes: Bytes = spawn_blocking(move || coding.encode(&bytes)).await??.into();
        let mut kept = self.kept();
        kept.push_back((key, bytes.clone()));
        // A name can be longer than its file.
        let size = |(key, bytes): &(String, Bytes)| key.len() + bytes.len();
        let mut sum: usize = kept.iter().map(size).sum();
        while sum > MAX_KEPT {
            sum -= kept.pop_front().map_or(sum, |oldest| size(&oldest));
        }
        Ok(bytes)
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(String, Bytes)>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Compresses the answer if the client accepts a coding and hosts compress the type.
pub(super) async fn compress(
    State(compressor): State<Arc<Compressor>>,
    mut request: Request,
    next: Next,
) -> Response {
    let is_head = request.method() == Method::HEAD;
    let is_whole =
        (is_head || request.method() == Method::GET) && !request.headers().contains_key(RANGE);
    let Some(coding) = wanted(request.headers()).filter(|_| is_whole) else {
        return varied(next.run(request).await);
    };

    // The ETag of a compressed file is derived from the ETag of the file.
    let known = request
        .headers()
        .get(IF_NONE_MATCH)
        .and_then(|known| known.to_str().ok())
        .unwrap_or("")
        .to_owned();
    let suffix = format!("-{}\"", coding.name());
    if let Ok(plain) = HeaderValue::from_str(&known.replace(&suffix, "\""))
        && known.contains(&suffix)
    {
        request.headers_mut().insert(IF_NONE_MATCH, plain);
    }
    let path = request.uri().path().to_owned();
    // `HEAD` returns the length of the compressed file, so the file must be read.
    *request.method_mut() = Method::GET;
    let (mut head, body) = next.run(request).await.into_parts();

    let tag = head.headers.get(ETAG).and_then(|tag| tag.to_str().ok());
    let tag = tag.and_then(|tag| Some(format!("{}{suffix}", tag.strip_suffix('"')?)));
    if head.status == StatusCode::NOT_MODIFIED
        && let Some(tag) = tag
            .as_ref()
            .filter(|tag| known.contains(*tag))
            .and_then(|tag| tag.parse().ok())
    {
        head.headers.insert(ETAG, tag);
        head.headers.append(VARY, VARIES);
        return Response::from_parts(head, Body::empty());
    }
    let length = head
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    let (Some(tag), Some(1..=MAX_FILE), StatusCode::OK, true) =
        (tag, length, head.status, is_text(&head.headers))
    else {
        let body = if is_head { Body::empty() } else { body };
        return varied(Response::from_parts(head, body));
    };
    let key = format!("{path} {tag}");
    let (Ok(bytes), Ok(tag)) = (compressor.encode(key, coding, body).await, tag.parse()) else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    head.headers.insert(ETAG, tag);
    head.headers
        .insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    head.headers.insert(CONTENT_LENGTH, bytes.len().into());
    head.headers.append(VARY, VARIES);
    // Ranges refer to the uncompressed file only.
    head.headers.remove(ACCEPT_RANGES);
    Response::from_parts(head, if is_head { Body::empty() } else { bytes.into() })
}

/// Adds `Vary` to text, because other clients get it compressed.
fn varied(mut response: Response) -> Response {
    if is_text(response.headers()) {
        response.headers_mut().append(VARY, VARIES);
    }
    response
}

fn is_text(headers: &HeaderMap) -> bool {
    let content = headers
        .get(CONTENT_TYPE)
        .and_then(|content| content.to_str().ok())
        .unwrap_or("");
    TYPES.contains(&content.split(';').next().unwrap_or("").trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_bounded_including_names() -> Result<(), BoxError> {
        let runtime = tokio::runtime::Runtime::new()?;
        let compressor = Compressor::default();
        let long = "x".repeat(MAX_KEPT / 4);
        for number in 0..9 {
            runtime.block_on(compressor.encode(
                format!("{number}{long}"),
                Coding::Gzip,
                Body::from("text"),
            ))?;
            let sum: usize = compressor
                .kept()
                .iter()
                .map(|(key, bytes)| key.len() + bytes.len())
                .sum();
            assert!(sum <= MAX_KEPT, "{sum} bytes");
        }
        assert_eq!(compressor.kept().len(), 3);
        Ok(())
    }
}
