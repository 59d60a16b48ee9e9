//! Moves, games and results of a position, in the shape of the JSON output.

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Move, Position as _};
use shelfish::eval::PositionEval;
use shelfish::played::{Bucket, Bucketing, Details, GameId, GameRef, Played, PlayedMove, Results};
use shelfish::position::{self, Position};

use super::after;
use super::openings::Opening;
use crate::lichess::ScoreMember;

/// Names of buckets and sources of a book.
pub struct Names {
    pub buckets: Option<Bucketing>,
    pub sources: Vec<String>,
    /// Notation of castling in UCI.
    pub castling: CastlingMode,
}

/// Position and the moves that were played from it.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explored {
    pub fen: String,
    /// Results of the games that reached the position.
    #[serde(flatten)]
    pub results: Results,
    /// Mean rating of the players of these games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_rating: Option<u64>,
    /// Results of the games that end at the position.
    pub ended: Results,
    /// Examples of games that end at the position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ended_games: Vec<Game>,
    /// Moves, most played first.
    pub moves: Vec<ExploredMove>,
    /// Games of the position in each bucket of the book, even in buckets that were not chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<NamedBucket>,
    /// Games on Lichess with the highest ratings.
    pub top_games: Vec<TopGame>,
    /// Always empty, because the book contains no dates.
    pub recent_games: [(); 0],
    /// Opening that the position belongs to.
    pub opening: Option<Opening>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExploredMove {
    pub uci: String,
    pub san: String,
    #[serde(flatten)]
    pub results: Results,
    /// Share of the games that reached the position, from 0 to 1.
    pub share: f64,
    /// Points per game for the side that moves, from 0 to 1.
    pub score: f64,
    /// Mean rating of the players of these games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_rating: Option<u64>,
    /// Games of the move in each bucket of the book.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buckets: Vec<BucketCounts>,
    /// Examples of games, highest ratings first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub games: Vec<Game>,
    /// The only game of the move, if the game is on Lichess.
    pub game: Option<TopGame>,
    /// Opening that the position after the move belongs to.
    pub opening: Option<Opening>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation: Option<Evaluation>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BucketCounts {
    #[serde(flatten)]
    pub results: Results,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_rating: Option<u64>,
}

#[derive(Serialize)]
pub struct NamedBucket {
    pub name: String,
    #[serde(flatten)]
    pub games: BucketCounts,
}

/// Game. A game on Lichess has `id` and `url`; other games have `source` and `number` (from 1).
#[derive(Clone, Serialize)]
pub struct Game {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// Winner, or `None` for a draw.
    pub winner: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u64>,
}

/// Game in the format of Lichess' opening explorer, without the members that the book lacks.
#[derive(Clone, Serialize)]
pub struct TopGame {
    pub uci: String,
    pub id: String,
    pub winner: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<u64>,
}

/// Best evaluation of a position, from White's point of view.
#[derive(Serialize)]
pub struct Evaluation {
    #[serde(flatten)]
    pub score: ScoreMember,
    pub depth: u16,
}

impl Evaluation {
    /// Takes the best evaluation of a record.
    pub fn of(eval: &PositionEval) -> Option<Evaluation> {
        let best = eval.best()?;
        let score = best.pvs.first()?.score;
        Some(Evaluation {
            score: ScoreMember(score),
            depth: best.depth,
        })
    }
}

impl Explored {
    /// Describes a position that no game reached.
    pub fn none(position: &Position) -> Explored {
        Explored {
            fen: position.to_string(),
            opening: Opening::of(position),
            ..Explored::default()
        }
    }

    /// Describes a record, possibly reduced to some buckets. `all` contains all buckets of the position.
    pub fn of(
        played: &Played,
        all: &[Bucket],
        evaluations: Vec<Option<Evaluation>>,
        names: &Names,
    ) -> Explored {
        let results = played.results().unwrap_or_default();
        let mut evaluations = evaluations.into_iter();
        let moves = played.moves.iter().map(|of_move| {
            let evaluation = evaluations.next().flatten();
            explored_move(played, of_move, results, evaluation, names)
        });
        let buckets = names.buckets.iter().flat_map(|bucketing| {
            let all = all.iter().enumerate();
            all.map(|(n, bucket)| NamedBucket {
                name: bucketing.name(n),
                games: bucket_counts(bucket),
            })
        });
        let ratings = Details {
            buckets: played.buckets(),
            games: Vec::new(),
        }
        .ratings();
        let top_games = played.top_games().into_iter();
        Explored {
            results,
            average_rating: rounded(ratings.average()),
            ended: played.ended,
            ended_games: games_of(&played.ended_details, names),
            moves: moves.collect(),
            buckets: buckets.collect(),
            top_games: top_games
                .map(|(m, game)| top_game(m, game, names))
                .collect(),
            ..Explored::none(&played.position)
        }
    }
}

fn uci(m: Move, names: &Names) -> String {
    position::uci(m, names.castling).to_string()
}

fn explored_move(
    played: &Played,
    of_move: &PlayedMove,
    all: Results,
    evaluation: Option<Evaluation>,
    names: &Names,
) -> ExploredMove {
    let PlayedMove {
        m,
        results,
        details,
    } = of_move;
    let chess = played.position.chess();
    let buckets = names.buckets.iter().flat_map(|_| &details.buckets);
    ExploredMove {
        uci: uci(*m, names),
        san: SanPlus::from_move(chess.clone(), *m).to_string(),
        results: *results,
        share: results.games() as f64 / all.games() as f64,
        score: results.score(chess.turn()),
        average_rating: rounded(details.ratings().average()),
        buckets: buckets.map(bucket_counts).collect(),
        games: games_of(details, names),
        game: of_move.only_game().map(|game| top_game(*m, game, names)),
        opening: Opening::of(&after(chess, *m)),
        evaluation,
    }
}

fn bucket_counts(bucket: &Bucket) -> BucketCounts {
    BucketCounts {
        results: bucket.results,
        average_rating: rounded(bucket.ratings.average()),
    }
}

fn rounded(rating: Option<f64>) -> Option<u64> {
    rating.map(|rating| rating.round() as u64)
}

fn games_of(details: &Details, names: &Names) -> Vec<Game> {
    let game_of = |game: &GameRef| {
        let id = game.id();
        let mut shown = Game {
            id: None,
            url: id.url(),
            source: None,
            number: None,
            winner: game.winner(),
            rating: game.rating(),
        };
        match id {
            GameId::Lichess(_) => shown.id = Some(id.to_string()),
            GameId::Listed { source, game } => {
                let name = names.sources.get(usize::from(source)).cloned();
                shown.source = Some(name.unwrap_or_else(|| format!("source {source}")));
                shown.number = Some(u64::from(game) + 1);
            }
        }
        shown
    };
    details.games.iter().map(game_of).collect()
}

fn top_game(m: Move, game: GameRef, names: &Names) -> TopGame {
    TopGame {
        uci: uci(m, names),
        id: game.id().to_string(),
        winner: game.winner(),
        rating: game.rating(),
    }
}
