//! Text from outside, in messages.

use core::fmt::{self, Write};

/// Text between quotation marks, control characters by number. The standard library's `Debug` does the same, but with
/// Unicode tables that are a twentieth of the WASM module.
pub(crate) struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('"')?;
        for c in self.0.chars() {
            match c {
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
    fn text_is_quoted_so_that_its_ends_and_controls_show() {
        assert_eq!(Quoted("a \"b\"\\\n♔").to_string(), "\"a \\\"b\\\"\\\\\\u{a}♔\"");
    }
}
