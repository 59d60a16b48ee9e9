//! The games of a file, one after another, without more than one of them in memory.

use std::io::{self, BufRead, BufReader, Read};

use shelfish_analysis::pgn::{Fault, MAX_BYTES, PgnError, PgnGame, Splitter, read};

/// A game of a file.
pub struct Entry {
    /// Its number, from 1.
    pub number: u64,
    /// The line that it begins in, from 1.
    pub line: u64,
    /// What it is.
    pub game: Result<PgnGame, PgnError>,
}

/// Reads the games of a text.
pub struct Games<R> {
    input: BufReader<R>,
    splitter: Splitter,
    /// The text of the game that is read, and the number of its first line.
    text: Vec<u8>,
    first: u64,
    /// Lines that were read.
    lines: u64,
    number: u64,
    is_over: bool,
}

impl<R: Read> Games<R> {
    pub fn new(input: R) -> Games<R> {
        let input = BufReader::with_capacity(1 << 17, input);
        let (splitter, text) = (Splitter::default(), Vec::new());
        Games { input, splitter, text, first: 1, lines: 0, number: 0, is_over: false }
    }

    /// What was read so far as a game, if there is one.
    fn finish(&mut self) -> Option<Entry> {
        let text = std::mem::take(&mut self.text);
        if self.number == 0 {
            return None;
        }
        let line = self.first;
        let game = if text.len() > MAX_BYTES {
            Err(PgnError { line, fault: Fault::TooLong })
        } else {
            read(&decoded(text), line)
        };
        Some(Entry { number: self.number, line, game })
    }
}

impl<R: Read> Iterator for Games<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
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
            let entry = if begins || self.is_over { self.finish() } else { None };
            if begins {
                self.number += 1;
                self.first = self.lines;
            }
            // Of a game that is too long it is enough to know that it is.
            if self.text.len() <= MAX_BYTES {
                self.text.extend_from_slice(&line);
            }
            if let Some(entry) = entry {
                return Some(Ok(entry));
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
fn decoded(text: Vec<u8>) -> String {
    String::from_utf8(text).unwrap_or_else(|error| error.as_bytes().iter().copied().map(char::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of a game, its line, and its moves or what is wrong.
    type Told = (u64, u64, Result<usize, String>);

    fn games(text: &[u8]) -> io::Result<Vec<Told>> {
        let told = |entry: Entry| {
            let game = entry.game.map(|game| game.game.moves().len()).map_err(|error| error.to_string());
            (entry.number, entry.line, game)
        };
        Games::new(text).map(|entry| entry.map(told)).collect()
    }

    #[test]
    fn games_have_their_numbers_and_lines() -> io::Result<()> {
        let pgn = b"\n[White \"A\"]\n\n1. e4 e5 *\n\n[White \"B\"]\n\n1. e4 Ke4 *\n\n1. d4 *\n[White \"C\"]\n*";
        let error = Err("line 8: Ke4 is not a legal move after 1 moves".to_owned());
        assert_eq!(games(pgn)?, [(1, 2, Ok(2)), (2, 6, error), (3, 10, Ok(1)), (4, 11, Ok(0))]);
        assert_eq!(games(b"")?, []);
        assert_eq!(games(b"\n \n")?, []);
        Ok(())
    }

    #[test]
    fn of_a_game_that_never_ends_only_a_part_is_kept() -> io::Result<()> {
        let mut pgn = b"[White \"A\"]\n\n{".to_vec();
        pgn.extend_from_slice(&b"long ".repeat(2 << 20));
        pgn.extend_from_slice(b"}\n*\n\n[Event \"B\"]\n\n1. e4 *\n");
        let found = games(&pgn)?;
        assert_eq!(found[0], (1, 1, Err("line 1: the game is longer than 4 MiB".to_owned())));
        assert_eq!(found[1], (2, 6, Ok(1)));
        Ok(())
    }

    #[test]
    fn names_in_latin_1_are_read() -> io::Result<()> {
        let entry = Games::new(&b"[White \"H\xfcbner\"]\n\n1. e4 *"[..]).next().expect("a game")?;
        assert_eq!(entry.game.expect("it is read").tag("White"), Some("Hübner"));
        Ok(())
    }
}
