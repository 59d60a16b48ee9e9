//! The texts of the games of a file, one after another, without more than one of them in memory.

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use shelfish_analysis::pgn::{MAX_BYTES, Splitter};

/// The text of a game.
#[derive(Debug)]
pub struct GameText {
    /// Its number, from 1.
    pub number: u64,
    /// The line that it begins in, from 1.
    pub line: u64,
    /// The text; of one that is longer than [`MAX_BYTES`] a beginning that is, too.
    pub text: Vec<u8>,
}

/// Reads the texts of games.
pub struct GameTexts<R> {
    input: BufReader<R>,
    splitter: Splitter,
    /// The text that is read, and the number of its first line.
    text: Vec<u8>,
    first: u64,
    /// Lines that were read.
    lines: u64,
    number: u64,
    is_over: bool,
}

impl<R: Read> GameTexts<R> {
    /// The games of a text.
    pub fn new(input: R) -> GameTexts<R> {
        let input = BufReader::with_capacity(1 << 17, input);
        let (splitter, text) = (Splitter::default(), Vec::new());
        GameTexts { input, splitter, text, first: 1, lines: 0, number: 0, is_over: false }
    }

    /// What was read so far as a game, if there is one.
    fn finish(&mut self) -> Option<GameText> {
        let text = std::mem::take(&mut self.text);
        (self.number > 0).then_some(GameText { number: self.number, line: self.first, text })
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
            let text = if begins || self.is_over { self.finish() } else { None };
            if begins {
                self.number += 1;
                self.first = self.lines;
            }
            // Of a game that is too long it is enough to know that it is.
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

/// Reads a line with its end, of which not much more than a game may have is kept; nothing at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        let end = bytes.iter().position(|byte| *byte == b'\n').map(|end| end + 1);
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

/// UTF-8, or else Latin-1, which the standard of PGN names.
pub fn decoded(text: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(text) {
        Ok(text) => text.into(),
        Err(_) => text.iter().copied().map(char::from).collect::<String>().into(),
    }
}
