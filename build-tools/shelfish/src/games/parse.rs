//! Books as a kind of record: games in PGN and books of engines to positions, each with the played moves and their results.

use std::fmt;
use std::io::{self, Read};
use std::ops::AddAssign;
use std::sync::{Arc, Mutex};

use indicatif::HumanCount;
use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};
use shakmaty::Position as _;
use shelfish::played::{Played, PlayedMove, Results};
use shelfish::position::Key;
use shelfish_analysis::LastMove;
use shelfish_analysis::pgn::{self, GameText, GameTexts, PgnErrorKind, PgnGame, read_main_line};

use super::Selection;
use super::details::GameDetails;
use super::tally::{self, END, Entry, KEPT, MoveSum};
use crate::build::kind::Kind;
use crate::build::rejects;
use crate::build::spool::{OverLimit, SpoolError, move_code, move_of};
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
    /// Number of games of which lines that are no tags or words that are no moves were skipped.
    pub skipped: u64,
    /// Number of games without a result.
    pub without_result: u64,
    /// Number of games that the selection leaves out.
    pub left_out: u64,
    /// Numbers of games with an error, in the order of `ERRORS`.
    #[serde(serialize_with = "errors")]
    pub errors: [u64; ERRORS.len()],
}

/// The errors of games.
pub const ERRORS: [&str; 5] = [
    "not a move",
    "illegal move",
    "broken comment or variation",
    "malformed FEN",
    "too long",
];

fn error_number(kind: &PgnErrorKind) -> usize {
    match kind {
        PgnErrorKind::Move { .. } => 1,
        PgnErrorKind::Comment | PgnErrorKind::Variation => 2,
        PgnErrorKind::Fen(_) => 3,
        PgnErrorKind::TooLong | PgnErrorKind::TooManyMoves => 4,
        _ => 0,
    }
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

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.read += other.read;
        self.games += other.games;
        self.whole_games += other.whole_games;
        self.cut += other.cut;
        self.other_variants += other.other_variants;
        self.skipped += other.skipped;
        self.without_result += other.without_result;
        self.left_out += other.left_out;
        self.errors
            .iter_mut()
            .zip(other.errors)
            .for_each(|(sum, count)| *sum += count);
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
                ("games left out by the selection", self.left_out),
                ("games with skipped words or broken tags", self.skipped),
                ("games of other variants, not used", self.other_variants),
            ],
        )?;
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
        Ok(())
    }
}

/// The kind of a build of played moves.
#[derive(Clone)]
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
    pub fn hashes(&self) -> Vec<String> {
        self.hashes
            .lock()
            .map_or_else(|_| Vec::new(), |hashes| hashes.clone())
    }

    /// Returns the result of a game, or `None` if the game is not used. Counts the game.
    fn use_of(&self, game: &PgnGame, is_whole: bool, counts: &mut Counts) -> Option<Results> {
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
        } else if !self.selection.contains(game) {
            counts.left_out += 1;
            return None;
        }
        counts.games += 1;
        counts.cut += u64::from(error.is_some());
        Some(results)
    }
}

/// Returns the result of a game: the result after its moves, or else that of the tag.
pub(crate) fn result_of(game: &PgnGame) -> Option<Results> {
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

impl Kind for Games {
    type Record = Played;
    type Chunk = Vec<GameText>;
    type Counts = Counts;

    fn chunks(&self, dump: Dump) -> Box<dyn Iterator<Item = io::Result<Vec<GameText>>>> {
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
            (!games.is_empty()).then_some(Ok(games))
        }))
    }

    fn bytes(games: &Vec<GameText>) -> usize {
        games.iter().map(|game| game.text.len()).sum()
    }

    fn parse(
        &self,
        source: &Input,
        games: &Vec<GameText>,
        counts: &mut Counts,
        push: &mut dyn FnMut(&Key, &[u8]) -> io::Result<()>,
        rows: &mut String,
    ) -> io::Result<u64> {
        let wanted = &self.selection.details;
        let entry = |code, results, game: GameDetails| Entry {
            code,
            results,
            bucket: game.bucket,
            ratings: game.ratings,
            games: game.reference.into_iter().collect(),
        };
        let mut payload = Vec::new();
        let source_number = self.source_number(source);
        let is_whole = self.selection.whole.contains(source);
        let max_plies = match is_whole {
            true => usize::MAX,
            false => self.selection.max_plies,
        };
        let mut count = 0;
        for text in games {
            counts.read += 1;
            let game = read_main_line(&text.text, text.line);
            counts.skipped += u64::from(game.skipped.tags + game.skipped.words > 0);
            let used = self.use_of(&game, is_whole, counts);
            if let Some(error) = &game.error {
                let fact = error.kind.to_string();
                *rows += &rejects::row(source, error.line, "game", &fact, text.text.as_bytes());
            }
            let Some(results) = used else { continue };
            let number = text.number.wrapping_sub(1);
            let details = wanted.of(&game, results, source_number, number, is_whole);
            for LastMove { key, last_move, .. } in game.game.last_moves(max_plies) {
                payload.clear();
                if is_whole {
                    let code = KEPT;
                    Entry {
                        code,
                        ..Entry::default()
                    }
                    .push(&mut payload);
                }
                let code = last_move.map_or(END, move_code);
                entry(code, results, details).push(&mut payload);
                push(&key, &payload)?;
                count += 1;
            }
        }
        Ok(count)
    }

    fn merge(&self, payloads: &[u8]) -> Result<Vec<u8>, SpoolError> {
        tally::merge(payloads, &self.selection.details)
    }

    fn payload(&self, played: &Played) -> Vec<u8> {
        tally::payload(played)
    }

    fn keeps_bases(&self) -> bool {
        self.selection.min_games <= 1
    }

    fn fit(&self, _: &[u8], payload: Vec<u8>) -> Result<Option<(Vec<u8>, usize)>, SpoolError> {
        let Selection {
            min_games, details, ..
        } = &self.selection;
        let weight = tally::weight(&payload, details, *min_games)?;
        Ok(weight.map(|weight| (payload, weight)))
    }

    fn decode(&self, key: &[u8], payload: &[u8], _: &mut OverLimit) -> Result<Played, SpoolError> {
        let mut played = Played {
            position: Key::decode(key)?,
            ended: Results::default(),
            ended_details: self.selection.details.no_games(),
            moves: Vec::new(),
        };
        for MoveSum {
            code,
            results,
            details,
        } in tally::moves(payload, &self.selection.details)?
        {
            if code == END {
                (played.ended, played.ended_details) = (results, details);
                continue;
            }
            let m = move_of(code, played.position.chess().board()).ok_or(SpoolError::Move(code))?;
            played.moves.push(PlayedMove {
                m,
                results,
                details,
            });
        }
        Played::sort(&mut played.moves);
        Ok(played)
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
