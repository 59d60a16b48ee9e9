//! `shelfish serve --api`: lookups over HTTP.
//!
//! `GET /api/cloud-eval?fen=&multiPv=` answers in the shape of Lichess' cloud evaluation, `GET /standard?fen=` in the shape of Lichess'
//! tablebase. `/metrics` is for Prometheus,
//! `/healthz` for health checks.

mod answers;
mod metrics;
mod tablebase;

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use shakmaty::CastlingMode;
use shelfish::eval::{Evaluation, PositionEval};
use shelfish::position::{FenError, Position};
use shelfish::reader::{Options, Reader};
use shelfish_endgames::{EndgameError, parse_fen};
use tokio::sync::Semaphore;
use tower_http::cors::{Any, CorsLayer};

use self::answers::Answers;
use self::metrics::{DatabaseState, Metrics, Outcome, Revalidation};
use crate::BoxError;
use crate::database::cache::{self, DiskCache};
use crate::database::endgames::{self, EndgameTables};
use crate::database::{self, DatabaseSource, OpenError};
use crate::lichess::{ScoreMember, uci};
use crate::system::{duration, size};
use crate::terminal::shown::{beginning, shown};

/// Maximum number of PVs of a question.
const MAX_PVS: usize = 256;
/// Lifetime of an answer in caches. Databases are published monthly.
const MAX_AGE: &str = "public, max-age=3600";

/// Options of the API.
#[derive(clap::Args, Clone, Debug, Default)]
#[group(id = "api_args")]
pub struct Args {
    /// Answer `/api/cloud-eval?fen=FEN&multiPv=N` from the database in DIR as Lichess does, `/metrics` for Prometheus,
    /// and `/healthz`. DIR may be a URL: https://, s3://, gs:// or az://
    #[arg(long)]
    pub api: bool,
    /// API: size of the cache of decoded pages and blocks
    #[arg(long, value_name = "SIZE", default_value = "256MiB", value_parser = size::at_least(1 << 20))]
    memory: u64,
    /// API: size of the cache of answers
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = size::at_least(0))]
    answers: u64,
    /// API: limit of questions that wait for the disk or the network; further questions are answered with 503
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    at_once: u16,
    /// API: seconds that a host has for an answer, plus a second for every 16 KiB
    #[arg(long, value_name = "SECONDS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    timeout: u64,
    /// API: time after which the manifest is requested again, to find a new database: a number with d, h, m or s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration::positive)]
    revalidate: Duration,
    /// API: answer `/standard?fen=FEN` from Syzygy tables as Lichess does: a directory, or a URL with an index by
    /// `shelfish endgames index`
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    endgames: Option<String>,
    #[command(flatten)]
    cache: cache::Args,
}

/// State of the API.
struct Api {
    reader: Reader<DatabaseSource, PositionEval, Option<DiskCache>>,
    endgames: Option<EndgameTables>,
    answers: Answers,
    permits: Semaphore,
    metrics: Metrics,
}

/// Opens the database and builds the routes of the API.
pub async fn router(args: &Args, database: &str) -> Result<Router, BoxError> {
    let source = database::Args { timeout: args.timeout, ..database::Args::of(database) }.source()?;
    let cache = args.cache.open(&source)?;
    let options = Options::default().with_memory(args.memory as usize);
    let reader = Reader::builder(source).options(options).cache(cache).open().await.map_err(OpenError::from)?;
    let endgames = match &args.endgames {
        Some(tables) => {
            let tables = endgames::Args { tables: tables.clone(), timeout: args.timeout };
            Some(EndgameTables::open(&tables, &args.cache).await?)
        }
        None => None,
    };
    let api = Arc::new(Api {
        reader,
        endgames,
        answers: Answers::new(args.answers as usize),
        permits: Semaphore::new(args.at_once.into()),
        metrics: Metrics::default(),
    });
    tokio::spawn(revalidate(Arc::downgrade(&api), args.revalidate));
    let cors = CorsLayer::new().allow_origin(Any).allow_methods([Method::GET]).max_age(Duration::from_secs(86_400));
    Ok(Router::new()
        .route("/api/cloud-eval", get(cloud_eval))
        .route("/standard", get(standard))
        .route("/metrics", get(prometheus))
        .route("/healthz", get(|| async { "ok\n" }))
        .layer(cors)
        .with_state(api))
}

/// Requests the manifest again after each interval, while the API exists.
async fn revalidate(api: Weak<Api>, interval: Duration) {
    let mut has_failed = false;
    loop {
        tokio::time::sleep(interval).await;
        let Some(api) = api.upgrade() else { return };
        let result = api.reader.revalidate().await;
        api.metrics.count_revalidation(match &result {
            Ok(true) => Revalidation::Replaced,
            Ok(false) => Revalidation::Unchanged,
            Err(_) => Revalidation::Failed,
        });
        // A host that is down for long fills no log.
        if let Err(error) = &result
            && !has_failed
        {
            eprintln!("shelfish: the old manifest stays in use: {}", shown(&error.to_string()));
        }
        has_failed = result.is_err();
    }
}

/// Question of a client.
struct Question {
    /// FEN as the client wrote it.
    fen: String,
    position: Position,
    pvs: usize,
}

/// Reasons why a query is not a question.
#[derive(Debug)]
enum QuestionError {
    /// The value of a parameter is not UTF-8.
    Utf8 {
        /// Beginning of the name of the parameter.
        parameter: String,
    },
    /// The number of PVs is out of range.
    Pvs {
        /// Beginning of the value.
        found: String,
    },
    /// The variant is unknown.
    Variant {
        /// Beginning of the value.
        found: String,
    },
    /// The query has no FEN.
    NoFen {
        /// Path of the request.
        path: &'static str,
    },
    /// The FEN is invalid.
    Fen(FenError),
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuestionError::Utf8 { parameter } => write!(f, "{parameter}: expected UTF-8"),
            QuestionError::Pvs { found } => {
                write!(f, "multiPv: expected a number from 1 to {MAX_PVS}, found {found:?}")
            }
            QuestionError::Variant { found } => write!(f, "variant: expected standard or chess960, found {found:?}"),
            QuestionError::NoFen { path } => write!(f, "fen: expected {path}?fen=FEN, found no fen"),
            QuestionError::Fen(error) => write!(f, "fen: {error}"),
        }
    }
}

impl std::error::Error for QuestionError {}

/// Answer in the shape of Lichess.
#[derive(Serialize)]
struct Answer<'a> {
    fen: &'a str,
    knodes: u64,
    depth: u16,
    pvs: Vec<Pv>,
}

#[derive(Serialize)]
struct Pv {
    moves: String,
    #[serde(flatten)]
    score: ScoreMember,
}

#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a str,
}

async fn cloud_eval(State(api): State<Arc<Api>>, RawQuery(query): RawQuery) -> Response {
    let start = Instant::now();
    let (outcome, response) = api.answer(query.as_deref().unwrap_or_default()).await;
    api.metrics.count(outcome, start.elapsed());
    response
}

async fn standard(State(api): State<Arc<Api>>, RawQuery(query): RawQuery) -> Response {
    let start = Instant::now();
    let (outcome, response) = api.endgame(query.as_deref().unwrap_or_default()).await;
    api.metrics.count(outcome, start.elapsed());
    response
}

async fn prometheus(State(api): State<Arc<Api>>) -> Response {
    let text = api.metrics.text(&DatabaseState {
        stats: api.reader.stats(),
        positions: api.reader.manifest().positions,
        manifest_age: api.reader.manifest_age(),
        replacements: api.reader.replacements(),
    });
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}

impl Api {
    async fn endgame(&self, query: &str) -> (Outcome, Response) {
        let Some(endgames) = &self.endgames else {
            let why = "this server has no endgame tables; start it with --endgames";
            return (Outcome::Miss, refuse(StatusCode::NOT_FOUND, why));
        };
        let Some(fen) = fen_of(query) else {
            let error = QuestionError::NoFen { path: "/standard" };
            return (Outcome::Refused, refuse(StatusCode::BAD_REQUEST, &error.to_string()));
        };
        // Lichess accepts underscores instead of spaces.
        let chess = match parse_fen(&fen.replace('_', " ")) {
            Ok(chess) => chess,
            Err(error) => return (Outcome::Refused, refuse(StatusCode::BAD_REQUEST, &format!("fen: {error}"))),
        };
        let Ok(_permit) = self.permits.try_acquire() else { return (Outcome::Busy, busy()) };
        match endgames.probe(&chess).await {
            Ok(probe) => match body(&tablebase::answer(&chess, &probe)) {
                Some(body) => (Outcome::Hit, response(StatusCode::OK, body)),
                None => (Outcome::Failed, StatusCode::INTERNAL_SERVER_ERROR.into_response()),
            },
            Err(EndgameError::Uncovered(uncovered)) => {
                (Outcome::Miss, refuse(StatusCode::NOT_FOUND, &uncovered.to_string()))
            }
            Err(error) => {
                eprintln!("shelfish: {}: {}", shown(&fen), shown(&error.to_string()));
                (Outcome::Failed, refuse(StatusCode::BAD_GATEWAY, "the tables cannot be read, see the server's log"))
            }
        }
    }

    async fn answer(&self, query: &str) -> (Outcome, Response) {
        let replacements = self.reader.replacements();
        if let Some(body) = self.answers.get(query, replacements) {
            return (Outcome::Hit, response(StatusCode::OK, body));
        }
        let question = match question(query) {
            Ok(question) => question,
            Err(error) => return (Outcome::Refused, refuse(StatusCode::BAD_REQUEST, &error.to_string())),
        };
        // Only questions that wait for the disk or the network need a permit.
        let found = match self.reader.peek(&question.position) {
            Some(found) => found,
            None => {
                let Ok(_permit) = self.permits.try_acquire() else {
                    return (Outcome::Busy, busy());
                };
                self.reader.lookup(&question.position).await
            }
        };
        match found {
            Ok(eval) => match eval.as_ref().and_then(|eval| choose(&eval.evaluations, question.pvs)) {
                Some(evaluation) => {
                    let Some(body) = body(&answer(&question, evaluation)) else {
                        return (Outcome::Failed, StatusCode::INTERNAL_SERVER_ERROR.into_response());
                    };
                    self.answers.keep(query, replacements, body.clone());
                    (Outcome::Hit, response(StatusCode::OK, body))
                }
                None => {
                    (Outcome::Miss, refuse(StatusCode::NOT_FOUND, "No cloud evaluation available for that position"))
                }
            },
            Err(error) => {
                eprintln!("shelfish: {}: {}", shown(&question.fen), shown(&error.to_string()));
                (Outcome::Failed, refuse(StatusCode::BAD_GATEWAY, "the database cannot be read, see the server's log"))
            }
        }
    }
}

/// Returns the names and encoded values of a query.
fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|part| part.split_once('='))
}

/// Returns the text of an encoded value, or `None` if the text is not UTF-8.
fn decoded(value: &str) -> Option<String> {
    Some(percent_decode_str(&value.replace('+', " ")).decode_utf8().ok()?.into_owned())
}

/// Returns the FEN of a query as the client wrote it, for the log.
pub(super) fn fen_of(query: &str) -> Option<String> {
    parameters(query).filter(|(name, _)| *name == "fen").last().and_then(|(_, value)| decoded(value))
}

/// Reads the question of a query.
fn question(query: &str) -> Result<Question, QuestionError> {
    let (mut fen, mut pvs) = (None, 1);
    for (name, value) in parameters(query) {
        let value = decoded(value).ok_or_else(|| QuestionError::Utf8 { parameter: beginning(name) })?;
        match name {
            "fen" => fen = Some(value),
            "multiPv" => {
                pvs = value
                    .parse()
                    .ok()
                    .filter(|pvs| (1..=MAX_PVS).contains(pvs))
                    .ok_or_else(|| QuestionError::Pvs { found: beginning(&value) })?;
            }
            "variant" if value != "standard" && value != "chess960" && value != "fromPosition" => {
                return Err(QuestionError::Variant { found: beginning(&value) });
            }
            _ => {}
        }
    }
    let fen = fen.ok_or(QuestionError::NoFen { path: "/api/cloud-eval" })?;
    let position = fen.parse().map_err(QuestionError::Fen)?;
    Ok(Question { fen, position, pvs })
}

/// Returns the deepest evaluation with at least `pvs` PVs, or the deepest evaluation with the maximum of PVs.
fn choose(evaluations: &[Evaluation], pvs: usize) -> Option<&Evaluation> {
    let enough = evaluations.iter().find(|evaluation| evaluation.pvs.len() >= pvs);
    // Evaluations are sorted by depth. `max_by_key` returns the last maximum, which is the deepest because of `rev`.
    enough.or_else(|| evaluations.iter().rev().max_by_key(|evaluation| evaluation.pvs.len()))
}

fn answer<'a>(question: &'a Question, evaluation: &Evaluation) -> Answer<'a> {
    let pv =
        |pv: &shelfish::eval::Pv| Pv { moves: uci(&pv.line, CastlingMode::Chess960), score: ScoreMember(pv.score) };
    Answer {
        fen: &question.fen,
        knodes: evaluation.knodes,
        depth: evaluation.depth,
        pvs: evaluation.pvs.iter().take(question.pvs).map(pv).collect(),
    }
}

fn busy() -> Response {
    let mut response = refuse(StatusCode::SERVICE_UNAVAILABLE, "too many requests at a time, try again");
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

fn refuse(status: StatusCode, error: &str) -> Response {
    match body(&Refusal { error }) {
        Some(body) => response(status, body),
        None => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn body(value: &impl Serialize) -> Option<Bytes> {
    serde_json::to_vec(value).ok().map(Bytes::from)
}

fn response(status: StatusCode, body: Bytes) -> Response {
    let age = if status == StatusCode::OK || status == StatusCode::NOT_FOUND { MAX_AGE } else { "no-store" };
    (status, [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, age)], body).into_response()
}

#[cfg(test)]
mod tests {
    use shelfish::eval::Score;

    use super::*;

    fn evaluation(depth: u16, pvs: usize) -> Evaluation {
        let pv = shelfish::eval::Pv { score: Score::Cp(1), line: Vec::new() };
        Evaluation { depth, knodes: 1, pvs: vec![pv; pvs] }
    }

    #[test]
    fn the_deepest_evaluation_with_enough_lines_is_chosen_or_the_evaluation_with_the_most_lines() {
        let all = [evaluation(40, 1), evaluation(30, 3), evaluation(25, 3), evaluation(20, 5)];
        for (pvs, depth) in [(1, 40), (2, 30), (3, 30), (4, 20), (5, 20), (9, 20)] {
            assert_eq!(choose(&all, pvs).map(|found| found.depth), Some(depth), "{pvs}");
        }
        assert_eq!(choose(&all[..3], 9).map(|found| found.depth), Some(30));
        assert_eq!(choose(&[], 1), None);
    }

    #[test]
    fn questions_are_read_as_browsers_write_them() -> Result<(), QuestionError> {
        let fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        for query in [
            format!("fen={}", fen.replace(' ', "%20")),
            format!("multiPv=1&fen={}&x=y&z", fen.replace(' ', "+").replace('/', "%2F")),
            format!("variant=standard&fen={fen}"),
        ] {
            let question = question(&query)?;
            assert_eq!((question.fen.as_str(), question.pvs), (fen, 1));
        }
        for (query, words) in [
            ("", "expected /api/cloud-eval?fen=FEN"),
            ("fen=x", "fen: "),
            ("fen=%ff", "UTF-8"),
            ("multiPv=0&fen=x", "from 1 to 256"),
            ("multiPv=999&fen=x", "from 1 to 256"),
            ("variant=atomic&fen=x", "standard or chess960"),
        ] {
            assert!(question(query).is_err_and(|error| error.to_string().contains(words)), "{query}");
        }
        Ok(())
    }
}
