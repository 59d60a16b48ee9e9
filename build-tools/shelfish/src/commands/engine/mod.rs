//! `shelfish engine`: the UCI engine, for a terminal or a GUI.

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
use crate::terminal::shown::shown;

pub use session::Session;

/// Play and analyse chess as a UCI engine.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  shelfish engine                                                         # for a GUI
  shelfish engine 'position startpos moves e2e4' 'go movetime 1000' quit
  shelfish engine 'setoption name EvalDatabase value evals' 'go movetime 1000' quit

Set UCI options with `setoption name NAME value VALUE`. `uci` lists their defaults and limits:
  Hash                             size of the transposition table in MiB; `Clear Hash` clears it
  Threads                          number of search threads
  MultiPV                          number of lines to show
  Move Overhead                    milliseconds per move that are lost between clock and engine
  Ponder                           whether the GUI may let the engine think in the opponent's time
  UCI_Chess960                     castling is written as the king's move to its rook
  UCI_LimitStrength, UCI_Elo       play as a player of this rating
  EvalDatabase                     database of evaluations (directory or URL) to look up before the search, which answers
                                   if `go` allows its depth and nodes; an appended #sha256-... accepts only the manifest
                                   with this hash
  SyzygyPath                       directories of Syzygy tables, for the root and the search
  OwnBook, BookFile                play from this book: Polyglot's .bin, a learning book, or the directory or URL of a book

Exit codes: 0 after `quit` or the end of the input; 1 if input or output fails; 2 if the usage is wrong.")]
pub struct Args {
    /// Commands to run before those of standard input, one per argument: "position startpos" "go depth 12"
    commands: Vec<String>,
}

/// Maximum length of a line in bytes. It exceeds the length of a game of a thousand moves.
const MAX_LINE: u64 = 1 << 20;

/// Runs the engine on standard input and output.
pub fn run(args: &Args) -> Outcome {
    let out: worker::Output = Arc::new(Mutex::new(Box::new(std::io::stdout())));
    serve(&args.commands, BufReader::new(std::io::stdin()), out)?;
    Ok(ExitCode::SUCCESS)
}

/// Answers commands until `quit` or the end of the input. Waits for a search unless the search is infinite.
pub fn serve(
    first: &[String],
    mut input: impl BufRead,
    out: worker::Output,
) -> std::io::Result<()> {
    let mut session = Session::new(out);
    for line in first {
        if !session.handle(line) {
            return Ok(());
        }
        session.wait();
    }
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = std::io::Read::take(&mut input, MAX_LINE).read_until(b'\n', &mut line)?;
        if read == 0 {
            session.wait();
            return Ok(());
        }
        if !session.handle(&String::from_utf8_lossy(&line)) {
            return Ok(());
        }
    }
}

fn print(out: &worker::Output, text: &str) {
    if let Ok(mut out) = out.lock() {
        // A GUI that closed the output also closes the input, which ends the engine.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// Prints an error as a message of UCI.
fn report(out: &worker::Output, error: &dyn std::fmt::Display) {
    print(out, &format!("info string {}\n", shown(&error.to_string())));
}
