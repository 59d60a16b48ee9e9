//! Databases of played moves, called books: their records, and the build of a table of games.

mod details;
mod manifest;
mod parse;
mod selection;
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Instant;

use serde::Serialize;
use shelfish::played::{Details, GameId, GameRef, Played};
use shelfish::table::{WriteError, WriterOptions};

use crate::BoxError;
use crate::build::base::{Base, BaseError, Narrow};
use crate::build::gather::gather;
use crate::build::runs::RunFiles;
use crate::build::write::{Content, write};
use crate::build::{BuildError, Files, Options};
use crate::input::DumpKind;
use crate::terminal::report::write_rejected;
use crate::terminal::shown::{counted, shown};

pub use details::Wanted;
pub use manifest::{DetailFacts, InfoError};
pub use parse::Counts;
pub(crate) use parse::result_of;
pub use selection::{Date, RatingRange, Selection, Speed};

use parse::Games;

/// The name of the manifest's entry for the number of games.
const GAMES: &str = "games";
/// The name of the manifest's entry for the number of games that are used to their end.
const WHOLE_GAMES: &str = "whole_games";
/// The name of the manifest's entry for a book that lacks positions of its games, as `shelfish extract` makes it.
pub(crate) const PART: &str = "part";
/// The name of the manifest's entry for the hashes of the inputs.
const SOURCES: &str = "sources";
/// The name of the manifest's entry for the names of the inputs, one per line. References to games count in this order.
pub(crate) const SOURCE_NAMES: &str = "source_names";

/// The summary of the build of a book.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The files.
    #[serde(flatten)]
    pub files: Files,
    /// Number of moves of all positions.
    pub moves: u64,
    /// Number of games, including those of the bases.
    pub games: u64,
    /// Number of positions that too few games reached.
    pub positions_left_out: u64,
    /// Counts of the games of the inputs.
    pub input: Counts,
    /// Duration of the build, in seconds.
    pub seconds: f64,
}

/// Builds a book.
///
/// The previous database stays intact if the build fails.
pub fn build(options: &Options, selection: &Selection) -> Result<Summary, BoxError> {
    let start = Instant::now();
    let dumps = options.open_dumps(DumpKind::Games)?;
    let downloads = dumps.downloads();
    let described = selection.describe();
    let workspace = options.open_workspace::<Played>()?;
    let bases = options
        .bases
        .iter()
        .map(Base::<Played>::open)
        .collect::<Result<Vec<_>, _>>()?;
    let mut known = KnownGames::default();
    for base in &bases {
        known.add_base(base, &described)?;
    }
    let base_positions = bases.iter().map(Base::positions).sum();
    let run_files = RunFiles::new(workspace.dir());
    let first_source = if selection.details.game_ids > 0 {
        known.names.len()
    } else {
        0
    };
    let games = Games::new(selection.clone(), &options.inputs, first_source);
    let (runs, input) = gather(
        &games,
        options,
        dumps,
        &workspace,
        &run_files,
        options.create_rejects()?,
    )?;
    for (source, hash) in options.inputs.iter().zip(games.hashes()) {
        if !known.add(
            &hash,
            source.file_name().unwrap_or_else(|| source.to_string()),
        ) {
            return Err(format!(
                "{source} has the same games as another input, or as an input of a base"
            )
            .into());
        }
    }
    known.games += input.games;
    known.whole_games += input.whole_games;
    let kept = options.kept_shards(&bases, &workspace)?;
    let moved =
        |first: usize| (first > 0 && selection.details.game_ids > 0).then(|| renumbered(first));
    let bases = bases
        .into_iter()
        .zip(&known.firsts)
        .map(|(base, first)| base.read(moved(*first), options.threads));
    let bases = bases.collect::<Result<_, _>>()?;
    let mut info = described.clone();
    info.insert(GAMES.to_owned(), known.games.to_string());
    if known.whole_games > 0 {
        info.insert(WHOLE_GAMES.to_owned(), known.whole_games.to_string());
    }
    if selection.details.game_ids > 0 {
        info.insert(SOURCES.to_owned(), known.hashes.join(" "));
        info.insert(SOURCE_NAMES.to_owned(), known.names.join("\n"));
    } else {
        info.insert(
            SOURCES.to_owned(),
            known.sources.into_iter().collect::<Vec<_>>().join(" "),
        );
    }
    // No book has so many positions that its pages should be larger.
    let page_blocks = options
        .page_blocks
        .unwrap_or(WriterOptions::default().page_blocks);
    let content = Content {
        kind: games,
        runs,
        bases,
        base_positions,
        info,
        kept,
        page_blocks,
        min_bytes: 0,
    };
    let written = write(options, &workspace, &run_files, content);
    let written = written.map_err(|error| match error.in_workspace(&workspace) {
        BuildError::Write(WriteError::Empty) => {
            let report = input.report_empty();
            BuildError::Other(format!("nothing to write: no position is left; {report}"))
        }
        error => error,
    })?;
    Ok(Summary {
        files: Files::of::<Played>(&written, base_positions, described, &downloads)?,
        moves: written.manifest.total("moves"),
        games: known.games,
        positions_left_out: written.left_out,
        input,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// The games of the bases and the inputs.
#[derive(Default)]
struct KnownGames {
    games: u64,
    /// Number of games that are used to their end.
    whole_games: u64,
    /// The hashes of the inputs.
    sources: BTreeSet<String>,
    /// The hash and the name of each input, those of the bases first. References count in this order.
    hashes: Vec<String>,
    names: Vec<String>,
    /// Number of inputs before the inputs of each base.
    firsts: Vec<usize>,
}

/// Returns the weight of a record.
pub fn weight_of(played: &Played) -> usize {
    let ended = &played.ended_details;
    let references = played.moves.iter().map(|played| played.details.games.len());
    Played::weight(
        played.moves.len(),
        ended.buckets.len(),
        references.sum::<usize>() + ended.games.len(),
    )
}

/// Returns the function that adds `first` to the numbers of inputs in a base's references to games.
fn renumbered(first: usize) -> Narrow<Played> {
    let moved = move |details: &mut Details| {
        let number = |game: GameRef| match game.id() {
            GameId::Listed {
                source,
                game: number,
            } => {
                let source = u16::try_from(usize::from(source) + first).ok()?;
                GameRef::new(
                    GameId::Listed {
                        source,
                        game: number,
                    },
                    game.rating(),
                    game.result(),
                )
            }
            GameId::Lichess(_) => Some(game),
        };
        details.games = details.games.iter().copied().filter_map(number).collect();
        GameRef::settle(&mut details.games, Details::MAX_REFERENCES);
    };
    Box::new(move |mut played| {
        moved(&mut played.ended_details);
        played
            .moves
            .iter_mut()
            .for_each(|played| moved(&mut played.details));
        let weight = weight_of(&played);
        Ok(Some((played, weight)))
    })
}

impl KnownGames {
    /// Adds an input. Returns false if its games are known already.
    fn add(&mut self, hash: &str, name: String) -> bool {
        self.hashes.push(hash.to_owned());
        // A name must be a single line.
        self.names.push(name.replace(char::is_control, "\u{fffd}"));
        self.sources.insert(hash.to_owned())
    }

    fn add_base(
        &mut self,
        base: &Base<Played>,
        described: &BTreeMap<String, String>,
    ) -> Result<(), BaseError> {
        let mut wanted = described.clone();
        if let Some((_, least)) = base.info().iter().find(|(name, _)| name == "min_games") {
            let why = format!(
                "positions of fewer than {least} games were left out of it, so counts would be wrong: build it with --min-games 1"
            );
            return Err(base.error(why));
        }
        if base.info().iter().any(|(name, _)| name == PART) {
            return Err(base.error(
                "it is a part of a book (`shelfish extract`) and lacks positions of its games, so counts would be wrong: build on \
                 the whole book",
            ));
        }
        if wanted.remove("min_games").is_some()
            && base.info().iter().any(|(name, _)| name == WHOLE_GAMES)
        {
            return Err(base.error(
                "it has games that are used whole, and does not say which positions are theirs, so --min-games would leave them \
                 out: build from all inputs at once",
            ));
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
                        if !self.add(hash, name.to_owned()) {
                            let comma = if name.is_empty() { "" } else { ", " };
                            let name = shown(name);
                            return Err(base.error(format!(
                                "it has games of an input of another base{comma}{name}"
                            )));
                        }
                    }
                }
                SOURCE_NAMES => {}
                _ if wanted.remove(name).as_ref() == Some(value) => {}
                _ => {
                    let build = match described.get(name) {
                        Some(build) => format!("this build says {build:?}"),
                        None => "this build does not".to_owned(),
                    };
                    return Err(base.error(format!(
                        "its manifest says {name} = {value:?}, {build}: give the same options"
                    )));
                }
            }
        }
        match wanted.pop_first() {
            None => Ok(()),
            Some((name, build)) => Err(base.error(format!(
                "this build says {name} = {build:?}, its manifest does not: give the same options"
            ))),
        }
    }
}

/// Formats the most important counts for humans.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [games, positions, moves] = [
            (self.games, "game"),
            (self.files.positions, "position"),
            (self.moves, "move"),
        ]
        .map(|(count, noun)| counted(count, noun));
        let size = self.files.size();
        writeln!(
            f,
            "{games}, {positions}, {moves}, {size}, {:.1} s",
            self.seconds
        )?;
        write_rejected(
            f,
            self.input.errors.iter().sum(),
            self.input.read,
            "games with an error",
        )?;
        self.files.write_downloads(f)?;
        writeln!(f, "{}", self.files.integrity)
    }
}
