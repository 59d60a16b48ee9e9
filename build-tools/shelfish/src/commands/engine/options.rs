//! The options of the engine.

use std::fmt::Write;

use shelfish_engine::{STRONGEST, WEAKEST};

/// Their values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The size of the transposition table, in MiB.
    pub hash: usize,
    /// How many threads search.
    pub threads: usize,
    /// How many lines are wanted.
    pub lines: usize,
    /// Milliseconds that are lost for each move between clock and engine.
    pub overhead: u64,
    /// Castling as the king's move to its rook.
    pub chess960: bool,
    /// Whether to play as a player of `elo`.
    pub limits_strength: bool,
    /// The rating of that player.
    pub elo: u32,
    /// A database that is asked first, a directory or URL; none if empty.
    pub database: String,
    /// Whether to play from the book.
    pub own_book: bool,
    /// A book: a file of Polyglot, one that learns, or the directory or URL of a static one; none if empty.
    pub book: String,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            hash: 16,
            threads: 1,
            lines: 1,
            overhead: 20,
            chess960: false,
            limits_strength: false,
            elo: 1_500,
            database: String::new(),
            own_book: false,
            book: String::new(),
        }
    }
}

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The table has another size.
    Hash,
    /// Another database is asked.
    Database,
    /// Another book is played from.
    Book,
    /// The table is to be cleared.
    ClearHash,
    /// Nothing but the value changed.
    Value,
}

const MOST_HASH: usize = 65_536;
const MOST_THREADS: usize = 256;
const MOST_LINES: usize = 256;
const MOST_OVERHEAD: u64 = 5_000;

impl Options {
    /// The lines that answer `uci`.
    pub fn describe() -> String {
        let defaults = Options::default();
        let mut text = String::new();
        let mut spin = |name: &str, default: usize, least: usize, most: usize| {
            let _ = writeln!(text, "option name {name} type spin default {default} min {least} max {most}");
        };
        spin("Hash", defaults.hash, 1, MOST_HASH);
        spin("Threads", defaults.threads, 1, MOST_THREADS);
        spin("MultiPV", defaults.lines, 1, MOST_LINES);
        spin("Move Overhead", defaults.overhead as usize, 0, MOST_OVERHEAD as usize);
        spin("UCI_Elo", defaults.elo as usize, WEAKEST as usize, STRONGEST as usize);
        text.push_str("option name Clear Hash type button\n");
        text.push_str("option name Ponder type check default false\n");
        text.push_str("option name UCI_LimitStrength type check default false\n");
        text.push_str("option name UCI_Chess960 type check default false\n");
        text.push_str("option name EvalDatabase type string default <empty>\n");
        text.push_str("option name OwnBook type check default false\n");
        text.push_str("option name BookFile type string default <empty>\n");
        text
    }

    /// Sets an option.
    ///
    /// # Errors
    ///
    /// There is no such option, or no such value of it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<Change, String> {
        let spin = |least: u64, most: u64| {
            let number = value.parse::<u64>().ok().filter(|number| (least..=most).contains(number));
            number.ok_or_else(|| format!("option {name}: expected a number from {least} to {most}, found \"{value}\""))
        };
        let check = || match value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("option {name}: expected true or false, found \"{value}\"")),
        };
        let place = || if value == "<empty>" { String::new() } else { value.to_owned() };
        match name.to_ascii_lowercase().as_str() {
            "hash" => {
                self.hash = spin(1, MOST_HASH as u64)? as usize;
                return Ok(Change::Hash);
            }
            "evaldatabase" => {
                self.database = place();
                return Ok(Change::Database);
            }
            "bookfile" => {
                self.book = place();
                return Ok(Change::Book);
            }
            "ownbook" => self.own_book = check()?,
            "clear hash" => return Ok(Change::ClearHash),
            "threads" => self.threads = spin(1, MOST_THREADS as u64)? as usize,
            "multipv" => self.lines = spin(1, MOST_LINES as u64)? as usize,
            "move overhead" => self.overhead = spin(0, MOST_OVERHEAD)?,
            "uci_elo" => self.elo = spin(WEAKEST.into(), STRONGEST.into())? as u32,
            "uci_limitstrength" => self.limits_strength = check()?,
            "uci_chess960" => self.chess960 = check()?,
            // Pondering needs no preparation.
            "ponder" => drop(check()?),
            _ => return Err(format!("there is no option \"{name}\"; `uci` lists them")),
        }
        Ok(Change::Value)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn names_of_options_are_of_either_case() {
        let mut options = Options::default();
        assert_eq!(options.set("hASH", "64"), Ok(Change::Hash));
        assert_eq!(options.set("UCI_chess960", "True"), Ok(Change::Value));
        assert!(options.hash == 64 && options.chess960);
    }

    #[test]
    fn values_out_of_range_change_nothing_and_say_what_was_expected() {
        let mut options = Options::default();
        for (name, value) in [
            ("Hash", "0"),
            ("Hash", "99999999"),
            ("Threads", "-1"),
            ("MultiPV", "two"),
            ("Ponder", ""),
            ("UCI_Elo", "700"),
        ] {
            let error = options.set(name, value).unwrap_err();
            assert!(error.contains(name) && error.contains("expected"), "{error}");
        }
        assert!(options.set("Contempt", "1").unwrap_err().contains("no option"));
        assert_eq!(options, Options::default());
    }
}
