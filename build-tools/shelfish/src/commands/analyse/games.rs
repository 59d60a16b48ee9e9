//! The games of a file, one after another, without more than one of them in memory.

use std::io::{self, Read};

use shelfish_analysis::pgn::{Fault, MAX_BYTES, PgnError, PgnGame, read};

use crate::input::game_texts::{GameText, GameTexts, decoded};

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
pub struct Games<R>(GameTexts<R>);

impl<R: Read> Games<R> {
    pub fn new(input: R) -> Games<R> {
        Games(GameTexts::new(input))
    }
}

impl<R: Read> Iterator for Games<R> {
    type Item = io::Result<Entry>;

    fn next(&mut self) -> Option<io::Result<Entry>> {
        let entry = |GameText { number, line, text }| {
            let game = match text.len() > MAX_BYTES {
                true => Err(PgnError { line, fault: Fault::TooLong }),
                false => read(&decoded(&text), line),
            };
            Entry { number, line, game }
        };
        self.0.next().map(|text| text.map(entry))
    }
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
