//! `shelfish bench traffic`: requests to a host that replayed games cause.
//!
//! The measurement uses real games, a real database and the real reader. Only the source is wrapped to count requests.
//! The positions of each game are looked up together (`lookup_many`) or one by one. A *cold* reader is opened for each
//! game; a *warm* reader serves all games.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use indicatif::HumanCount;
use serde::Serialize;
use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::{Options, ReadError, Reader};

use super::games::{self, Games};
use super::link::Link;
use super::meter::{Kind, Meter, Request};
use super::report::{Finding, Report, SUMMARY_COLUMNS, Style, Table, figure, summary_cells};
use crate::Outcome;
use crate::database::{self, DatabaseSource, OpenError};
use crate::statistics::Summary;
use crate::system::size;
use crate::terminal::progress::{Progress, Work};

/// Measure requests, bytes, blocks and cache hits of replayed games, and their time on several networks.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench traffic -d db --games games.pgn.zst
  shelfish bench traffic -d db --games games.pgn.zst --every 100 --limit 1000 --memory 64MiB --markdown
  shelfish bench traffic -d https://example.org/evals --games games.pgn --limit 20 --json
  shelfish bench traffic -d db --games games.pgn.zst --limit 20 --apart

A round is a set of simultaneous requests. A game whose positions are looked up together takes three rounds: manifest, pages
and blocks. If the manifest contains the pages, it takes two rounds.

Times are computed, not measured. Each request takes a round trip; then its bytes share the bandwidth with other requests of
the round. The number of requests in flight is limited as in a reader. Connections are open, and hosts answer at once. To
measure games that the database lacks, build a database without them: see Scale in ARCHITECTURE.md.

Exit codes: 0 if the games were replayed; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    #[command(flatten)]
    database: database::Args,
    #[command(flatten)]
    games: games::Args,
    /// Look up each position as a game of its own, as the first question of a visitor
    #[arg(long)]
    apart: bool,
    /// Memory of the reader for decoded pages and blocks
    #[arg(long, value_name = "SIZE", default_value = "16MiB", value_parser = size::at_least(0))]
    memory: u64,
    /// Fetch two blocks with one request if the gap between them is at most this large
    #[arg(long, value_name = "SIZE", default_value = "16KiB", value_parser = size::at_least(0))]
    gap: u64,
    /// Limit of requests in flight for computed times; browsers send six with HTTP/1.1
    #[arg(long, value_name = "N", default_value_t = Options::default().concurrency as u32,
        value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: u32,
    #[command(flatten)]
    style: Style,
    /// Do not print progress
    #[arg(short, long)]
    quiet: bool,
}

/// Results of the measurement.
#[derive(Debug, Serialize)]
pub struct Traffic {
    /// Database that was measured.
    pub database: Database,
    /// Games that were replayed.
    pub games: Games,
    /// Memory of the reader in bytes.
    #[serde(rename = "memory_bytes")]
    pub memory: usize,
    /// Maximum gap in bytes between two blocks that share a request.
    #[serde(rename = "gap_bytes")]
    pub gap: u64,
    /// Maximum number of requests in flight for computed times.
    pub concurrency: usize,
    /// Results for each mode.
    pub replays: Vec<Replay>,
}

/// Size of a database.
#[derive(Debug, Serialize)]
pub struct Database {
    /// Number of positions.
    pub positions: u64,
    /// Size of all shards in bytes.
    pub bytes: u64,
    /// Number of shards.
    pub shards: usize,
    /// Number of pages of the index.
    pub pages: usize,
    /// Size of all pages in bytes.
    pub page_bytes: u64,
    /// Size of the manifest in bytes.
    pub manifest_bytes: u64,
}

/// Mode of a replay.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Mode {
    /// Whether the positions of a game are looked up together.
    pub at_once: bool,
    /// Whether one reader serves all games.
    pub warm: bool,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 4] = [
        Mode {
            at_once: true,
            warm: false,
        },
        Mode {
            at_once: true,
            warm: true,
        },
        Mode {
            at_once: false,
            warm: false,
        },
        Mode {
            at_once: false,
            warm: true,
        },
    ];
}

/// Results for one mode.
#[derive(Debug, Serialize)]
pub struct Replay {
    /// Mode of the replay.
    #[serde(flatten)]
    pub mode: Mode,
    /// Number of positions that the database has.
    pub hits: u64,
    /// Number of positions that the database lacks.
    pub misses: u64,
    /// Cost of a game by quantity.
    pub games: BTreeMap<&'static str, Summary>,
    /// Cost of a position by quantity, if positions are looked up one by one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub positions: BTreeMap<&'static str, Summary>,
    /// Duration of a game by network.
    pub times: Vec<Time>,
}

/// Duration of a game on a network, in milliseconds.
#[derive(Debug, Serialize)]
pub struct Time {
    /// Network.
    #[serde(flatten)]
    pub link: Link,
    /// Duration with the cache that the reader has.
    #[serde(rename = "all_ms")]
    pub all: Summary,
    /// Duration with the manifest and all pages in a cache.
    #[serde(rename = "blocks_only_ms")]
    pub blocks_only: Summary,
}

/// Requests of a part of the measurement.
#[derive(Clone, Debug, Default)]
struct Tally {
    requests: Vec<Request>,
    /// Number of blocks from the source.
    fetched: u64,
    /// Number of blocks from memory.
    from_memory: u64,
    hits: u64,
    positions: u64,
}

/// Quantity of a tally with its name.
type Quantity = (&'static str, fn(&Tally) -> f64);

/// Quantities of a tally, in the order of tables.
const QUANTITIES: [Quantity; 12] = [
    ("requests", |tally| tally.requests.len() as f64),
    ("bytes", |tally| tally.bytes(None)),
    ("rounds", |tally| tally.rounds(|_| true).len() as f64),
    ("requests for blocks", |tally| tally.count(Kind::Blocks)),
    ("bytes of blocks", |tally| tally.bytes(Some(Kind::Blocks))),
    ("blocks fetched", |tally| tally.fetched as f64),
    ("blocks in memory", |tally| tally.from_memory as f64),
    ("requests for pages", |tally| tally.count(Kind::Pages)),
    ("bytes of pages", |tally| tally.bytes(Some(Kind::Pages))),
    ("bytes of the manifest", |tally| {
        tally.bytes(Some(Kind::Manifest))
    }),
    ("positions", |tally| tally.positions as f64),
    ("positions found", |tally| tally.hits as f64),
];

impl Tally {
    fn count(&self, kind: Kind) -> f64 {
        self.requests
            .iter()
            .filter(|request| request.kind == kind)
            .count() as f64
    }

    fn bytes(&self, kind: Option<Kind>) -> f64 {
        let wanted = self
            .requests
            .iter()
            .filter(|request| kind.is_none_or(|kind| request.kind == kind));
        wanted.map(|request| request.bytes).sum::<u64>() as f64
    }

    /// Returns the bytes of the `wanted` requests by round. Rounds without such requests are omitted.
    fn rounds(&self, wanted: impl Fn(&Request) -> bool) -> Vec<Vec<u64>> {
        let mut rounds: BTreeMap<usize, Vec<u64>> = BTreeMap::new();
        for request in self.requests.iter().filter(|request| wanted(request)) {
            rounds.entry(request.round).or_default().push(request.bytes);
        }
        rounds.into_values().collect()
    }

    /// Adds a tally. Its rounds follow the rounds of this tally.
    fn append(&mut self, next: Tally) {
        let rounds = self
            .requests
            .iter()
            .map(|request| request.round + 1)
            .max()
            .unwrap_or_default();
        self.requests
            .extend(next.requests.into_iter().map(|request| Request {
                round: request.round + rounds,
                ..request
            }));
        self.fetched += next.fetched;
        self.from_memory += next.from_memory;
        self.hits += next.hits;
        self.positions += next.positions;
    }
}

/// Replays games and prints the results.
pub fn run(args: Args) -> Outcome {
    let mut games = args.games.read()?;
    if args.apart {
        games = Games::of(
            games
                .games
                .into_iter()
                .flatten()
                .map(|position| vec![position])
                .collect(),
        );
    }
    let source = args.database.source()?;
    let options = Options::default()
        .with_memory(args.memory as usize)
        .with_concurrency(args.concurrency as usize)
        .with_gap(args.gap);
    let finding = database::wait(measure(source, games, &Mode::ALL, options, args.quiet))??;
    args.style.print(&finding)?;
    Ok(ExitCode::SUCCESS)
}

/// Replays `games` in each of `modes` with the given options of the reader.
pub async fn measure(
    source: DatabaseSource,
    games: Games,
    modes: &[Mode],
    options: Options,
    quiet: bool,
) -> Result<Traffic, OpenError> {
    let manifest = database::manifest::<PositionEval>(&source).await?;
    let meter = Meter::new(source, &manifest);
    let Options {
        memory,
        gap,
        concurrency,
        ..
    } = options;
    let replayer = Replayer {
        meter,
        memory,
        gap,
        concurrency,
    };
    let opened = replayer.open().await?.1;
    let sizes = || manifest.pages().map(|page| page.len() as u64);
    let database = Database {
        positions: manifest.positions,
        bytes: manifest.bytes(),
        shards: manifest.shards().len(),
        pages: sizes().count(),
        page_bytes: sizes().sum(),
        manifest_bytes: opened.bytes(Some(Kind::Manifest)) as u64,
    };
    let work = Work {
        phase: "replaying",
        done: Arc::new(AtomicU64::new(0)),
        total: Some((modes.len() * games.count) as u64),
        is_bytes: false,
        positions: Some(Arc::new(AtomicU64::new(0))),
    };
    let _progress = Progress::start(work.clone(), quiet);
    let mut replays = Vec::new();
    for &mode in modes {
        replays.push(replayer.replay(&games, mode, &work).await?);
    }
    Ok(Traffic {
        database,
        games,
        memory,
        gap,
        concurrency,
        replays,
    })
}

/// Opens readers and replays games.
struct Replayer {
    meter: Meter<DatabaseSource>,
    memory: usize,
    gap: u64,
    concurrency: usize,
}

type Open = Reader<Meter<DatabaseSource>, PositionEval>;

impl Replayer {
    async fn open(&self) -> Result<(Open, Tally), ReadError> {
        // Without a limit, all simultaneous requests are in the same round.
        let options = Options::default()
            .with_memory(self.memory)
            .with_concurrency(usize::MAX)
            .with_gap(self.gap);
        let reader = Reader::open(self.meter.clone(), options).await?;
        Ok((
            reader,
            Tally {
                requests: self.meter.take(),
                ..Tally::default()
            },
        ))
    }

    async fn look_up(&self, reader: &Open, positions: &[Position]) -> Result<Tally, ReadError> {
        let before = reader.stats();
        let mut hits = 0;
        for answer in reader.lookup_many(positions).await {
            hits += u64::from(answer?.is_some());
        }
        let after = reader.stats();
        Ok(Tally {
            requests: self.meter.take(),
            fetched: after.network_blocks - before.network_blocks,
            from_memory: after.memory_hits - before.memory_hits,
            hits,
            positions: positions.len() as u64,
        })
    }

    async fn replay(&self, games: &Games, mode: Mode, work: &Work) -> Result<Replay, ReadError> {
        let Mode { at_once, warm } = mode;
        let (mut reader, _) = self.open().await?;
        let (mut by_game, mut by_position) = (Vec::new(), Vec::new());
        for game in &games.games {
            let mut tally = Tally::default();
            if !warm {
                (reader, tally) = self.open().await?;
            }
            for positions in game.chunks(if at_once { game.len() } else { 1 }) {
                let next = self.look_up(&reader, positions).await?;
                if !at_once {
                    by_position.push(next.clone());
                }
                tally.append(next);
            }
            by_game.push(tally);
            work.done.fetch_add(1, Relaxed);
            if let Some(positions) = &work.positions {
                positions.fetch_add(game.len() as u64, Relaxed);
            }
        }
        let hits: u64 = by_game.iter().map(|tally| tally.hits).sum();
        let times = Link::all().map(|link| {
            let time = |wanted: fn(&Request) -> bool| {
                let time = |tally: &Tally| link.time(&tally.rounds(wanted), self.concurrency);
                Summary::of(by_game.iter().map(time))
            };
            Time {
                link,
                all: time(|_| true),
                blocks_only: time(|request| request.kind == Kind::Blocks),
            }
        });
        Ok(Replay {
            mode,
            hits,
            misses: games.positions as u64 - hits,
            times: times.collect(),
            games: summaries(&by_game),
            positions: summaries(&by_position),
        })
    }
}

fn summaries(tallies: &[Tally]) -> BTreeMap<&'static str, Summary> {
    let summary = |(name, quantity): Quantity| (name, Summary::of(tallies.iter().map(quantity)));
    if tallies.is_empty() {
        BTreeMap::new()
    } else {
        QUANTITIES.into_iter().map(summary).collect()
    }
}

impl Replay {
    fn name(&self) -> String {
        let how = if self.mode.at_once {
            "looked up at once"
        } else {
            "looked up position by position"
        };
        let reader = if self.mode.warm {
            "one reader for all games (warm)"
        } else {
            "a new reader for each game (cold)"
        };
        format!("games {how}, {reader}")
    }
}

impl Finding for Traffic {
    fn report(&self) -> Report {
        let Database {
            positions,
            bytes,
            shards,
            pages,
            page_bytes,
            manifest_bytes,
        } = self.database;
        let [positions, bytes, page_bytes, manifest_bytes] =
            [positions, bytes, page_bytes, manifest_bytes].map(HumanCount);
        let mut report = Report::default();
        report.notes.push(format!(
            "database: {positions} positions, {bytes} bytes in {shards} shards; {pages} pages of {page_bytes} bytes, \
             manifest of {manifest_bytes} bytes"
        ));
        report.notes.push(format!("games: {}", self.games));
        if let Some(replay) = self.replays.first() {
            let share = 100.0 * replay.hits as f64 / (replay.hits + replay.misses).max(1) as f64;
            report.notes.push(format!(
                "{share:.1} % of their positions are in the database"
            ));
        }
        report.notes.push(format!(
            "the reader caches {} MiB of decoded pages and blocks and fetches gaps of up to {} KiB; times assume at most \
             {} requests in flight",
            self.memory >> 20,
            self.gap >> 10,
            self.concurrency
        ));
        for replay in &self.replays {
            for (what, summaries) in [("a game", &replay.games), ("a position", &replay.positions)]
            {
                let mut table = Table::new(format!("{what}: {}", replay.name()), SUMMARY_COLUMNS);
                for (name, _) in QUANTITIES {
                    let summary = summaries.get(name).filter(|summary| summary.max > 0.0);
                    summary
                        .into_iter()
                        .for_each(|summary| table.row(name, summary_cells(summary)));
                }
                if !summaries.is_empty() {
                    report.tables.push(table);
                }
            }
        }
        for replay in &self.replays {
            let columns = [
                "median",
                "p95",
                "median, indexes cached",
                "p95, indexes cached",
            ];
            let mut table =
                Table::new(format!("computed milliseconds: {}", replay.name()), columns);
            for Time {
                link,
                all,
                blocks_only,
            } in &replay.times
            {
                table.row(
                    link.to_string(),
                    [all.median, all.p95, blocks_only.median, blocks_only.p95].map(figure),
                );
            }
            report.tables.push(table);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(round: usize, bytes: u64) -> Request {
        Request {
            round,
            kind: Kind::Blocks,
            bytes,
        }
    }

    #[test]
    fn rounds_of_an_appended_tally_follow_the_rounds_before() {
        let mut tally = Tally {
            requests: vec![block(0, 1)],
            ..Tally::default()
        };
        tally.append(Tally {
            requests: vec![block(0, 2), block(1, 4)],
            ..Tally::default()
        });
        assert_eq!(tally.rounds(|_| true), [vec![1], vec![2], vec![4]]);
        assert_eq!(
            tally.rounds(|request| request.bytes != 2),
            [vec![1], vec![4]]
        );
    }
}
