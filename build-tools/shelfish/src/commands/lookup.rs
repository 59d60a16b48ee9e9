//! `shelfish lookup`: evaluations of positions.

use std::io::{self, BufRead, Read as _, Write};

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Move};
use shelfish::eval::{Evaluation, PositionEval, Pv};
use shelfish::position::{FenError, Position};
use shelfish::reader::{Options, REVALIDATION_INTERVAL, Reader};

use crate::Outcome;
use crate::database::{self, DatabaseSource, OpenError};
use crate::lichess::{ScoreMember, uci};
use crate::terminal::answers::Answers;
use crate::terminal::shown::{beginning, shown};

/// Maximum number of positions from standard input that are looked up together.
const BATCH: usize = 256;

/// Maximum number of bytes of a line that are kept. It exceeds the length of every FEN with spaces around it.
const MAX_LINE: usize = 1024;

/// Look up positions.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish lookup db 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'
  shelfish lookup https://example.org/evals --json - < fens.txt
  shelfish lookup db --json -    # a process for other programs; build-tools/shelfish/examples/lookup.py asks it from Python

With --json -, each FEN on standard input has one line of JSON on standard output, in the same order. The line is flushed before
the next FEN is awaited. An invalid FEN has a line with `error`, and the process continues until the end of the input. Empty
lines are ignored.

Exit codes: 0 if every position could be looked up, found or not; 1 if a FEN was invalid or the database could not be read; 2
if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// FEN with four or six fields, quoted as one argument; `-` reads one FEN per line from standard input
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Print every evaluation, not only the best
    #[arg(long)]
    all: bool,
    /// With --json, write castling as the king's move to its rook (e1h1)
    #[arg(long, requires = "json")]
    chess960: bool,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

/// A text to look up.
struct Question {
    /// Line number in standard input.
    line: Option<u64>,
    text: String,
    position: Result<Position, FenError>,
}

impl Question {
    fn new(line: Option<u64>, text: &str) -> Question {
        let text = text.trim().to_owned();
        let position = text.parse();
        Question {
            line,
            text,
            position,
        }
    }

    /// Returns an error with the line number, and the probable cause of an invalid FEN.
    fn failed(&self, error: &dyn std::error::Error) -> String {
        let line = self.line.map(|line| format!("line {line}: "));
        let hint = match self.position {
            Err(FenError::Fields { found: 1 }) => " (a FEN has spaces: quote it)",
            _ => "",
        };
        format!("{}{error}{hint}", line.unwrap_or_default())
    }
}

/// Reads a line, of which it keeps at most [`MAX_LINE`] bytes. Returns `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let read = input.take(MAX_LINE as u64).read_until(b'\n', &mut line)?;
    if read == MAX_LINE && !line.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    // Text that is not UTF-8 is not a FEN either, and is reported as an invalid FEN.
    Ok((read > 0).then(|| String::from_utf8_lossy(&line).trim().to_owned()))
}

#[derive(Serialize)]
struct Answer {
    fen: String,
    found: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    evaluations: Option<Vec<AnswerEvaluation>>,
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
    let reader = source.reader(Options::default()).await;
    let mut session = Session {
        args,
        reader: reader.map_err(OpenError::from)?,
        answers: Answers::new(args.json),
    };
    for fen in &args.fens {
        if fen != "-" {
            session.answer(&[Question::new(None, fen)]).await?;
            continue;
        }
        let mut input = io::BufReader::new(io::stdin().lock());
        let mut lines = 0;
        loop {
            let mut batch = Vec::new();
            // An interactive user gets each answer before the next question.
            while batch.is_empty() || (batch.len() < BATCH && input.buffer().contains(&b'\n')) {
                let Some(fen) = read_line(&mut input)? else {
                    break;
                };
                lines += 1;
                if !fen.is_empty() {
                    batch.push(Question::new(Some(lines), &fen));
                }
            }
            if batch.is_empty() {
                break;
            }
            session.answer(&batch).await?;
            session.answers.flush()?;
        }
    }
    Ok(session.answers.finish()?)
}

struct Session<'a> {
    args: &'a Args,
    reader: Reader<DatabaseSource, PositionEval>,
    answers: Answers,
}

impl Session<'_> {
    async fn answer(&mut self, questions: &[Question]) -> io::Result<()> {
        let positions = questions.iter().flat_map(|question| &question.position);
        let positions: Vec<Position> = positions.cloned().collect();
        if self.reader.is_due(REVALIDATION_INTERVAL) {
            // After an error, the old database stays in use.
            drop(self.reader.revalidate().await);
        }
        let mut found = self.reader.lookup_many(&positions).await.into_iter();
        for question in questions {
            let answer = match &question.position {
                Err(error) => Err(question.failed(error)),
                Ok(position) => match found.next().unwrap_or(Ok(None)) {
                    Ok(eval) => Ok(self.encode(position, eval)),
                    Err(error) => Err(question.failed(&error)),
                },
            };
            self.answers
                .give(&beginning(&question.text), answer, |out, answer| {
                    print(out, &question.text, answer)
                })?;
        }
        Ok(())
    }

    fn encode(&self, position: &Position, eval: Option<PositionEval>) -> Answer {
        let mode = if self.args.chess960 {
            CastlingMode::Chess960
        } else {
            CastlingMode::Standard
        };
        let pv = |Pv { score, line }: &Pv| AnswerPv {
            score: ScoreMember(*score),
            uci: uci(line, mode),
            san: san(position, line),
        };
        let evaluation = |evaluation: &Evaluation| AnswerEvaluation {
            depth: evaluation.depth,
            knodes: evaluation.knodes,
            pvs: evaluation.pvs.iter().map(pv).collect(),
        };
        let most = if self.args.all { usize::MAX } else { 1 };
        Answer {
            fen: position.to_string(),
            found: eval.is_some(),
            evaluations: eval
                .map(|eval| eval.evaluations.iter().take(most).map(evaluation).collect()),
        }
    }
}

fn print(out: &mut impl Write, fen: &str, answer: &Answer) -> io::Result<()> {
    writeln!(out, "{}", shown(fen))?;
    let Some(evaluations) = &answer.evaluations else {
        return writeln!(out, "  not in the database");
    };
    for AnswerEvaluation { depth, knodes, pvs } in evaluations {
        writeln!(out, "  depth {depth}, {knodes} knodes")?;
        for AnswerPv { score, san, .. } in pvs {
            writeln!(out, "    {:>7}  {san}", score.0.to_string())?;
        }
    }
    Ok(())
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
        let text = format!(" one \n{long}\n\nfour\n{}", &long[..MAX_LINE]);
        let mut input = io::BufReader::new(text.as_bytes());
        let mut next = || Ok::<_, io::Error>(read_line(&mut input)?.unwrap_or_default());
        for expected in ["one", &long[..MAX_LINE], "", "four", &long[..MAX_LINE]] {
            assert_eq!(next()?, expected);
        }
        assert_eq!(next()?, "");
        Ok(())
    }
}
