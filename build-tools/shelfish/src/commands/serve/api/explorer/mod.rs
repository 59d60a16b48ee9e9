//! `/masters`, `/lichess` and `/player`: moves of a book in the shape of Lichess' opening explorer.

mod filter;
mod players;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Position as _};
use shelfish::played::{Bucketing, Played};
use shelfish::position::Position;
use shelfish::reader::{NoCache, Options, Reader};
use shelfish::table::Manifest;

use super::question::{QuestionError, decoded, parameters, rules_of_chess};
use crate::BoxError;
use crate::commands::explore::{
    BucketError, Counts, Explored, ExploredMove, Names, Opening, TopGame, names_in,
};
use crate::database::{DatabaseSource, OpenError};
use crate::terminal::shown::beginning;
use filter::Filter;
pub use filter::FilterError;
pub use players::{Players, PlayersError};

/// The position before the first move of a game.
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// Path of the explorer: the games that a question asks about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Games {
    Masters,
    Lichess,
    Player,
}

impl Games {
    /// Returns the maximum numbers of moves and of top games, if a question has no limits.
    fn limits(self) -> (usize, usize) {
        match self {
            Games::Masters => (12, 15),
            Games::Lichess => (12, 4),
            Games::Player => (usize::MAX, 0),
        }
    }
}

/// Question about the games of a position.
#[derive(Debug)]
pub struct Question {
    games: Games,
    /// The position after the played moves.
    pub position: Position,
    /// Positions before the last played move, the first position first.
    before: Vec<Position>,
    moves: usize,
    top_games: usize,
    has_history: bool,
    has_modes: bool,
    filter: Filter,
    /// Name and colour of the player.
    pub player: (String, String),
}

/// Reads the question of a query.
pub fn question(games: Games, query: &str) -> Result<Question, QuestionError> {
    let (moves, top_games) = games.limits();
    let (mut fen, mut play) = (START.to_owned(), String::new());
    let mut question = Question {
        games,
        position: Position::from_chess(&shakmaty::Chess::default()),
        before: Vec::new(),
        moves,
        top_games,
        has_history: false,
        has_modes: false,
        filter: Filter::default(),
        player: (String::new(), "white".to_owned()),
    };
    for (name, value) in parameters(query) {
        let value = decoded(value).ok_or_else(|| QuestionError::Utf8 {
            parameter: beginning(name),
        })?;
        let number = || {
            let number = Some(&value)
                .filter(|value| value.len() < 10)
                .and_then(|value| value.parse::<usize>().ok());
            number.ok_or_else(|| QuestionError::Number {
                parameter: beginning(name),
                found: beginning(&value),
            })
        };
        match name {
            // Lichess accepts underscores instead of spaces.
            "fen" => fen = value.replace('_', " "),
            "play" => play = value,
            "moves" => question.moves = number()?,
            "topGames" => question.top_games = number()?.min(top_games),
            "recentGames" => drop(number()?),
            "history" => question.has_history = games == Games::Lichess && value == "true",
            "modes" => {
                question.has_modes = !["", "casual,rated", "rated,casual"].contains(&value.as_str())
            }
            "player" => question.player.0 = value.to_ascii_lowercase(),
            "color" => question.player.1 = value,
            "variant" => rules_of_chess(&value)?,
            _ => {
                let read = question.filter.read(name, &value);
                read.map_err(|error| QuestionError::Filter {
                    parameter: beginning(name),
                    error,
                })?;
            }
        }
    }
    question.position = fen.parse().map_err(QuestionError::Fen)?;
    let mut chess = question.position.chess().clone();
    for text in play.split(',').filter(|text| !text.is_empty()) {
        let found = text
            .parse::<UciMove>()
            .ok()
            .and_then(|uci| uci.to_move(&chess).ok());
        let m = found.ok_or_else(|| QuestionError::Move {
            found: beginning(text),
        })?;
        question.before.push(std::mem::replace(
            &mut question.position,
            Position::from_chess(&chess),
        ));
        chess.play_unchecked(m);
        question.position = Position::from_chess(&chess);
    }
    Ok(question)
}

/// Answer in the shape of Lichess.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    opening: Option<Opening>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queue_position: Option<u8>,
    #[serde(flatten)]
    results: Counts,
    moves: Vec<Move>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_games: Option<Vec<Game>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    recent_games: Option<[(); 0]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<[(); 0]>,
    /// Names of the parameters that the answer does not follow exactly.
    #[serde(skip)]
    pub inexact: BTreeSet<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Move {
    uci: String,
    san: String,
    average_rating: Option<u64>,
    #[serde(flatten)]
    results: Counts,
    game: Option<Game>,
    opening: Option<Opening>,
}

/// A game with the members of Lichess that a book lacks, so that clients can read them.
#[derive(Serialize)]
struct Game {
    #[serde(flatten)]
    game: TopGame,
    white: Player,
    black: Player,
    year: Option<u16>,
    month: Option<&'static str>,
}

#[derive(Clone, Copy, Serialize)]
struct Player {
    name: &'static str,
    /// Mean rating of both players.
    rating: Option<u64>,
}

impl From<TopGame> for Game {
    fn from(game: TopGame) -> Game {
        let player = Player {
            name: "?",
            rating: game.rating,
        };
        Game {
            game,
            white: player,
            black: player,
            year: None,
            month: None,
        }
    }
}

/// An open book.
pub struct Book {
    pub reader: Reader<DatabaseSource, Played>,
    /// Names in the manifest that was in use when they were last needed.
    names: Mutex<Arc<NamesOf>>,
}

/// Names in a manifest.
struct NamesOf {
    manifest: Arc<Manifest>,
    names: Names,
}

impl NamesOf {
    fn new(manifest: Arc<Manifest>) -> Result<Arc<NamesOf>, BucketError> {
        let names = names_in(&manifest, CastlingMode::Chess960)?;
        Ok(Arc::new(NamesOf { manifest, names }))
    }
}

impl Book {
    /// Opens a book.
    pub async fn open(source: DatabaseSource, options: Options) -> Result<Book, BoxError> {
        let reader = source
            .reader(options, NoCache)
            .await
            .map_err(OpenError::from)?;
        let names = Mutex::new(NamesOf::new(reader.manifest())?);
        Ok(Book { reader, names })
    }

    /// Returns the answer if it needs no request.
    pub fn peek(&self, question: &Question) -> Option<Result<Answer, BoxError>> {
        let names = match self.names() {
            Ok(names) => names,
            Err(error) => return Some(Err(error.into())),
        };
        let found = self.reader.peek(&question.position)?;
        let answer = || {
            found
                .map(|played| answer(question, played, &names.names))
                .map_err(BoxError::from)
        };
        self.is_current(&names).then(answer)
    }

    /// Looks the position up. Each repetition needs another new build during the lookup.
    pub async fn find(&self, question: &Question) -> Result<Answer, BoxError> {
        loop {
            let names = self.names()?;
            let found = self.reader.lookup(&question.position).await;
            if self.is_current(&names) {
                return Ok(answer(question, found?, &names.names));
            }
        }
    }

    /// Returns the names in the manifest in use.
    fn names(&self) -> Result<Arc<NamesOf>, BucketError> {
        let mut known = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_current(&known) {
            *known = NamesOf::new(self.reader.manifest())?;
        }
        Ok(known.clone())
    }

    /// Returns whether no other manifest has replaced the manifest of these names, so that records found since then agree
    /// with them.
    fn is_current(&self, names: &NamesOf) -> bool {
        let current = self.reader.manifest();
        Arc::ptr_eq(&names.manifest, &current) || *names.manifest == *current
    }
}

/// Converts the record of the position to an answer.
fn answer(question: &Question, played: Option<Played>, names: &Names) -> Answer {
    let buckets = names.buckets.as_ref();
    let (chosen, mut inexact) = question.filter.buckets(buckets);
    // A record with another number of buckets than the manifest has no buckets that a filter could name.
    let has_buckets =
        |played: &Played| played.buckets().len() == buckets.map_or(1, Bucketing::count);
    let explored = match played {
        Some(played) if has_buckets(&played) => {
            let reduced = played.of_buckets(|n| chosen.contains(&n));
            Explored::of(&reduced, &[], Vec::new(), names)
        }
        Some(played) => Explored::of(&played, &[], Vec::new(), names),
        None => Explored::none(&question.position, names),
    };
    // A position without a name has the name of the last named position before it.
    let named = || {
        question
            .before
            .iter()
            .rev()
            .find_map(|position| names.openings.of(position))
    };
    let Question {
        games,
        moves,
        top_games,
        has_history,
        has_modes,
        ..
    } = question;
    let is_player = *games == Games::Player;
    inexact.extend(has_history.then_some("history"));
    inexact.extend((is_player && *has_modes).then_some("modes"));
    let of_move = |explored: ExploredMove| Move {
        uci: explored.uci,
        san: explored.san,
        average_rating: explored.average_rating,
        results: explored.results,
        game: explored.game.map(Game::from),
        opening: explored.opening,
    };
    let top = explored
        .top_games
        .into_iter()
        .take(*top_games)
        .map(Game::from);
    Answer {
        opening: explored.opening.or_else(named),
        queue_position: is_player.then_some(0),
        results: explored.results,
        moves: explored
            .moves
            .into_iter()
            .take(*moves)
            .map(of_move)
            .collect(),
        top_games: (!is_player).then(|| top.collect()),
        recent_games: (*games != Games::Masters).then_some([]),
        history: has_history.then_some([]),
        inexact,
    }
}
