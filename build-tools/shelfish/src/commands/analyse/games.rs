//! Games of a file, read one at a time.

use std::io::{self, Read};

use shelfish_analysis::pgn::{MAX_BYTES, PgnError, PgnErrorKind, PgnGame, read};

use crate::input::game_texts::{GameText, GameTexts, decoded};

/// Game of a file.
pub struct Entry {
    /// Number of the game in the file, from 1.
    pub number: u64,
    /// Number of the line in which the game begins, from 1.
    pub line: u64,
    /// The game, or the reason why it cannot be read.
    pub game: Result<PgnGame, PgnError>,
}

/// Iterator over the games of a text.
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
                true => Err(PgnError {
                    line,
                    kind: PgnErrorKind::TooLong,
                }),
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

    /// Number of a game, its line, and the number of its moves or its error.
    type Summary = (u64, u64, Result<usize, String>);

    fn games(text: &[u8]) -> io::Result<Vec<Summary>> {
        let summary = |entry: Entry| {
            let game = entry
                .game
                .map(|game| game.game.moves().len())
                .map_err(|error| error.to_string());
            (entry.number, entry.line, game)
        };
        Games::new(text).map(|entry| entry.map(summary)).collect()
    }

    #[test]
    fn games_have_their_numbers_and_lines() -> io::Result<()> {
        let pgn = b"\n[White \"A\"]\n\n1. e4 e5 *\n\n[White \"B\"]\n\n1. e4 Ke4 *\n\n1. d4 *\n[White \"C\"]\n*";
        let error = Err("line 8: Ke4 is not a legal move after 1 moves".to_owned());
        assert_eq!(
            games(pgn)?,
            [(1, 2, Ok(2)), (2, 6, error), (3, 10, Ok(1)), (4, 11, Ok(0))]
        );
        assert_eq!(games(b"")?, []);
        assert_eq!(games(b"\n \n")?, []);
        Ok(())
    }

    #[test]
    fn a_game_without_end_is_an_error_and_the_next_game_is_read() -> io::Result<()> {
        let mut pgn = b"[White \"A\"]\n\n{".to_vec();
        pgn.extend_from_slice(&b"long ".repeat(2 << 20));
        pgn.extend_from_slice(b"}\n*\n\n[Event \"B\"]\n\n1. e4 *\n");
        let found = games(&pgn)?;
        assert_eq!(
            found[0],
            (
                1,
                1,
                Err("line 1: the game is longer than 4 MiB".to_owned())
            )
        );
        assert_eq!(found[1], (2, 6, Ok(1)));
        Ok(())
    }

    #[test]
    fn names_in_latin_1_are_read() -> io::Result<()> {
        let entry = Games::new(&b"[White \"H\xfcbner\"]\n\n1. e4 *"[..])
            .next()
            .expect("a game")?;
        assert_eq!(entry.game.expect("it is read").tag("White"), Some("Hübner"));
        Ok(())
    }
}
