//! What an engine's strength is, told by matches against engines whose rating is known.

use crate::{
    contest::{self, Rules},
    stats::Elo,
};

/// Options of `arena rate`.
#[derive(clap::Args)]
pub struct Args {
    /// The engine: a program, its arguments, options of UCI as NAME=VALUE, with _ for a blank
    engine: String,
    /// An engine whose rating is known, as ELO:ENGINE; may be given several times
    #[arg(long = "anchor", required = true, value_name = "ELO:ENGINE", value_parser = anchor)]
    anchors: Vec<Anchor>,
    #[command(flatten)]
    rules: Rules,
}

#[derive(Clone)]
struct Anchor {
    elo: f64,
    engine: String,
}

fn anchor(text: &str) -> Result<Anchor, String> {
    let (elo, engine) =
        text.split_once(':').ok_or("expected a rating and an engine, like \"2596:stockfish Skill_Level=8\"")?;
    let elo = elo.trim().parse().map_err(|error| format!("{elo}: {error}"))?;
    Ok(Anchor { elo, engine: engine.to_owned() })
}

/// Plays the matches, and prints a table in Markdown.
pub fn run(args: &Args) -> Result<(), Box<dyn std::error::Error>> {
    let mut rows = Vec::new();
    for anchor in &args.anchors {
        println!("Against {}, rated {}:", anchor.engine, anchor.elo);
        let pairs = contest::between(&args.engine, &anchor.engine, &args.rules)?;
        rows.push((anchor, pairs, pairs.elo().ok_or("no game was played")?));
    }
    println!("\n| against | its rating | games | pairs | Elo, 95 % | rating |\n|---|---:|---:|---|---:|---:|");
    for (Anchor { engine, elo }, pairs, won) in &rows {
        println!("| {engine} | {elo:.0} | {} | {pairs} | {won} | {:.0} |", pairs.number() * 2, elo + won.value);
    }
    let ratings: Vec<Elo> = rows.iter().map(|(anchor, _, won)| won.above(anchor.elo)).collect();
    match mean(&ratings) {
        Some(rating) => {
            let error = (rating.high - rating.low) / 2.0;
            let Elo { value, .. } = rating;
            println!(
                "\nRating {value:.0} ± {error:.0}, the error of the anchors' own ratings left out; {}",
                args.rules.go
            );
        }
        None => println!("\nNo rating: every match was won or lost in every game."),
    }
    Ok(())
}

/// The mean of several estimates, each weighted by how sure it is; of those that have bounds.
fn mean(ratings: &[Elo]) -> Option<Elo> {
    let finite = ratings.iter().filter(|rating| rating.low.is_finite() && rating.high.is_finite());
    let (mut weights, mut sum) = (0.0, 0.0);
    for rating in finite {
        let error = ((rating.high - rating.low) / 2.0).max(1.0);
        weights += error.powi(-2);
        sum += rating.value * error.powi(-2);
    }
    let error = 1.0 / weights.sqrt();
    (weights > 0.0).then(|| Elo { value: sum / weights, low: sum / weights - error, high: sum / weights + error })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn the_surer_estimate_weighs_more() {
        let of = |value: f64, error: f64| Elo { value, low: value - error, high: value + error };
        let rating = mean(&[of(2600.0, 30.0), of(2700.0, 60.0)]).unwrap();
        assert!((rating.value - 2620.0).abs() < 1e-9, "{rating}");
        assert!((rating.high - rating.value - 26.8).abs() < 0.1, "{rating}");
    }

    #[test]
    fn a_match_that_was_won_throughout_tells_no_rating() {
        assert_eq!(mean(&[Elo { value: f64::INFINITY, low: f64::INFINITY, high: f64::INFINITY }]), None);
    }

    #[test]
    fn an_anchor_is_a_rating_and_an_engine() {
        let Anchor { elo, engine } = anchor("2596:stockfish Skill_Level=8").unwrap();
        assert_eq!((elo, engine.as_str()), (2596.0, "stockfish Skill_Level=8"));
        assert!(anchor("stockfish").is_err() && anchor("x:stockfish").is_err());
    }
}
