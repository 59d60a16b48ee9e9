//! Moves, games and results of a position, in the shape of the JSON output.

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Move, Position as _};
use shelfish::eval::PositionEval;
use shelfish::played::{Bucket, Bucketing, Details, GameId, GameRef, Played, PlayedMove, Results};
use shelfish::position::{self, Position};

use super::after;
use super::openings::{Opening, Openings};
use crate::lichess::ScoreMember;

/// Names of buckets and sources of a book, and names of openings.
pub struct Names {
    pub buckets: Option<Bucketing>,
    pub sources: Vec<String>,
    pub openings: &'static Openings,
    /// Notation of castling in UCI.
    pub castling: CastlingMode,
}

/// Position and the moves that were played from it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explored {
    pub fen: String,
    /// Results of the games that reached the position.
    #[serde(flatten)]
    pub results: Counts,
    /// Mean rating of the players of these games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average_rating: Option<u64>,
    /// Results of the games that end at the position.
    pub ended: Counts,
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

#[derive(Clone, Copy, Default, Serialize)]
pub struct Counts {
    pub white: u64,
    pub draws: u64,
    pub black: u64,
}

impl Counts {
    pub fn games(self) -> u64 {
        self.white + self.draws + self.black
    }
}

impl From<Results> for Counts {
    fn from(
        Results {
            white,
            draws,
            black,
        }: Results,
    ) -> Counts {
        Counts {
            white,
            draws,
            black,
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExploredMove {
    pub uci: String,
    pub san: String,
    #[serde(flatten)]
    pub results: Counts,
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
    pub results: Counts,
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
    pub fn none(position: &Position, names: &Names) -> Explored {
        let zero = Counts::default();
        Explored {
            fen: position.to_string(),
            results: zero,
            average_rating: None,
            ended: zero,
            ended_games: Vec::new(),
            moves: Vec::new(),
            buckets: Vec::new(),
            top_games: Vec::new(),
            recent_games: [],
            opening: names.openings.of(position),
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
        let moves: Vec<ExploredMove> = played
            .moves
            .iter()
            .map(|of_move| {
                explored_move(
                    played,
                    of_move,
                    results,
                    evaluations.next().flatten(),
                    names,
                )
            })
            .collect();
        let named = |(n, bucket): (usize, &Bucket)| NamedBucket {
            name: names
                .buckets
                .as_ref()
                .map_or_else(String::new, |buckets| buckets.name(n)),
            games: bucket_counts(bucket),
        };
        let ratings = Details {
            buckets: played.buckets(),
            games: Vec::new(),
        }
        .ratings();
        Explored {
            fen: played.position.to_string(),
            results: results.into(),
            average_rating: rounded(ratings.average()),
            ended: played.ended.into(),
            ended_games: played
                .ended_details
                .games
                .iter()
                .map(|game| game_of(*game, names))
                .collect(),
            moves,
            buckets: if names.buckets.is_some() {
                all.iter().enumerate().map(named).collect()
            } else {
                Vec::new()
            },
            top_games: played
                .top_games()
                .into_iter()
                .map(|(m, game)| top_game(m, game, names))
                .collect(),
            recent_games: [],
            opening: names.openings.of(&played.position),
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
    let games = results.games() as f64;
    ExploredMove {
        uci: uci(*m, names),
        san: SanPlus::from_move(chess.clone(), *m).to_string(),
        results: (*results).into(),
        share: games / all.games() as f64,
        score: results.score(chess.turn()),
        average_rating: rounded(details.ratings().average()),
        buckets: if names.buckets.is_some() {
            details.buckets.iter().map(bucket_counts).collect()
        } else {
            Vec::new()
        },
        games: details
            .games
            .iter()
            .map(|game| game_of(*game, names))
            .collect(),
        game: of_move.only_game().map(|game| top_game(*m, game, names)),
        opening: names.openings.of(&after(chess, *m)),
        evaluation,
    }
}

fn bucket_counts(bucket: &Bucket) -> BucketCounts {
    BucketCounts {
        results: bucket.results.into(),
        average_rating: rounded(bucket.ratings.average()),
    }
}

fn rounded(rating: Option<f64>) -> Option<u64> {
    rating.map(|rating| rating.round() as u64)
}

fn game_of(game: GameRef, names: &Names) -> Game {
    let (mut id, mut url, mut source, mut number) = (None, None, None, None);
    match game.id() {
        at @ GameId::Lichess(_) => {
            id = Some(at.to_string());
            url = at.url();
        }
        GameId::Listed { source: n, game } => {
            source = Some(
                names
                    .sources
                    .get(usize::from(n))
                    .cloned()
                    .unwrap_or_else(|| format!("source {n}")),
            );
            number = Some(u64::from(game) + 1);
        }
    }
    Game {
        id,
        url,
        source,
        number,
        winner: game.winner(),
        rating: game.rating(),
    }
}

fn top_game(m: Move, game: GameRef, names: &Names) -> TopGame {
    TopGame {
        uci: uci(m, names),
        id: game.id().to_string(),
        winner: game.winner(),
        rating: game.rating(),
    }
}
