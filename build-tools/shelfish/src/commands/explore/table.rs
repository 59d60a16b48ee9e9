//! Moves of a position as a table for people.

use std::io::{self, Write};

use indicatif::HumanCount;
use shelfish::played::Results;

use super::explored::{Evaluation, Explored, ExploredMove, Game};
use super::openings::Opening;
use crate::terminal::shown::shown;

/// Prints the table.
pub fn print(out: &mut impl Write, explored: &Explored) -> io::Result<()> {
    let games = explored.results.games();
    writeln!(out, "{}", explored.fen)?;
    if let Some(Opening { eco, name }) = explored.opening {
        writeln!(out, "  {eco} {name}")?;
    }
    if games == 0 {
        let is_other = explored
            .buckets
            .iter()
            .any(|bucket| bucket.games.results.games() > 0);
        return writeln!(
            out,
            "  no game {}reached it",
            if is_other { "of these buckets " } else { "" }
        );
    }
    let has_ratings = explored.average_rating.is_some();
    let rating = |rating: Option<u64>| match has_ratings {
        true => format!("  {:>6}", shown_rating(rating)),
        false => String::new(),
    };
    let head = if has_ratings { "  rating" } else { "" };
    writeln!(
        out,
        "  {:<8} {:>13}  {:>6}  {:>5} {:>5} {:>5}{head}",
        "move", "games", "share", "White", "draw", "Black"
    )?;
    let (all, count) = (shares(explored.results), HumanCount(games).to_string());
    writeln!(
        out,
        "  {:<8} {count:>13}  {:>6}  {all}{}",
        "all",
        "",
        rating(explored.average_rating)
    )?;
    for ExploredMove {
        san,
        results,
        share,
        average_rating,
        evaluation,
        ..
    } in &explored.moves
    {
        let games = HumanCount(results.games()).to_string();
        let (share, shares) = (share * 100.0, shares(*results));
        write!(
            out,
            "  {san:<8} {games:>13}  {share:>5.1}%  {shares}{}",
            rating(*average_rating)
        )?;
        match evaluation {
            Some(Evaluation { score, depth, .. }) => {
                writeln!(out, "  {:>7}  depth {depth}", score.0.to_string())?
            }
            None => writeln!(out)?,
        }
    }
    match explored.ended.games() {
        0 => {}
        ended => writeln!(
            out,
            "  {:<8} {:>13}",
            "ended",
            HumanCount(ended).to_string()
        )?,
    }
    for bucket in explored
        .buckets
        .iter()
        .filter(|bucket| bucket.games.results.games() > 0)
    {
        let results = bucket.games.results;
        let games = HumanCount(results.games()).to_string();
        writeln!(
            out,
            "  bucket {:<24} {games:>13}  {}",
            bucket.name,
            shares(results)
        )?;
    }
    let ends = explored.ended_games.iter().map(|game| ("ended", game));
    let moves = explored
        .moves
        .iter()
        .flat_map(|of_move| of_move.games.iter().map(|game| (&of_move.san[..], game)));
    moves
        .chain(ends)
        .try_for_each(|(what, game)| print_game(out, what, game))
}

fn print_game(out: &mut impl Write, what: &str, game: &Game) -> io::Result<()> {
    let result = match game.winner {
        Some("white") => "1-0",
        Some(_) => "0-1",
        None => "1/2",
    };
    let rating = shown_rating(game.rating);
    let place = match (&game.url, &game.source, game.number) {
        (Some(url), ..) => url.clone(),
        (None, Some(source), Some(number)) => {
            format!("{}, game {}", shown(source), HumanCount(number))
        }
        _ => String::new(),
    };
    writeln!(out, "  game {what:<8} {rating:>5}  {result:<3}  {place}")
}

fn shown_rating(rating: Option<u64>) -> String {
    rating.map_or_else(|| "-".to_owned(), |rating| rating.to_string())
}

fn shares(results: Results) -> String {
    let percent = |part: u64| 100.0 * part as f64 / results.games().max(1) as f64;
    let [white, draws, black] = [results.white, results.draws, results.black].map(percent);
    format!("{white:>5.1} {draws:>5.1} {black:>5.1}")
}
