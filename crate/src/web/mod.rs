//! The surface of the WASM module, as thin as can be: the package's JavaScript makes it pleasant.
//!
//! JavaScript sends the requests and keeps the cache; what to ask for, whether an answer may be taken and what it says
//! is decided here. Answers and failures cross the boundary as JSON text.

mod json;

use core::time::Duration;

use wasm_bindgen::prelude::*;

use self::json::{Failure, Style};
use crate::eval::Eval;
use crate::position::{FenError, Position};
use crate::reader::{self, Catalog, ReadError};
use crate::source::http::{Ask, Body, Head};
use crate::source::retry::Retry;
use crate::source::{Fault, SourceError};
use crate::table::{Chunk, Manifest};

/// A request over HTTP, and what came of it.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Request {
    at: String,
    ask: Ask,
    outcome: Result<Answer, Fault>,
}

#[derive(Debug)]
enum Answer {
    None,
    Head(Body),
    Whole(Vec<u8>),
}

#[wasm_bindgen]
impl Request {
    /// A request for the bytes from `start` to before `end` of the file at a URL.
    pub fn range(url: &str, start: f64, end: f64) -> Request {
        Request::new(url, Ask::Range(start as u64..end as u64))
    }

    /// A request for the manifest at a URL.
    pub fn manifest(url: &str) -> Request {
        Request::new(url, Ask::Whole { cap: Manifest::MAX_BYTES as u64 })
    }

    fn new(url: &str, ask: Ask) -> Request {
        Request { at: url.to_string(), ask, outcome: Ok(Answer::None) }
    }

    /// The value of the `Range` header to send, if any.
    #[wasm_bindgen(getter)]
    pub fn header(&self) -> Option<String> {
        self.ask.range_header()
    }

    /// Judges the head of the answer: how many bytes its body may have, or nothing if it is refused.
    pub fn head(
        &mut self,
        status: u16,
        content_range: Option<String>,
        content_length: Option<String>,
        content_encoding: Option<String>,
    ) -> Option<f64> {
        let body = self.ask.judge(&Head {
            status,
            content_range: content_range.as_deref(),
            content_length: content_length.as_deref(),
            content_encoding: content_encoding.as_deref(),
        });
        let cap = body.as_ref().ok().map(|body| body.cap() as f64);
        self.outcome = body.map(Answer::Head);
        cap
    }

    /// Takes the body, or as much of it as shows that it is too long.
    pub fn body(&mut self, bytes: &[u8]) {
        if let Ok(Answer::Head(mut body)) = core::mem::replace(&mut self.outcome, Ok(Answer::None)) {
            self.outcome = body.push(bytes).and_then(|()| body.finish()).map(Answer::Whole);
        }
    }

    /// Gives up: no answer, for a reason; or, without one, none within so many milliseconds.
    pub fn fail(&mut self, why: Option<String>, milliseconds: f64) {
        self.outcome = Err(match why {
            Some(why) => Fault::Network(why),
            None => Fault::Timeout(Duration::from_millis(milliseconds as u64)),
        });
    }

    /// Milliseconds after which a request that was sent `sent` times is to be sent again, nothing if it is not; the host
    /// may have asked for so many seconds. `random` is from 0 to 1.
    pub fn pause(&self, sent: u32, retry_after: Option<f64>, random: f64) -> Option<f64> {
        let fault = self.outcome.as_ref().err()?;
        let after = retry_after.map(|seconds| Duration::from_millis((seconds * 1e3) as u64));
        Some(Retry::default().pause(sent, fault, after, random)?.as_millis() as f64)
    }

    /// Whether the answer came, whole.
    #[wasm_bindgen(getter)]
    pub fn whole(&self) -> bool {
        matches!(self.outcome, Ok(Answer::Whole(_)))
    }

    /// Whether no answer came at all, as when a device is offline.
    #[wasm_bindgen(getter)]
    pub fn unreachable(&self) -> bool {
        self.outcome.as_ref().is_err_and(Fault::is_unreachable)
    }

    fn bytes(&self) -> Result<&[u8], ReadError> {
        let fault = match &self.outcome {
            Ok(Answer::Whole(bytes)) => return Ok(bytes),
            Ok(_) => Fault::Network("no answer was waited for".to_string()),
            Err(fault) => fault.clone(),
        };
        Err(SourceError { at: self.at.clone(), fault }.into())
    }

    fn part(&self, chunk: &Chunk) -> Result<&[u8], ReadError> {
        let start = if let Ask::Range(range) = &self.ask { range.start } else { 0 };
        Ok(chunk.within(self.bytes()?, start))
    }

    fn parse(&self) -> Result<Manifest, ReadError> {
        Manifest::parse::<Eval>(self.bytes()?).map_err(|error| ReadError::Table { at: self.at.clone(), error })
    }
}

/// An open database.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Database(Catalog);

#[wasm_bindgen]
impl Database {
    /// Opens the database whose manifest was asked for; its files are in `folder`. Throws a failure.
    pub fn open(request: &Request, folder: &str, memory_bytes: f64) -> Result<Database, String> {
        let manifest = request.parse().map_err(json::failure)?;
        Ok(Database(Catalog::new(manifest, folder.to_string(), memory_bytes as usize)))
    }

    /// Opens the database by a manifest that was kept, if it is one.
    pub fn recall(manifest: &[u8], folder: &str, memory_bytes: f64) -> Option<Database> {
        let manifest = Manifest::parse::<Eval>(manifest).ok()?;
        Some(Database(Catalog::new(manifest, folder.to_string(), memory_bytes as usize)))
    }

    /// Goes on with the manifest that was asked for anew; whether it is one.
    pub fn renew(&mut self, request: &Request) -> bool {
        request.parse().map(|manifest| self.0.renew(manifest)).is_ok()
    }

    /// The answer if all that it takes is in memory.
    pub fn peek(&mut self, fen: &str, chess960: bool, san: bool, min_depth: f64, min_knodes: f64) -> Option<String> {
        let answer = match fen.parse::<Position>() {
            Ok(position) => self.0.peek(&position)?.map_err(Failure::Read),
            Err(error) => Err(Failure::Fen(error)),
        };
        Some(json::answer(answer, Style { chess960, san, min_depth, min_knodes }))
    }

    /// What the manifest tells.
    pub fn manifest(&self) -> String {
        json::manifest(self.0.manifest())
    }

    /// Times that a block was in memory.
    #[wasm_bindgen(getter)]
    pub fn hits(&self) -> f64 {
        self.0.hits() as f64
    }
}

/// A lookup that is under way, see [`reader::Lookup`].
#[wasm_bindgen]
#[derive(Debug)]
pub struct Lookup {
    lookup: reader::Lookup,
    /// The FENs that are none.
    errors: Vec<Option<FenError>>,
}

#[wasm_bindgen]
impl Lookup {
    /// Starts to look positions up, a FEN a line.
    #[wasm_bindgen(constructor)]
    pub fn new(database: &Database, fens: &str) -> Lookup {
        let mut positions = Vec::new();
        let parse = |fen: &str| fen.parse().map(|position| positions.push(position)).err();
        let errors = fens.split('\n').map(parse).collect();
        Lookup { lookup: reader::Lookup::new(&database.0, positions), errors }
    }

    /// What is wanted and was not told before: for each its number, file, start, end, the number of the request that
    /// would fetch it, and whether it is a block.
    pub fn wants(&mut self, database: &mut Database) -> String {
        let mut out = String::new();
        let wants = self.lookup.wants(&mut database.0);
        json::list(&mut out, ['[', ']'], wants, |out, n| {
            json::want(out, n, self.lookup.want(n), self.lookup.request(n));
        });
        out
    }

    /// Goes on with what is wanted, if it has come to be in memory.
    pub fn recall(&mut self, database: &mut Database, n: usize) -> bool {
        self.lookup.recall(&mut database.0, n)
    }

    /// Goes on with the bytes of what is wanted from a cache; false if they are not its bytes.
    pub fn give(&mut self, database: &mut Database, n: usize, bytes: &[u8]) -> bool {
        self.lookup.take(&mut database.0, n, bytes).is_ok()
    }

    /// Goes on with what came of a request. The bytes of what is wanted, if they are right.
    pub fn take(&mut self, database: &mut Database, n: usize, request: &Request) -> Option<Vec<u8>> {
        let taken = request.part(self.lookup.want(n).chunk()).and_then(|bytes| {
            self.lookup.take(&mut database.0, n, bytes)?;
            Ok(bytes.to_vec())
        });
        taken.map_err(|error| self.lookup.fail(n, &error)).ok()
    }

    /// Whether another build may have taken the database's place.
    #[wasm_bindgen(getter)]
    pub fn stale(&self) -> bool {
        self.lookup.is_stale()
    }

    /// Whether the database has had a new manifest since the lookup began.
    pub fn outdated(&self, database: &Database) -> bool {
        self.lookup.is_outdated(&database.0)
    }

    /// Begins anew with what another build may have taken the place of.
    pub fn retry(&mut self, database: &Database) {
        self.lookup.retry(&database.0);
    }

    /// An array with an answer for each FEN.
    pub fn answers(self, chess960: bool, san: bool, min_depth: f64, min_knodes: f64) -> String {
        let style = Style { chess960, san, min_depth, min_knodes };
        let mut answers = self.lookup.answers().into_iter();
        let mut out = String::new();
        json::list(&mut out, ['[', ']'], self.errors, |out, error| {
            let answer = match error {
                None => answers.next().unwrap_or(Ok(None)).map_err(Failure::Read),
                Some(error) => Err(Failure::Fen(error)),
            };
            out.push_str(&json::answer(answer, style));
        });
        out
    }
}
