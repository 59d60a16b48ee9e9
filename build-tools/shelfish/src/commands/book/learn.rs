//! `shelfish book learn`: adds games to a learning book.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use indicatif::HumanCount;
use serde::Serialize;
use sha2::{Digest, Sha256};
use shakmaty::{CastlingMode, Color, Move};
use shelfish::position::Position;
use shelfish_analysis::pgn::{GameTexts, PgnErrorKind, PgnGame, read_main_line};

use crate::book::learning::{GameToLearn, Learned, Learning};
use crate::games::result_of;
use crate::input::{Dump, Input, MEMORY};
use crate::system::quantity;
use crate::terminal::progress::{Progress, Work};
use crate::terminal::report::{self, write_counts};
use crate::terminal::shown::{beginning, shown};
use crate::{BoxError, Outcome};

/// Number of games of a transaction. Other programs wait during a transaction.
const BATCH: usize = 500;
/// Maximum number of errors and unusable games that are printed individually.
const MAX_PRINTED: u64 = 20;

/// Add games to a learning book, which is created if necessary.
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  shelfish book learn games.pgn --player Alice --into my.sqlite
  shelfish book learn lichess_alice.pgn.zst --player alice --player alice_otb --into my.sqlite --max-plies 40
  shelfish book learn masters.pgn.bz2 --into masters.sqlite
  tail -n +1 game.pgn | shelfish book learn - --player Shelfish --into my.sqlite --json

With --player, only moves of that player are learned; otherwise moves of both sides. Wins, draws and losses are counted for
the side that moves. A game counts once per position, with its last move from there. A game is learned only once, even if it
is given repeatedly. Several runs may write to a book at the same time. A game with an error, such as an illegal move, is
learned up to the error. A game without a result only increases the frequency.

The book is an SQLite file with a table `moves`: position, move, frequency, wins, draws, losses.
`shelfish book pick` and the option BookFile of `shelfish engine` play from it.

Exit codes: 0 if the games were learned, even with errors in games; 1 otherwise; 2 if the usage is wrong.")]
pub struct LearnArgs {
    /// Games in PGN, plain or compressed with zstd, gzip or bzip2: files, https:// URLs, or `-` for standard input
    #[arg(required = true, value_name = "GAMES")]
    games: Vec<PathBuf>,
    /// File of the learning book
    #[arg(long, value_name = "FILE")]
    into: PathBuf,
    /// Learn the moves of this player, ignoring case; may be given several times
    #[arg(long, value_name = "NAME")]
    player: Vec<String>,
    /// Learn the first N moves of each game
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = quantity::integer(0_u32, u32::MAX))]
    max_plies: u32,
    #[command(flatten)]
    output: report::Output,
}

/// Summary of the games.
#[derive(Debug, Default, Serialize)]
struct Summary {
    /// Number of games found.
    read: u64,
    /// Number of games learned.
    learned: u64,
    /// Number of games that were known.
    known: u64,
    /// Number of games of other players.
    others: u64,
    /// Number of games without a move of chess or Chess960.
    unusable: u64,
    /// Number of games with an error.
    errors: u64,
    /// Number of games of which lines that are no tags or words that are no moves were skipped.
    skipped: u64,
    /// Number of learned games without a result that were unknown for both sides.
    without_result: u64,
    /// Number of moves learned.
    moves: u64,
    /// Counts of the book after learning.
    book: Holds,
}

#[derive(Debug, Default, Serialize)]
struct Holds {
    positions: u64,
    moves: u64,
    games: u64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n| HumanCount(n).to_string();
        writeln!(f, "games read   {:>15}", count(self.read))?;
        writeln!(
            f,
            "learned      {:>15}   {} moves",
            count(self.learned),
            count(self.moves)
        )?;
        write_counts(
            f,
            [
                ("games that had been learned before", self.known),
                ("games of other players", self.others),
                ("games that cannot be used", self.unusable),
                ("games with an error, learned up to there", self.errors),
                ("games without a result", self.without_result),
                ("games with skipped words or broken tags", self.skipped),
            ],
        )?;
        let Holds {
            positions,
            moves,
            games,
        } = self.book;
        writeln!(
            f,
            "the book has {:>15} positions, {} moves of {} games",
            count(positions),
            count(moves),
            count(games)
        )
    }
}

/// Learns games and prints a summary.
pub fn learn(args: LearnArgs) -> Outcome {
    let mut book = Learning::create(&args.into)?;
    let mut summary = Summary::default();
    let (mut waiting, mut failures) = (Vec::new(), 0);
    for path in &args.games {
        let source = Input::from(path.as_path());
        let failed =
            |error: io::Error| -> BoxError { format!("cannot read {source}: {error}").into() };
        let read = Arc::new(AtomicU64::new(0));
        let dump = Dump::open(&source, read.clone(), MEMORY).map_err(failed)?;
        let work = Work {
            phase: "learning",
            done: read,
            total: dump.size,
            is_bytes: true,
            positions: None,
        };
        let _progress = Progress::start(work, args.output.quiet);
        for game in GameTexts::new(dump.text().map_err(failed)?) {
            let game = game.map_err(failed)?;
            let game = read_main_line(&game.text, game.line);
            if let Some(error) = &game.error {
                summary.errors += u64::from(!matches!(error.kind, PgnErrorKind::Variant(_)));
                failures += 1;
                if failures <= MAX_PRINTED {
                    eprintln!(
                        "shelfish: {}",
                        shown(&format!(
                            "{source}: line {}: {}",
                            error.line,
                            beginning(&error.kind.to_string())
                        ))
                    );
                }
            }
            summary.read += 1;
            summary.skipped += u64::from(game.skipped.tags + game.skipped.words > 0);
            match to_learn(&game, &args, &mut summary) {
                Some(game) => waiting.push(game),
                None => continue,
            }
            if waiting.len() == BATCH {
                step(&mut book, &mut waiting, &mut summary)?;
            }
        }
        // A game that arrives through a pipe is learned at once.
        step(&mut book, &mut waiting, &mut summary)?;
    }
    let [positions, moves, games] = book.counts()?;
    summary.book = Holds {
        positions,
        moves,
        games,
    };
    args.output.print(&summary)?;
    Ok(ExitCode::SUCCESS)
}

fn step(
    book: &mut Learning,
    waiting: &mut Vec<GameToLearn>,
    summary: &mut Summary,
) -> Result<(), BoxError> {
    let Learned {
        games,
        moves,
        without_result,
    } = book.learn(waiting)?;
    summary.learned += games;
    summary.known += waiting.len() as u64 - games;
    summary.moves += moves;
    summary.without_result += without_result;
    waiting.clear();
    Ok(())
}

/// Returns the data of a game to learn, unless there is nothing to learn.
fn to_learn(game: &PgnGame, args: &LearnArgs, summary: &mut Summary) -> Option<GameToLearn> {
    let is_other = matches!(
        game.error.as_ref().map(|error| &error.kind),
        Some(PgnErrorKind::Variant(_))
    );
    if is_other || game.game.moves().is_empty() {
        summary.unusable += 1;
        return None;
    }
    let is_ours = |tag: &str| {
        let name = game.tag(tag).unwrap_or_default().trim().to_lowercase();
        args.player.is_empty()
            || args
                .player
                .iter()
                .any(|player| player.trim().to_lowercase() == name)
    };
    let sides = u8::from(is_ours("White")) | u8::from(is_ours("Black")) << 1;
    if sides == 0 {
        summary.others += 1;
        return None;
    }
    let winner = result_of(game).map(|results| match (results.white, results.black) {
        (1, _) => Some(Color::White),
        (_, 1) => Some(Color::Black),
        _ => None,
    });
    Some(GameToLearn {
        hash: hash(game),
        sides,
        moves: last_moves(game, args.max_plies as usize),
        winner,
    })
}

/// Returns each position of a game with the last move played from it, without the position in which the game ends, as in a
/// book that `shelfish book build` makes.
fn last_moves(game: &PgnGame, max_plies: usize) -> Vec<(Position, Move)> {
    let visited = game.game.last_moves(max_plies).into_iter();
    visited
        .filter_map(|visit| Some((Position::from_chess(&visit.position), visit.last_move?)))
        .collect()
}

/// Returns the hash that identifies a game: its moves, its result, and the tags for players, time and place.
fn hash(game: &PgnGame) -> [u8; 16] {
    let mut hash = Sha256::new();
    let mut add = |text: &str| {
        hash.update(text.as_bytes());
        hash.update([0]);
    };
    for tag in [
        "Event", "Site", "Date", "UTCDate", "UTCTime", "Round", "White", "Black",
    ] {
        add(game.tag(tag).unwrap_or_default().trim());
    }
    add(&Position::from_chess(game.game.start()).to_string());
    game.game
        .moves()
        .iter()
        .for_each(|m| add(&m.to_uci(CastlingMode::Chess960).to_string()));
    let result = result_of(game).map(|results| [results.white, results.draws, results.black]);
    add(&format!("{result:?}"));
    let digest = hash.finalize();
    core::array::from_fn(|n| digest[n])
}
