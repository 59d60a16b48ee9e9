//! How texts and hashes are shown. Text from outside could command a terminal by its control characters.

use serde::Serialize;

/// Text on one line, control characters by number.
pub fn shown(text: &str) -> String {
    let escape = |c: char| if c.is_control() { c.escape_default().collect() } else { c.to_string() };
    text.chars().map(escape).collect()
}

/// Enough of a text to recognise it by: as much as the longest FEN has.
pub fn beginning(text: &str) -> String {
    const MOST: usize = 256;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => text[..end].to_owned() + "…",
        None => text.to_owned(),
    }
}

/// Bytes as hexadecimal digits, two each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// JSON on one line, without a control character: `serde_json` leaves those from DEL on as they are.
///
/// # Errors
///
/// The value has no form in JSON.
pub fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let json = serde_json::to_string(value)?;
    if !json.contains(char::is_control) {
        return Ok(json);
    }
    // They can only stand in strings.
    let escape = |c: char| if c.is_control() { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() };
    Ok(json.chars().map(escape).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_by_number_and_other_text_as_it_is() {
        assert_eq!(shown("\x1b[31m♔\n\t\x7f\u{9b}é\\"), r"\u{1b}[31m♔\n\t\u{7f}\u{9b}é\");
        assert!(!shown(&('\0'..'\u{100}').collect::<String>()).contains(char::is_control));
    }

    #[test]
    fn a_long_text_is_told_by_its_beginning() {
        assert_eq!(beginning(&"é".repeat(256)), "é".repeat(256));
        assert_eq!(beginning(&"é".repeat(257)), "é".repeat(256) + "…");
    }

    #[test]
    fn json_says_the_same_without_controls() -> serde_json::Result<()> {
        let text: String = ('\0'..'\u{100}').chain(['♔', '"', '\\']).collect();
        let json = json(&text)?;
        assert!(!json.contains(char::is_control));
        assert_eq!(serde_json::from_str::<String>(&json)?, text);
        Ok(())
    }
}
