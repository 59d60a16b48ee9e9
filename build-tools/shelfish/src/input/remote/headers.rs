//! Headers of an answer.

use reqwest::header::{self, HeaderMap};

/// The version of a file, as the host identifies it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    e_tag: Option<String>,
    modified: Option<String>,
}

impl Version {
    pub(super) fn of(headers: &HeaderMap) -> Version {
        Version {
            e_tag: text(headers, &header::ETAG),
            modified: text(headers, &header::LAST_MODIFIED),
        }
    }

    /// Returns the value of `If-Range`. A weak tag is not allowed there.
    pub(super) fn condition(&self) -> Option<&String> {
        self.e_tag
            .as_ref()
            .filter(|tag| !tag.starts_with("W/"))
            .or(self.modified.as_ref())
    }
}

/// Returns the text of a header.
pub(super) fn text(headers: &HeaderMap, name: &header::HeaderName) -> Option<String> {
    headers
        .get(name)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned)
}

/// Parses a `Content-Range`: the first byte and the size of the file.
pub(super) fn content_range(header: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = header.strip_prefix("bytes ")?.split_once('/')?;
    let (from, _) = range.split_once('-')?;
    let total = if total == "*" {
        None
    } else {
        Some(total.parse().ok()?)
    };
    Some((from.parse().ok()?, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_parsed() {
        assert_eq!(content_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(content_range("bytes 5-9/*"), Some((5, None)));
        for bad in [
            "",
            "bytes */10",
            "5-9/10",
            "bytes x-9/10",
            "bytes 5-9/x",
            "bytes 5-9",
        ] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }
}
