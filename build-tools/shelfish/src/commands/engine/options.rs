//! UCI options of the engine.

use std::fmt::Write;

use shelfish_engine::{STRONGEST, WEAKEST};

/// Values of the options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Size of the transposition table, in MiB.
    pub hash: usize,
    /// Number of search threads.
    pub threads: usize,
    /// Number of lines to show.
    pub lines: usize,
    /// Milliseconds per move that are lost between clock and engine.
    pub overhead: u64,
    /// Whether castling is written as the king's move to its rook.
    pub chess960: bool,
    /// Whether to play as a player with the rating `elo`.
    pub limits_strength: bool,
    /// Rating of that player.
    pub elo: u32,
    /// Whether to play from the book.
    pub own_book: bool,
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
            own_book: false,
        }
    }
}

/// Error of a `setoption` command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No option has this name.
    #[error("there is no option \"{0}\"; `uci` lists them")]
    Unknown(String),
    /// The value has the wrong form.
    #[error("option {name}: expected {expected}, found \"{found}\"")]
    Value {
        /// Name of the option.
        name: String,
        /// Expected values.
        expected: String,
        /// Value of the command.
        found: String,
    },
}

const MAX_HASH: usize = 65_536;
const MAX_THREADS: usize = 256;
const MAX_LINES: usize = 256;
const MAX_OVERHEAD: u64 = 5_000;

impl Options {
    /// Lists the options in answer to `uci`.
    pub fn describe() -> String {
        let defaults = Options::default();
        let mut text = String::new();
        for (name, default, min, max) in [
            ("Hash", defaults.hash, 1, MAX_HASH),
            ("Threads", defaults.threads, 1, MAX_THREADS),
            ("MultiPV", defaults.lines, 1, MAX_LINES),
            (
                "Move Overhead",
                defaults.overhead as usize,
                0,
                MAX_OVERHEAD as usize,
            ),
            (
                "UCI_Elo",
                defaults.elo as usize,
                WEAKEST as usize,
                STRONGEST as usize,
            ),
        ] {
            let spin = format!("type spin default {default} min {min} max {max}");
            let _ = writeln!(text, "option name {name} {spin}");
        }
        text + "option name Clear Hash type button
option name Ponder type check default false
option name UCI_LimitStrength type check default false
option name UCI_Chess960 type check default false
option name EvalDatabase type string default <empty>
option name OwnBook type check default false
option name BookFile type string default <empty>
option name SyzygyPath type string default <empty>
"
    }

    /// Sets an option. The caller opens the files that an option names.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), OptionError> {
        let wrong = |expected: String| OptionError::Value {
            name: name.to_owned(),
            expected,
            found: value.to_owned(),
        };
        let spin = |min: u64, max: u64| {
            let number = value.parse().ok();
            let number = number.filter(|number| (min..=max).contains(number));
            number.ok_or_else(|| wrong(format!("a number from {min} to {max}")))
        };
        let check = || match value.to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong("true or false".to_owned())),
        };
        match name.to_ascii_lowercase().as_str() {
            "evaldatabase" | "bookfile" | "syzygypath" | "clear hash" => {}
            "hash" => self.hash = spin(1, MAX_HASH as u64)? as usize,
            "ownbook" => self.own_book = check()?,
            "threads" => self.threads = spin(1, MAX_THREADS as u64)? as usize,
            "multipv" => self.lines = spin(1, MAX_LINES as u64)? as usize,
            "move overhead" => self.overhead = spin(0, MAX_OVERHEAD)?,
            "uci_elo" => self.elo = spin(WEAKEST.into(), STRONGEST.into())? as u32,
            "uci_limitstrength" => self.limits_strength = check()?,
            "uci_chess960" => self.chess960 = check()?,
            // The engine ponders without preparation.
            "ponder" => drop(check()?),
            _ => return Err(OptionError::Unknown(name.to_owned())),
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn names_of_options_ignore_case() {
        let mut options = Options::default();
        assert_eq!(options.set("hASH", "64"), Ok(()));
        assert_eq!(options.set("UCI_chess960", "True"), Ok(()));
        assert!(options.hash == 64 && options.chess960);
    }

    #[test]
    fn invalid_values_change_nothing_and_the_error_contains_the_expected_values() {
        let mut options = Options::default();
        for (name, value) in [
            ("Hash", "0"),
            ("Hash", "99999999"),
            ("Threads", "-1"),
            ("MultiPV", "two"),
            ("Ponder", ""),
            ("UCI_Elo", "700"),
        ] {
            let error = options.set(name, value).unwrap_err().to_string();
            assert!(
                error.contains(name) && error.contains("expected"),
                "{error}"
            );
        }
        assert!(
            options
                .set("Contempt", "1")
                .unwrap_err()
                .to_string()
                .contains("no option")
        );
        assert_eq!(options, Options::default());
    }
}
