use std::collections::BTreeMap;
use std::io::Read as _;

use proptest::prelude::*;
use proptest::sample::Index;
use shakmaty::{Chess, Move, Position as _, uci::UciMove};

use super::{Bucket, Details, GameId, GameRef, Played, PlayedMove, Ratings, Results};
use crate::position::{Key, Position};
use crate::table::{Block, Chunk, KeyRange, TableError, WriteError, encode_block, seal};

const WHITE: Results = Results {
    white: 1,
    draws: 0,
    black: 0,
};
const DRAW: Results = Results {
    white: 0,
    draws: 1,
    black: 0,
};
const BLACK: Results = Results {
    white: 0,
    draws: 0,
    black: 1,
};

/// The details in a book: buckets, references of a move.
#[derive(Clone, Copy, Debug, Default)]
struct Wanted {
    buckets: usize,
    games: usize,
}

/// Games that went the same way.
#[derive(Clone, Copy, Debug, Default)]
struct Games {
    results: Results,
    bucket: usize,
    /// Rating of each game.
    rating: Option<u64>,
    game: u32,
}

/// Games added up without thought: a map from positions to moves.
#[derive(Default)]
struct Tally(BTreeMap<Key, Played>, Wanted);

impl Tally {
    /// Adds games that went so.
    fn add(&mut self, start: &Chess, moves: &[Move], results: Results) {
        self.add_games(
            start,
            moves,
            Games {
                results,
                ..Games::default()
            },
        );
    }

    fn add_games(&mut self, start: &Chess, moves: &[Move], games: Games) {
        let wanted = self.1;
        let none = || Details {
            buckets: vec![Bucket::default(); wanted.buckets],
            games: Vec::new(),
        };
        let mut chess = start.clone();
        let mut last: BTreeMap<Key, (Chess, Option<Move>)> = BTreeMap::new();
        for m in moves.iter().copied().map(Some).chain([None]) {
            last.insert(Position::from_chess(&chess).key(), (chess.clone(), m));
            if let Some(m) = m {
                chess.play_unchecked(m);
            }
        }
        for (key, (chess, m)) in last {
            let position = Position::from_chess(&chess);
            let empty = Played {
                position,
                ended: Results::default(),
                ended_details: none(),
                moves: Vec::new(),
            };
            let played = self.0.entry(key).or_insert(empty);
            let (sum, details) = match m {
                None => (&mut played.ended, &mut played.ended_details),
                Some(m) => {
                    let n = played
                        .moves
                        .iter()
                        .position(|played| played.m == m)
                        .unwrap_or_else(|| {
                            played.moves.push(PlayedMove {
                                m,
                                results: Results::default(),
                                details: none(),
                            });
                            played.moves.len() - 1
                        });
                    let PlayedMove {
                        results, details, ..
                    } = &mut played.moves[n];
                    (results, details)
                }
            };
            *sum = sum.checked_add(games.results).expect("few games");
            if let Some(bucket) = details.buckets.get_mut(games.bucket) {
                let count = games.rating.map_or(0, |_| games.results.games());
                let ratings = Ratings {
                    games: count,
                    sum: count * games.rating.unwrap_or(0),
                };
                *bucket = bucket
                    .checked_add(Bucket {
                        results: games.results,
                        ratings,
                    })
                    .expect("few games");
            }
            let id = GameId::Listed {
                source: 0,
                game: games.game,
            };
            details
                .games
                .extend(GameRef::new(id, games.rating, games.results));
            GameRef::settle(&mut details.games, wanted.games);
        }
    }

    fn records(self) -> Vec<Played> {
        let mut records: Vec<Played> = self.0.into_values().collect();
        records
            .iter_mut()
            .for_each(|played| Played::sort(&mut played.moves));
        records
    }
}

fn chunk(bytes: &[u8]) -> Chunk {
    Chunk {
        file: "book".into(),
        range: 0..bytes.len() as u64,
        keys: KeyRange::all(),
    }
}

fn read(bytes: &[u8]) -> Result<Vec<Played>, TableError> {
    Block::<Played>::open(bytes, &chunk(bytes))?
        .records()
        .collect()
}

#[track_caller]
fn assert_round_trip(records: &[Played]) {
    let block = encode_block(records).expect("records can be written");
    assert_eq!(read(&block.bytes).as_deref(), Ok(records));
    let opened = Block::<Played>::open(&block.bytes, &chunk(&block.bytes)).expect("a block");
    for record in records {
        assert_eq!(
            opened.find(&record.position).as_ref(),
            Ok(&Some(record.clone()))
        );
    }
    assert_eq!(
        block.totals,
        [records
            .iter()
            .map(|record| record.moves.len() as u64)
            .sum::<u64>()]
    );
    let weights = opened.record_weights().expect("a valid block");
    let weight = |record: &Played| {
        let references = record
            .moves
            .iter()
            .map(|played| played.details.games.len())
            .sum::<usize>();
        Played::weight(
            record.moves.len(),
            record.ended_details.buckets.len(),
            references + record.ended_details.games.len(),
        )
    };
    let expected: Vec<usize> = records.iter().map(weight).collect();
    assert_eq!(
        weights
            .iter()
            .map(|record| record.weight)
            .collect::<Vec<_>>(),
        expected
    );
    let copy = opened.reuse(block.bytes.clone());
    assert_eq!(
        (copy.positions, copy.totals),
        (block.positions, block.totals)
    );
}

fn moves(start: &Chess, words: &str) -> Vec<Move> {
    let mut chess = start.clone();
    let play = |word: &str| {
        let m = word
            .parse::<UciMove>()
            .expect("UCI")
            .to_move(&chess)
            .expect(word);
        chess.play_unchecked(m);
        m
    };
    words.split_whitespace().map(play).collect()
}

/// Returns a record of these moves without details.
fn played(position: &Position, moves: Vec<(Move, Results)>) -> Played {
    let moves = moves
        .into_iter()
        .map(|(m, results)| PlayedMove {
            m,
            results,
            details: Details::default(),
        })
        .collect();
    Played {
        position: position.clone(),
        ended: Results::default(),
        ended_details: Details::default(),
        moves,
    }
}

#[test]
fn every_kind_of_move_survives_a_round_trip() {
    for (fen, games) in [
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -",
            &["e2e4 e7e5 g1f3", "d2d4", "", "g1f3 e7e5 e2e4"][..],
        ),
        (
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq -",
            &["e1h1 e8a8", "e1a1 e8h8", "e1f1 e8f8", "a1a8 e8e7"],
        ),
        (
            "1k6/8/8/8/8/8/8/RK2R3 w EA -",
            &["b1e1 b8b7", "b1a1", "b1c1 b8b7"],
        ),
        ("4k3/8/8/8/8/8/8/5KR1 w G -", &["f1g1 e8e7", "f1e1"]),
        (
            "4k3/P6p/8/3Pp3/8/8/8/4K3 w - e6",
            &["d5e6 h7h5 a7a8n", "a7a8q e8d7", "a7a8r", "d5d6 h7h5"],
        ),
        (
            "4k3/8/8/8/5p2/8/4P3/4K3 w - -",
            &["e2e4 f4e3", "e2e4 f4f3", "e2e3 f4e3"],
        ),
        (
            "4k3/8/8/8/8/8/8/4K3 w - -",
            &["e1e2 e8e7 e2e1 e7e8 e1d1", "e1e2 e8e7 e2e1 e7e8"],
        ),
    ] {
        let start = fen.parse::<Position>().expect(fen).chess().clone();
        let mut tally = Tally::default();
        for (n, game) in games.iter().enumerate() {
            tally.add(&start, &moves(&start, game), [WHITE, DRAW, BLACK][n % 3]);
        }
        assert_round_trip(&tally.records());
    }
}

#[test]
fn a_double_push_and_two_single_steps_lead_to_different_positions() {
    // After e2e4 Black may capture en passant, after e2e3 and e3e4 not: two positions, and the second position has
    // fewer games.
    let start = "4k3/8/8/8/5p2/8/4P3/4K3 w - -"
        .parse::<Position>()
        .expect("a position")
        .chess()
        .clone();
    let mut tally = Tally::default();
    tally.add(
        &start,
        &moves(&start, "e2e4 e8e7"),
        Results {
            white: 9,
            draws: 3,
            black: 0,
        },
    );
    tally.add(&start, &moves(&start, "e2e3 e8d8 e3e4 d8e8 e1e2"), BLACK);
    let still = "4k3/8/8/8/4Pp2/8/8/4K3 b - -"
        .parse::<Position>()
        .expect("a position")
        .chess()
        .clone();
    tally.add(&still, &moves(&still, "e8e7"), DRAW);
    assert_round_trip(&tally.records());
}

#[test]
fn counts_up_to_the_limit_survive_a_round_trip_and_larger_counts_are_errors() {
    let position = Position::from_chess(&Chess::default());
    let m = moves(position.chess(), "e2e4")[0];
    let record = |white: u64, draws: u64| {
        played(
            &position,
            vec![(
                m,
                Results {
                    white,
                    draws,
                    black: 0,
                },
            )],
        )
    };
    assert_round_trip(&[record(Results::MAX_GAMES, 0)]);
    assert_round_trip(&[record(7, Results::MAX_GAMES - 7)]);
    for record in [
        record(Results::MAX_GAMES, 1),
        record(u64::MAX, u64::MAX),
        record(0, 0),
    ] {
        assert!(matches!(
            encode_block(&[record]),
            Err(WriteError::Block { .. })
        ));
    }
    let illegal = moves(&Chess::default(), "e2e4 e7e5")[1];
    assert!(matches!(
        encode_block(&[played(&position, vec![(illegal, WHITE)])]),
        Err(WriteError::Block { .. })
    ));
}

/// Records of games of random moves with common beginnings. Half of the books contain results alone.
fn records() -> impl Strategy<Value = Vec<Played>> {
    let game = (
        proptest::collection::vec(any::<Index>(), 0..40),
        0..3usize,
        1..200u64,
        any::<Index>(),
        0..4096u64,
    );
    let wanted = prop_oneof![
        Just((0, 0)),
        (0..5usize, 0..4usize),
        (0..=64usize, 0..=16usize)
    ];
    (proptest::collection::vec(game, 1..24), wanted).prop_map(|(games, (buckets, most))| {
        let mut tally = Tally(
            BTreeMap::new(),
            Wanted {
                buckets,
                games: most,
            },
        );
        for (game, (choices, result, many, bucket, rating)) in games.into_iter().enumerate() {
            let mut chess = Chess::default();
            let mut line = Vec::new();
            for (ply, choice) in choices.into_iter().enumerate() {
                let legal = chess.legal_moves();
                if legal.is_empty() {
                    break;
                }
                // Few choices at first, so that games meet.
                let m = legal[choice.index(legal.len().min(if ply < 12 { 2 } else { 40 }))];
                line.push(m);
                chess.play_unchecked(m);
            }
            let counts: [u64; 3] =
                core::array::from_fn(|n| if n == result { many } else { many / 7 });
            let results = Results {
                white: counts[0],
                draws: counts[1],
                black: counts[2],
            };
            let results = if many % 5 == 0 {
                [WHITE, DRAW, BLACK][result]
            } else {
                results
            };
            let (bucket, rating) = (
                bucket.index(buckets.max(1)),
                (rating > 400).then_some(rating),
            );
            tally.add_games(
                &Chess::default(),
                &line,
                Games {
                    results,
                    bucket,
                    rating,
                    game: game as u32,
                },
            );
        }
        tally.records()
    })
}

proptest! {
    #[test]
    fn any_subset_of_records_survives_a_round_trip(records in records(), keep in any::<u64>()) {
        let some: Vec<Played> =
            records.into_iter().enumerate().filter(|(n, _)| keep >> (n % 64) & 1 == 1).map(|(_, record)| record).collect();
        if !some.is_empty() {
            assert_round_trip(&some);
        }
    }

    #[test]
    fn flipped_bits_with_a_valid_checksum_do_not_panic(
        records in records(),
        flips in proptest::collection::vec((any::<Index>(), 0..8u32), 1..6),
    ) {
        let block = encode_block(&records).expect("records can be written");
        let mut content = content_of(&block.bytes);
        for (at, bit) in flips {
            let at = at.index(content.len());
            content[at] ^= 1 << bit;
        }
        let mut bytes = zstd::bulk::compress(&content, 1).expect("memory");
        seal(&mut bytes);
        if let Ok(read) = read(&bytes) {
            // Every readable record is consistent: all games of a position have a move or end.
            for played in &read {
                prop_assert!(played.results().is_some_and(|results| results.games() > 0));
                prop_assert!(played.moves.iter().all(|played| played.results.games() > 0));
                prop_assert!(played.buckets().iter().all(Bucket::is_consistent));
            }
            assert_round_trip(&read);
        }
    }
}

/// Returns the content of a sealed frame.
fn content_of(bytes: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let decoder = zstd::Decoder::with_buffer(bytes).expect("a zstd frame");
    let mut frame = decoder.single_frame();
    frame.read_to_end(&mut content).expect("a zstd frame");
    content
}

/// Returns one position with two moves and all details.
fn detailed() -> Played {
    let position = Position::from_chess(&Chess::default());
    let bucket = |white, black, games, sum| Bucket {
        results: Results {
            white,
            draws: 0,
            black,
        },
        ratings: Ratings { games, sum },
    };
    let game = |game, rating| {
        GameRef::new(GameId::Listed { source: 1, game }, Some(rating), WHITE).expect("a reference")
    };
    let details = |first: u32| Details {
        buckets: vec![
            bucket(3, 1, 4, 6_800),
            bucket(0, 0, 0, 0),
            bucket(2, 2, 3, 4_650),
        ],
        games: vec![game(first, 2_000), game(first + 1, 1_500)],
    };
    let results = Results {
        white: 5,
        draws: 0,
        black: 3,
    };
    let moves = ["e2e4", "d2d4"]
        .map(|word| moves(position.chess(), word)[0])
        .into_iter()
        .zip([0, 7]);
    let moves = moves.map(|(m, first)| PlayedMove {
        m,
        results,
        details: details(first),
    });
    let mut moves: Vec<PlayedMove> = moves.collect();
    Played::sort(&mut moves);
    Played {
        position,
        ended: Results::default(),
        ended_details: Details {
            buckets: vec![Bucket::default(); 3],
            games: Vec::new(),
        },
        moves,
    }
}

#[test]
fn details_that_contradict_the_results_are_errors() {
    let refused = |change: &dyn Fn(&mut Details)| {
        let mut record = detailed();
        change(&mut record.moves[0].details);
        assert!(matches!(
            encode_block(&[record]),
            Err(WriteError::Block { .. })
        ));
    };
    refused(&|details| details.buckets[0].results.white += 1);
    refused(&|details| details.buckets.truncate(2));
    refused(&|details| details.buckets[0].ratings.games = 5);
    refused(&|details| details.buckets[0].ratings.sum = 4 * 4_095 + 1);
    refused(&|details| details.buckets[1].ratings.sum = 1);
    refused(&|details| details.buckets.resize(65, Bucket::default()));
    refused(&|details| details.games = vec![details.games[0]; 17]);
    refused(&|details| details.games.reverse());
}
