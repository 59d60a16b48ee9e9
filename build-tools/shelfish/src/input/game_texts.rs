//! Texts of the games of a file, read one at a time.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use shelfish_analysis::pgn::{MAX_BYTES, Splitter};

/// Text of a game.
#[derive(Debug)]
pub struct GameText {
    /// Number of the game in the file, from 1.
    pub number: u64,
    /// Number of the line in which the game begins, from 1.
    pub line: u64,
    /// Text of the game. If it exceeds [`MAX_BYTES`], it is truncated, but still exceeds the limit.
    pub text: Vec<u8>,
}

/// Iterator over the texts of games.
pub struct GameTexts<R> {
    input: BufReader<R>,
    splitter: Splitter,
    /// Text of the current game.
    text: Vec<u8>,
    first: u64,
    /// Number of lines read.
    lines: u64,
    number: u64,
    is_over: bool,
}

impl<R: Read> GameTexts<R> {
    /// Creates an iterator over the games of a text.
    pub fn new(input: R) -> GameTexts<R> {
        let input = BufReader::with_capacity(1 << 17, input);
        let (splitter, text) = (Splitter::default(), Vec::new());
        GameTexts {
            input,
            splitter,
            text,
            first: 1,
            lines: 0,
            number: 0,
            is_over: false,
        }
    }

    /// Returns the current game.
    fn finish(&mut self) -> Option<GameText> {
        let text = std::mem::take(&mut self.text);
        (self.number > 0).then_some(GameText {
            number: self.number,
            line: self.first,
            text,
        })
    }
}

impl<R: Read> Iterator for GameTexts<R> {
    type Item = io::Result<GameText>;

    fn next(&mut self) -> Option<io::Result<GameText>> {
        while !self.is_over {
            let line = match read_line(&mut self.input) {
                Ok(line) => line,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            };
            self.is_over = line.is_empty();
            self.lines += 1;
            let begins = !self.is_over && self.splitter.begins_game(&line);
            let text = if begins || self.is_over {
                self.finish()
            } else {
                None
            };
            if begins {
                self.number += 1;
                self.first = self.lines;
            }
            // A game that exceeds the limit is an error, so the rest of its text is not needed.
            if self.text.len() <= MAX_BYTES {
                self.text.extend_from_slice(&line);
            }
            if let Some(text) = text {
                return Some(Ok(text));
            }
        }
        None
    }
}

/// Reads a line with its line ending, and truncates it a little above the limit for a game. Returns an empty line at
/// the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let end = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .map(|end| end + 1);
        let length = end.unwrap_or(bytes.len());
        if line.len() <= MAX_BYTES {
            line.extend_from_slice(&bytes[..length]);
        }
        input.consume(length);
        if end.is_some() || length == 0 {
            return Ok(line);
        }
    }
}

/// Decodes UTF-8, or else Latin-1, the encoding of the PGN standard.
pub fn decoded(text: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(text) {
        Ok(text) => text.into(),
        Err(_) => text
            .iter()
            .copied()
            .map(char::from)
            .collect::<String>()
            .into(),
    }
}
