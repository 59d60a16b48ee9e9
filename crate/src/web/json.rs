//! Answers as JSON text: one string across the boundary and one `JSON.parse` are quicker than building objects from
//! outside, and smaller than serde.

use core::fmt::{self, Write};

use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, File, Move};

use crate::eval::{Eval, Evaluation, Pv, Score};
use crate::position::{FenError, Position};
use crate::reader::{ReadError, Want};
use crate::source::{Fault, SourceError};
use crate::table::{Chunk, Manifest, TableError};

/// What is told of a record, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Castling as `e1h1` instead of `e1g1`.
    pub chess960: bool,
    /// SAN beside UCI.
    pub san: bool,
    /// Evaluations of less depth are left out.
    pub min_depth: f64,
    /// Evaluations of fewer kilonodes are left out.
    pub min_knodes: f64,
}

impl Style {
    fn tells(&self, evaluation: &Evaluation) -> bool {
        f64::from(evaluation.depth) >= self.min_depth && evaluation.knodes as f64 >= self.min_knodes
    }
}

/// Why an entry has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The text is not a FEN.
    Fen(FenError),
    /// The database could not be read.
    Read(ReadError),
}

impl Failure {
    /// The code and the URL of the error, as documented in the package.
    fn code(&self) -> (&'static str, Option<&str>) {
        match self {
            Failure::Fen(_) => ("fen", None),
            Failure::Read(error) => code(error),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Fen(error) => error.fmt(f),
            Failure::Read(error) => error.fmt(f),
        }
    }
}

fn code(error: &ReadError) -> (&'static str, Option<&str>) {
    match error {
        ReadError::Source(SourceError { at, fault }) => {
            let code = match fault {
                Fault::Network(_) | Fault::Io(..) => "network",
                Fault::Timeout(_) => "timeout",
                Fault::Status(_) => "status",
                _ => "range",
            };
            (code, Some(at))
        }
        ReadError::Table { at, error } => {
            let code = match error {
                TableError::Version { .. } => "version",
                TableError::Manifest(_) | TableError::Kind { .. } => "manifest",
                _ => "corrupt",
            };
            (code, Some(at))
        }
        ReadError::Stale(error) => ("stale", code(error).1),
    }
}

/// `null`, the evaluations, or the error.
pub fn answer(answer: Result<Option<Eval>, Failure>, style: Style) -> String {
    let mut out = String::new();
    match answer {
        Ok(Some(eval)) if eval.evaluations.iter().any(|evaluation| style.tells(evaluation)) => {
            write_eval(&mut out, &eval, style);
        }
        Ok(_) => out.push_str("null"),
        Err(failure) => write_failure(&mut out, &failure),
    }
    out
}

/// Why the database could not be opened.
pub fn failure(error: ReadError) -> String {
    let mut out = String::new();
    write_failure(&mut out, &Failure::Read(error));
    out
}

/// What the package tells of a manifest.
pub fn manifest(manifest: &Manifest) -> String {
    let mut out = String::new();
    let [evaluations, pvs] = ["evaluations", "pvs"].map(|name| manifest.total(name));
    let (format, positions, bytes) = (Manifest::FORMAT, manifest.positions, manifest.bytes());
    put(
        &mut out,
        format_args!(
            r#"{{"format":{format},"positions":{positions},"evaluations":{evaluations},"pvs":{pvs},"bytes":{bytes},"info":"#
        ),
    );
    list(&mut out, ['{', '}'], &manifest.info, |out, (name, value)| {
        write_string(out, name);
        out.push(':');
        write_string(out, value);
    });
    out.push('}');
    out
}

/// What a lookup wants: its number, file, start, end, the number of the request that would fetch it, and whether it is
/// a block.
pub fn want(out: &mut String, n: usize, want: &Want, request: usize) {
    let Chunk { file, range, .. } = want.chunk();
    // The name of a shard needs no escape.
    put(out, format_args!(r#"[{n},"{file}",{},{},{request},{}]"#, range.start, range.end, want.is_block()));
}

fn write_eval(out: &mut String, eval: &Eval, style: Style) {
    put(out, format_args!(r#"{{"fen":"{}","evaluations":"#, eval.position));
    let told = eval.evaluations.iter().filter(|evaluation| style.tells(evaluation));
    list(out, ['[', ']'], told, |out, evaluation| {
        let Evaluation { depth, knodes, pvs } = evaluation;
        put(out, format_args!(r#"{{"depth":{depth},"knodes":{knodes},"pvs":"#));
        list(out, ['[', ']'], pvs, |out, pv| write_pv(out, pv, &eval.position, style));
        out.push('}');
    });
    out.push('}');
}

fn write_pv(out: &mut String, Pv { score, line }: &Pv, position: &Position, style: Style) {
    match score {
        Score::Cp(cp) => put(out, format_args!(r#"{{"cp":{cp},"score":"{score}","uci":"#)),
        Score::Mate(moves) => put(out, format_args!(r#"{{"mate":{moves},"score":"{score}","uci":"#)),
    }
    list(out, ['[', ']'], line, |out, &m| put(out, format_args!("\"{}\"", uci(m, style))));
    if style.san {
        out.push_str(r#","san":"#);
        let mut chess = position.chess().clone();
        list(out, ['[', ']'], line, |out, &m| {
            put(out, format_args!("\"{}\"", SanPlus::from_move_and_play_unchecked(&mut chess, m)));
        });
    }
    out.push('}');
}

/// Only castling that begins as in standard chess can be written as there.
fn uci(m: Move, style: Style) -> UciMove {
    let standard = match m {
        Move::Castle { king, rook } => king.file() == File::E && matches!(rook.file(), File::A | File::H),
        _ => true,
    };
    m.to_uci(if standard && !style.chess960 { CastlingMode::Standard } else { CastlingMode::Chess960 })
}

fn write_failure(out: &mut String, failure: &Failure) {
    let (code, url) = failure.code();
    put(out, format_args!(r#"{{"code":"{code}","message":"#));
    write_string(out, &failure.to_string());
    if let Some(url) = url {
        out.push_str(r#","url":"#);
        write_string(out, url);
    }
    out.push('}');
}

/// Items between brackets, with commas.
pub fn list<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    mut item: impl FnMut(&mut String, T),
) {
    out.push(open);
    for (n, value) in items.into_iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        item(out, value);
    }
    out.push(close);
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\0'..' ' => put(out, format_args!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Writing to a string does not fail.
fn put(out: &mut String, text: fmt::Arguments<'_>) {
    let _ = out.write_fmt(text);
}
