//! Redaction of secrets in URLs.

/// Replacement of a secret.
const HIDDEN: &str = "…";

/// Returns a text in which each URL lacks its user, its password and its query.
///
/// Queries contain signatures of stores (`X-Amz-Signature`, `sig`) and tokens under any name.
///
/// ```
/// use shelfish::source::redaction::redacted;
///
/// assert_eq!(redacted("https://me:pw@x.org/db/: status 403"), "https://…@x.org/db/: status 403");
/// assert_eq!(redacted("cannot read https://x.org/a.zst?sig=pw"), "cannot read https://x.org/a.zst?…");
/// ```
#[must_use]
pub fn redacted(text: &str) -> String {
    let (mut result, mut rest) = (String::new(), text);
    while let Some(start) = rest.find("://") {
        let (before, url) = rest.split_at(start + 3);
        let (url, after) = url.split_at(url.find(ends_url).unwrap_or(url.len()));
        result.push_str(before);
        push_redacted(&mut result, url);
        rest = after;
    }
    result + rest
}

/// Appends a URL without its scheme, user, password and query.
fn push_redacted(result: &mut String, url: &str) {
    let authority = &url[..url.find(['/', '\\', '?', '#']).unwrap_or(url.len())];
    let is_host = |text: &str| {
        text.rsplit_once(':')
            .is_none_or(|(_, port)| port.bytes().all(|b| b.is_ascii_digit()))
    };
    // A password that contains one of these characters unescaped looks like a port.
    let user = if authority.contains('@') || is_host(authority.trim_end_matches(']')) {
        authority
    } else {
        url
    };
    let url = match user.rsplit_once('@') {
        Some((user, _)) => {
            result.push_str(HIDDEN);
            &url[user.len()..]
        }
        None => url,
    };
    match url.find(['?', '#']) {
        Some(start) if start + 1 < url.len() => {
            result.push_str(&url[..=start]);
            result.push_str(HIDDEN);
        }
        _ => result.push_str(url),
    }
}

/// Returns whether a character ends a URL in a text.
fn ends_url(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "\"'`<>".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_keeps_its_scheme_host_and_path_only() {
        for (text, expected) in [
            ("", ""),
            ("no URL: a@b?c#d", "no URL: a@b?c#d"),
            ("https://x.org:8080/a/@b/c", "https://x.org:8080/a/@b/c"),
            ("HTTP://[::1]:80/a@b", "HTTP://[::1]:80/a@b"),
            ("http://[::1]/a@b", "http://[::1]/a@b"),
            ("https://me@x.org", "https://…@x.org"),
            ("https://me:p%40w@x.org/a", "https://…@x.org/a"),
            ("https://me:p@w@x.org/a@b", "https://…@x.org/a@b"),
            ("https://me:p/w@x.org/a", "https://…@x.org/a"),
            ("https://me:p?w#@x.org/a", "https://…@x.org/a"),
            ("https://x.org?sig=pw&x", "https://x.org?…"),
            ("https://x.org/a?sig=p/w@z://q#r", "https://x.org/a?…"),
            ("https://x.org/a#token=pw", "https://x.org/a#…"),
            ("is it https://x.org/a?", "is it https://x.org/a?"),
            (
                "{\"a\":\"s3://k:s@b/c\",\"b\":\"http://u:p@x\"}",
                "{\"a\":\"s3://…@b/c\",\"b\":\"http://…@x\"}",
            ),
            (
                "one https://u:p@x/a: two <http://x/?y> end",
                "one https://…@x/a: two <http://x/?…> end",
            ),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
            assert_eq!(redacted(expected), expected, "twice: {text}");
        }
    }
}
