//! The scheme distinguishes URLs from paths.

use std::path::Path;

/// Returns the scheme of a URL, or `None` for a path.
///
/// A single letter is a drive of Windows. A text that names an existing file is a path, unless its scheme is HTTP.
pub fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(is_plain);
    (is_scheme && (is_http(scheme) || !Path::new(text).exists())).then_some(scheme)
}

/// Returns whether a scheme is `http` or `https`.
pub fn is_http(scheme: &str) -> bool {
    ["http", "https"]
        .iter()
        .any(|known| scheme.eq_ignore_ascii_case(known))
}
