//! Checks responses over HTTP: their status, their headers, and the length of their body.
//!
//! A range is requested with both ends (`bytes=a-b`, no CORS preflight). Acceptable responses are 206 with exactly the
//! range, and 200 if the whole file is small. Some headers are hidden from pages of another origin. Without them, the
//! bytes of a range are counted as they arrive, and the reader compares the checksum. The announced length of a whole
//! file is ignored because it may be the length of a compressed form. No byte beyond a cap is read.

use core::ops::Range;
use core::time::Duration;

use super::SourceErrorKind;

/// Default timeout of a request, including retries.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// Bytes that extend the timeout of a request by one second.
const PACE: u64 = 1 << 14;

/// Returns the time limit of a request that has received `bytes`, including retries. Each 16 KiB extend the timeout by one
/// second, so that slow connections work, but stalled connections are closed.
pub fn time_limit(timeout: Duration, bytes: u64) -> Duration {
    timeout.saturating_add(Duration::from_millis(bytes.saturating_mul(1000) / PACE))
}

/// The largest file that is accepted whole instead of a range.
pub const WHOLE_CAP: u64 = 1 << 20;

/// Returns the folder of the files of a manifest, with a slash at its end, and the query that their addresses need: those of the final
/// URL after redirects. A final URL with a query of its own is a signed address, or an address of a cache, of that file alone; then they
/// are those of the requested URL. Hosts such as Hugging Face redirect each file to such an address.
///
/// ```
/// use shelfish::source::http::base;
///
/// let base = |found| base("https://x.org/db/manifest.json?key=1", found);
/// assert_eq!(base("https://x.org/7/manifest.json?key=1"), ("https://x.org/7/", "?key=1"));
/// assert_eq!(base("https://cache.org/9f/manifest.json?sig=1"), ("https://x.org/db/", "?key=1"));
/// ```
pub fn base<'a>(requested: &'a str, found: &'a str) -> (&'a str, &'a str) {
    let (found_path, query) = split_query(found);
    let requested = split_query(requested);
    let is_of_one_file = query.len() > 1 && query != requested.1;
    let (path, query) = if is_of_one_file {
        requested
    } else {
        (found_path, query)
    };
    let slash = path
        .bytes()
        .rposition(|byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    (path.get(..slash).unwrap_or(path), query)
}

/// Splits a URL into the part before its query, and the query with the question mark. Removes the fragment.
pub fn split_query(url: &str) -> (&str, &str) {
    // A slice that panics adds the formatting of the standard library to the module.
    let end = |text: &str, mark| {
        text.bytes()
            .position(|byte| byte == mark)
            .unwrap_or(text.len())
    };
    let whole = url.get(..end(url, b'#')).unwrap_or(url);
    let path = end(whole, b'?');
    (
        whole.get(..path).unwrap_or(whole),
        whole.get(path..).unwrap_or_default(),
    )
}

/// The requested part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requested {
    /// A range of a file, not empty.
    Range(Range<u64>),
    /// A whole file of at most this many bytes.
    Whole {
        /// Bytes at most.
        cap: u64,
    },
}

/// The status and headers of a response; `None` if a header is absent or hidden.
#[derive(Clone, Debug, Default)]
pub struct Head<'a> {
    /// The status code.
    pub status: u16,
    /// `Content-Range`.
    pub content_range: Option<&'a str>,
    /// `Content-Length`.
    pub content_length: Option<&'a str>,
    /// `Content-Encoding`.
    pub content_encoding: Option<&'a str>,
}

impl Requested {
    /// Returns the value of the `Range` header to send, if any.
    pub fn range_header(&self) -> Option<String> {
        match self {
            Requested::Range(range) => Some(format!(
                "bytes={}-{}",
                range.start,
                range.end.saturating_sub(1)
            )),
            Requested::Whole { .. } => None,
        }
    }

    /// Checks the head of a response and returns a collector of its body.
    ///
    /// # Errors
    ///
    /// Returns an error if the status is unexpected, or if a header contradicts the request.
    pub fn check(&self, head: &Head<'_>) -> Result<Body, SourceErrorKind> {
        let announced = head.content_length.and_then(number);
        match (self, head.status) {
            (Requested::Range(range), 206) => {
                let coding = head.content_encoding.map_or("", str::trim_ascii);
                if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
                    return Err(SourceErrorKind::ContentEncoding(coding.to_string()));
                }
                if let Some(found) = head.content_range
                    && !is_range(found, range)
                {
                    return Err(SourceErrorKind::ContentRange {
                        expected: range.clone(),
                        found: found.to_string(),
                    });
                }
                let expected = range.end.saturating_sub(range.start);
                if let Some(found) = head.content_length
                    && announced != Some(expected)
                {
                    return Err(SourceErrorKind::ContentLength {
                        expected,
                        found: found.to_string(),
                    });
                }
                Ok(Body {
                    bytes: Vec::new(),
                    least: expected,
                    cap: expected,
                    part: None,
                })
            }
            (Requested::Range(range), 200) => {
                let expected = range.end.saturating_sub(range.start);
                // A larger file cannot be taken whole.
                let cap = if range.end > WHOLE_CAP {
                    expected
                } else {
                    WHOLE_CAP
                };
                // Compressed or not, more than the cap would be transferred.
                if announced.is_some_and(|length| length > cap) {
                    return Err(SourceErrorKind::RangeIgnored {
                        range: range.clone(),
                        length: announced,
                    });
                }
                Ok(Body {
                    bytes: Vec::new(),
                    least: expected,
                    cap,
                    part: Some(range.clone()),
                })
            }
            (&Requested::Whole { cap }, 200) => Ok(Body {
                bytes: Vec::new(),
                least: 0,
                cap,
                part: None,
            }),
            (_, status) => Err(SourceErrorKind::Status(status)),
        }
    }
}

/// Returns whether `Content-Range` names exactly `range`; the length of the file may be unknown (`*`) but not too
/// short.
fn is_range(found: &str, range: &Range<u64>) -> bool {
    let parse = || {
        let (unit, rest) = found.trim_ascii().split_at_checked("bytes".len())?;
        let (ends, size) = rest
            .split_once('/')
            .filter(|_| unit.eq_ignore_ascii_case("bytes"))?;
        let (first, last) = ends.split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        let fits = size.trim_ascii() == "*" || number(size)? > last;
        Some(fits && first == range.start && last.checked_add(1)? == range.end)
    };
    parse().unwrap_or(false)
}

fn number(text: &str) -> Option<u64> {
    text.trim_ascii().parse().ok()
}

/// The body of an accepted answer, collected piece by piece.
#[derive(Debug)]
pub struct Body {
    bytes: Vec<u8>,
    least: u64,
    cap: u64,
    /// The requested range, if the status is that of a whole file.
    part: Option<Range<u64>>,
}

impl Body {
    /// Returns the maximum number of bytes of the body.
    pub fn cap(&self) -> u64 {
        self.cap
    }

    /// Returns whether the status is that of a whole file, although a range was requested.
    pub fn ignores_range(&self) -> bool {
        self.part.is_some()
    }

    /// Takes the next piece.
    ///
    /// # Errors
    ///
    /// The body is longer than it may be; the request is to be given up.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), SourceErrorKind> {
        let length = self.bytes.len() as u64 + piece.len() as u64;
        if length > self.cap {
            return Err(match self.part.clone() {
                Some(range) => SourceErrorKind::RangeIgnored {
                    range,
                    length: None,
                },
                None => SourceErrorKind::Long { expected: self.cap },
            });
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// Replaces the bytes by the result of `decode`, which receives them and the maximum number of bytes.
    ///
    /// # Errors
    ///
    /// The body cannot be decoded, or is longer than it may be.
    #[cfg(all(feature = "http", not(target_arch = "wasm32")))]
    pub(super) fn decode(
        mut self,
        decode: impl FnOnce(Vec<u8>, u64) -> Result<Vec<u8>, SourceErrorKind>,
    ) -> Result<Body, SourceErrorKind> {
        let decoded = decode(core::mem::take(&mut self.bytes), self.cap)?;
        self.push(&decoded)?;
        Ok(self)
    }

    /// Returns the requested bytes when the body has ended.
    ///
    /// # Errors
    ///
    /// The body has another length.
    pub fn finish(self) -> Result<Vec<u8>, SourceErrorKind> {
        let (mut bytes, part) = self.finish_whole()?;
        if let Some(part) = part {
            // Both ends are at most the length of the body, see `finish_whole`.
            bytes.truncate(part.end as usize);
            bytes.drain(..(part.start as usize).min(bytes.len()));
        }
        Ok(bytes)
    }

    /// Returns all bytes after the end of the body, and the requested range if they are the whole file. Chromium answers ranges of the
    /// files of extensions with status 200 and exactly the requested bytes, which their checksum proves.
    ///
    /// # Errors
    ///
    /// The body has another length.
    pub fn finish_whole(self) -> Result<(Vec<u8>, Option<Range<u64>>), SourceErrorKind> {
        let found = self.bytes.len() as u64;
        match self.part {
            Some(range) if found != self.least && found < range.end => {
                let length = Some(found);
                Err(SourceErrorKind::RangeIgnored { range, length })
            }
            None if found < self.least => Err(SourceErrorKind::Short {
                expected: self.least,
                found,
            }),
            part => Ok((self.bytes, part.filter(|_| found != self.least))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const REQUESTED: Requested = Requested::Range(10..14);
    const FILE: &[u8] = b"0123456789abcdefgh";

    fn partial() -> Head<'static> {
        Head {
            status: 206,
            content_range: Some("bytes 10-13/100"),
            content_length: Some("4"),
            ..Head::default()
        }
    }

    fn whole(content_length: Option<&str>) -> Head<'_> {
        Head {
            status: 200,
            content_length,
            ..Head::default()
        }
    }

    fn range_ignored(range: Range<u64>, length: Option<u64>) -> SourceErrorKind {
        SourceErrorKind::RangeIgnored { range, length }
    }

    fn take(
        requested: &Requested,
        head: &Head<'_>,
        body: &[u8],
    ) -> Result<Vec<u8>, SourceErrorKind> {
        let mut collected = requested.check(head)?;
        body.chunks(3).try_for_each(|piece| collected.push(piece))?;
        collected.finish()
    }

    #[test]
    fn the_time_limit_grows_with_the_bytes_received() {
        let seconds = |bytes| time_limit(Duration::from_secs(20), bytes).as_millis();
        assert_eq!(
            [0, 1 << 14, 3 << 13, 1 << 20].map(seconds),
            [20_000, 21_000, 21_500, 84_000]
        );
        assert!(time_limit(Duration::MAX, u64::MAX) == Duration::MAX);
    }

    #[test]
    fn the_requested_range_is_accepted_with_any_headers_that_fit_or_none() {
        assert_eq!(REQUESTED.range_header().as_deref(), Some("bytes=10-13"));
        let hidden = Head {
            status: 206,
            ..Head::default()
        };
        let heads = [hidden, partial()];
        let ranges = ["bytes 10-13/*", "BYTES 10-13/100", " Bytes  10 - 13 / 100 "];
        let ranges = ranges.map(|range| Head {
            content_range: Some(range),
            content_length: Some(" 4 "),
            ..partial()
        });
        let codings = ["identity", " IDENTITY ", "", " "].map(|coding| Head {
            content_encoding: Some(coding),
            ..partial()
        });
        for head in heads.into_iter().chain(ranges).chain(codings) {
            assert_eq!(
                take(&REQUESTED, &head, b"abcd").unwrap(),
                b"abcd",
                "{head:?}"
            );
        }
    }

    #[test]
    fn headers_that_contradict_the_range_and_bodies_of_another_length_are_errors() {
        for found in [
            "bytes 0-3/100",
            "bytes 10-14/100",
            "bytes 10-13/13",
            "bytes */100",
            "bytes 10-13",
            "items 10-13/100",
            "byt\u{e9}",
            "bytes 10-18446744073709551615/*",
            "",
        ] {
            let head = Head {
                content_range: Some(found),
                ..partial()
            };
            let (expected, found) = (10..14, found.to_string());
            let error = SourceErrorKind::ContentRange { expected, found };
            assert_eq!(take(&REQUESTED, &head, b"abcd"), Err(error));
        }
        for found in ["3", "5", "-4", "four"] {
            let head = Head {
                content_length: Some(found),
                ..partial()
            };
            let (expected, found) = (4, found.to_string());
            let error = SourceErrorKind::ContentLength { expected, found };
            assert_eq!(take(&REQUESTED, &head, b"abcd"), Err(error));
        }
        let head = Head {
            content_encoding: Some("gzip"),
            ..partial()
        };
        let coded = SourceErrorKind::ContentEncoding("gzip".to_string());
        assert_eq!(take(&REQUESTED, &head, b"abcd"), Err(coded));
        for (body, error) in [
            (
                &b"abc"[..],
                SourceErrorKind::Short {
                    expected: 4,
                    found: 3,
                },
            ),
            (
                b"",
                SourceErrorKind::Short {
                    expected: 4,
                    found: 0,
                },
            ),
            (b"abcde", SourceErrorKind::Long { expected: 4 }),
        ] {
            assert_eq!(take(&REQUESTED, &partial(), body), Err(error));
        }
    }

    #[test]
    fn other_statuses_are_errors_with_the_status() {
        let file = Requested::Whole { cap: 9 };
        for status in [204, 304, 403, 404, 416, 500, 503] {
            let head = Head {
                status,
                ..Head::default()
            };
            let error = Err(SourceErrorKind::Status(status));
            assert_eq!(take(&REQUESTED, &head, b""), error);
            assert_eq!(take(&file, &head, b""), error);
        }
        assert_eq!(
            take(&file, &partial(), b"abcd"),
            Err(SourceErrorKind::Status(206))
        );
    }

    #[test]
    fn a_small_whole_file_or_the_range_itself_is_accepted_with_status_200() {
        // The length may be that of a compressed form.
        for length in [None, Some("18"), Some("9"), Some("30")] {
            for content_encoding in [Some("br"), None] {
                let head = Head {
                    content_encoding,
                    ..whole(length)
                };
                assert_eq!(take(&REQUESTED, &head, FILE).unwrap(), b"abcd");
                assert_eq!(
                    take(&Requested::Whole { cap: 18 }, &head, FILE).unwrap(),
                    FILE
                );
            }
            assert_eq!(take(&REQUESTED, &whole(length), b"abcd").unwrap(), b"abcd");
            for found in [0, 3, 5, 12] {
                let error = range_ignored(10..14, Some(found));
                let body = &FILE[..found as usize];
                assert_eq!(take(&REQUESTED, &whole(length), body), Err(error));
            }
        }
    }

    #[test]
    fn a_large_whole_file_as_the_response_to_a_range_request_is_an_error() {
        let ignored = |length| Err(range_ignored(10..14, length));
        assert_eq!(
            take(&REQUESTED, &whole(Some("67108864")), b""),
            ignored(Some(67_108_864))
        );
        let mut body = REQUESTED.check(&whole(None)).unwrap();
        body.push(&vec![0; WHOLE_CAP as usize]).unwrap();
        assert_eq!(body.push(&[0]).map(|()| Vec::new()), ignored(None));
        let beyond = Requested::Range(u64::MAX - 4..u64::MAX);
        let error = range_ignored(u64::MAX - 4..u64::MAX, None);
        assert_eq!(take(&beyond, &whole(None), b"abcde"), Err(error));
        assert_eq!(take(&beyond, &whole(Some("4")), b"abcd").unwrap(), b"abcd");
    }

    #[test]
    fn a_whole_file_may_have_any_length_up_to_the_limit() {
        let requested = Requested::Whole { cap: 4 };
        for length in [None, Some("3"), Some("5"), Some("four")] {
            let take = |body| take(&requested, &whole(length), body);
            assert_eq!(
                (take(b"abcd").unwrap(), take(b"").unwrap()),
                (b"abcd".to_vec(), Vec::new())
            );
            assert_eq!(take(b"abcde"), Err(SourceErrorKind::Long { expected: 4 }));
        }
    }

    #[test]
    fn files_are_next_to_the_final_manifest_with_its_query_unless_the_query_is_its_own() {
        let requested = "https://x.org/a/manifest.json";
        let queried = "https://x.org/a/m.json?t=1";
        for (requested, found, expected) in [
            (requested, requested, ("https://x.org/a/", "")),
            (
                requested,
                "https://y.org/b/c/manifest.json#d?e/f",
                ("https://y.org/b/c/", ""),
            ),
            (
                requested,
                "https://y.org/b/manifest.json?",
                ("https://y.org/b/", "?"),
            ),
            (
                requested,
                "https://y.org/b/manifest.json?sig=/c/",
                ("https://x.org/a/", ""),
            ),
            (
                queried,
                "https://y.org/b/m.json?t=1",
                ("https://y.org/b/", "?t=1"),
            ),
            (queried, "https://y.org/b/m.json", ("https://y.org/b/", "")),
            (
                queried,
                "https://y.org/b/m.json?t=2",
                ("https://x.org/a/", "?t=1"),
            ),
            ("", "", ("", "")),
        ] {
            assert_eq!(base(requested, found), expected, "{requested} {found}");
        }
    }
}
