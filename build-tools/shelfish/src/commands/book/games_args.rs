//! What `shelfish build` takes for games alone.

use std::path::PathBuf;

use shelfish::played::Bucketing;
use shelfish::position::Position;

use crate::games::{Date, Ending, Range, Selection, Speed, Wanted};
use crate::input::dump::Source;

/// Options of games.
#[derive(clap::Args, Debug)]
#[command(next_help_heading = "Games")]
#[group(id = "games_args")]
pub struct Args {
    /// Leave out positions that fewer than N games reached
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    min_games: Option<u64>,
    /// Use games whose players' ratings have a mean in this range: 1600-2200, 2000-, -1500
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    ratings: Option<Range<u32>>,
    /// Use games of these speeds, separated by commas
    #[arg(long, value_name = "SPEED", value_delimiter = ',')]
    speeds: Vec<Speed>,
    /// Use games played then or later: 2013, 2013-01, 2013-01-31
    #[arg(long, value_name = "DATE")]
    since: Option<Date>,
    /// Use games played then or earlier
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,
    /// Use games that end so on the board
    #[arg(long, value_enum)]
    ending: Option<Ending>,
    /// Leave out games of bots
    #[arg(long)]
    no_bots: bool,
    /// Use the games of this file, too, to their end and with all of their positions, whatever --min-games, --max-plies and
    /// what else chooses say; may be given several times
    #[arg(long, value_name = "SOURCE")]
    whole: Vec<PathBuf>,
    /// Walk through Polyglot books from this position, a FEN; may be given several times [default: the initial position]
    #[arg(long, value_name = "FEN")]
    start: Vec<Position>,
    /// Tell results apart by speed, by rating or by both: `speeds`, ratings at which a bucket begins, `speeds,1600,2000`
    #[arg(long, value_name = "BUCKETS")]
    buckets: Option<Bucketing>,
    /// Tell the average rating of the games of each move, in each bucket
    #[arg(long)]
    average_ratings: bool,
    /// Keep references to up to N games a move, those with the highest ratings
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=Wanted::MAX_GAME_IDS.into()))]
    game_ids: Option<u8>,
    /// Count the games of a source that is part of a base already, or that is named twice
    #[arg(long)]
    pub(crate) again: bool,
}

impl Args {
    /// The name of an option that was given, if any was.
    pub(crate) fn given(&self) -> Option<&'static str> {
        [
            (self.min_games.is_some(), "--min-games"),
            (self.ratings.is_some(), "--ratings"),
            (!self.speeds.is_empty(), "--speeds"),
            (self.since.is_some(), "--since"),
            (self.until.is_some(), "--until"),
            (self.ending.is_some(), "--ending"),
            (self.no_bots, "--no-bots"),
            (!self.whole.is_empty(), "--whole"),
            (!self.start.is_empty(), "--start"),
            (self.buckets.is_some(), "--buckets"),
            (self.average_ratings, "--average-ratings"),
            (self.game_ids.is_some(), "--game-ids"),
            (self.again, "--again"),
        ]
        .into_iter()
        .find_map(|(is_given, name)| is_given.then_some(name))
    }

    /// The sources whose games are used whole.
    pub(crate) fn whole(&self) -> Vec<Source> {
        self.whole.iter().map(|path| Source::from(path.as_path())).collect()
    }

    /// Where they are.
    pub(crate) fn whole_paths(&self) -> &[PathBuf] {
        &self.whole
    }

    /// The selection, with the first `max_plies` moves of each game.
    pub(crate) fn selection(&self, max_plies: Option<u32>) -> Selection {
        let usual = Selection::default();
        let (since, until) = (self.since, self.until);
        let dates = Range { least: since, most: until.map(Date::last) };
        Selection {
            max_plies: max_plies.map_or(usual.max_plies, |plies| plies as usize),
            min_games: self.min_games.unwrap_or(usual.min_games),
            ratings: self.ratings,
            speeds: self.speeds.clone(),
            dates: (since.is_some() || until.is_some()).then_some(dates),
            ending: self.ending.unwrap_or_default(),
            no_bots: self.no_bots,
            whole: self.whole(),
            starts: self.start.clone(),
            details: Wanted {
                buckets: self.buckets.clone(),
                ratings: self.average_ratings,
                game_ids: self.game_ids.unwrap_or(0),
            },
        }
    }
}
