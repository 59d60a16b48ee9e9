//! `/masters` and `/lichess`: moves of a book in the shape of Lichess' opening explorer.

use std::collections::BTreeSet;

use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Position as _};
use shelfish::played::{Bucketing, Played, Results, SPEEDS};
use shelfish::position::Position;
use shelfish::reader::Reader;

use super::question::{INEXACT, Refusal, answer, check_variant, parameters};
use crate::commands::explore::{Explored, ExploredMove, Opening, TopGame, find};
use crate::database::DatabaseSource;
use crate::terminal::shown::beginning;

/// The position before the first move of a game.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Numbers of moves, of top games of masters, and of other top games, if a question has no limits.
const MOVES: usize = 12;
const TOP_GAMES: [usize; 2] = [4, 15];

/// Question about the games of a position.
pub(super) struct Question {
    is_masters: bool,
    /// The position after the played moves.
    position: Position,
    /// Positions before the last played move, the first position first.
    before: Vec<Position>,
    moves: usize,
    top_games: usize,
    has_history: bool,
    filter: Filter,
}

/// Reads the question of a query.
pub(super) fn question(is_masters: bool, query: &str) -> Result<Question, Refusal> {
    let most = TOP_GAMES[usize::from(is_masters)];
    let (mut fen, mut play) = (START.to_owned(), String::new());
    let mut question = Question {
        is_masters,
        position: Position::from_chess(&shakmaty::Chess::default()),
        before: Vec::new(),
        moves: MOVES,
        top_games: most,
        has_history: false,
        filter: Filter::default(),
    };
    for (name, value) in parameters(query) {
        let value = value?;
        let number = || {
            let number = Some(&value).filter(|value| value.len() < 10);
            let number = number.and_then(|value| value.parse::<usize>().ok());
            number.ok_or_else(|| Refusal::value(name, "a number", &value))
        };
        match name {
            // Lichess accepts underscores instead of spaces.
            "fen" => fen = value.replace('_', " "),
            "play" => play = value,
            "moves" => question.moves = number()?,
            "topGames" => question.top_games = number()?.min(most),
            "recentGames" => drop(number()?),
            "history" => question.has_history = !is_masters && value == "true",
            "variant" => check_variant(&value)?,
            _ => question.filter.read(name, &value)?,
        }
    }
    question.position = fen.parse()?;
    let mut chess = question.position.chess().clone();
    for text in play.split(',').filter(|text| !text.is_empty()) {
        let uci = text.parse::<UciMove>().ok();
        let m = uci.and_then(|uci| uci.to_move(&chess).ok());
        let m = m.ok_or_else(|| Refusal::Move(beginning(text)))?;
        question.before.push(Position::from_chess(&chess));
        chess.play_unchecked(m);
        question.position = Position::from_chess(&chess);
    }
    Ok(question)
}

/// Returns a game with the members of Lichess that a book lacks, so that clients can read them.
fn game(game: &TopGame) -> Value {
    let TopGame {
        uci,
        id,
        winner,
        rating,
    } = game;
    // The mean rating of both players.
    let player = json!({ "name": "?", "rating": rating });
    let (white, black) = (&player, &player);
    let mut game = json!({ "uci": uci, "id": id, "winner": winner, "white": white, "black": black, "year": null, "month": null });
    if let Some(rating) = rating {
        game["rating"] = json!(rating);
    }
    game
}

/// Returns a move in the shape of Lichess.
fn encoded(explored: &ExploredMove) -> Value {
    let ExploredMove {
        uci, san, opening, ..
    } = explored;
    let Results {
        white,
        draws,
        black,
    } = explored.results;
    json!({ "uci": uci, "san": san, "averageRating": explored.average_rating, "white": white, "draws": draws, "black": black,
        "game": explored.game.as_ref().map(game), "opening": opening })
}

/// Looks a position up, and answers with the moves of the wanted games.
pub(super) async fn explore(
    book: &Reader<DatabaseSource, Played>,
    question: &Question,
) -> Result<Response, Refusal> {
    let (played, names) = find(book, &question.position, CastlingMode::Chess960)
        .await
        .map_err(|error| Refusal::failed("book", &question.position.to_string(), &error))?;
    let (chosen, mut inexact) = question.filter.buckets(names.buckets.as_ref());
    let explored = match played {
        Some(mut played) => {
            if names.buckets.is_some() {
                played = played.of_buckets(|n| chosen.contains(&n));
            }
            Explored::of(&played, &[], Vec::new(), &names)
        }
        None => Explored::none(&question.position),
    };
    // A position without a name has the name of the last named position before it.
    let mut before = question.before.iter().rev();
    let named = || before.find_map(Opening::of);
    inexact.extend(question.has_history.then_some("history"));
    let opening = explored.opening.or_else(named);
    let Results {
        white,
        draws,
        black,
    } = explored.results;
    let moves = explored.moves.iter().take(question.moves).map(encoded);
    let top_games = explored.top_games.iter().take(question.top_games).map(game);
    let (moves, top_games): (Vec<Value>, Vec<Value>) = (moves.collect(), top_games.collect());
    let mut body = json!({ "opening": opening, "white": white, "draws": draws, "black": black, "moves": moves,
        "topGames": top_games });
    if !question.is_masters {
        body["recentGames"] = json!([]);
    }
    if question.has_history {
        body["history"] = json!([]);
    }
    let mut response = answer(StatusCode::OK, &body);
    let inexact = inexact.into_iter().collect::<Vec<_>>().join(", ");
    if let Some(value) = HeaderValue::from_str(&inexact)
        .ok()
        .filter(|value| !value.is_empty())
    {
        response.headers_mut().insert(INEXACT, value);
    }
    Ok(response)
}

/// Lowest ratings of the groups of Lichess. A group ends below the next group.
const RATINGS: [u64; 9] = [0, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2500];

/// A month: a year, and the number of the month from 1.
type Month = (u64, u64);

/// The games that a question wants.
#[derive(Debug, Default, PartialEq, Eq)]
struct Filter {
    /// Wanted speeds; `None` for all.
    speeds: Option<Vec<&'static str>>,
    /// Lowest ratings of the wanted groups; `None` for all.
    ratings: Option<Vec<u64>>,
    /// First month.
    since: Option<Month>,
    /// Last month.
    until: Option<Month>,
}

/// Reads a list of values, separated by commas. A list of no or of all values filters nothing.
fn list<T: Copy + Ord + ToString>(
    name: &str,
    text: &str,
    known: &[T],
) -> Result<Option<Vec<T>>, Refusal> {
    let mut wanted = BTreeSet::new();
    for word in text.split(',').filter(|word| !word.is_empty()) {
        let found = known.iter().find(|value| value.to_string() == word);
        wanted.insert(*found.ok_or_else(|| {
            let known: Vec<String> = known.iter().map(T::to_string).collect();
            Refusal::value(name, known.join(", "), word)
        })?);
    }
    let is_filter = !wanted.is_empty() && wanted.len() < known.len();
    Ok(is_filter.then(|| wanted.into_iter().collect()))
}

/// Reads a year, or a year and a month. `whole` is the month of a year alone.
fn month(name: &str, text: &str, whole: u64) -> Result<Option<Month>, Refusal> {
    if text.is_empty() {
        return Ok(None);
    }
    let digits = |text: &str, count| {
        let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|_| is_number)
    };
    let month = match text.split_once('-') {
        None => digits(text, 4).map(|year| (year, whole)),
        Some((year, month)) => digits(year, 4).zip(digits(month, 2)),
    };
    let month = month.filter(|(_, month)| (1..=12).contains(month));
    let wrong = || Refusal::value(name, "a year or a month such as 2016-01", text);
    month.ok_or_else(wrong).map(Some)
}

impl Filter {
    /// Reads a parameter, unless it is no part of a filter.
    fn read(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        match name {
            "speeds" => self.speeds = list(name, value, &SPEEDS)?,
            "ratings" => self.ratings = list(name, value, &RATINGS)?,
            "since" => self.since = month(name, value, 1)?,
            "until" => self.until = month(name, value, 12)?,
            _ => {}
        }
        Ok(())
    }

    /// Returns the numbers of the buckets with wanted games, and the names of the parameters that divide a bucket: all games
    /// of the bucket count. A book without buckets has all games in bucket 0.
    fn buckets(&self, buckets: Option<&Bucketing>) -> (Vec<usize>, BTreeSet<&'static str>) {
        let mut inexact = BTreeSet::new();
        let count = buckets.map_or(1, Bucketing::count);
        let chosen = (0..count)
            .filter(|n| self.wants(buckets, *n, &mut inexact))
            .collect();
        (chosen, inexact)
    }

    fn wants(
        &self,
        buckets: Option<&Bucketing>,
        n: usize,
        inexact: &mut BTreeSet<&'static str>,
    ) -> bool {
        let mut divided = Vec::new();
        let speed = |n| buckets.and_then(|buckets| buckets.speed(n));
        let ratings = |n| buckets.and_then(|buckets| buckets.ratings(n));
        let years = |n| buckets.and_then(|buckets| buckets.years(n));
        // A bucket without a value has games of all values, or of an unknown value if other buckets have a value.
        let others = || 0..buckets.map_or(1, Bucketing::count);
        if let Some(wanted) = &self.speeds {
            match speed(n) {
                Some(speed) if !wanted.contains(&speed) => return false,
                None if others().any(|n| speed(n).is_some()) => return false,
                Some(_) => {}
                None => divided.push("speeds"),
            }
        }
        if let Some(wanted) = &self.ratings {
            if ratings(n).is_none() && others().any(|n| ratings(n).is_some()) {
                return false;
            }
            let (least, most) = ratings(n).unwrap_or_default();
            let ends = RATINGS.iter().skip(1).copied().chain([u64::MAX]);
            let overlaps = |(group, end): &(u64, u64)| {
                *group <= most.unwrap_or(u64::MAX) && *end > least.unwrap_or(0)
            };
            let groups: Vec<u64> = RATINGS
                .into_iter()
                .zip(ends)
                .filter(overlaps)
                .map(|(group, _)| group)
                .collect();
            if !groups.iter().any(|group| wanted.contains(group)) {
                return false;
            }
            if !groups.iter().all(|group| wanted.contains(group)) {
                divided.push("ratings");
            }
        }
        if self.since.is_some() || self.until.is_some() {
            if years(n).is_none() && others().any(|n| years(n).is_some()) {
                return false;
            }
            let (first, last) = years(n).unwrap_or_default();
            let (from, to) = (
                first.map_or((0, 0), |year| (year, 1)),
                last.map_or((u64::MAX, 12), |year| (year, 12)),
            );
            if self.since.is_some_and(|since| to < since)
                || self.until.is_some_and(|until| from > until)
            {
                return false;
            }
            if self.since.is_some_and(|since| from < since) {
                divided.push("since");
            }
            if self.until.is_some_and(|until| to > until) {
                divided.push("until");
            }
        }
        inexact.extend(divided);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(parameters: &[(&str, &str)]) -> Result<Filter, Refusal> {
        let mut filter = Filter::default();
        for (name, value) in parameters {
            filter.read(name, value)?;
        }
        Ok(filter)
    }

    #[test]
    fn filters_that_follow_the_buckets_are_exact() -> Result<(), Box<dyn std::error::Error>> {
        let buckets: Bucketing = "speeds,2000,since2010".parse()?;
        let names = |parameters: &[(&str, &str)]| -> Result<(Vec<String>, Vec<&str>), Refusal> {
            let (chosen, inexact) = filter(parameters)?.buckets(Some(&buckets));
            Ok((
                chosen.into_iter().map(|n| buckets.name(n)).collect(),
                inexact.into_iter().collect(),
            ))
        };
        let exact = [
            ("speeds", "blitz"),
            ("ratings", "2000,2200,2500"),
            ("since", "2010"),
            ("until", ""),
        ];
        assert_eq!(
            names(&exact)?,
            (vec!["blitz 2000-, years 2010-".to_owned()], vec![])
        );
        let divided = [
            ("speeds", "blitz"),
            ("ratings", "1800,2000"),
            ("since", "2008-03"),
            ("until", "2009-12"),
        ];
        let expected = vec![
            "blitz -1999, years -2009".to_owned(),
            "blitz 2000-, years -2009".to_owned(),
        ];
        assert_eq!(names(&divided)?, (expected, vec!["ratings", "since"]));
        Ok(())
    }

    #[test]
    fn a_list_of_all_values_wants_all_games_of_every_book() -> Result<(), Refusal> {
        let speeds = SPEEDS.join(",");
        let all = filter(&[
            ("speeds", &speeds),
            ("ratings", "0,1000,1200,1400,1600,1800,2000,2200,2500,"),
        ])?;
        assert_eq!(all, Filter::default());
        assert_eq!(all.buckets(None), (vec![0], BTreeSet::new()));
        let some = filter(&[("speeds", "blitz"), ("until", "2012-01")])?;
        assert_eq!(
            some.buckets(None),
            (vec![0], BTreeSet::from(["speeds", "until"]))
        );
        Ok(())
    }
}
