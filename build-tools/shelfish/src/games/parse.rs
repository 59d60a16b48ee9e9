//! Parses games in PGN into positions, each with the played move and the result.

use std::fmt;
use std::io::{self, Read};
use std::sync::{Arc, Mutex};

use indicatif::HumanCount;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use shelfish::played::Results;
use shelfish_analysis::LastMove;
use shelfish_analysis::pgn::{self, MainLine, PgnErrorKind, read_main_line};

use super::counted::{self, BookCounts, Counted};
use super::tally::{self, END, Tally};
use super::{LeftOut, Selection};
use crate::build::gather::Parse;
use crate::build::kind::Total;
use crate::build::rejects;
use crate::build::sort::Sorter;
use crate::build::spool::move_code;
use crate::input::game_texts::{GameText, GameTexts, decoded};
use crate::input::{Dump, Input};
use crate::terminal::report::{named, write_counts};

use crate::terminal::shown::hexadecimal;

/// Size of the text for a worker, in bytes.
const CHUNK: usize = 1 << 20;

/// Counts of the games of the inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Number of games found.
    pub read: u64,
    /// Number of games used.
    pub games: u64,
    /// Number of games that were used to their end, regardless of the selection.
    pub whole_games: u64,
    /// Number of games that were used up to an error.
    pub cut: u64,
    /// Number of games of other variants than chess and Chess960.
    pub other_variants: u64,
    /// Number of games without a result.
    pub without_result: u64,
    /// Numbers of games that the selection left out, in the order of [`LeftOut::NAMES`].
    #[serde(serialize_with = "left_out")]
    pub left_out: [u64; LeftOut::NAMES.len()],
    /// Numbers of games with an error, in the order of `ERRORS`.
    #[serde(serialize_with = "errors")]
    pub errors: [u64; ERRORS.len()],
    /// Counts of the moves of books of engines.
    #[serde(skip_serializing_if = "BookCounts::is_empty")]
    pub books: BookCounts,
}

/// The errors of games.
pub const ERRORS: [&str; 6] = [
    "not a move",
    "illegal move",
    "broken tag",
    "broken comment or variation",
    "malformed FEN",
    "too long",
];

fn error_number(kind: &PgnErrorKind) -> usize {
    match kind {
        PgnErrorKind::Move { .. } => 1,
        PgnErrorKind::Tag(_) => 2,
        PgnErrorKind::Comment | PgnErrorKind::Parenthesis | PgnErrorKind::TooDeep => 3,
        PgnErrorKind::Fen(_) => 4,
        PgnErrorKind::TooLong | PgnErrorKind::TooManyMoves => 5,
        _ => 0,
    }
}

fn left_out<S: Serializer>(
    counts: &[u64; LeftOut::NAMES.len()],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named(&LeftOut::NAMES, counts))
}

fn errors<S: Serializer>(counts: &[u64; ERRORS.len()], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(named(&ERRORS, counts))
}

impl Counts {
    /// Reports the counts of a build without a result, on one line.
    pub fn report_empty(&self) -> String {
        let text = self.to_string();
        let lines = text
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        lines.collect::<Vec<_>>().join("; ")
    }
}

impl Total for Counts {
    fn add(&mut self, other: &Counts) {
        self.read += other.read;
        self.games += other.games;
        self.whole_games += other.whole_games;
        self.cut += other.cut;
        self.other_variants += other.other_variants;
        self.without_result += other.without_result;
        self.left_out
            .iter_mut()
            .zip(other.left_out)
            .for_each(|(sum, count)| *sum += count);
        self.errors
            .iter_mut()
            .zip(other.errors)
            .for_each(|(sum, count)| *sum += count);
        self.books.add(other.books);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n| HumanCount(n).to_string();
        writeln!(f, "games read   {:>15}", count(self.read))?;
        write_counts(
            f,
            [
                ("games used whole", self.whole_games),
                ("games without a result, not used", self.without_result),
                ("games of other variants, not used", self.other_variants),
            ],
        )?;
        for (name, n) in named(&LeftOut::NAMES, &self.left_out) {
            writeln!(f, "games left out by the selection ({name}): {}", count(n))?;
        }
        let errors = self.errors.iter().sum::<u64>();
        if errors > 0 {
            writeln!(
                f,
                "games with an error: {}, of which {} are kept up to there",
                count(errors),
                count(self.cut)
            )?;
        }
        for (name, n) in named(&ERRORS, &self.errors) {
            writeln!(f, "  {name}: {}", count(n))?;
        }
        self.books.fmt(f)
    }
}

/// The parser of games for a build.
pub struct Games {
    selection: Selection,
    /// The inputs; references to games count in this order.
    sources: Vec<Input>,
    /// The number of the first input in references.
    first_source: usize,
    /// Hashes of the inputs that were read to their end.
    hashes: Arc<Mutex<Vec<String>>>,
}

impl Games {
    /// Creates a parser of the games in `sources`. In references, the first input has the number `first_source`.
    pub fn new(selection: Selection, sources: &[Input], first_source: usize) -> Games {
        Games {
            selection,
            sources: sources.to_vec(),
            first_source,
            hashes: Arc::default(),
        }
    }

    /// Returns the number of an input in references to its games.
    fn source_number(&self, source: &Input) -> Option<u16> {
        let n = self.sources.iter().position(|other| other == source)?;
        u16::try_from(self.first_source + n).ok()
    }

    /// Returns the hashes of the inputs, in their order.
    pub fn into_hashes(self) -> Vec<String> {
        self.hashes
            .lock()
            .map_or_else(|_| Vec::new(), |mut hashes| core::mem::take(&mut *hashes))
    }

    /// Returns why the selection leaves out a game, if it does.
    fn leaves_out(&self, game: &MainLine) -> Option<LeftOut> {
        let last = match self.selection.ending {
            super::Ending::Any => None,
            _ => game.game.positions().last(),
        };
        self.selection
            .leaves_out(game, last.as_ref().unwrap_or(game.game.start()))
    }

    /// Returns the result of a game, or `None` if the game is not used. Counts the game.
    fn use_of(&self, game: &MainLine, is_whole: bool, counts: &mut Counts) -> Option<Results> {
        let error = game.error.as_ref().map(|error| &error.kind);
        if let Some(PgnErrorKind::Variant(_)) = error {
            counts.other_variants += 1;
            return None;
        }
        if let Some(kind) = error {
            counts.errors[error_number(kind)] += 1;
            if game.game.moves().is_empty() {
                return None;
            }
        }
        let Some(results) = result_of(game) else {
            counts.without_result += 1;
            return None;
        };
        if is_whole {
            counts.whole_games += 1;
        } else if let Some(why) = self.leaves_out(game) {
            counts.left_out[why as usize] += 1;
            return None;
        }
        counts.games += 1;
        counts.cut += u64::from(error.is_some());
        Some(results)
    }
}

/// Returns the result of a game: the result after its moves, or else that of the tag.
pub(crate) fn result_of(game: &MainLine) -> Option<Results> {
    let known = |result: &str| match result {
        "1-0" => Some(Results {
            white: 1,
            ..Results::default()
        }),
        "1/2-1/2" => Some(Results {
            draws: 1,
            ..Results::default()
        }),
        "0-1" => Some(Results {
            black: 1,
            ..Results::default()
        }),
        _ => None,
    };
    game.result
        .and_then(known)
        .or_else(|| known(pgn::result(game.tag("Result")?.trim())?))
}

/// A part of an input.
pub enum Chunk {
    /// Texts of games.
    Games(Vec<GameText>),
    /// Positions of a book whose moves are counted already.
    Counted(Counted),
}

impl Parse for Games {
    type Chunk = Chunk;
    type Counts = Counts;
    type Merging = Tally;

    fn chunks(&self, dump: Dump) -> Box<dyn Iterator<Item = io::Result<Chunk>>> {
        if let Some(book) = dump.book() {
            let chunks = counted::chunks(book, &self.selection.starts, self.hashes.clone());
            return Box::new(chunks.map(|chunk| chunk.map(Chunk::Counted)));
        }
        let text: Box<dyn Read + Send> = match dump.text() {
            Ok(text) => text,
            Err(error) => return Box::new(core::iter::once(Err(error))),
        };
        let hash = Arc::new(Mutex::new(Sha256::new()));
        let hashes = self.hashes.clone();
        let mut texts = GameTexts::new(Hashed {
            text,
            hash: hash.clone(),
        });
        let mut is_over = false;
        Box::new(core::iter::from_fn(move || {
            if is_over {
                return None;
            }
            let (mut games, mut bytes) = (Vec::new(), 0);
            while bytes < CHUNK {
                match texts.next() {
                    Some(Ok(game)) => {
                        bytes += game.text.len();
                        games.push(game);
                    }
                    Some(Err(error)) => {
                        is_over = true;
                        return Some(Err(error));
                    }
                    None => {
                        is_over = true;
                        if let (Ok(hash), Ok(mut hashes)) = (hash.lock(), hashes.lock()) {
                            hashes.push(hexadecimal(&hash.clone().finalize()[..16]));
                        }
                        break;
                    }
                }
            }
            (!games.is_empty()).then_some(Ok(Chunk::Games(games)))
        }))
    }

    fn bytes(chunk: &Chunk) -> usize {
        match chunk {
            Chunk::Games(games) => games.iter().map(|game| game.text.len()).sum(),
            // Positions are small.
            Chunk::Counted(_) => 0,
        }
    }

    fn parse(
        &self,
        source: &Input,
        chunk: &Chunk,
        counts: &mut Counts,
        sorter: &mut Sorter<Tally>,
        rows: &mut String,
    ) -> io::Result<u64> {
        let mut count = 0;
        let mut payload = Vec::new();
        let games = match chunk {
            Chunk::Games(games) => games,
            Chunk::Counted(counted) => {
                counts.games += counted.games;
                counts.books.add(counted.counts);
                for (position, moves) in &counted.positions {
                    payload.clear();
                    for played in moves {
                        match self.selection.details.unknown() {
                            None => tally::push(&mut payload, move_code(played.m), played.results),
                            Some(game) => {
                                let wanted = &self.selection.details;
                                tally::push_detailed(
                                    &mut payload,
                                    move_code(played.m),
                                    played.results,
                                    game,
                                    wanted,
                                );
                            }
                        }
                    }
                    sorter.push(&position.key(), &payload)?;
                }
                return Ok(counted.positions.len() as u64);
            }
        };
        let source_number = self.source_number(source);
        let is_whole = self.selection.whole.contains(source);
        let max_plies = if is_whole {
            usize::MAX
        } else {
            self.selection.max_plies
        };
        for text in games {
            counts.read += 1;
            let game = read_main_line(&decoded(&text.text), text.line);
            let used = self.use_of(&game, is_whole, counts);
            if let Some(error) = &game.error {
                rows.push_str(&rejects::row(
                    source,
                    error.line,
                    "game",
                    &error.kind.to_string(),
                    &text.text,
                ));
            }
            let Some(results) = used else { continue };
            let wanted = &self.selection.details;
            let details = wanted.of(
                &game,
                results,
                source_number,
                text.number.wrapping_sub(1),
                is_whole,
            );
            for LastMove { key, last_move, .. } in game.game.last_moves(max_plies) {
                let code = last_move.map_or(END, move_code);
                payload.clear();
                if is_whole {
                    tally::push_kept(&mut payload);
                }
                match details {
                    None => tally::push(&mut payload, code, results),
                    Some(details) => {
                        tally::push_detailed(&mut payload, code, results, details, wanted)
                    }
                }
                sorter.push(&key, &payload)?;
                count += 1;
            }
        }
        Ok(count)
    }
}

/// A reader that hashes the bytes read.
struct Hashed<R> {
    text: R,
    hash: Arc<Mutex<Sha256>>,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.text.read(buffer)?;
        if let Ok(mut hash) = self.hash.lock() {
            hash.update(&buffer[..length]);
        }
        Ok(length)
    }
}
