//! `shelfish serve --api`: lookups over HTTP.
//!
//! `GET /api/cloud-eval?fen=&multiPv=` answers in the shape of Lichess' cloud evaluation, `GET /standard?fen=` in the shape of Lichess'
//! tablebase, `/masters`, `/lichess` and `/player` in the shape of Lichess' opening explorer. `/metrics` is for Prometheus,
//! `/healthz` for health checks.

mod answers;
mod explorer;
mod metrics;
mod question;
mod tablebase;

use std::fmt;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use serde::Serialize;
use shakmaty::CastlingMode;
use shelfish::eval::{Evaluation, PositionEval};
use shelfish::reader::{Options, Reader};
use shelfish::source::integrity::Integrity;
use shelfish_endgames::{EndgameError, parse_fen};
use tokio::sync::Semaphore;
use tower_http::cors::{Any, CorsLayer};

use self::answers::Answers;
use self::explorer::{Book, Games, Players, PlayersError};
use self::metrics::{DatabaseState, Metrics, Outcome, Revalidation};
pub(super) use self::question::fen_of;
use self::question::{Question, QuestionError, question};
use super::request_id::{self, X_REQUEST_ID};
use crate::BoxError;
use crate::database::cache::{self, DiskCache};
use crate::database::endgames::{self, EndgameTables};
use crate::database::{self, DatabaseSource, OpenError};
use crate::lichess::{ScoreMember, uci};
use crate::system::{duration, size};
use crate::terminal::shown::shown;

/// Lifetime of an answer in caches. Databases are published monthly.
const MAX_AGE: &str = "public, max-age=3600";

/// Names the parameters that an answer does not follow exactly.
const INEXACT: HeaderName = HeaderName::from_static("shelfish-inexact");

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
    /// API: accept only the manifest with this hash: sha256-..., as printed by `shelfish build` and `stats`
    #[arg(long, value_name = "HASH")]
    integrity: Option<Integrity>,
    /// API: time after which the manifest is requested again, to find a new database: a number with d, h, m or s
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration::positive)]
    revalidate: Duration,
    /// API: answer `/standard?fen=FEN` from Syzygy tables as Lichess does: a directory, or a URL with an index by
    /// `shelfish endgames index`
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    endgames: Option<String>,
    /// API: answer `/masters` and `/lichess` of the opening explorer from a book as Lichess does: a directory or a URL
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    book: Option<String>,
    /// API: answer `/player` from a book for each player and colour: a directory or a URL with {player} and {color}
    #[arg(long, value_name = "DIR_OR_URL", value_parser = database::address)]
    player_books: Option<String>,
    /// API: listen on this address for `/metrics` and `/healthz`, which the other address then lacks: 127.0.0.1:9100
    #[arg(long, value_name = "IP:PORT", requires = "api")]
    pub metrics_address: Option<SocketAddr>,
    #[command(flatten)]
    cache: cache::Args,
}

/// Routes of the API.
pub struct Routers {
    /// Answers, and metrics unless they have an address of their own.
    pub api: Router,
    /// Metrics, if they have an address of their own.
    pub metrics: Option<Router>,
}

/// State of the API.
struct Api {
    reader: Reader<DatabaseSource, PositionEval, Option<DiskCache>>,
    endgames: Option<EndgameTables>,
    book: Option<Book>,
    players: Option<Players>,
    answers: Answers,
    permits: Semaphore,
    metrics: Metrics,
}

/// Opens the database and builds the routes of the API.
pub async fn routers(args: &Args, database: &str) -> Result<Routers, BoxError> {
    let (timeout, integrity) = (args.timeout, args.integrity);
    let source = database::Args {
        timeout,
        integrity,
        ..database::Args::of(database)
    }
    .source()?;
    let cache = args.cache.open(&source)?;
    // The permits limit the questions, and each question waits for one request at a time.
    let options = Options::default()
        .with_memory(args.memory as usize)
        .with_concurrency(args.at_once.into());
    let reader = source
        .reader(options.clone(), cache)
        .await
        .map_err(OpenError::from)?;
    let endgames = match &args.endgames {
        Some(tables) => {
            let tables = endgames::Args {
                tables: tables.clone(),
                timeout: args.timeout,
            };
            Some(EndgameTables::open(&tables, &args.cache).await?)
        }
        None => None,
    };
    let book = match &args.book {
        Some(book) => {
            let source = database::Args {
                timeout: args.timeout,
                ..database::Args::of(book)
            }
            .source()?;
            Some(Book::open(source, options).await?)
        }
        None => None,
    };
    let players = args
        .player_books
        .as_ref()
        .map(|address| Players::new(address, args.timeout, args.revalidate));
    let api = Arc::new(Api {
        reader,
        endgames,
        book,
        players,
        answers: Answers::new(args.answers as usize),
        permits: Semaphore::new(args.at_once.into()),
        metrics: Metrics::default(),
    });
    tokio::spawn(revalidate(Arc::downgrade(&api), args.revalidate));
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET])
        .expose_headers([INEXACT, X_REQUEST_ID])
        .max_age(Duration::from_secs(86_400));
    let metrics = Router::new()
        .route("/metrics", get(prometheus))
        .route("/healthz", get(|| async { "ok\n" }));
    let answers = Router::new()
        .route("/api/cloud-eval", get(cloud_eval))
        .route("/standard", get(standard))
        .route(
            "/masters",
            get(|api, query| explorer(Games::Masters, api, query)),
        )
        .route(
            "/lichess",
            get(|api, query| explorer(Games::Lichess, api, query)),
        )
        .route(
            "/player",
            get(|api, query| explorer(Games::Player, api, query)),
        );
    let (answers, metrics) = match args.metrics_address {
        Some(_) => (answers, Some(metrics.with_state(api.clone()))),
        None => (answers.merge(metrics), None),
    };
    Ok(Routers {
        api: answers.layer(cors).with_state(api),
        metrics,
    })
}

/// Requests the manifest again after each interval, while the API exists.
async fn revalidate(api: Weak<Api>, interval: Duration) {
    let mut have_failed = [false; 2];
    loop {
        tokio::time::sleep(interval).await;
        let Some(api) = api.upgrade() else { return };
        let of_book = match &api.book {
            Some(book) => Some(book.reader.revalidate().await),
            None => None,
        };
        let results = [Some(api.reader.revalidate().await), of_book];
        for (result, has_failed) in results.into_iter().zip(&mut have_failed) {
            let Some(result) = result else { continue };
            api.metrics.count_revalidation(match &result {
                Ok(true) => Revalidation::Replaced,
                Ok(false) => Revalidation::Unchanged,
                Err(_) => Revalidation::Failed,
            });
            // A host that is down for long fills no log.
            if let Err(error) = &result
                && !*has_failed
            {
                eprintln!(
                    "shelfish: the old manifest stays in use: {}",
                    shown(&error.to_string())
                );
            }
            *has_failed = result.is_err();
        }
    }
}

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

async fn explorer(
    games: Games,
    State(api): State<Arc<Api>>,
    RawQuery(query): RawQuery,
) -> Response {
    let start = Instant::now();
    let (outcome, response) = api
        .explore(games, query.as_deref().unwrap_or_default())
        .await;
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
            return (
                Outcome::Refused,
                refuse(StatusCode::BAD_REQUEST, &error.to_string()),
            );
        };
        // Lichess accepts underscores instead of spaces.
        let chess = match parse_fen(&fen.replace('_', " ")) {
            Ok(chess) => chess,
            Err(error) => {
                return (
                    Outcome::Refused,
                    refuse(StatusCode::BAD_REQUEST, &format!("fen: {error}")),
                );
            }
        };
        let Ok(_permit) = self.permits.try_acquire() else {
            return (Outcome::Busy, busy());
        };
        match endgames.probe(&chess).await {
            Ok(probe) => match body(&tablebase::answer(&chess, &probe)) {
                Some(body) => (Outcome::Hit, response(StatusCode::OK, body)),
                None => (
                    Outcome::Failed,
                    StatusCode::INTERNAL_SERVER_ERROR.into_response(),
                ),
            },
            Err(EndgameError::Uncovered(uncovered)) => (
                Outcome::Miss,
                refuse(StatusCode::NOT_FOUND, &uncovered.to_string()),
            ),
            Err(error) => failed(&fen, &error, "endgame tables"),
        }
    }

    async fn explore(&self, games: Games, query: &str) -> (Outcome, Response) {
        let question = match explorer::question(games, query) {
            Ok(question) => question,
            Err(error) => {
                return (
                    Outcome::Refused,
                    refuse(StatusCode::BAD_REQUEST, &error.to_string()),
                );
            }
        };
        let (shared, of_player);
        let (book, option) = match (games, &self.players) {
            (Games::Player, Some(players)) => {
                let Ok(_permit) = self.permits.try_acquire() else {
                    return (Outcome::Busy, busy());
                };
                match players.book(&question.player).await {
                    Ok(book) => of_player = book,
                    Err(error @ (PlayersError::Name(_) | PlayersError::Color(_))) => {
                        return (
                            Outcome::Refused,
                            refuse(StatusCode::BAD_REQUEST, &error.to_string()),
                        );
                    }
                    Err(error @ PlayersError::Missing) => {
                        return (
                            Outcome::Miss,
                            refuse(StatusCode::NOT_FOUND, &error.to_string()),
                        );
                    }
                    Err(PlayersError::Open(error)) => {
                        return failed(&question.player.0, &error, "book");
                    }
                }
                (Some(&*of_player), "--player-books")
            }
            (Games::Player, None) => (None, "--player-books"),
            _ => {
                shared = self.book.as_ref();
                (shared, "--book")
            }
        };
        let Some(book) = book else {
            let why = format!("this server has no such book; start it with {option}");
            return (Outcome::Miss, refuse(StatusCode::NOT_FOUND, &why));
        };
        let found = match book.peek(&question) {
            Some(found) => found,
            None => {
                let Ok(_permit) = self.permits.try_acquire() else {
                    return (Outcome::Busy, busy());
                };
                book.find(&question).await
            }
        };
        let answer = match found {
            Ok(answer) => answer,
            Err(error) => return failed(&question.position.to_string(), &error, "book"),
        };
        let Some(mut body) = serde_json::to_vec(&answer).ok() else {
            return (
                Outcome::Failed,
                StatusCode::INTERNAL_SERVER_ERROR.into_response(),
            );
        };
        let is_stream = games == Games::Player;
        if is_stream {
            body.push(b'\n');
        }
        let mut response = response(StatusCode::OK, body.into());
        if is_stream {
            response.headers_mut().insert(
                CONTENT_TYPE,
                HeaderValue::from_static("application/x-ndjson"),
            );
        }
        let inexact = answer.inexact.into_iter().collect::<Vec<_>>().join(", ");
        if let Some(value) = HeaderValue::from_str(&inexact)
            .ok()
            .filter(|value| !value.is_empty())
        {
            response.headers_mut().insert(INEXACT, value);
        }
        (Outcome::Hit, response)
    }

    async fn answer(&self, query: &str) -> (Outcome, Response) {
        let replacements = self.reader.replacements();
        if let Some(body) = self.answers.get(query, replacements) {
            return (Outcome::Hit, response(StatusCode::OK, body));
        }
        let question = match question(query) {
            Ok(question) => question,
            Err(error) => {
                return (
                    Outcome::Refused,
                    refuse(StatusCode::BAD_REQUEST, &error.to_string()),
                );
            }
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
            Ok(eval) => match eval
                .as_ref()
                .and_then(|eval| choose(&eval.evaluations, question.pvs))
            {
                Some(evaluation) => {
                    let Some(body) = body(&answer(&question, evaluation)) else {
                        return (
                            Outcome::Failed,
                            StatusCode::INTERNAL_SERVER_ERROR.into_response(),
                        );
                    };
                    self.answers.keep(query, replacements, body.clone());
                    (Outcome::Hit, response(StatusCode::OK, body))
                }
                None => (
                    Outcome::Miss,
                    refuse(
                        StatusCode::NOT_FOUND,
                        "No cloud evaluation available for that position",
                    ),
                ),
            },
            Err(error) => failed(&question.fen, &error, "database"),
        }
    }
}

/// Returns the deepest evaluation with at least `pvs` PVs, or the deepest evaluation with the maximum of PVs.
fn choose(evaluations: &[Evaluation], pvs: usize) -> Option<&Evaluation> {
    let enough = evaluations
        .iter()
        .find(|evaluation| evaluation.pvs.len() >= pvs);
    // Evaluations are sorted by depth. `max_by_key` returns the last maximum, which is the deepest because of `rev`.
    enough.or_else(|| {
        evaluations
            .iter()
            .rev()
            .max_by_key(|evaluation| evaluation.pvs.len())
    })
}

fn answer<'a>(question: &'a Question, evaluation: &Evaluation) -> Answer<'a> {
    let pv = |pv: &shelfish::eval::Pv| Pv {
        moves: uci(&pv.line, CastlingMode::Chess960),
        score: ScoreMember(pv.score),
    };
    Answer {
        fen: &question.fen,
        knodes: evaluation.knodes,
        depth: evaluation.depth,
        pvs: evaluation.pvs.iter().take(question.pvs).map(pv).collect(),
    }
}

/// Logs that a question could not be answered.
fn failed(question: &str, error: &impl fmt::Display, what: &str) -> (Outcome, Response) {
    eprintln!(
        "shelfish: request {}: {}: {}",
        request_id::current(),
        shown(question),
        shown(&error.to_string())
    );
    let why = format!("the {what} cannot be read, see the server's log");
    (Outcome::Failed, refuse(StatusCode::BAD_GATEWAY, &why))
}

fn busy() -> Response {
    let mut response = refuse(
        StatusCode::SERVICE_UNAVAILABLE,
        "too many requests at a time, try again",
    );
    response
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("1"));
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
    let age = if status == StatusCode::OK || status == StatusCode::NOT_FOUND {
        MAX_AGE
    } else {
        "no-store"
    };
    (
        status,
        [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, age)],
        body,
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use shelfish::eval::Score;

    use super::*;

    fn evaluation(depth: u16, pvs: usize) -> Evaluation {
        let pv = shelfish::eval::Pv {
            score: Score::Cp(1),
            line: Vec::new(),
        };
        Evaluation {
            depth,
            knodes: 1,
            pvs: vec![pv; pvs],
        }
    }

    #[test]
    fn the_deepest_evaluation_with_enough_lines_is_chosen_or_the_evaluation_with_the_most_lines() {
        let all = [
            evaluation(40, 1),
            evaluation(30, 3),
            evaluation(25, 3),
            evaluation(20, 5),
        ];
        for (pvs, depth) in [(1, 40), (2, 30), (3, 30), (4, 20), (5, 20), (9, 20)] {
            assert_eq!(
                choose(&all, pvs).map(|found| found.depth),
                Some(depth),
                "{pvs}"
            );
        }
        assert_eq!(choose(&all[..3], 9).map(|found| found.depth), Some(30));
        assert_eq!(choose(&[], 1), None);
    }
}
