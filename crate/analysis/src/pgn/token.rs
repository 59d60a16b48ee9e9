//! Tokens of a game's text.

use super::error::{PgnError, PgnErrorKind};

/// A token of PGN.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token<'a> {
    /// Name and value of a tag. The value still contains escapes.
    Tag(&'a str, &'a str),
    /// A move, a glyph, a result or an unknown word.
    Word(&'a str),
    /// A comment, without its delimiters.
    Comment(&'a str),
    /// `(`
    Open,
    /// `)`
    Close,
}

/// Iterator over the tokens of a text.
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    rest: &'a str,
    /// Number of the line in which `rest` begins.
    line: u64,
    /// Whether only blanks precede `rest` in its line.
    is_line_start: bool,
}

/// Returns whether a character ends a word.
fn is_end(c: char) -> bool {
    c.is_ascii_whitespace() || matches!(c, '{' | '}' | '(' | ')' | ';' | '$' | '\u{a0}')
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str, line: u64) -> Tokens<'a> {
        Tokens {
            rest: text.strip_prefix('\u{feff}').unwrap_or(text),
            line,
            is_line_start: true,
        }
    }

    /// Returns the number of the current line.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Takes `length` bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.rest = rest;
        taken
    }

    /// Takes the rest of the line, without its end.
    fn take_line(&mut self) -> &'a str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.take(end).trim_end_matches('\r')
    }

    fn skip_blanks(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            match c {
                '\n' => self.is_line_start = true,
                // The standard reserves such lines for programs.
                '%' if self.is_line_start => {
                    self.take_line();
                    continue;
                }
                c if c.is_ascii_whitespace() || c == '\u{a0}' || c == '\u{feff}' => {}
                _ => return,
            }
            self.take(c.len_utf8());
        }
    }

    fn error(&self, kind: PgnErrorKind) -> PgnError {
        PgnError {
            line: self.line,
            kind,
        }
    }

    fn tag(&mut self) -> Result<Token<'a>, PgnError> {
        let line = self.line;
        let text = self.take_line();
        let parts = || {
            let (name, rest) = text.strip_prefix('[')?.trim_start().split_once('"')?;
            let mut escaped = false;
            let end = rest.find(|c| {
                let is_end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                is_end
            })?;
            let (value, rest) = rest.split_at(end);
            let name = name.trim_end();
            let is_name = !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || "_-+/".contains(c));
            // Some programs omit the bracket.
            (is_name && matches!(rest[1..].trim(), "]" | "")).then_some(Token::Tag(name, value))
        };
        parts().ok_or_else(|| PgnError {
            line,
            kind: PgnErrorKind::Tag(text.to_owned()),
        })
    }

    fn next_token(&mut self) -> Result<Option<Token<'a>>, PgnError> {
        self.skip_blanks();
        let Some(c) = self.rest.chars().next() else {
            return Ok(None);
        };
        let is_line_start = core::mem::replace(&mut self.is_line_start, false);
        let token = match c {
            '[' if is_line_start => self.tag()?,
            '{' => {
                let end = self
                    .rest
                    .find('}')
                    .ok_or_else(|| self.error(PgnErrorKind::Comment))?;
                let comment = &self.take(end + 1)[1..end];
                Token::Comment(comment)
            }
            ';' => Token::Comment(self.take_line().trim_start_matches(';')),
            '(' | ')' => {
                self.take(1);
                if c == '(' { Token::Open } else { Token::Close }
            }
            _ => {
                let end = self.rest[c.len_utf8()..]
                    .find(is_end)
                    .map_or(self.rest.len(), |end| c.len_utf8() + end);
                Token::Word(self.take(end))
            }
        };
        Ok(Some(token))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_token().transpose()
    }
}
