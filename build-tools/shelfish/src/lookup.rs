//! `shelfish lookup`: what a database knows of positions.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Move};
use shelfish::eval::{Eval, Evaluation, Pv, Score};
use shelfish::position::{FenError, Position};
use shelfish::reader::{Options, Reader, Stats};

use crate::Outcome;
use crate::database::{self, Place};
use crate::json::uci;

/// Positions from standard input that are looked up together, if they are there already.
const BATCH: usize = 256;

/// Look positions up.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish lookup -d db 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1'
  shelfish lookup -d https://example.org/evals --json --timing - < fens.txt

Exit codes: 0 if every position could be looked up, found or not; 1 if not; 2 for wrong usage.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    /// Positions as FEN of four or six fields, each quoted as one argument; `-` reads one a line from standard input
    #[arg(required = true, value_name = "FEN")]
    fens: Vec<String>,
    /// Print every evaluation, not only the best
    #[arg(long)]
    all: bool,
    /// Print moves as UCI (castling as e1g1) in place of SAN
    #[arg(long)]
    uci: bool,
    /// Print moves as UCI_Chess960 (castling as e1h1) in place of SAN
    #[arg(long, conflicts_with = "uci")]
    chess960: bool,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    /// Look positions up one by one and say what each took
    #[arg(long)]
    timing: bool,
}

/// What one lookup took.
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
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    uci: String,
    san: String,
}

/// Looks up and prints.
///
/// # Errors
///
/// The database cannot be opened, or standard input or output fails.
pub fn run(args: Args) -> Outcome {
    let place = args.database.source()?;
    database::wait(look_up(place, &args))?
}

async fn look_up(place: Place, args: &Args) -> Outcome {
    let started = Instant::now();
    let reader = Reader::<_, Eval>::open(place, Options::default()).await?;
    let mut session =
        Session { args, reader, out: io::BufWriter::new(io::stdout().lock()), failed: false, seen: Stats::default() };
    if args.timing && !args.json {
        let timing = session.timing(started);
        writeln!(session.out, "opened: {timing}")?;
    }
    for fen in &args.fens {
        if fen != "-" {
            session.answer(&[fen.trim().to_owned()]).await?;
            continue;
        }
        let mut input = io::BufReader::new(io::stdin().lock());
        loop {
            let mut batch = Vec::new();
            let mut line = Vec::new();
            while input.read_until(b'\n', &mut line)? > 0 {
                // What is no text is no FEN, as its answer says.
                let fen = String::from_utf8_lossy(&line).trim().to_owned();
                if !fen.is_empty() {
                    batch.push(fen);
                }
                line.clear();
                // Whoever waits for an answer before the next question gets it.
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
    Ok(if session.failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

struct Session<'a, W: Write> {
    args: &'a Args,
    reader: Reader<Place>,
    out: W,
    failed: bool,
    seen: Stats,
}

impl<W: Write> Session<'_, W> {
    /// What was done since the last call.
    fn timing(&mut self, started: Instant) -> Timing {
        let stats = self.reader.stats();
        let seen = std::mem::replace(&mut self.seen, stats);
        Timing {
            requests: stats.requests - seen.requests,
            bytes: stats.bytes - seen.bytes,
            milliseconds: started.elapsed().as_secs_f64() * 1e3,
        }
    }

    async fn answer(&mut self, fens: &[String]) -> io::Result<()> {
        let parsed: Vec<Result<Position, FenError>> = fens.iter().map(|fen| fen.parse()).collect();
        let positions: Vec<Position> = parsed.iter().filter_map(|position| position.as_ref().ok()).cloned().collect();
        let started = Instant::now();
        let mut answers = self.reader.lookup_many(&positions).await.into_iter();
        let timing = self.timing(started);
        let timing = self.args.timing.then_some(&timing);
        for (fen, position) in fens.iter().zip(parsed) {
            let answer = match &position {
                Err(error @ FenError::Fields { found: 1 }) => Err(format!("{error} (a FEN has spaces: quote it)")),
                Err(error) => Err(error.to_string()),
                Ok(_) => answers.next().unwrap_or(Ok(None)).map_err(|error| error.to_string()),
            };
            self.failed |= answer.is_err();
            match answer {
                answer if self.args.json => self.print_json(fen, position.ok(), answer, timing)?,
                Ok(eval) => self.print(fen, eval, timing)?,
                Err(error) => {
                    self.out.flush()?;
                    eprintln!("shelfish: {fen}: {error}");
                }
            }
        }
        Ok(())
    }

    fn shown<'e>(&self, eval: &'e Eval) -> &'e [Evaluation] {
        let count = if self.args.all { eval.evaluations.len() } else { 1 };
        &eval.evaluations[..count.min(eval.evaluations.len())]
    }

    fn print(&mut self, fen: &str, eval: Option<Eval>, timing: Option<&Timing>) -> io::Result<()> {
        writeln!(self.out, "{fen}")?;
        let Some(eval) = eval else {
            writeln!(self.out, "  not in the database")?;
            return timing.map_or(Ok(()), |timing| writeln!(self.out, "  {timing}"));
        };
        for evaluation in self.shown(&eval) {
            writeln!(self.out, "  depth {}, {} knodes", evaluation.depth, evaluation.knodes)?;
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
        fen: &str,
        position: Option<Position>,
        answer: Result<Option<Eval>, String>,
        timing: Option<&Timing>,
    ) -> io::Result<()> {
        let mode = if self.args.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
        let evaluations = |eval: &Eval| {
            let pv = |pv: &Pv| {
                let (cp, mate) = match pv.score {
                    Score::Cp(cp) => (Some(cp), None),
                    Score::Mate(mate) => (None, Some(mate)),
                };
                AnswerPv { cp, mate, uci: uci(&pv.line, mode), san: san(&eval.position, &pv.line) }
            };
            let evaluation = |evaluation: &Evaluation| AnswerEvaluation {
                depth: evaluation.depth,
                knodes: evaluation.knodes,
                pvs: evaluation.pvs.iter().map(pv).collect(),
            };
            self.shown(eval).iter().map(evaluation).collect()
        };
        let answer = Answer {
            fen: position.map_or(fen.to_owned(), |position| position.to_string()),
            found: answer.as_ref().ok().map(Option::is_some),
            evaluations: answer.as_ref().ok().and_then(Option::as_ref).map(evaluations),
            error: answer.err(),
            timing,
        };
        writeln!(self.out, "{}", serde_json::to_string(&answer)?)
    }
}

impl std::fmt::Display for Timing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plural = if self.requests == 1 { "" } else { "s" };
        write!(f, "{} request{plural}, {} bytes, {:.2} ms", self.requests, self.bytes, self.milliseconds)
    }
}

fn san(position: &Position, line: &[Move]) -> String {
    let mut chess = position.chess().clone();
    line.iter().map(|&m| SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string()).collect::<Vec<_>>().join(" ")
}
