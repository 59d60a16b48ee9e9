//! `shelfish book build`: a database of played moves from games.

use std::path::PathBuf;

use shelfish::played::Bucketing;

use crate::BoxError;
use crate::commands::table_args::{Built, TableArgs, inputs};
use crate::games::{self, Date, RatingRange, Selection, Speed, Wanted};
use crate::system::quantity;

/// Build a database of played moves from games.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish book build games.pgn.zst -o book --max-plies 30 --min-games 2
  shelfish book build https://database.lichess.org/standard/lichess_db_standard_rated_2013-01.pgn.zst -o book
  shelfish book build games.pgn.zst -o book --buckets speeds,1600,2000 --average-ratings --game-ids 4
  shelfish book build games.pgn.zst -o book --buckets 2200,2500,since1990,since2010
  shelfish book build games.pgn.zst -o book --ratings 2000- --speeds blitz,rapid --since 2013-01 --until 2013-06
  shelfish book build games.pgn.zst -o book --max-plies 24 --min-games 5 --whole repertoire.pgn
  shelfish book build --base book february.pgn.bz2 -o book

For each position, the database counts the played moves with White's wins, draws and Black's wins. A game counts once for a
position, with the last move that it played there. Games of other variants and games without a result are counted and not
used. A game with an error, such as an illegal move, is used up to the error.

--buckets counts results by speed (base time plus 40 increments, cut at 30, 180, 480, 1,500 and 21,600 s), by the mean of the
players' ratings, and by year. --game-ids stores the games of a move with the highest ratings: games of Lichess by the address in
their tag Site, others by the name of their input and their number in it. All bases must be built with the same options.

The same input gives the same bytes for any number of threads and any memory. If a build fails, the database in DIR is
unchanged. With --base, the result is byte for byte that of a build from all inputs at once. Games on a host are downloaded as by `shelfish build`.

Sizes have a unit: KiB, MiB and GiB are powers of 1024, kB, MB and GB are powers of 1000. A number alone counts MiB.

Exit codes: 0 if the database was built, even with rejected games; 1 if not; 2 for wrong usage; 130 and 143 if interrupted.")]
#[group(id = "games_args")]
pub struct Args {
    /// Games in PGN, plain or compressed with zstd, gzip or bzip2. A file, an https:// URL, or
    /// `-` for standard input
    #[arg(required_unless_present_any = ["base", "whole"], value_name = "SOURCE")]
    pub(in crate::commands) sources: Vec<PathBuf>,
    #[command(flatten)]
    pub(in crate::commands) table: TableArgs,
    /// Use the first N moves of each game
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = quantity::integer(0_u32, u32::MAX))]
    max_plies: u32,
    /// Leave out positions that fewer than N games reached
    #[arg(long, value_name = "N", value_parser = quantity::integer(1_u64, u64::MAX))]
    min_games: Option<u64>,
    /// Use games with a mean rating of the players in this range: 1600-2200, 2000-, -1500
    #[arg(long, value_name = "RANGE", allow_hyphen_values = true)]
    ratings: Option<RatingRange>,
    /// Use games of these speeds, separated by commas
    #[arg(long, value_name = "SPEED", value_delimiter = ',')]
    speeds: Vec<Speed>,
    /// Use games since this date: 2013, 2013-01, 2013-01-31
    #[arg(long, value_name = "DATE")]
    since: Option<Date>,
    /// Use games until this date
    #[arg(long, value_name = "DATE")]
    until: Option<Date>,
    /// Use all games of this file to their end with all of their positions, regardless of the other options that select games.
    /// Repeatable
    #[arg(long, value_name = "SOURCE")]
    pub(in crate::commands) whole: Vec<PathBuf>,
    /// Count results separately by speed, rating and year: `speeds`, the lower bounds of ratings, the first years of periods,
    /// `speeds,1600,2000,since1990`
    #[arg(long, value_name = "BUCKETS")]
    buckets: Option<Bucketing>,
    /// Store the average rating of the games of each move, in each bucket
    #[arg(long)]
    average_ratings: bool,
    /// Store references to the N games of each move with the highest ratings
    #[arg(long, value_name = "N", value_parser = quantity::integer(1, Wanted::MAX_GAME_IDS))]
    game_ids: Option<u8>,
    /// Store references only to games of Lichess and of --whole, which readers of the book can open
    #[arg(long, requires = "game_ids")]
    linked_games_only: bool,
}

impl Args {
    /// Returns the selection.
    fn selection(&self) -> Selection {
        Selection {
            max_plies: self.max_plies as usize,
            min_games: self.min_games.unwrap_or(1),
            ratings: self.ratings.clone(),
            speeds: self.speeds.clone(),
            since: self.since,
            until: self.until,
            whole: inputs(&self.whole),
            details: Wanted {
                buckets: self.buckets.clone(),
                ratings: self.average_ratings,
                game_ids: self.game_ids.unwrap_or(0),
                linked_only: self.linked_games_only,
            },
        }
    }

    pub(in crate::commands) fn build_in(
        self,
        out: PathBuf,
        quiet: bool,
    ) -> Result<Built, BoxError> {
        let mut inputs = inputs(&self.sources);
        let selection = self.selection();
        inputs.extend(selection.whole.iter().cloned());
        let summary = games::build(&self.table.options(inputs, out, quiet), &selection)?;
        Ok(Built::Games(Box::new(summary)))
    }
}
