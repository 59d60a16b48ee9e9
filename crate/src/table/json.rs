//! Reads the JSON of manifests: objects, arrays, strings and whole numbers; whatever else there is, is passed over.
//!
//! A quarter of the WASM module would be serde_json, most of it for floating-point numbers, which no manifest has.

use core::fmt;

/// Arrays and objects within one another at most; a manifest has five.
const MAX_DEPTH: u32 = 16;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    /// A whole number that is not negative.
    Number(u64),
    Text(String),
    Array(Vec<Json>),
    /// Members in their order.
    Object(Vec<(String, Json)>),
    /// `true`, `false`, `null`, another number.
    Other,
}

/// What was expected where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonError {
    at: usize,
    expected: &'static str,
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at byte {}", self.expected, self.at)
    }
}

impl Json {
    /// Reads a text that is one value.
    pub(super) fn parse(text: &str) -> Result<Json, JsonError> {
        let mut parser = Parser { text, at: 0 };
        let value = parser.value(0)?;
        parser.space();
        if parser.at == text.len() { Ok(value) } else { Err(parser.expected("end")) }
    }

    /// The member of an object.
    pub(super) fn get(&self, name: &str) -> Option<&Json> {
        self.members()?.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    pub(super) fn members(&self) -> Option<&[(String, Json)]> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn items(&self) -> Option<&[Json]> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Json::Number(number) => Some(*number),
            _ => None,
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn expected(&self, expected: &'static str) -> JsonError {
        JsonError { at: self.at, expected }
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

    /// Passes `byte`, and space before it, if it is next.
    fn pass(&mut self, byte: u8) -> bool {
        self.space();
        let passes = self.peek() == Some(byte);
        self.at += usize::from(passes);
        passes
    }

    fn value(&mut self, depth: u32) -> Result<Json, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.expected("less nesting"));
        }
        if self.pass(b'{') {
            let mut members = Vec::new();
            if !self.pass(b'}') {
                loop {
                    if !self.pass(b'"') {
                        return Err(self.expected("name"));
                    }
                    let name = self.string()?;
                    if !self.pass(b':') {
                        return Err(self.expected("colon"));
                    }
                    members.push((name, self.value(depth + 1)?));
                    if self.is_end(b'}')? {
                        break;
                    }
                }
            }
            Ok(Json::Object(members))
        } else if self.pass(b'[') {
            let mut items = Vec::new();
            if !self.pass(b']') {
                loop {
                    items.push(self.value(depth + 1)?);
                    if self.is_end(b']')? {
                        break;
                    }
                }
            }
            Ok(Json::Array(items))
        } else if self.pass(b'"') {
            self.string().map(Json::Text)
        } else {
            self.word()
        }
    }

    /// After an item: whether the list ends, or goes on by a comma.
    fn is_end(&mut self, close: u8) -> Result<bool, JsonError> {
        if self.pass(close) {
            Ok(true)
        } else if self.pass(b',') {
            Ok(false)
        } else {
            Err(self.expected("comma or end of list"))
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        match self.text.as_bytes().get(start..self.at).unwrap_or_default() {
            b"true" | b"false" | b"null" => Ok(Json::Other),
            [b'-', b'0'..=b'9', ..] => Ok(Json::Other),
            digits @ [b'0'..=b'9', ..] => {
                let number = digits.iter().try_fold(0u64, |number, digit| {
                    let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
                    number.checked_mul(10)?.checked_add(digit.into())
                });
                Ok(number.map_or(Json::Other, Json::Number))
            }
            _ => Err(JsonError { at: start, expected: "value" }),
        }
    }

    /// The rest of a string whose opening quote was passed.
    fn string(&mut self) -> Result<String, JsonError> {
        let mut string = String::new();
        loop {
            // Nearly all of a string is plain, and that of a manifest that carries pages is long.
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest.bytes().take_while(|&byte| byte >= b' ' && byte != b'"' && byte != b'\\').count();
            string.push_str(rest.get(..plain).unwrap_or_default());
            self.at += plain;
            match self.next() {
                Some(b'"') => return Ok(string),
                Some(b'\\') => {
                    let escape = self.escape().ok_or_else(|| self.expected("escape sequence"))?;
                    string.push(escape);
                }
                _ => return Err(self.expected("end of string")),
            }
        }
    }

    /// The rest of an escape sequence whose backslash was passed.
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
                    let low = if self.next()? == b'\\' && self.next()? == b'u' { self.unit()? } else { 0 };
                    let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400)?;
                    char::from_u32(0x10000 + ((high - 0xd800) << 10) + low)?
                }
                unit => char::from_u32(unit)?,
            },
            _ => return None,
        })
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Option<u32> {
        (0..4).try_fold(0, |unit, _| Some(unit << 4 | char::from(self.next()?).to_digit(16)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_serde_json_reads_is_read_alike() {
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
            let ours = Json::parse(text).ok();
            let theirs = serde_json::from_str::<serde_json::Value>(text).ok().map(convert);
            assert_eq!(ours, theirs, "{text}");
        }
    }

    fn convert(value: serde_json::Value) -> Json {
        use serde_json::Value;
        match value {
            Value::Number(n) => n.as_u64().map_or(Json::Other, Json::Number),
            Value::String(text) => Json::Text(text),
            Value::Array(items) => Json::Array(items.into_iter().map(convert).collect()),
            Value::Object(members) => {
                Json::Object(members.into_iter().map(|(name, value)| (name, convert(value))).collect())
            }
            Value::Bool(_) | Value::Null => Json::Other,
        }
    }

    #[test]
    fn nesting_ends_somewhere() {
        assert!(Json::parse(&"[".repeat(1_000_000)).is_err());
    }
}
