//! `shelfish bench`: requests, bytes, blocks, cache hits and time of replayed games.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use shelfish::eval::PositionEval;
use shelfish::position::Position;
use shelfish::reader::{Options, Stats};
use shelfish_analysis::pgn::{GameTexts, read_main_line};

use crate::database::{self, DatabaseSource};
use crate::input::{Dump, Input};
use crate::system::quantity;
use crate::terminal::shown::{counted, shown};
use crate::{BoxError, Outcome};

/// Measure the cost of games that are looked up in databases.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish bench db --games games.pgn.zst
  shelfish bench old new --games games.pgn.zst --every 100 --limit 1000 --markdown
  shelfish bench https://example.org/evals --games games.pgn --limit 20

The positions of a game are looked up together, and the table has the means of a game: cold with a new reader for each game, and
warm with one reader for all games. The time is that of this machine and of the network to the host. Games without moves or with
an error are skipped.

Exit codes: 0 if the games were replayed; 1 otherwise; 2 if the usage is wrong.")]
pub struct Args {
    /// Database: a directory or a URL. Repeatable, to compare databases
    #[arg(required = true, value_name = "DATABASE", value_parser = database::address)]
    database: Vec<String>,
    /// PGN file with games to replay, plain or compressed with zstd, gzip or bzip2
    #[arg(long, value_name = "FILE")]
    games: PathBuf,
    /// Use at most N games
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = quantity::integer(1_u32, u32::MAX))]
    limit: u32,
    /// Use every K-th game, beginning with the first
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = quantity::integer(1_u32, u32::MAX))]
    every: u32,
    /// Print Markdown
    #[arg(long)]
    markdown: bool,
}

impl Args {
    /// Returns the positions of each game, the first and the last included.
    fn games(&self) -> io::Result<Vec<Vec<Position>>> {
        let mut games = Vec::new();
        for text in GameTexts::new(Dump::text_of(&Input::from(self.games.as_path()))?) {
            let text = text?;
            if !(text.number - 1).is_multiple_of(self.every.into()) {
                continue;
            }
            let main_line = read_main_line(&text.text, text.line);
            if main_line.error.is_none() && !main_line.game.moves().is_empty() {
                let positions = main_line.game.positions();
                games.push(
                    positions
                        .map(|chess| Position::from_chess(&chess))
                        .collect(),
                );
            }
            if games.len() == self.limit as usize {
                break;
            }
        }
        if games.is_empty() {
            return Err(io::Error::other("no game can be replayed"));
        }
        Ok(games)
    }
}

/// The quantities of a game, in the order of [`measure`].
const QUANTITIES: [&str; 7] = [
    "requests",
    "bytes",
    "blocks fetched",
    "blocks in memory",
    "positions",
    "positions found",
    "milliseconds",
];

/// Replays games and returns the mean of each quantity.
async fn measure(
    source: &DatabaseSource,
    games: &[Vec<Position>],
    is_warm: bool,
) -> Result<[f64; QUANTITIES.len()], BoxError> {
    let open = || source.clone().reader::<PositionEval>(Options::default());
    // Reports what a book is for.
    database::manifest::<PositionEval>(source).await?;
    let mut reader = open().await?;
    let mut sums = [0.0; QUANTITIES.len()];
    for game in games {
        let start = Instant::now();
        let mut before = reader.stats();
        if !is_warm {
            (reader, before) = (open().await?, Stats::default());
        }
        let mut found = 0;
        for answer in reader.lookup_many(game).await {
            found += u32::from(answer?.is_some());
        }
        let after = reader.stats();
        let costs = [
            (after.requests - before.requests) as f64,
            (after.bytes - before.bytes) as f64,
            (after.network_blocks - before.network_blocks) as f64,
            (after.memory_hits - before.memory_hits) as f64,
            game.len() as f64,
            found.into(),
            start.elapsed().as_secs_f64() * 1e3,
        ];
        sums.iter_mut()
            .zip(costs)
            .for_each(|(sum, cost)| *sum += cost);
    }
    Ok(sums.map(|sum| sum / games.len().max(1) as f64))
}

/// Replays games and prints a table.
pub fn run(args: Args) -> Outcome {
    let games = args
        .games()
        .map_err(|error| format!("{}: {error}", args.games.display()))?;
    let row = |name: &str, cells: [String; QUANTITIES.len()]| match args.markdown {
        true => println!("| {name} | {} |", cells.join(" | ")),
        false => println!(
            "{name:<30}{}",
            cells.map(|cell| format!("{cell:>17}")).concat()
        ),
    };
    row(
        &format!("means of {}", counted(games.len() as u64, "game")),
        QUANTITIES.map(str::to_owned),
    );
    if args.markdown {
        println!("|---|{}", "---:|".repeat(QUANTITIES.len()));
    }
    for address in &args.database {
        let source = database::Args::of(address).source()?;
        for (name, is_warm) in [("cold", false), ("warm", true)] {
            let means = database::wait(measure(&source, &games, is_warm))??;
            row(
                &format!("{}, {name}", shown(address)),
                means.map(|mean| format!("{mean:.1}")),
            );
        }
    }
    Ok(ExitCode::SUCCESS)
}
