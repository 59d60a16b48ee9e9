//! Rating of an engine by matches against engines with known ratings.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use shelfish_uci::Setup;

use crate::{
    bench,
    contest::{self, Rules},
    error::OptionError,
    results::{self, Results},
    stats::{Elo, Pairs},
};

/// Options of `arena rate`.
#[derive(clap::Args)]
pub struct Args {
    /// Engine to rate: a program, its arguments, and UCI options as NAME=VALUE, with _ for a space
    engine: String,
    /// Engine with a known rating, as ELO:ENGINE, or as ELO:ENGINE@LIMIT with its own limit of a move in the syntax of
    /// UCI's `go`; may be given several times
    #[arg(long = "anchor", required = true, value_name = "ELO:ENGINE", value_parser = anchor)]
    anchors: Vec<Anchor>,
    #[command(flatten)]
    rules: Rules,
    /// File of results; the command appends new results and counts earlier results of the same engines
    #[arg(long)]
    results: PathBuf,
    /// ENGINE is the engine of this project: results count as long as `arena bench` prints the same signature, whatever
    /// else changes in its program
    #[arg(long)]
    own: bool,
    /// Stop after N minutes; 0 only prints the results so far
    #[arg(long)]
    minutes: Option<u64>,
}

#[derive(Clone)]
struct Anchor {
    elo: f64,
    engine: String,
    /// Limit of a move, if it differs from the limit of the rated engine.
    go: Option<String>,
}

/// Parses `ELO:ENGINE` or `ELO:ENGINE@LIMIT`.
fn anchor(text: &str) -> Result<Anchor, OptionError> {
    const FORM: &str = "a rating and an engine, like \"2596:stockfish Skill_Level=8\" or \"2596:stockfish@depth 9\"";
    let (elo, engine) = text
        .split_once(':')
        .ok_or_else(|| OptionError::form(FORM, text))?;
    let elo = elo
        .trim()
        .parse()
        .map_err(|_| OptionError::form("a number as the rating before the colon", elo))?;
    let (engine, go) = match engine.rsplit_once('@') {
        Some((_, go)) if go.trim().is_empty() => {
            return Err(OptionError::form(
                "a limit after the @, like \"depth 9\"",
                text,
            ));
        }
        Some((engine, go)) => (engine, Some(go.trim().to_owned())),
        None => (engine, None),
    };
    Ok(Anchor {
        elo,
        engine: engine.trim().to_owned(),
        go,
    })
}

impl Anchor {
    /// Returns the engine without the folder of its program.
    fn name(&self) -> &str {
        let start = self
            .engine
            .split_whitespace()
            .next()
            .and_then(|program| program.rfind('/'));
        &self.engine[start.map_or(0, |slash| slash + 1)..]
    }
}

/// Number of pairs against an anchor before the next anchor. All anchors get similar numbers of pairs even if the run
/// stops early.
const ROUND: usize = 4;

/// Plays the matches and prints a table in Markdown.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let engine = Setup::parse(&args.engine)?;
    let conditions = args.rules.identity()?;
    let signature = if args.own {
        Some(bench::signature()?)
    } else {
        None
    };
    let mut matches = Vec::new();
    for anchor in &args.anchors {
        let setup = Setup::parse(&anchor.engine)?;
        let conditions = anchor.go.iter().fold(conditions.clone(), |conditions, go| {
            format!("{conditions}\n{go}")
        });
        let key = results::key(
            [(&engine, signature.as_deref()), (&setup, None)],
            &conditions,
        )?;
        matches.push((anchor, [engine.clone(), setup], key));
    }
    let max_pairs = args.rules.pairs();
    let mut results = Results::open(&args.results)?;
    let (start, mut played) = (Instant::now(), 0);
    let in_time = || {
        args.minutes
            .is_none_or(|minutes| start.elapsed() < Duration::from_secs(60 * minutes))
    };
    loop {
        let mut remaining = 0;
        for (anchor, engines, key) in &matches {
            let numbers: Vec<usize> = results.missing(key, max_pairs).collect();
            remaining += numbers.len();
            let max_now = if in_time() {
                ROUND.max(args.rules.concurrency)
            } else {
                0
            };
            let round = &numbers[..numbers.len().min(max_now)];
            let mut failure = None;
            contest::play_pairs(
                engines,
                &args.rules,
                anchor.go.as_deref(),
                round,
                &mut |pair| {
                    failure = results.add(key, anchor.name(), pair).err();
                    (played, remaining) = (played + 1, remaining - 1);
                    failure.is_none() && in_time()
                },
            )?;
            if let Some(failure) = failure {
                return Err(failure.into());
            }
            if let Some(elo) = results
                .pairs(key, max_pairs)
                .elo()
                .filter(|_| !round.is_empty())
            {
                let games = 2 * results.pairs(key, max_pairs).number();
                println!(
                    "{}: {games} of {} games, Elo {elo}",
                    anchor.name(),
                    2 * max_pairs
                );
            }
        }
        if remaining == 0 || !in_time() {
            break;
        }
        let minutes =
            start.elapsed().as_secs_f64() / 60.0 / f64::from(played.max(1)) * remaining as f64;
        println!("{} games left, about {minutes:.0} minutes", 2 * remaining);
    }
    let rows: Vec<(&Anchor, Pairs)> = matches
        .iter()
        .map(|(anchor, _, key)| (*anchor, results.pairs(key, max_pairs)))
        .collect();
    print!("{}", table(&rows));
    println!("{}", args.rules.go);
    Ok(())
}

/// Formats the results in Markdown.
fn table(rows: &[(&Anchor, Pairs)]) -> String {
    let mut text =
        "\n| against | its rating | games | pairs | Elo, 95 % | rating |\n|---|---:|---:|---|---:|---:|\n".to_owned();
    let mut ratings = Vec::new();
    for (anchor, pairs) in rows {
        let Some(won) = pairs.elo() else { continue };
        let (elo, games) = (anchor.elo, pairs.number() * 2);
        let limit = anchor
            .go
            .iter()
            .map(|go| format!(", {go}"))
            .collect::<String>();
        text += &format!(
            "| {}{limit} | {elo:.0} | {games} | {pairs} | {won} | {:.0} |\n",
            anchor.name(),
            elo + won.value
        );
        ratings.push(won.above(elo));
    }
    text += &match mean(&ratings) {
        Some(Elo { value, low, high }) => {
            let error = (high - low) / 2.0;
            format!(
                "\nRating {value:.0} ± {error:.0}, without the errors of the anchors' ratings; "
            )
        }
        None if ratings.is_empty() => "\nNo rating: no games yet; ".to_owned(),
        None => "\nNo rating: all games of each match had the same winner; ".to_owned(),
    };
    text
}

/// Returns the mean of the estimates with finite bounds, weighted by their precision.
fn mean(ratings: &[Elo]) -> Option<Elo> {
    let finite = ratings
        .iter()
        .filter(|rating| rating.low.is_finite() && rating.high.is_finite());
    let (mut weights, mut sum) = (0.0, 0.0);
    for rating in finite {
        let error = ((rating.high - rating.low) / 2.0).max(1.0);
        weights += error.powi(-2);
        sum += rating.value * error.powi(-2);
    }
    let error = 1.0 / weights.sqrt();
    (weights > 0.0).then(|| Elo {
        value: sum / weights,
        low: sum / weights - error,
        high: sum / weights + error,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_more_precise_estimate_has_more_weight() {
        let of = |value: f64, error: f64| Elo {
            value,
            low: value - error,
            high: value + error,
        };
        let rating = mean(&[of(2600.0, 30.0), of(2700.0, 60.0)]).unwrap();
        assert!((rating.value - 2620.0).abs() < 1e-9, "{rating}");
        assert!((rating.high - rating.value - 26.8).abs() < 0.1, "{rating}");
    }

    #[test]
    fn a_match_with_a_single_winner_gives_no_rating() {
        assert_eq!(
            mean(&[Elo {
                value: f64::INFINITY,
                low: f64::INFINITY,
                high: f64::INFINITY
            }]),
            None
        );
    }

    #[test]
    fn the_table_has_a_row_for_each_played_match() {
        let anchors = [
            "2500:/usr/games/stockfish Skill_Level=7@depth 8",
            "2596:stockfish Skill_Level=8",
        ]
        .map(|a| anchor(a).unwrap());
        let text = table(&[
            (&anchors[0], Pairs([10, 20, 40, 20, 10])),
            (&anchors[1], Pairs::default()),
        ]);
        assert!(
            text.contains(
                "| stockfish Skill_Level=7, depth 8 | 2500 | 200 | [10, 20, 40, 20, 10] | +0.0 ["
            ),
            "{text}"
        );
        assert!(
            !text.contains("Skill_Level=8") && text.contains("Rating 2500 ± 3"),
            "{text}"
        );
    }

    #[test]
    fn a_table_without_games_says_so() {
        let anchor = anchor("2596:stockfish Skill_Level=8").unwrap();
        assert!(table(&[(&anchor, Pairs::default())]).contains("no games yet"));
    }

    #[test]
    fn an_anchor_is_a_rating_and_an_engine() {
        let Anchor { elo, engine, go } = anchor("2596:stockfish Skill_Level=8").unwrap();
        assert_eq!(
            (elo, engine.as_str(), go),
            (2596.0, "stockfish Skill_Level=8", None)
        );
        let Anchor { engine, go, .. } = anchor("2596:stockfish Skill_Level=8@depth 9").unwrap();
        assert_eq!(
            (engine.as_str(), go.as_deref()),
            ("stockfish Skill_Level=8", Some("depth 9"))
        );
        assert_eq!(
            anchor("2596:/usr/games/stockfish Hash=8").unwrap().name(),
            "stockfish Hash=8"
        );
        assert!(
            [
                "stockfish",
                "x:stockfish",
                "2596:stockfish@",
                "2596:stockfish@ "
            ]
            .iter()
            .all(|a| anchor(a).is_err())
        );
    }
}
