//! `shelfish engine`: the engine at a terminal or behind a GUI, by UCI.

pub mod command;
mod database;
pub mod options;
mod output;
mod session;
mod worker;

use std::io::{BufRead, BufReader, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

use crate::Outcome;

pub use session::Session;

/// Options of `shelfish engine`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  shelfish engine                                                         # for a GUI
  shelfish engine 'position startpos moves e2e4' 'go movetime 1000' quit
  shelfish engine 'setoption name EvalDatabase value evals' 'go depth 20' quit

Options of UCI, set by `setoption name NAME value VALUE`; `uci` lists them with their defaults and limits:
  Hash                             size of the transposition table in MiB; `Clear Hash` clears it
  Threads                          threads that search
  MultiPV                          lines that are shown
  Move Overhead                    milliseconds that a move loses between clock and engine
  Ponder                           whether the GUI may let it think in the other side's time
  UCI_Chess960                     castling is written as the king's move to its rook
  UCI_LimitStrength, UCI_Elo       play as a player of this rating
  EvalDatabase                     a database of evaluations, directory or URL, that is asked before the search
  OwnBook, BookFile                play from this book: Polyglot's .bin, one that learns, or the directory or URL of a book

Exit codes: 0 after `quit` or the end of the input; 1 if input or output fails; 2 for wrong usage.")]
pub struct Args {
    /// Commands to run before those of standard input, one each: "position startpos" "go depth 12"
    commands: Vec<String>,
}

/// The longest line that is read; a game of a thousand moves is shorter.
const LONGEST_LINE: u64 = 1 << 20;

/// Speaks UCI on standard input and output.
///
/// # Errors
///
/// Standard input or output fails.
pub fn run(args: &Args) -> Outcome {
    let out: worker::Output = Arc::new(Mutex::new(Box::new(std::io::stdout())));
    serve(&args.commands, BufReader::new(std::io::stdin()), out)?;
    Ok(ExitCode::SUCCESS)
}

/// Answers commands until `quit` or the end of the input. A search that has an end is waited for.
pub fn serve(first: &[String], mut input: impl BufRead, out: worker::Output) -> std::io::Result<()> {
    let mut session = Session::new(out);
    for line in first {
        if !session.say(line) {
            return Ok(());
        }
        session.wait();
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = std::io::Read::take(&mut input, LONGEST_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            session.wait();
            return Ok(());
        }
        if !session.say(&String::from_utf8_lossy(&line)) {
            return Ok(());
        }
    }
}

fn print(out: &worker::Output, text: &str) {
    if let Ok(mut out) = out.lock() {
        // Whoever does not listen any more will close the input, too.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}
