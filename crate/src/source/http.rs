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

/// Returns the folder of the files of a manifest, with a slash at its end: the folder of the final URL after redirects. A final URL
/// with a query of its own is a signed address, or an address of a cache, of that file alone; then the folder is that of the
/// requested URL. Hosts such as Hugging Face redirect each file to such an address.
///
/// ```
/// use shelfish::source::http::folder;
///
/// assert_eq!(folder("https://x.org/latest/manifest.json", "https://x.org/7/manifest.json"), "https://x.org/7/");
/// assert_eq!(folder("https://x.org/db/manifest.json", "https://cache.org/9f/manifest.json?sig=1"), "https://x.org/db/");
/// ```
pub fn folder<'a>(requested: &'a str, found: &'a str) -> &'a str {
    let (found_path, query) = split_query(found);
    let (requested_path, requested_query) = split_query(requested);
    let is_of_one_file = query.len() > 1 && query != requested_query;
    let path = if is_of_one_file {
        requested_path
    } else {
        found_path
    };
    let slash = path
        .bytes()
        .rposition(|byte| byte == b'/')
        .map_or(0, |slash| slash + 1);
    path.get(..slash).unwrap_or(path)
}

/// Splits a URL into the part before its query, and the query with the question mark. Removes the fragment.
fn split_query(url: &str) -> (&str, &str) {
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
                // Compressed or not, more than the cap would be transferred.
                if announced.is_some_and(|length| length > WHOLE_CAP) || range.end > WHOLE_CAP {
                    return Err(SourceErrorKind::RangeIgnored {
                        length: announced,
                        cap: WHOLE_CAP,
                    });
                }
                Ok(Body {
                    bytes: Vec::new(),
                    least: range.end,
                    cap: WHOLE_CAP,
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
    /// The part to keep of a whole file.
    part: Option<Range<u64>>,
}

impl Body {
    /// Returns the maximum number of bytes of the body.
    pub fn cap(&self) -> u64 {
        self.cap
    }

    /// Returns the requested part, if the response contains the whole file.
    pub fn part(&self) -> Option<Range<u64>> {
        self.part.clone()
    }

    /// Takes the next piece.
    ///
    /// # Errors
    ///
    /// The body is longer than it may be; the request is to be given up.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), SourceErrorKind> {
        let length = self.bytes.len() as u64 + piece.len() as u64;
        if length > self.cap {
            return Err(match self.part {
                Some(_) => SourceErrorKind::RangeIgnored {
                    length: None,
                    cap: self.cap,
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
    /// The body ended early.
    pub fn finish(self) -> Result<Vec<u8>, SourceErrorKind> {
        let part = self.part.clone();
        let mut bytes = self.finish_whole()?;
        if let Some(part) = part {
            // Both ends are at most WHOLE_CAP and the length of the body, see `check` and `finish_whole`.
            bytes.truncate(part.end as usize);
            bytes.drain(..(part.start as usize).min(bytes.len()));
        }
        Ok(bytes)
    }

    /// Returns all bytes after the end of the body. If the response contains the whole file, so does the result.
    ///
    /// # Errors
    ///
    /// Returns an error if the body ended early.
    pub fn finish_whole(self) -> Result<Vec<u8>, SourceErrorKind> {
        let found = self.bytes.len() as u64;
        if found < self.least {
            return Err(SourceErrorKind::Short {
                expected: self.least,
                found,
            });
        }
        Ok(self.bytes)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const REQUESTED: Requested = Requested::Range(10..14);

    fn partial() -> Head<'static> {
        Head {
            status: 206,
            content_range: Some("bytes 10-13/100"),
            content_length: Some("4"),
            ..Head::default()
        }
    }

    fn take(
        requested: &Requested,
        head: &Head<'_>,
        pieces: &[&[u8]],
    ) -> Result<Vec<u8>, SourceErrorKind> {
        let mut body = requested.check(head)?;
        pieces.iter().try_for_each(|piece| body.push(piece))?;
        body.finish()
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
    fn a_range_header_contains_both_ends() {
        assert_eq!(REQUESTED.range_header().as_deref(), Some("bytes=10-13"));
        assert_eq!(Requested::Whole { cap: 1 }.range_header(), None);
    }

    #[test]
    fn the_requested_range_is_accepted_in_any_number_of_pieces() {
        assert_eq!(take(&REQUESTED, &partial(), &[b"abcd"]).unwrap(), b"abcd");
        assert_eq!(
            take(&REQUESTED, &partial(), &[b"a", b"", b"bcd"]).unwrap(),
            b"abcd"
        );
    }

    #[test]
    fn headers_hidden_by_cors_are_not_required() {
        let head = Head {
            status: 206,
            ..Head::default()
        };
        assert_eq!(take(&REQUESTED, &head, &[b"abcd"]).unwrap(), b"abcd");
    }

    #[test]
    fn an_unknown_file_length_is_accepted() {
        let head = Head {
            content_range: Some("bytes 10-13/*"),
            ..partial()
        };
        assert_eq!(take(&REQUESTED, &head, &[b"abcd"]).unwrap(), b"abcd");
    }

    #[test]
    fn headers_are_parsed_regardless_of_case_and_spaces() {
        for found in [
            "BYTES 10-13/100",
            " Bytes  10 - 13 / 100 ",
            "bytes\t10-13/*",
        ] {
            let head = Head {
                content_range: Some(found),
                content_length: Some(" 4 "),
                ..partial()
            };
            assert_eq!(
                take(&REQUESTED, &head, &[b"abcd"]).unwrap(),
                b"abcd",
                "{found:?}"
            );
        }
    }

    #[test]
    fn a_wrong_content_range_is_an_error() {
        for found in [
            "bytes 0-3/100",
            "bytes 10-14/100",
            "bytes 10-13/13",
            "bytes */100",
            "bytes 10-13",
            "items 10-13/100",
            "bytés 10-13/100",
            "byté",
            "bytes 10-18446744073709551615/*",
            "",
        ] {
            let head = Head {
                content_range: Some(found),
                ..partial()
            };
            let expected = SourceErrorKind::ContentRange {
                expected: 10..14,
                found: found.to_string(),
            };
            assert_eq!(take(&REQUESTED, &head, &[b"abcd"]), Err(expected));
        }
    }

    #[test]
    fn a_wrong_content_length_is_an_error() {
        for found in ["3", "5", "-4", "four"] {
            let head = Head {
                content_length: Some(found),
                ..partial()
            };
            let expected = SourceErrorKind::ContentLength {
                expected: 4,
                found: found.to_string(),
            };
            assert_eq!(take(&REQUESTED, &head, &[b"abcd"]), Err(expected));
        }
    }

    #[test]
    fn a_compressed_range_is_an_error() {
        let head = Head {
            content_encoding: Some("gzip"),
            ..partial()
        };
        assert_eq!(
            take(&REQUESTED, &head, &[b"abcd"]),
            Err(SourceErrorKind::ContentEncoding("gzip".to_string()))
        );
        for none in ["identity", "Identity", " IDENTITY ", "", " "] {
            let head = Head {
                content_encoding: Some(none),
                ..partial()
            };
            assert!(take(&REQUESTED, &head, &[b"abcd"]).is_ok(), "{none:?}");
        }
    }

    #[test]
    fn a_short_body_is_an_error() {
        assert_eq!(
            take(&REQUESTED, &partial(), &[b"abc"]),
            Err(SourceErrorKind::Short {
                expected: 4,
                found: 3
            })
        );
        assert_eq!(
            take(&REQUESTED, &partial(), &[]),
            Err(SourceErrorKind::Short {
                expected: 4,
                found: 0
            })
        );
    }

    #[test]
    fn a_body_longer_than_the_range_is_an_error() {
        let mut body = REQUESTED.check(&partial()).unwrap();
        body.push(b"abcd").unwrap();
        assert_eq!(body.push(b"e"), Err(SourceErrorKind::Long { expected: 4 }));
    }

    #[test]
    fn other_statuses_are_errors_with_the_status() {
        for status in [204, 304, 403, 404, 416, 500, 503] {
            let head = Head {
                status,
                ..Head::default()
            };
            assert_eq!(
                take(&REQUESTED, &head, &[]),
                Err(SourceErrorKind::Status(status))
            );
            assert_eq!(
                take(&Requested::Whole { cap: 9 }, &head, &[]),
                Err(SourceErrorKind::Status(status))
            );
        }
        assert_eq!(
            take(&Requested::Whole { cap: 9 }, &partial(), &[b"abcd"]),
            Err(SourceErrorKind::Status(206))
        );
    }

    #[test]
    fn a_small_whole_file_is_accepted_as_the_response_to_a_range_request() {
        let whole = b"0123456789abcdefgh";
        let head = Head {
            status: 200,
            content_length: Some("18"),
            ..Head::default()
        };
        assert_eq!(take(&REQUESTED, &head, &[whole]).unwrap(), b"abcd");
        let head = Head {
            status: 200,
            ..Head::default()
        };
        assert_eq!(
            take(&REQUESTED, &head, &[&whole[..12], &whole[12..]]).unwrap(),
            b"abcd"
        );
    }

    #[test]
    fn files_are_next_to_the_final_manifest_unless_its_address_has_a_query_of_its_own() {
        let requested = "https://x.org/a/manifest.json";
        for (requested, found, expected) in [
            (requested, requested, "https://x.org/a/"),
            (
                requested,
                "https://y.org/b/c/manifest.json#d?e/f",
                "https://y.org/b/c/",
            ),
            (
                requested,
                "https://y.org/b/manifest.json?",
                "https://y.org/b/",
            ),
            (
                requested,
                "https://y.org/b/manifest.json?sig=/c/",
                "https://x.org/a/",
            ),
            (
                "https://x.org/a/m.json?t=1",
                "https://y.org/b/m.json?t=1",
                "https://y.org/b/",
            ),
            (
                "https://x.org/a/m.json?t=1",
                "https://y.org/b/m.json",
                "https://y.org/b/",
            ),
            (
                "https://x.org/a/m.json?t=1",
                "https://y.org/b/m.json?t=2",
                "https://x.org/a/",
            ),
            ("", "", ""),
        ] {
            assert_eq!(folder(requested, found), expected, "{requested} {found}");
        }
    }

    #[test]
    fn a_small_whole_file_may_be_compressed_with_or_without_a_header() {
        let whole: &[u8] = b"0123456789abcdefgh";
        for content_encoding in [Some("br"), None] {
            for announced in ["9", "18", "30"] {
                let head = Head {
                    status: 200,
                    content_length: Some(announced),
                    content_encoding,
                    ..Head::default()
                };
                assert_eq!(take(&REQUESTED, &head, &[whole]).unwrap(), b"abcd");
                assert_eq!(
                    take(&Requested::Whole { cap: 18 }, &head, &[whole]).unwrap(),
                    whole
                );
            }
        }
    }

    #[test]
    fn a_large_whole_file_as_the_response_to_a_range_request_is_an_error() {
        let ignored = |length| {
            Err(SourceErrorKind::RangeIgnored {
                length,
                cap: WHOLE_CAP,
            })
        };
        let head = Head {
            status: 200,
            content_length: Some("67108864"),
            ..Head::default()
        };
        assert_eq!(take(&REQUESTED, &head, &[]), ignored(Some(67_108_864)));
        let head = Head {
            status: 200,
            ..Head::default()
        };
        let mut body = REQUESTED.check(&head).unwrap();
        body.push(&vec![0; WHOLE_CAP as usize]).unwrap();
        assert_eq!(
            body.push(&[0]),
            Err(SourceErrorKind::RangeIgnored {
                length: None,
                cap: WHOLE_CAP
            })
        );
        assert_eq!(
            take(&Requested::Range(u64::MAX - 4..u64::MAX), &head, &[]),
            ignored(None)
        );
    }

    #[test]
    fn a_whole_file_that_ends_before_the_range_is_an_error() {
        for content_length in [None, Some("12"), Some("18")] {
            let head = Head {
                status: 200,
                content_length,
                ..Head::default()
            };
            assert_eq!(
                take(&REQUESTED, &head, &[b"0123456789ab"]),
                Err(SourceErrorKind::Short {
                    expected: 14,
                    found: 12
                })
            );
        }
    }

    #[test]
    fn a_whole_file_may_have_any_length_up_to_the_limit() {
        let requested = Requested::Whole { cap: 4 };
        for content_length in [None, Some("3"), Some("4"), Some("5"), Some("four")] {
            let head = Head {
                status: 200,
                content_length,
                ..Head::default()
            };
            assert_eq!(take(&requested, &head, &[b"abcd"]).unwrap(), b"abcd");
            assert_eq!(take(&requested, &head, &[]).unwrap(), b"");
            assert_eq!(
                take(&requested, &head, &[b"abcde"]),
                Err(SourceErrorKind::Long { expected: 4 })
            );
        }
    }
}
