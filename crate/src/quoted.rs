//! Text from outside, in messages.

use core::fmt::{self, Write};

/// Maximum number of characters in a message.
const MAX_CHARS: usize = 80;

/// The beginning of a text between quotation marks, control characters by number. The standard library's `Debug` does the same, but with
/// Unicode tables that are a twentieth of the WASM module.
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for (n, c) in self.0.chars().enumerate() {
            match c {
                _ if n == MAX_CHARS => {
                    f.write_char('…')?;
                    break;
                }
                '"' | '\\' => write!(f, "\\{c}")?,
                '\0'..' ' | '\x7f'..='\u{9f}' => write!(f, "\\u{{{:x}}}", u32::from(c))?,
                c => f.write_char(c)?,
            }
        }
        f.write_char('"')
    }
}

#[cfg(test)]
mod tests {
    use super::Quoted;

    #[test]
    fn a_long_text_is_truncated() {
        for c in ["a", "♔"] {
            assert_eq!(
                Quoted(&c.repeat(80)).to_string(),
                format!("\"{}\"", c.repeat(80))
            );
            assert_eq!(
                Quoted(&c.repeat(1_000)).to_string(),
                format!("\"{}…\"", c.repeat(80))
            );
        }
    }

    #[test]
    fn quotes_and_control_characters_are_escaped() {
        assert_eq!(
            Quoted("a \"b\"\\\n♔").to_string(),
            "\"a \\\"b\\\"\\\\\\u{a}♔\""
        );
    }
}
