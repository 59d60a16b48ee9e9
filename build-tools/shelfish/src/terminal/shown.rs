//! Texts for a terminal and for logs.
//!
//! Control characters of foreign text could control the terminal, so they are escaped. URLs lose their secrets.

use indicatif::HumanCount;
use serde::Serialize;
pub use shelfish::digits::hex as hexadecimal;
use shelfish::source::redaction::redacted;

/// Returns a text on one line, with control characters escaped, without the secrets of URLs.
pub fn shown(text: &str) -> String {
    let escape = |c: char| {
        if c.is_control() {
            c.escape_default().collect()
        } else {
            c.to_string()
        }
    };
    redacted(text).chars().map(escape).collect()
}

/// Returns a count with its noun.
pub fn counted(count: u64, noun: &str) -> String {
    format!(
        "{} {noun}{}",
        HumanCount(count),
        if count == 1 { "" } else { "s" }
    )
}

/// Returns the first 256 characters of a text, enough for the longest FEN.
pub fn beginning(text: &str) -> String {
    const MOST: usize = 256;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => text[..end].to_owned() + "…",
        None => text.to_owned(),
    }
}

/// Returns the first 100 characters of a text on one line, as a row of a table shows it.
pub fn excerpt(text: &str) -> String {
    shown(&text.chars().take(100).collect::<String>())
}

/// Encodes a value as JSON on one line, without control characters and the secrets of URLs. `serde_json` does not escape the
/// control characters from DEL on.
pub fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let json = redacted(&serde_json::to_string(value)?);
    if !json.contains(char::is_control) {
        return Ok(json);
    }
    // Control characters occur only in strings.
    let escape = |c: char| {
        if c.is_control() {
            format!("\\u{:04x}", u32::from(c))
        } else {
            c.to_string()
        }
    };
    Ok(json.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!(counted(1, "shard"), "1 shard");
        assert_eq!(
            [0, 1_200].map(|n| counted(n, "file")),
            ["0 files", "1,200 files"]
        );
    }

    #[test]
    fn control_characters_are_escaped_and_other_text_is_unchanged() {
        assert_eq!(
            shown("\x1b[31m♔\n\t\x7f\u{9b}é\\"),
            r"\u{1b}[31m♔\n\t\u{7f}\u{9b}é\"
        );
        assert!(!shown(&('\0'..'\u{100}').collect::<String>()).contains(char::is_control));
    }

    #[test]
    fn urls_lose_their_secrets() -> serde_json::Result<()> {
        assert_eq!(
            shown("https://me:pw@x/a?sig=pw is late"),
            "https://…@x/a?… is late"
        );
        assert_eq!(
            json(&["https://me:pw@x/a", "b@c"])?,
            r#"["https://…@x/a","b@c"]"#
        );
        Ok(())
    }

    #[test]
    fn a_long_text_is_shortened() {
        assert_eq!(beginning(&"é".repeat(256)), "é".repeat(256));
        assert_eq!(beginning(&"é".repeat(257)), "é".repeat(256) + "…");
    }

    #[test]
    fn json_has_the_same_value_without_control_characters() -> serde_json::Result<()> {
        let text: String = ('\0'..'\u{100}').chain(['♔', '"', '\\']).collect();
        let json = json(&text)?;
        assert!(!json.contains(char::is_control));
        assert_eq!(serde_json::from_str::<String>(&json)?, text);
        Ok(())
    }
}
