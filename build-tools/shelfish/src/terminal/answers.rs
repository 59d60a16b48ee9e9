//! Answers about positions, on standard output; what could not be looked up is told, in JSON there too, else on standard
//! error, and the rest goes on.

use std::fmt::Display;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::process::ExitCode;

use serde::Serialize;

use super::shown::{beginning, json, shown};

/// Where answers for people go.
pub type Out = BufWriter<StdoutLock<'static>>;

/// A position that could not be looked up.
#[derive(Serialize)]
struct Refused {
    fen: String,
    error: String,
}

/// The answers of one command.
pub struct Answers {
    out: Out,
    is_json: bool,
    failed: bool,
}

impl Answers {
    /// None yet; `is_json` says whether each becomes a line of JSON, or is printed for people.
    pub fn new(is_json: bool) -> Answers {
        Answers { out: BufWriter::new(io::stdout().lock()), is_json, failed: false }
    }

    /// Gives the answer about a position, for people by `print`.
    ///
    /// # Errors
    ///
    /// Standard output fails.
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
                let refused = Refused { fen: beginning(fen), error: error.to_string() };
                writeln!(self.out, "{}", json(&refused)?)
            }
            Err(error) => {
                self.out.flush()?;
                eprintln!("shelfish: {}: {}", shown(fen), shown(&error.to_string()));
                Ok(())
            }
        }
    }

    /// The exit code: a failure if a position could not be looked up.
    ///
    /// # Errors
    ///
    /// Standard output fails.
    pub fn finish(mut self) -> io::Result<ExitCode> {
        self.out.flush()?;
        Ok(if self.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}
