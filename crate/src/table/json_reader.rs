//! A pull parser for the JSON of manifests: the caller requests the next value by its type, or skips it. No tree is
//! built, so the caller controls the memory.
//!
//! With serde_json the WASM module would be a third larger, mostly for floating-point numbers, which manifests do not
//! contain.

use std::borrow::Cow;

use super::ManifestError;

/// The deepest nesting of arrays and objects; a manifest has five levels.
const MAX_DEPTH: u32 = 16;

/// Reads a text from its beginning.
pub(super) struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    depth: u32,
}

impl<'a> JsonReader<'a> {
    /// Creates a reader at the beginning of a text.
    pub(super) fn new(text: &'a str) -> JsonReader<'a> {
        JsonReader {
            text,
            at: 0,
            depth: 0,
        }
    }

    /// Checks that nothing follows.
    pub(super) fn finish(&mut self) -> Result<(), ManifestError> {
        self.space();
        if self.at == self.text.len() {
            Ok(())
        } else {
            Err(self.expected("end"))
        }
    }

    /// Reads an object: calls `member` with each name; `member` must read the value.
    pub(super) fn object(
        &mut self,
        member: &mut dyn FnMut(&mut JsonReader<'a>, &str) -> Result<(), ManifestError>,
    ) -> Result<(), ManifestError> {
        self.list(b'{', b'}', "object", &mut |json| {
            let name = json.text()?;
            json.expect(b':', "colon")?;
            member(json, &name)
        })
    }

    /// Reads an array: calls `item` for each item; `item` must read it.
    pub(super) fn array(
        &mut self,
        item: &mut dyn FnMut(&mut JsonReader<'a>) -> Result<(), ManifestError>,
    ) -> Result<(), ManifestError> {
        self.list(b'[', b']', "array", item)
    }

    fn list(
        &mut self,
        open: u8,
        close: u8,
        expected: &'static str,
        item: &mut dyn FnMut(&mut JsonReader<'a>) -> Result<(), ManifestError>,
    ) -> Result<(), ManifestError> {
        self.expect(open, expected)?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected("less nesting"));
        }
        if !self.pass(close) {
            loop {
                item(self)?;
                if self.pass(close) {
                    break;
                }
                self.expect(b',', "comma or end of list")?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads a string.
    pub(super) fn text(&mut self) -> Result<Cow<'a, str>, ManifestError> {
        self.expect(b'"', "string")?;
        let mut string = Cow::Borrowed("");
        loop {
            // Strings seldom have escapes, and inline pages are long.
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest
                .bytes()
                .take_while(|&byte| byte >= b' ' && byte != b'"' && byte != b'\\')
                .count();
            string += rest.get(..plain).unwrap_or_default();
            self.at += plain;
            match self.next() {
                Some(b'"') => return Ok(string),
                Some(b'\\') => {
                    let escape = self
                        .escape()
                        .ok_or_else(|| self.expected("escape sequence"))?;
                    string.to_mut().push(escape);
                }
                _ => return Err(self.expected("end of string")),
            }
        }
    }

    /// Reads a whole number that is not negative.
    pub(super) fn number(&mut self) -> Result<u64, ManifestError> {
        self.space();
        let start = self.at;
        let number = self.word().iter().try_fold(0u64, |number, digit| {
            let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
            number.checked_mul(10)?.checked_add(digit.into())
        });
        number
            .filter(|_| self.at > start)
            .ok_or(ManifestError::Json {
                expected: "whole number",
                at: start,
            })
    }

    /// Skips a value of any kind.
    pub(super) fn skip(&mut self) -> Result<(), ManifestError> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(&mut |json, _| json.skip()),
            Some(b'[') => self.array(&mut |json| json.skip()),
            Some(b'"') => self.text().map(drop),
            _ => {
                let start = self.at;
                match self.word() {
                    b"true" | b"false" | b"null" | [b'0'..=b'9', ..] | [b'-', b'0'..=b'9', ..] => {
                        Ok(())
                    }
                    _ => Err(ManifestError::Json {
                        expected: "value",
                        at: start,
                    }),
                }
            }
        }
    }

    /// Reads a character that must come next.
    pub(super) fn expect(&mut self, byte: u8, name: &'static str) -> Result<(), ManifestError> {
        if self.pass(byte) {
            Ok(())
        } else {
            Err(self.expected(name))
        }
    }

    pub(super) fn expected(&self, expected: &'static str) -> ManifestError {
        ManifestError::Json {
            expected,
            at: self.at,
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Skips white space, then `byte` if it comes next. Returns whether `byte` came next.
    fn pass(&mut self, byte: u8) -> bool {
        self.space();
        let passes = self.peek() == Some(byte);
        self.at += usize::from(passes);
        passes
    }

    /// Reads a number, `true`, `false` or `null` as text.
    fn word(&mut self) -> &'a [u8] {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let is_part =
            |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let word = rest
            .get(..rest.iter().take_while(|byte| is_part(byte)).count())
            .unwrap_or_default();
        self.at += word.len();
        word
    }

    /// Reads the rest of an escape sequence whose backslash was passed.
    fn escape(&mut self) -> Option<char> {
        Some(match self.next()? {
            escape @ (b'"' | b'\\' | b'/') => char::from(escape),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => match self.unit()? {
                high @ 0xd800..0xdc00 => {
                    let low = if self.next()? == b'\\' && self.next()? == b'u' {
                        self.unit()?
                    } else {
                        0
                    };
                    let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
                }
                unit => char::from_u32(unit)?,
            },
            _ => return None,
        })
    }

    /// Reads four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |unit, _| {
            Some(unit << 4 | char::from(self.next()?).to_digit(16)?)
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::Value;

    /// Reads any value as `serde_json` would; numbers that are not whole are `null`.
    fn value(json: &mut JsonReader<'_>) -> Result<Value, ManifestError> {
        json.space();
        Ok(match json.peek() {
            Some(b'{') => {
                let mut members = serde_json::Map::new();
                json.object(&mut |json, name| {
                    value(json).map(|value| drop(members.insert(name.to_string(), value)))
                })?;
                members.into()
            }
            Some(b'[') => {
                let mut items = Vec::new();
                json.array(&mut |json| value(json).map(|value| items.push(value)))?;
                items.into()
            }
            Some(b'"') => json.text()?.into(),
            _ => {
                let start = json.at;
                json.number().map(Value::from).or_else(|_| {
                    json.at = start;
                    json.skip().map(|()| Value::Null)
                })?
            }
        })
    }

    fn whole(text: &str) -> Result<Value, ManifestError> {
        let mut json = JsonReader::new(text);
        let found = value(&mut json)?;
        json.finish().map(|()| found)
    }

    fn without_fractions(value: Value) -> Value {
        match value {
            Value::Number(n) => n.as_u64().map_or(Value::Null, Value::from),
            Value::Array(items) => items.into_iter().map(without_fractions).collect(),
            Value::Object(members) => members
                .into_iter()
                .map(|(name, value)| (name, without_fractions(value)))
                .collect(),
            Value::Bool(_) => Value::Null,
            other => other,
        }
    }

    #[test]
    fn text_is_parsed_as_by_serde_json() {
        for text in [
            "{}",
            "[]",
            "[1,2]",
            " [ 1 , 2 ] ",
            "\"\"",
            "0",
            "18446744073709551615",
            "true",
            "null",
            "-1",
            "1.5e3",
            r#"{"a":{"b":[{"c":"d"}]},"e":1}"#,
            r#""\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00😀""#,
            "",
            "{",
            "[1,]",
            "{\"a\"}",
            "{\"a\":}",
            "[1 2]",
            "{1:2}",
            "\"",
            "\"\\",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\n\"",
            "tru",
            "[1]]",
            "\"\\u+123\"",
            "\"\\u00e\u{e9}\"",
            "nulls",
        ] {
            let theirs = serde_json::from_str::<Value>(text)
                .ok()
                .map(without_fractions);
            assert_eq!(whole(text).ok(), theirs, "{text}");
            let mut json = JsonReader::new(text);
            assert_eq!(
                json.skip().and_then(|()| json.finish()).is_ok(),
                theirs.is_some(),
                "{text}"
            );
        }
    }

    #[test]
    fn the_depth_of_nesting_is_limited() {
        assert!(JsonReader::new(&"[".repeat(1_000_000)).skip().is_err());
    }
}
