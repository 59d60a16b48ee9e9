//! Strength of this project's engine, by matches against skill levels of Stockfish with known ratings.

use std::{
    env,
    time::{Duration, Instant},
};

use anyhow::Result;
use shelfish_cli::uci::Setup;

use crate::{
    bench,
    matches::{self, Rules},
    results::{self, Results},
    root, shelfish,
    statistics::Pairs,
    stockfish,
};

/// Skill Levels of Stockfish and their ratings. Its developers measured the ratings in January 2023, weeks after version 15.1.
/// The engine Stash anchors them to the CCRL: <https://github.com/official-stockfish/Stockfish/pull/4341>.
const RATINGS: [(u32, f64); 15] = [
    (5, 2204.0),
    (6, 2363.0),
    (7, 2500.0),
    (8, 2596.2),
    (9, 2702.8),
    (10, 2788.3),
    (11, 2855.5),
    (12, 2923.1),
    (13, 2972.9),
    (14, 3024.8),
    (15, 3069.5),
    (16, 3111.2),
    (17, 3141.3),
    (18, 3170.3),
    (19, 3191.1),
];

/// Options of `lab rate`.
#[derive(clap::Args)]
pub struct Args {
    /// Skill levels of Stockfish to play against, from 5 to 19
    #[arg(long, value_delimiter = ',', default_value = "10,11,12", value_parser = clap::value_parser!(u32).range(5..=19))]
    levels: Vec<u32>,
    /// Number of games against each level [default: 600, in Chromium 70]
    #[arg(long)]
    games: Option<usize>,
    /// Limit of a move of the engine, as after `go` in UCI; a limit in nodes does not depend on the load of the machine
    /// [default: movetime 100, in Chromium movetime 500]
    #[arg(long)]
    go: Option<String>,
    // A level chooses its move after a fixed depth, but searches on until its time is over. The longer search makes the level
    // stronger: level 4 gains about 270 Elo with 32,000 nodes instead of its depth (`MATCHES.md`). The ratings are of games with
    // 120 seconds and 1 second a move.
    /// Limit of a move of Stockfish, as after `go` in UCI; a shorter search makes its levels weaker than their ratings
    #[arg(long, value_name = "GO", default_value = "movetime 1000")]
    stockfish_go: String,
    /// Number of games at the same time; more games than cores make both players weaker
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    /// Stop after this number of minutes; the next run continues. 0 only prints the results so far
    #[arg(long)]
    minutes: Option<u64>,
    /// Measure the npm package of `cargo xtask npm` in a Worker of a headless Chromium, against the native Stockfish
    #[arg(long)]
    chromium: bool,
}

/// Number of pairs against a level before the next level. All levels get similar numbers of pairs even if the run stops early.
const ROUND: usize = 4;

/// Plays the matches and prints a table in Markdown. Each pair of games is written after it was played, and a later run plays the
/// missing pairs. If the signature of the engine (`lab bench`) or the conditions have changed, all pairs are missing.
pub fn run(args: &Args) -> Result<()> {
    // The paths of the engine and of the openings are relative to the root.
    env::set_current_dir(root())?;
    let (engine, games, go) = match args.chromium {
        true => ("node tests/browser/uci.mjs".to_owned(), 70, "movetime 500"),
        false => (
            format!("{} engine", shelfish()?.display()),
            600,
            "movetime 100",
        ),
    };
    let rules = Rules {
        openings: ["a", "b", "c", "d", "e"]
            .map(|volume| format!("build-tools/shelfish/openings/{volume}.tsv").into())
            .into(),
        least_plies: 6,
        go: args.go.clone().unwrap_or_else(|| go.to_owned()),
        games: args.games.unwrap_or(games),
        concurrency: args.concurrency,
    };
    let (engine, signature) = (Setup::parse(&engine)?, bench::signature()?);
    let conditions = format!("{}\n{}", rules.identity()?, args.stockfish_go);
    let mut matches = Vec::new();
    let is_chosen = |(level, _): &(u32, f64)| args.levels.contains(level);
    for (level, elo) in RATINGS.into_iter().filter(is_chosen) {
        let name = format!("stockfish Skill_Level={level}");
        let opponent = Setup::parse(&format!("{} Skill_Level={level}", stockfish()?.display()))?;
        let players = [(&engine, Some(&*signature)), (&opponent, None)];
        let key = results::key(players, &conditions)?;
        matches.push((level, elo, name, [engine.clone(), opponent], key));
    }
    let mut results = Results::open(&root().join("build-tools/lab/elo.tsv"))?;
    let (start, max) = (Instant::now(), rules.pairs());
    let in_time = || {
        args.minutes
            .is_none_or(|minutes| start.elapsed() < Duration::from_secs(60 * minutes))
    };
    let round = ROUND.max(args.concurrency);
    for first in (0..max).step_by(round) {
        for (level, _, name, engines, key) in &matches {
            let numbers = results.missing(key, first..max.min(first + round));
            if numbers.is_empty() || !in_time() {
                continue;
            }
            let go = Some(&*args.stockfish_go);
            matches::play_pairs(engines, &rules, go, &numbers, |pair| {
                results.add(key, name, pair)?;
                Ok(in_time())
            })?;
            let pairs = results.pairs(key, max);
            if let Some(elo) = pairs.elo() {
                println!(
                    "level {level}: {} of {} games, Elo {elo}",
                    2 * pairs.number(),
                    2 * max
                );
            }
        }
    }
    let rows: Vec<_> = matches
        .iter()
        .map(|(level, elo, .., key)| (*level, *elo, results.pairs(key, max)))
        .collect();
    println!(
        "{}{}; Stockfish {}",
        table(&rows),
        rules.go,
        args.stockfish_go
    );
    Ok(())
}

/// Formats the results of levels and their ratings in Markdown.
fn table(rows: &[(u32, f64, Pairs)]) -> String {
    let mut text =
        "\n| against level | its rating | games | pairs | Elo, 95 % | rating |\n|---|---:|---:|---|---:|---:|\n".to_owned();
    // The mean of the ratings, weighted by their precision.
    let (mut weights, mut sum) = (0.0, 0.0);
    for (level, elo, pairs) in rows {
        let Some(won) = pairs.elo() else { continue };
        text += &format!(
            "| {level} | {elo:.0} | {} | {pairs} | {won} | {:.0} |\n",
            pairs.number() * 2,
            elo + won.value
        );
        if won.low.is_finite() && won.high.is_finite() {
            let error = ((won.high - won.low) / 2.0).max(1.0);
            weights += error.powi(-2);
            sum += (elo + won.value) * error.powi(-2);
        }
    }
    text += &match weights > 0.0 {
        true => {
            let (value, error) = (sum / weights, 1.0 / f64::sqrt(weights));
            format!("\nRating {value:.0} ± {error:.0}, without the errors of the levels' ratings; ")
        }
        false => {
            "\nNo rating: no games, or all games of each match had the same winner; ".to_owned()
        }
    };
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_a_row_for_each_played_match() {
        let text = table(&[
            (7, 2500.0, Pairs([10, 20, 40, 20, 10])),
            (8, 2596.2, Pairs::default()),
        ]);
        assert!(
            text.contains("| 7 | 2500 | 200 | [10, 20, 40, 20, 10] | +0.0 ["),
            "{text}"
        );
        assert!(
            !text.contains("| 8 |") && text.contains("Rating 2500 ± 3"),
            "{text}"
        );
        assert!(table(&[]).contains("No rating"));
    }
}
