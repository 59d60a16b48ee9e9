//! State of the engine between commands.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, EnPassantMode};
use shelfish::eval::PositionEval;
use shelfish_endgames::Tables;
use shelfish_engine::{FenError, Game, Histories, Level, Limits, Position, Remaining, Table};

use super::command::{Command, Go};
use super::options::Options;
use super::worker::{Output, Task, Worker};
use super::{output, print, report};
use crate::BoxError;
use crate::book::Book;
use crate::database::blocking::Database;
use crate::database::endgames::EndgameTables;

/// Error of a `position` command with an invalid FEN.
#[derive(Debug, thiserror::Error)]
#[error("position: {0}")]
struct PositionError(FenError);

/// State of a UCI engine.
pub struct Session {
    out: Output,
    options: Options,
    /// The error of an invalid FEN, because the game before it is not the GUI's.
    game: Result<Game, PositionError>,
    table: Arc<Table>,
    histories: Vec<Histories>,
    database: Option<Arc<Database<PositionEval>>>,
    book: Option<Arc<Mutex<Book>>>,
    endgames: Option<Arc<Tables>>,
    worker: Option<Worker>,
}

impl Session {
    /// Creates an engine that writes its answers to `out`.
    pub fn new(out: Output) -> Session {
        let options = Options::default();
        Session {
            out,
            table: Arc::new(Table::new(options.hash << 20)),
            options,
            game: Ok(Game::new(Position::default())),
            histories: Vec::new(),
            database: None,
            book: None,
            endgames: None,
            worker: None,
        }
    }

    /// Handles a command. Returns `false` after `quit`.
    pub fn handle(&mut self, line: &str) -> bool {
        match Command::parse(line) {
            None => {}
            Some(Command::Uci) => {
                let about = concat!(
                    "id name Shelfish ",
                    env!("CARGO_PKG_VERSION"),
                    "\nid author the Shelfish authors\n"
                );
                print(&self.out, &format!("{about}{}uciok\n", Options::describe()));
            }
            Some(Command::IsReady) => print(&self.out, "readyok\n"),
            Some(Command::NewGame) => {
                self.stop();
                self.table.clear();
                self.histories.clear();
            }
            Some(Command::SetOption { name, value }) => {
                self.stop();
                if let Err(error) = self.set(&name, &value) {
                    report(&self.out, &error);
                }
            }
            Some(Command::Position { fen, moves }) => {
                self.stop();
                self.game = self.game(fen.as_deref(), &moves);
                if let Err(error) = &self.game {
                    report(&self.out, error);
                }
            }
            Some(Command::Go(go)) => self.go(&go),
            Some(Command::Stop) => self.stop(),
            Some(Command::PonderHit) => self.worker.iter().for_each(Worker::ponder_hit),
            Some(Command::Quit) => {
                self.stop();
                return false;
            }
        }
        true
    }

    /// Changes an option. Without a valid value, there is no database, book or table.
    fn set(&mut self, name: &str, value: &str) -> Result<(), BoxError> {
        self.options.set(name, value)?;
        let value = Some(value).filter(|value| !["", "<empty>"].contains(value));
        match name.to_ascii_lowercase().as_str() {
            "hash" => {
                // The old table is freed first, because memory might not suffice for two tables.
                self.table = Arc::new(Table::new(0));
                self.table = Arc::new(Table::new(self.options.hash << 20));
            }
            "evaldatabase" => {
                self.database = None;
                self.database = opened("EvalDatabase", value.map(Database::begin))?.map(Arc::new);
            }
            "bookfile" => {
                self.book = None;
                let book = value.map(|name| Book::open(name, Database::begin));
                self.book = opened("BookFile", book)?.map(|book| Arc::new(Mutex::new(book)));
            }
            "syzygypath" => {
                self.endgames = None;
                let tables = value.map(EndgameTables::open_path);
                self.endgames = opened("SyzygyPath", tables)?.map(Arc::new);
            }
            "clear hash" => self.table.clear(),
            _ => {}
        }
        Ok(())
    }

    /// Waits for the end of a search. Stops an infinite search.
    pub fn wait(&mut self) {
        if self.worker.as_ref().is_some_and(Worker::is_held) {
            self.stop();
        }
        self.collect();
    }

    fn go(&mut self, go: &Go) {
        self.stop();
        let game = match &self.game {
            Ok(game) => game.clone(),
            Err(error) => {
                report(&self.out, error);
                return print(&self.out, &output::best_move(&[], CastlingMode::Standard));
            }
        };
        for (name, value) in &go.unreadable {
            report(
                &self.out,
                &format_args!("go {name}: expected a number, found \"{value}\"; 0 is used"),
            );
        }
        let position = game.position();
        let own = usize::from(!position.turn().is_white());
        let moves = go.search_moves.iter().filter_map(|text| {
            let legal = position.legal_move(text);
            if legal.is_none() {
                report(
                    &self.out,
                    &format_args!("searchmoves: expected a legal move, found \"{text}\""),
                );
            }
            legal
        });
        let moves = moves.collect();
        let mut limits = Limits::default();
        // A search for a mate that does not exist ends, too.
        let deep = go.mate.map(|moves| 4 * moves as usize + 8);
        (limits.depth, limits.nodes, limits.mate) = (go.depth.or(deep), go.nodes, go.mate);
        (limits.moves, limits.lines) = (moves, self.options.lines);
        let overhead = Duration::from_millis(self.options.overhead);
        // A side without a clock uses the clock of the opponent.
        let clock = |side: usize| Some((go.time[side]?, go.increment[side]));
        let has_rest = go.increment != [None; 2] || go.moves_to_go.is_some();
        let rest = has_rest.then_some((Duration::ZERO, None));
        if let Some((time, increment)) = clock(own).or(clock(1 - own)).or(rest) {
            let clock = Remaining {
                time,
                increment: increment.unwrap_or_default(),
                moves: go.moves_to_go,
            };
            limits = limits.on_clock(clock, overhead);
        }
        limits.deadline = go.move_time.or(limits.deadline);
        let bounded = limits.depth.is_some() || limits.nodes.is_some() || limits.mate.is_some();
        let hold = go.infinite || go.ponder || !(bounded || limits.deadline.is_some());
        let task = Task {
            game,
            limits,
            hold,
            mode: output::mode(self.options.chess960),
            database: self.database.clone(),
            book: self.book.clone().filter(|_| self.options.own_book),
            endgames: self.endgames.clone(),
            level: self
                .options
                .limits_strength
                .then(|| Level::of(self.options.elo)),
        };
        let mut histories = std::mem::take(&mut self.histories);
        histories.resize_with(self.options.threads, Histories::default);
        self.worker = Some(Worker::start(
            task,
            Arc::clone(&self.table),
            histories,
            Arc::clone(&self.out),
        ));
    }

    /// Builds the game of a `position` command. Reports an illegal move, at which the game ends.
    fn game(&self, fen: Option<&str>, moves: &[String]) -> Result<Game, PositionError> {
        let start = fen.map_or_else(|| Ok(Position::default()), str::parse);
        let mut game = Game::new(start.map_err(PositionError)?);
        for found in moves {
            let position = game.position();
            let Some(m) = position.legal_move(found) else {
                let fen = Fen::from_position(position.chess(), EnPassantMode::Legal);
                report(
                    &self.out,
                    &format_args!("position: expected a legal move, found \"{found}\" in {fen}"),
                );
                break;
            };
            game.play(m);
        }
        Ok(game)
    }

    /// Stops the search and waits for its end.
    fn stop(&mut self) {
        self.worker.iter().for_each(Worker::stop);
        self.collect();
    }

    fn collect(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.histories = worker.join();
        }
    }
}

/// Adds the name of an option to the error of its value.
fn opened<T, E: fmt::Display>(
    name: &str,
    opened: Option<Result<T, E>>,
) -> Result<Option<T>, String> {
    opened
        .transpose()
        .map_err(|error| format!("{name}: {error}"))
}
