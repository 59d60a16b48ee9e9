//! `shelfish build` of games: from PGN to a book, a database of the moves that were played.

mod counted;
mod details;
mod parse;
mod said;
mod selection;
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Instant;

use indicatif::HumanCount;
use serde::Serialize;
use shelfish::played::{Details, GameId, GameRef, Played};
use shelfish::table::WriteError;

use crate::book::BookFile;
use crate::build::base::{Base, BaseError, BaseFault, Narrow};
use crate::build::disk::Disk;
use crate::build::gather::gather;
use crate::build::rejects::RejectFile;
use crate::build::sort::RunFiles;
use crate::build::write::{Parts, write};
use crate::build::{BuildError, Files, Options, open_workspace};
use crate::input::dump::Dumps;
use crate::terminal::report::write_counts;

pub use counted::BookCounts;
pub use details::Wanted;
pub use parse::Counts;
pub(crate) use parse::result_of;
pub use said::Said;
pub use selection::{Date, Ending, LeftOut, Range, Selection, Speed};

use parse::Games;
use tally::Book;

/// Names of members of a manifest's `info`.
const GAMES: &str = "games";
/// Of a book that has some games to their end, whatever it leaves out of others: how many.
const WHOLE_GAMES: &str = "whole_games";
const SOURCES: &str = "sources";
/// Of a book whose draws stand for weights of which nobody knows the results, as Polyglot has them.
pub const RESULTS: &str = "results";
/// The sources' names, one a line, in the order of [`SOURCES`], which references to games count by.
pub(crate) const SOURCE_NAMES: &str = "source_names";

/// A book, built.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Its files.
    #[serde(flatten)]
    pub files: Files,
    /// Moves of all positions.
    pub moves: u64,
    /// Games, those of the bases included.
    pub games: u64,
    /// Positions that fewer games reached than were asked for.
    pub positions_left_out: u64,
    /// What became of the games of the sources.
    pub input: Counts,
    /// Seconds that the build took.
    pub seconds: f64,
}

/// Builds a book.
///
/// # Errors
///
/// See [`BuildError`]; the previous database is then as it was.
pub fn build(options: &Options, selection: &Selection, again: bool, dumps: Dumps) -> Result<Summary, BuildError> {
    let start = Instant::now();
    let downloads = dumps.downloads();
    let described = described(options, selection, &dumps)?;
    let workspace = open_workspace::<Played>(options)?;
    let bases =
        options.bases.iter().map(Base::<Played>::open).collect::<Result<Vec<_>, _>>().map_err(BuildError::Base)?;
    let mut known = Known::default();
    for base in &bases {
        known.add_base(base, &described, again).map_err(BuildError::Base)?;
    }
    let base_positions = bases.iter().map(Base::positions).sum();
    let run_files = RunFiles::new(workspace.dir(), Disk::new(options.max_disk));
    let rejects = options.rejects.as_deref().map(|path| RejectFile::create(path, &options.sources)).transpose()?;
    let first_source = if selection.details.game_ids > 0 { known.names.len() } else { 0 };
    let games = Games::new(selection.clone(), &options.sources, first_source);
    let (runs, counts) = gather(&games, options, dumps, &workspace, &run_files, rejects.as_ref())?;
    let mut input = Counts::default();
    counts.iter().for_each(|counts| input.add(counts));
    for (source, hash) in options.sources.iter().zip(games.into_hashes()) {
        if !known.add(&hash, source.file_name().unwrap_or_else(|| source.to_string())) && !again {
            return Err(BuildError::Again(source.clone()));
        }
    }
    known.games += input.games;
    known.whole_games += input.whole_games;
    let moved = |first: usize| (first > 0 && selection.details.game_ids > 0).then(|| renumbered(first));
    let bases = bases.into_iter().zip(&known.firsts).map(|(base, first)| base.read(moved(*first), options.threads));
    let bases = bases.collect::<Result<_, _>>().map_err(BuildError::Base)?;
    let mut info = described.clone();
    info.insert(GAMES.to_owned(), known.games.to_string());
    if known.whole_games > 0 {
        info.insert(WHOLE_GAMES.to_owned(), known.whole_games.to_string());
    }
    if selection.details.game_ids > 0 {
        info.insert(SOURCES.to_owned(), known.hashes.join(" "));
        info.insert(SOURCE_NAMES.to_owned(), known.names.join("\n"));
    } else {
        info.insert(SOURCES.to_owned(), known.sources.into_iter().collect::<Vec<_>>().join(" "));
    }
    let kind = Book { min_games: selection.min_games, wanted: selection.details.clone() };
    let parts = Parts { kind, runs, bases, base_positions, info, max_bytes: None };
    let written = write(options, &workspace, &run_files, parts, rejects.as_ref()).map_err(|error| match error {
        BuildError::Write(WriteError::Empty) => BuildError::NoGames(Box::new(input.clone())),
        error => error,
    })?;
    Ok(Summary {
        files: Files::of::<Played>(&written, base_positions, described, downloads.told())?,
        moves: written.manifest.total("moves"),
        games: known.games,
        positions_left_out: written.left_out,
        input,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// What the manifest says of the selection and of the sources.
fn described(options: &Options, selection: &Selection, dumps: &Dumps) -> Result<BTreeMap<String, String>, BuildError> {
    let books = || options.sources.iter().zip(&dumps.dumps).filter_map(|(source, dump)| Some((source, dump.book()?)));
    if let Some((source, _)) =
        books().next().filter(|(source, _)| selection.chooses_games() || selection.whole.contains(source))
    {
        return Err(BuildError::Counted(source.clone()));
    }
    let mut weights = books().filter(|(_, book)| matches!(book, BookFile::Polyglot(_)));
    let mut described = selection.describe();
    if let Some((source, _)) = weights.next() {
        if weights.count() + 1 < options.sources.len() {
            return Err(BuildError::Weights(source.clone()));
        }
        described.insert(RESULTS.to_owned(), "unknown".to_owned());
    }
    Ok(described)
}

/// What is known of the games of the bases.
#[derive(Default)]
struct Known {
    games: u64,
    /// Of these, those that are used to their end.
    whole_games: u64,
    /// Hashes of the sources.
    sources: BTreeSet<String>,
    /// Of each source, those of the bases first, its hash and its name; references count by their order.
    hashes: Vec<String>,
    names: Vec<String>,
    /// Of each base, how many sources come before its own.
    firsts: Vec<usize>,
}

/// Gives references to games of a base's sources the numbers that these have in a list of which they are the later part.
fn renumbered(first: usize) -> Narrow<Played> {
    let moved = move |details: &mut Details| {
        let number = |game: GameRef| match game.id() {
            GameId::Listed { source, game: number } => {
                let source = u16::try_from(usize::from(source) + first).ok()?;
                GameRef::new(GameId::Listed { source, game: number }, game.rating(), game.result())
            }
            GameId::Lichess(_) => Some(game),
        };
        details.games = details.games.iter().copied().filter_map(number).collect();
        GameRef::settle(&mut details.games, Details::MAX_REFERENCES);
    };
    Box::new(move |mut played| {
        moved(&mut played.ended_details);
        played.moves.iter_mut().for_each(|played| moved(&mut played.details));
        let references = played.moves.iter().map(|played| played.details.games.len()).sum::<usize>();
        let buckets = played.ended_details.buckets.len();
        let weight = Played::weight(played.moves.len(), buckets, references + played.ended_details.games.len());
        Ok(Some((played, weight)))
    })
}

impl Known {
    /// Adds a source; false if its games are known already.
    fn add(&mut self, hash: &str, name: String) -> bool {
        self.hashes.push(hash.to_owned());
        // A name has one line.
        self.names.push(name.replace(char::is_control, "\u{fffd}"));
        self.sources.insert(hash.to_owned())
    }

    fn add_base(
        &mut self,
        base: &Base<Played>,
        described: &BTreeMap<String, String>,
        again: bool,
    ) -> Result<(), BaseError> {
        let unlike = |why: String| base.error(BaseFault::Unlike(why));
        let mut wanted = described.clone();
        if let Some((_, least)) = base.info().iter().find(|(name, _)| name == "min_games") {
            let why = format!(
                "positions of fewer than {least} games were left out of it, so that counts would be wrong: \
                 build it with --min-games 1"
            );
            return Err(unlike(why));
        }
        if wanted.remove("min_games").is_some() && base.info().iter().any(|(name, _)| name == WHOLE_GAMES) {
            let why = "it has games that are used whole, and does not tell which positions are theirs, so that \
                       --min-games would leave them out: build of all sources at once";
            return Err(unlike(why.to_owned()));
        }
        self.firsts.push(self.names.len());
        let names = base.info().iter().find(|(name, _)| name == SOURCE_NAMES);
        let mut names = names.map_or("", |(_, names)| names).lines();
        for (name, value) in base.info() {
            match name.as_str() {
                GAMES => self.games += value.parse::<u64>().unwrap_or(0),
                WHOLE_GAMES => self.whole_games += value.parse::<u64>().unwrap_or(0),
                SOURCES => {
                    for hash in value.split_ascii_whitespace() {
                        let name = names.next().unwrap_or_default();
                        if !self.add(hash, name.to_owned()) && !again {
                            let why = "it has games of a source that another base has too; --again counts them twice";
                            return Err(unlike(why.to_owned()));
                        }
                    }
                }
                SOURCE_NAMES => {}
                _ if wanted.remove(name).as_ref() == Some(value) => {}
                _ => {
                    let why =
                        format!("its manifest says {name} = {value:?}, this build says otherwise: give it the same");
                    return Err(unlike(why));
                }
            }
        }
        match wanted.pop_first() {
            None => Ok(()),
            Some((name, value)) => {
                Err(unlike(format!("this build says {name} = {value:?}, its manifest does not: give the same options")))
            }
        }
    }
}

/// A table for people.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n| HumanCount(n).to_string();
        let rate = count((self.input.read as f64 / self.seconds.max(0.001)) as u64);
        writeln!(f, "games        {:>15}   {:.1} s, {rate} read a second", count(self.games), self.seconds)?;
        writeln!(f, "positions    {:>15}", count(self.files.positions))?;
        writeln!(f, "moves        {:>15}", count(self.moves))?;
        self.files.fmt(f)?;
        write_counts(f, [("positions of fewer games left out", self.positions_left_out)])?;
        self.input.fmt(f)
    }
}
