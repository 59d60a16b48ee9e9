//! `shelfish lookup`: evaluations of positions.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Move};
use shelfish::eval::{Evaluation, PositionEval, Pv};
use shelfish::position::{FenError, Position};
use shelfish::reader::{Options, REVALIDATION_INTERVAL, ReadError, Reader, Stats};

use crate::Outcome;
use crate::database::cache;
use crate::database::{self, DatabaseSource, OpenError};
use crate::lichess::{ScoreMember, uci};
use crate::terminal::shown::{self, beginning, shown};

/// Maximum number of positions from standard input that are looked up together.
const BATCH: usize = 256;

/// Maximum number of bytes of a line that are kept. It exceeds the length of every FEN with spaces around it.
const MAX_LINE: usize = 1024;

/// Look up positions.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish lookup -d db 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'
  shelfish lookup -d https://example.org/evals --json --timing - < fens.txt
  shelfish lookup -d s3://my-bucket/evals --cache-size 2GiB - < fens.txt
  shelfish lookup -d db --json -    # a process for other programs; build-tools/shelfish/examples/lookup.py asks it from Python

With --json -, each FEN on standard input has one line of JSON on standard output, in the same order. The line is flushed before
the next FEN is awaited. An invalid FEN has a line with `error`, and the process continues until the end of the input. Empty
lines are ignored.

Over the network, a cache on the disk keeps the data that was read. If the host is unavailable, answers come from the cache
alone.

Exit codes: 0 if every position could be looked up, found or not; 1 if a FEN was invalid or the database could not be read; 2
if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    #[command(flatten)]
    cache: cache::Args,
    /// FEN with four or six fields, quoted as one argument; `-` reads one FEN per line from standard input
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Print every evaluation, not only the best
    #[arg(long)]
    all: bool,
    /// Print moves as UCI (castling as e1g1) instead of SAN
    #[arg(long)]
    uci: bool,
    /// Print moves as UCI_Chess960 (castling as e1h1) instead of SAN
    #[arg(long, conflicts_with = "uci")]
    chess960: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Look up positions one by one and print the time that each lookup takes
    #[arg(long)]
    timing: bool,
}

/// A text to look up.
struct Question {
    /// Line number in standard input.
    line: Option<u64>,
    text: String,
    /// Length of the line in bytes if the line was truncated.
    too_long: Option<usize>,
}

/// Reads a line without its line ending and keeps at most [`MAX_LINE`] bytes. Returns `None` at the end of the input.
fn read_line(input: &mut impl BufRead, number: u64) -> io::Result<Option<Question>> {
    let mut line = Vec::new();
    let mut length = 0;
    loop {
        let bytes = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        if bytes.is_empty() && length == 0 {
            return Ok(None);
        }
        let end = bytes.iter().position(|&byte| byte == b'\n');
        let part = &bytes[..end.unwrap_or(bytes.len())];
        line.extend_from_slice(&part[..part.len().min(MAX_LINE - line.len())]);
        let taken = part.len() + usize::from(end.is_some());
        let is_end = end.is_some() || bytes.is_empty();
        length += part.len();
        input.consume(taken);
        if is_end {
            // Text that is not UTF-8 is not a FEN either, and is reported as an invalid FEN.
            let text = String::from_utf8_lossy(&line).trim().to_owned();
            return Ok(Some(Question {
                line: Some(number),
                text,
                too_long: (length > MAX_LINE).then_some(length),
            }));
        }
    }
}

/// Error of a question.
#[derive(Debug, thiserror::Error)]
#[error("{}{kind}", line.map_or_else(String::new, |line| format!("line {line}: ")))]
struct AnswerError {
    /// Line number in standard input.
    line: Option<u64>,
    kind: AnswerErrorKind,
}

/// Kinds of errors of a question.
#[derive(Debug, thiserror::Error)]
enum AnswerErrorKind {
    /// The text is not a FEN of a position.
    #[error("{}{}", .0, hint(.0))]
    Fen(FenError),
    /// The database cannot be read.
    #[error("{0}")]
    Read(ReadError),
}

/// Returns the probable cause of an invalid FEN.
fn hint(error: &FenError) -> &'static str {
    match error {
        FenError::Fields { found: 1 } => " (a FEN has spaces: quote it)",
        _ => "",
    }
}

/// Cost of one lookup.
#[derive(Serialize)]
struct Timing {
    requests: u64,
    bytes: u64,
    milliseconds: f64,
}

#[derive(Serialize)]
struct Answer<'a> {
    fen: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    found: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations: Option<Vec<AnswerEvaluation>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<&'a Timing>,
}

#[derive(Serialize)]
struct AnswerEvaluation {
    depth: u16,
    knodes: u64,
    pvs: Vec<AnswerPv>,
}

#[derive(Serialize)]
struct AnswerPv {
    #[serde(flatten)]
    score: ScoreMember,
    uci: String,
    san: String,
}

/// Looks up positions and prints the answers.
pub fn run(args: Args) -> Outcome {
    let source = args.database.source()?;
    database::wait(look_up(source, &args))?
}

async fn look_up(source: DatabaseSource, args: &Args) -> Outcome {
    let started = Instant::now();
    let cache = args.cache.open(&source)?;
    let reader = source
        .reader(Options::default(), cache)
        .await
        .map_err(OpenError::from)?;
    let mut session = Session {
        args,
        reader,
        out: io::BufWriter::new(io::stdout().lock()),
        failed: false,
        seen: Stats::default(),
    };
    if args.timing && !args.json {
        let timing = session.timing(started);
        writeln!(session.out, "opened: {timing}")?;
    }
    for fen in &args.fens {
        if fen != "-" {
            session
                .answer(&[Question {
                    line: None,
                    text: fen.trim().to_owned(),
                    too_long: None,
                }])
                .await?;
            continue;
        }
        let mut input = io::BufReader::new(io::stdin().lock());
        let mut lines = 0;
        loop {
            let mut batch = Vec::new();
            while let Some(question) = read_line(&mut input, lines + 1)? {
                lines += 1;
                if !question.text.is_empty() || question.too_long.is_some() {
                    batch.push(question);
                }
                // An interactive user gets each answer before the next question.
                if args.timing || batch.len() == BATCH || !input.buffer().contains(&b'\n') {
                    break;
                }
            }
            if batch.is_empty() && input.fill_buf()?.is_empty() {
                break;
            }
            session.answer(&batch).await?;
            session.out.flush()?;
        }
    }
    session.out.flush()?;
    Ok(if session.failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

struct Session<'a, W: Write> {
    args: &'a Args,
    reader: Reader<DatabaseSource, PositionEval>,
    out: W,
    failed: bool,
    seen: Stats,
}

impl<W: Write> Session<'_, W> {
    /// Returns the costs since the last call.
    fn timing(&mut self, started: Instant) -> Timing {
        let stats = self.reader.stats();
        let seen = std::mem::replace(&mut self.seen, stats);
        Timing {
            requests: stats.requests - seen.requests,
            bytes: stats.bytes - seen.bytes,
            milliseconds: started.elapsed().as_secs_f64() * 1e3,
        }
    }

    async fn answer(&mut self, questions: &[Question]) -> io::Result<()> {
        let parse = |question: &Question| match question.too_long {
            Some(found) => Err(FenError::TooLong { found }),
            None => question.text.parse(),
        };
        let parsed: Vec<Result<Position, FenError>> = questions.iter().map(parse).collect();
        let positions: Vec<Position> = parsed
            .iter()
            .filter_map(|position| position.as_ref().ok())
            .cloned()
            .collect();
        let started = Instant::now();
        if self.reader.is_due(REVALIDATION_INTERVAL) {
            // After an error, the old database stays in use.
            drop(self.reader.revalidate().await);
        }
        let mut answers = self.reader.lookup_many(&positions).await.into_iter();
        let timing = self.timing(started);
        let timing = self.args.timing.then_some(&timing);
        for (question, position) in questions.iter().zip(parsed) {
            let answer = match &position {
                Err(error) => Err(AnswerErrorKind::Fen(error.clone())),
                Ok(_) => answers
                    .next()
                    .unwrap_or(Ok(None))
                    .map_err(AnswerErrorKind::Read),
            };
            let answer = answer.map_err(|kind| AnswerError {
                line: question.line,
                kind,
            });
            self.failed |= answer.is_err();
            match answer {
                answer if self.args.json => {
                    self.print_json(question, position.ok(), answer, timing)?
                }
                Ok(eval) => self.print(&question.text, eval, timing)?,
                Err(error) => {
                    self.out.flush()?;
                    eprintln!(
                        "shelfish: {}: {}",
                        shown(&beginning(&question.text)),
                        shown(&error.to_string())
                    );
                }
            }
        }
        Ok(())
    }

    fn selected<'e>(&self, eval: &'e PositionEval) -> &'e [Evaluation] {
        let count = if self.args.all {
            eval.evaluations.len()
        } else {
            1
        };
        &eval.evaluations[..count.min(eval.evaluations.len())]
    }

    fn print(
        &mut self,
        fen: &str,
        eval: Option<PositionEval>,
        timing: Option<&Timing>,
    ) -> io::Result<()> {
        writeln!(self.out, "{}", shown(fen))?;
        let Some(eval) = eval else {
            writeln!(self.out, "  not in the database")?;
            return timing.map_or(Ok(()), |timing| writeln!(self.out, "  {timing}"));
        };
        for evaluation in self.selected(&eval) {
            writeln!(
                self.out,
                "  depth {}, {} knodes",
                evaluation.depth, evaluation.knodes
            )?;
            for Pv { score, line } in &evaluation.pvs {
                let line = match (self.args.uci, self.args.chess960) {
                    (true, _) => uci(line, CastlingMode::Standard),
                    (_, true) => uci(line, CastlingMode::Chess960),
                    _ => san(&eval.position, line),
                };
                writeln!(self.out, "    {:>7}  {line}", score.to_string())?;
            }
        }
        timing.map_or(Ok(()), |timing| writeln!(self.out, "  {timing}"))
    }

    fn print_json(
        &mut self,
        question: &Question,
        position: Option<Position>,
        answer: Result<Option<PositionEval>, AnswerError>,
        timing: Option<&Timing>,
    ) -> io::Result<()> {
        let mode = if self.args.chess960 {
            CastlingMode::Chess960
        } else {
            CastlingMode::Standard
        };
        let evaluations = |eval: &PositionEval| {
            let pv = |Pv { score, line }: &Pv| AnswerPv {
                score: ScoreMember(*score),
                uci: uci(line, mode),
                san: san(&eval.position, line),
            };
            let evaluation = |evaluation: &Evaluation| AnswerEvaluation {
                depth: evaluation.depth,
                knodes: evaluation.knodes,
                pvs: evaluation.pvs.iter().map(pv).collect(),
            };
            self.selected(eval).iter().map(evaluation).collect()
        };
        let answer = Answer {
            fen: position.map_or_else(
                || beginning(&question.text),
                |position| position.to_string(),
            ),
            found: answer.as_ref().ok().map(Option::is_some),
            evaluations: answer
                .as_ref()
                .ok()
                .and_then(Option::as_ref)
                .map(evaluations),
            error: answer.err().map(|error| error.to_string()),
            timing,
        };
        writeln!(self.out, "{}", shown::json(&answer)?)
    }
}

impl std::fmt::Display for Timing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = if self.requests == 1 { "" } else { "s" };
        write!(
            f,
            "{} request{plural}, {} bytes, {:.2} ms",
            self.requests, self.bytes, self.milliseconds
        )
    }
}

fn san(position: &Position, line: &[Move]) -> String {
    let mut chess = position.chess().clone();
    line.iter()
        .map(|&m| SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_end_is_truncated() -> io::Result<()> {
        let long = "x".repeat(10_000_000);
        let mut input = io::BufReader::new(io::Cursor::new(format!(
            " one \n{long}\r\n\nfour\n{}",
            &long[..MAX_LINE]
        )));
        let mut found = Vec::new();
        while let Some(Question {
            line,
            text,
            too_long,
        }) = read_line(&mut input, found.len() as u64 + 1)?
        {
            assert_eq!(line, Some(found.len() as u64 + 1));
            found.push((text, too_long));
        }
        let text = |text: &str| (text.to_owned(), None);
        let long = &long[..MAX_LINE];
        assert_eq!(
            found,
            [
                text("one"),
                (long.to_owned(), Some(10_000_001)),
                text(""),
                text("four"),
                text(long)
            ]
        );
        Ok(())
    }
}
