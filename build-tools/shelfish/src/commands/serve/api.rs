//! `shelfish serve --api`: lookups over HTTP.
//!
//! `GET /api/cloud-eval?fen=&multiPv=` answers in the shape of Lichess' cloud evaluation, `GET /standard?fen=` in the shape of
//! Lichess' tablebase, `/masters` and `/lichess` in the shape of Lichess' opening explorer. `/metrics` is for Prometheus,
//! `/healthz` for health checks.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use axum::Router;
use axum::error_handling::HandleErrorLayer;
use axum::extract::{RawQuery, Request, State};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus::{
    Gauge, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry, TextEncoder,
};
use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position as _};
use shelfish::eval::{Evaluation, PositionEval};
use shelfish::played::Played;
use shelfish::position::{self, Position};
use shelfish::reader::{Options, Reader};
use shelfish_endgames::{EndgameError, Probe, ProbedMove, Verdict, parse_fen};
use tower::ServiceBuilder;
use tower::limit::GlobalConcurrencyLimitLayer;

use super::question::{INEXACT, Refusal, answer, check_variant, fen_of, parameters};
use super::{CONNECTIONS, PLACES, explorer, site};
use crate::BoxError;
use crate::database::endgames::EndgameTables;
use crate::database::{self, DatabaseSource, OpenError};
use crate::lichess::{ScoreMember, uci};
use crate::system::{quantity, timeout};
use crate::terminal::shown::shown;

/// Maximum number of PVs of a question.
const MAX_PVS: usize = 256;

/// Size of the cache of decoded pages and blocks, in bytes.
const MEMORY: usize = 256 << 20;

/// Requests that a question needs one after the other: manifest, page, block.
const WAVES: u32 = 3;

/// Upper bounds of the histogram, in seconds.
const BOUNDS: [f64; 9] = [5e-5, 1e-4, 2.5e-4, 1e-3, 5e-3, 0.025, 0.1, 1.0, 10.0];

/// Options of the API.
#[derive(clap::Args, Clone, Debug)]
#[group(id = "api_args")]
pub struct Args {
    /// Answer `/api/cloud-eval?fen=FEN&multiPv=N` from the database in DIR as Lichess does, `/metrics` for Prometheus,
    /// and `/healthz`. DIR may be a URL: https://, s3:// or gs://
    #[arg(long)]
    pub api: bool,
    /// API: limit of questions at a time; further questions are answered with 503
    #[arg(long, alias = "at-once", requires = "api", value_name = "N", default_value_t = 256, value_parser = quantity::integer(1_u16, u16::MAX))]
    max_questions: u16,
    /// API: time after which the manifest is requested again, to find a new database; a number alone counts seconds
    #[arg(long, requires = "api", value_name = "TIME", default_value = "60s", value_parser = quantity::seconds)]
    revalidate: Duration,
    /// API: answer `/standard?fen=FEN` from Syzygy tables as Lichess does: a directory, or a URL with an index by
    /// `shelfish endgames index`
    #[arg(long, requires = "api", value_name = "DIR_OR_URL", value_parser = database::address)]
    endgames: Option<String>,
    /// API: answer `/masters` and `/lichess` of the opening explorer from a book as Lichess does: a directory or a URL
    #[arg(long, requires = "api", value_name = "DIR_OR_URL", value_parser = database::address)]
    book: Option<String>,
}

/// State of the API.
struct Api {
    reader: Reader<DatabaseSource, PositionEval>,
    endgames: Option<EndgameTables>,
    book: Option<Reader<DatabaseSource, Played>>,
    metrics: Metrics,
    /// Number of revalidations that failed since the last success. `/healthz` depends on it.
    failures: AtomicU32,
}

/// Number of revalidations in a row that fail before the server is unhealthy.
const MAX_FAILURES: u32 = 3;

/// Counts since the start of the server.
struct Metrics {
    registry: Registry,
    questions: IntCounterVec,
    seconds: HistogramVec,
    revalidations: IntCounterVec,
}

impl Metrics {
    fn new() -> Result<Metrics, prometheus::Error> {
        let registry = Registry::new_custom(Some("shelfish".to_owned()), None)?;
        let counters = |name, help, labels: &[&str]| {
            let counters = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(counters.clone()))?;
            Ok::<_, prometheus::Error>(counters)
        };
        let questions = counters(
            "questions_total",
            "Questions to the API.",
            &["endpoint", "status"],
        )?;
        let revalidations = counters(
            "revalidations_total",
            "Requests for a newer manifest, by --revalidate.",
            &["outcome"],
        )?;
        for outcome in ["unchanged", "replaced", "failed"] {
            revalidations.with_label_values(&[outcome]);
        }
        let seconds = HistogramOpts::new("question_seconds", "Time from question to answer.");
        let seconds = HistogramVec::new(seconds.buckets(BOUNDS.into()), &["endpoint"])?;
        registry.register(Box::new(seconds.clone()))?;
        Ok(Metrics {
            registry,
            questions,
            seconds,
            revalidations,
        })
    }
}

/// Opens the database and builds the routes of the API.
pub(super) async fn router(args: &Args, database: &str) -> Result<Router, BoxError> {
    let source = |database: &str| database::Args::of(database).source();
    // The number of questions is limited, and each question waits for one request at a time.
    let options = Options::default()
        .with_memory(MEMORY)
        .with_concurrency(args.max_questions.into());
    let reader = source(database)?.reader(options.clone()).await;
    let mut endgames = None;
    if let Some(tables) = &args.endgames {
        endgames = Some(EndgameTables::open(tables).await?);
    }
    let mut book = None;
    if let Some(address) = &args.book {
        let opened = source(address)?.reader(options).await;
        book = Some(opened.map_err(OpenError::from)?);
    }
    let api = Arc::new(Api {
        reader: reader.map_err(OpenError::from)?,
        endgames,
        book,
        metrics: Metrics::new()?,
        failures: AtomicU32::new(0),
    });
    tokio::spawn(revalidate(Arc::downgrade(&api), args.revalidate));
    let limits = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(|_: tower::BoxError| async { busy() }))
        .load_shed()
        .layer(GlobalConcurrencyLimitLayer::new(args.max_questions.into()))
        .timeout(WAVES * timeout());
    Ok(Router::new()
        .route("/api/cloud-eval", get(cloud_eval))
        .route("/standard", get(standard))
        .route("/masters", get(|api, query| explore(true, api, query)))
        .route("/lichess", get(|api, query| explore(false, api, query)))
        .route_layer(limits)
        .route_layer(middleware::from_fn_with_state(api.clone(), count))
        .route("/metrics", get(prometheus))
        .route("/healthz", get(health))
        .layer(site::cors().expose_headers([INEXACT]))
        .with_state(api))
}

fn busy() -> Response {
    let why = json!({"error": "too many requests at a time, try again"});
    let response = answer(StatusCode::SERVICE_UNAVAILABLE, &why);
    ([(RETRY_AFTER, "1")], response).into_response()
}

/// Answers whether revalidations still succeed. A single failure is not yet a reason to replace the server.
async fn health(State(api): State<Arc<Api>>) -> (StatusCode, &'static str) {
    if api.failures.load(Relaxed) < MAX_FAILURES {
        return (StatusCode::OK, "ok\n");
    }
    let why = "no manifest could be read again, see the log; the old database stays in use\n";
    (StatusCode::SERVICE_UNAVAILABLE, why)
}

/// Counts questions, and measures their time.
async fn count(State(api): State<Arc<Api>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    // The routes contain no parameters.
    let endpoint = request.uri().path().to_owned();
    let response = next.run(request).await;
    let metrics = &api.metrics;
    let status = response.status();
    let labels = [&endpoint, status.as_str()];
    metrics.questions.with_label_values(&labels).inc();
    let seconds = metrics.seconds.with_label_values(&labels[..1]);
    seconds.observe(start.elapsed().as_secs_f64());
    response
}

/// Requests the manifests again after each interval, while the API exists.
async fn revalidate(api: Weak<Api>, interval: Duration) {
    let mut have_failed = [false; 2];
    loop {
        tokio::time::sleep(interval).await;
        let Some(api) = api.upgrade() else { return };
        let mut results = vec![api.reader.revalidate().await];
        if let Some(book) = &api.book {
            results.push(book.revalidate().await);
        }
        match results.iter().all(Result::is_err) {
            true => api.failures.fetch_add(1, Relaxed),
            false => api.failures.swap(0, Relaxed),
        };
        for (result, has_failed) in results.into_iter().zip(&mut have_failed) {
            let outcome = match &result {
                Ok(true) => "replaced",
                Ok(false) => "unchanged",
                Err(_) => "failed",
            };
            let revalidations = &api.metrics.revalidations;
            revalidations.with_label_values(&[outcome]).inc();
            // A host that is down for long fills no log.
            if let Err(error) = &result
                && !*has_failed
            {
                let why = shown(&error.to_string());
                eprintln!("shelfish: the old manifest stays in use: {why}");
            }
            *has_failed = result.is_err();
        }
    }
}

async fn prometheus(State(api): State<Arc<Api>>) -> Response {
    match metrics(&api) {
        Ok(text) => ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Formats the counts of the server and of its reader.
fn metrics(api: &Api) -> Result<String, prometheus::Error> {
    let (reader, stats) = (&api.reader, api.reader.stats());
    let registry = Registry::new_custom(Some("shelfish".to_owned()), None)?;
    let hits =
        |origin: &str| Opts::new("blocks_total", "Blocks by origin.").const_label("from", origin);
    for (options, count) in [
        (
            Opts::new("source_requests_total", "Requests to the database's host."),
            stats.requests,
        ),
        (
            Opts::new("source_bytes_total", "Bytes that the host sent."),
            stats.bytes,
        ),
        (hits("memory"), stats.memory_hits),
        (hits("source"), stats.network_blocks),
        (
            Opts::new(
                "manifest_replacements_total",
                "Times that a different manifest replaced the manifest.",
            ),
            stats.replacements,
        ),
    ] {
        let counter = IntCounter::with_opts(options)?;
        counter.inc_by(count);
        registry.register(Box::new(counter))?;
    }
    let positions = reader.manifest().positions as f64;
    let connections = (CONNECTIONS - PLACES.available_permits()) as f64;
    let version = Opts::new("build_info", "Version of the program.");
    for (options, value) in [
        (
            Opts::new("positions", "Positions of the database."),
            Some(positions),
        ),
        (
            Opts::new("open_connections", "Open connections."),
            Some(connections),
        ),
        (
            version.const_label("version", env!("CARGO_PKG_VERSION")),
            Some(1.0),
        ),
        (
            Opts::new(
                "manifest_age_seconds",
                "Time since the database's host last sent or confirmed the manifest.",
            ),
            reader.manifest_age().map(|age| age.as_secs_f64()),
        ),
    ] {
        let Some(value) = value else { continue };
        let gauge = Gauge::with_opts(options)?;
        gauge.set(value);
        registry.register(Box::new(gauge))?;
    }
    let mut families = api.metrics.registry.gather();
    families.extend(registry.gather());
    TextEncoder::new().encode_to_string(&families)
}

async fn cloud_eval(
    State(api): State<Arc<Api>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let (mut fen, mut pvs) = (None, 1);
    for (name, value) in parameters(&query.unwrap_or_default()) {
        let value = value?;
        match name {
            // Lichess accepts underscores instead of spaces.
            "fen" => fen = Some(value.replace('_', " ")),
            "multiPv" => {
                let number = value.parse().ok();
                pvs = number
                    .filter(|pvs| (1..=MAX_PVS).contains(pvs))
                    .ok_or_else(|| {
                        Refusal::value(name, format!("a number from 1 to {MAX_PVS}"), &value)
                    })?;
            }
            "variant" => check_variant(&value)?,
            _ => {}
        }
    }
    let fen = fen.ok_or(Refusal::NoFen("/api/cloud-eval"))?;
    let position: Position = fen.parse()?;
    let found = api.reader.lookup(&position).await;
    let found = found.map_err(|error| Refusal::failed("database", &fen, &error))?;
    let chosen = found
        .as_ref()
        .and_then(|eval| choose(&eval.evaluations, pvs));
    let Evaluation {
        depth,
        knodes,
        pvs: all,
    } = chosen.ok_or_else(|| {
        Refusal::Missing("No cloud evaluation available for that position".to_owned())
    })?;
    let lines: Vec<Line> = all.iter().take(pvs).map(Line::of).collect();
    let body = CloudEval {
        fen: &fen,
        knodes: *knodes,
        depth: *depth,
        pvs: lines,
    };
    Ok(answer(StatusCode::OK, &body))
}

/// Evaluation in the shape of Lichess.
#[derive(Serialize)]
struct CloudEval<'a> {
    fen: &'a str,
    knodes: u64,
    depth: u16,
    pvs: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    moves: String,
    #[serde(flatten)]
    score: ScoreMember,
}

impl Line {
    fn of(pv: &shelfish::eval::Pv) -> Line {
        Line {
            moves: uci(&pv.line, CastlingMode::Chess960),
            score: ScoreMember(pv.score),
        }
    }
}

/// Returns the deepest evaluation with at least `pvs` PVs, or the deepest evaluation with the maximum of PVs.
fn choose(evaluations: &[Evaluation], pvs: usize) -> Option<&Evaluation> {
    let lines = |evaluation: &&Evaluation| evaluation.pvs.len();
    let enough = evaluations.iter().find(|found| lines(found) >= pvs);
    // Evaluations are sorted by depth. `max_by_key` returns the last maximum, which is the deepest because of `rev`.
    enough.or_else(|| evaluations.iter().rev().max_by_key(lines))
}

async fn explore(
    masters: bool,
    State(api): State<Arc<Api>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let question = explorer::question(masters, &query.unwrap_or_default())?;
    let book = api.book.as_ref().ok_or_else(|| {
        Refusal::Missing("this server has no such book; start it with --book".to_owned())
    })?;
    explorer::explore(book, &question).await
}

async fn standard(
    State(api): State<Arc<Api>>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refusal> {
    let endgames = api.endgames.as_ref().ok_or_else(|| {
        Refusal::Missing("this server has no endgame tables; start it with --endgames".to_owned())
    })?;
    let fen = fen_of(&query.unwrap_or_default()).ok_or(Refusal::NoFen("/standard"))?;
    let chess = parse_fen(&fen.replace('_', " "))?;
    match endgames.probe(&chess).await {
        Ok(probe) => Ok(answer(StatusCode::OK, &tablebase(&chess, &probe))),
        Err(EndgameError::Uncovered(uncovered)) => Err(Refusal::Missing(uncovered.to_string())),
        Err(error) => Err(Refusal::failed("endgame tables", &fen, &error)),
    }
}

/// Returns a position in the shape of Lichess' tablebase. Distances to mate and results of variants are unknown.
fn tablebase(chess: &Chess, probe: &Probe) -> Value {
    let result = |[checkmate, stalemate, insufficient]: [bool; 3], verdict: Verdict| {
        json!({ "checkmate": checkmate, "stalemate": stalemate, "variant_win": false, "variant_loss": false,
            "insufficient_material": insufficient, "category": verdict.outcome.name(), "dtz": verdict.dtz,
            "precise_dtz": (!verdict.is_rounded).then_some(verdict.dtz), "dtm": null })
    };
    // The result after a move is that of the other side.
    let of_move = |probed: &ProbedMove| {
        let ends = [
            probed.is_checkmate,
            probed.is_stalemate,
            probed.is_insufficient_material,
        ];
        let mut found = result(ends, probed.after);
        found["uci"] = json!(position::uci(probed.m, CastlingMode::Standard).to_string());
        found["san"] = json!(SanPlus::from_move(chess.clone(), probed.m).to_string());
        found["zeroing"] = json!(probed.is_zeroing);
        found
    };
    let ends = [
        chess.is_checkmate(),
        chess.is_stalemate(),
        chess.is_insufficient_material(),
    ];
    let mut found = result(ends, probe.verdict);
    found["moves"] = probe.moves.iter().map(of_move).collect();
    found
}

#[cfg(test)]
mod tests {
    use shelfish::eval::{Pv, Score};

    use super::*;

    #[test]
    fn the_deepest_evaluation_with_enough_lines_is_chosen_or_the_evaluation_with_the_most_lines() {
        let evaluation = |(depth, pvs)| Evaluation {
            depth,
            knodes: 1,
            pvs: vec![
                Pv {
                    score: Score::Cp(1),
                    line: Vec::new(),
                };
                pvs
            ],
        };
        let all = [(40, 1), (30, 3), (25, 3), (20, 5)].map(evaluation);
        for (pvs, depth) in [(1, 40), (2, 30), (3, 30), (4, 20), (5, 20), (9, 20)] {
            let found = choose(&all, pvs).map(|found| found.depth);
            assert_eq!(found, Some(depth), "{pvs}");
        }
        assert_eq!(choose(&all[..3], 9).map(|found| found.depth), Some(30));
        assert_eq!(choose(&[], 1), None);
    }
}
