//! Answers about positions on standard output.
//!
//! Errors of single positions are printed as JSON, or on standard error, and other positions are still answered.

use std::fmt::Display;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::shown::{beginning, json, shown};

/// Standard output for people.
pub type Out = BufWriter<StdoutLock<'static>>;

/// Position that could not be looked up.
#[derive(Serialize)]
struct Refused {
    fen: String,
    error: String,
}

/// Answers of a command.
pub struct Answers {
    out: Out,
    is_json: bool,
    failed: bool,
}

impl Answers {
    /// Creates an empty list of answers. `is_json` selects a line of JSON per answer instead of text.
    pub fn new(is_json: bool) -> Answers {
        Answers {
            out: BufWriter::new(io::stdout().lock()),
            is_json,
            failed: false,
        }
    }

    /// Prints the answer about a position. `print` formats text.
    pub fn give<T: Serialize, E: Display>(
        &mut self,
        fen: &str,
        answer: Result<T, E>,
        print: impl FnOnce(&mut Out, &T) -> io::Result<()>,
    ) -> io::Result<()> {
        self.failed |= answer.is_err();
        match answer {
            Ok(answer) if self.is_json => writeln!(self.out, "{}", json(&answer)?),
            Ok(answer) => print(&mut self.out, &answer),
            Err(error) if self.is_json => {
                let refused = Refused {
                    fen: beginning(fen),
                    error: error.to_string(),
                };
                writeln!(self.out, "{}", json(&refused)?)
            }
            Err(error) => {
                self.out.flush()?;
                eprintln!("shelfish: {}: {}", shown(fen), shown(&error.to_string()));
                Ok(())
            }
        }
    }

    /// Passes the answers on.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Returns the exit code, which is a failure if a position could not be looked up.
    pub fn finish(mut self) -> io::Result<ExitCode> {
        self.out.flush()?;
        Ok(if self.failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}
