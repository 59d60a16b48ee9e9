//! The WASM module of `shelfish/engine`.
//!
//! A running search receives no messages. [`pause`] therefore suspends the module from time to time, and resumes it later:
//! `wasm-opt --asyncify` makes this possible (see `build-tools/xtask/src/npm.rs`). Errors are plain objects.
#![cfg(target_arch = "wasm32")]

use std::time::Duration;

use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};
use shelfish::position::uci;
use shelfish_engine::{
    Bound, Control, FenError, Game, Histories, Level, Limits, Line, Remaining, STRONGEST, Table,
    UciScore, WEAKEST, play, search,
};
use shelfish_wasm_shared::WasmError;
use wasm_bindgen::prelude::*;

/// Size of the memory for the frames of a suspended search, in bytes.
const STACK: usize = 1 << 19;

// Functions instead of methods: a frame that refers to an object of JavaScript cannot be suspended.
#[wasm_bindgen(raw_module = "./engine/host.js")]
extern "C" {
    /// Returns a time in milliseconds.
    fn now() -> f64;

    /// Whether to stop. May suspend the search.
    fn pause() -> bool;

    /// Reports a variation of an iteration. `more` announces another variation. Scores are from White's point of view.
    #[allow(
        clippy::too_many_arguments,
        reason = "numbers are cheaper than objects"
    )]
    fn report(
        more: bool,
        depth: usize,
        deepest: usize,
        nodes: f64,
        is_mate: bool,
        score: i32,
        uci: &str,
        san: &str,
    );
}

/// Notation of moves.
#[derive(Clone, Copy)]
struct Style {
    chess960: bool,
    san: bool,
}

/// A player below full strength, and the seed of its choice.
type Player = Option<(Level, u64)>;

struct Task {
    game: Game,
    limits: Limits,
    style: Style,
    player: Player,
}

/// The engine of a Worker.
#[wasm_bindgen]
pub struct Engine {
    table: Table,
    histories: Histories,
    task: Option<Task>,
    chosen: usize,
    stack: Box<[u64]>,
}

#[wasm_bindgen]
impl Engine {
    /// Returns an engine with a transposition table of `bytes` bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: usize) -> Engine {
        let stack = vec![0; STACK / 8].into_boxed_slice();
        Engine {
            table: Table::new(bytes),
            histories: Histories::default(),
            task: None,
            chosen: 0,
            stack,
        }
    }

    /// Returns the memory for the frames of a suspended search.
    pub fn stack(&self) -> *const u64 {
        self.stack.as_ptr()
    }

    /// Returns the size of this memory, in bytes.
    pub fn stack_bytes(&self) -> usize {
        STACK
    }

    /// Clears the transposition table and the histories.
    pub fn clear(&mut self) {
        self.table.clear();
        self.histories = Histories::default();
    }

    /// Sets the position, the moves from the position in UCI, separated by spaces, and the limits. A limit of 0 is no limit.
    /// `mate` is the number of moves of a mate that is enough. `only` contains the moves to search, or is empty for all. With
    /// `elo`, a player of this rating chooses by `seed`. Returns the first four fields of the FEN.
    #[allow(
        clippy::too_many_arguments,
        reason = "numbers are cheaper than objects"
    )]
    pub fn prepare(
        &mut self,
        fen: &str,
        moves: &str,
        only: &str,
        depth: usize,
        nodes: f64,
        milliseconds: f64,
        mate: u32,
        lines: usize,
        chess960: bool,
        san: bool,
        elo: u32,
        seed: f64,
    ) -> Result<String, JsValue> {
        let start = fen
            .parse()
            .map_err(|error: FenError| WasmError::new("fen", error.to_string()))?;
        let mut game = Game::new(start);
        for (index, text) in words(moves).enumerate() {
            let m = game
                .position()
                .legal_move(text)
                .ok_or_else(|| illegal("moves", index, text))?;
            game.play(m);
        }
        let chess = game.position().chess().clone();
        if chess.legal_moves().is_empty() {
            return Err(WasmError::over(chess.is_checkmate()).into());
        }
        let chosen = words(only).enumerate();
        let position = game.position();
        let chosen = chosen.map(|(index, text)| {
            position
                .legal_move(text)
                .ok_or_else(|| illegal("searchMoves", index, text))
        });
        let mut limits = Limits::default();
        limits.depth = (depth > 0).then_some(depth);
        limits.nodes = (nodes > 0.0).then_some(nodes as u64);
        limits.deadline = (milliseconds > 0.0).then(|| duration(milliseconds));
        limits.mate = (mate > 0).then_some(mate);
        limits.moves = chosen.collect::<Result<_, _>>()?;
        limits.lines = lines;
        if elo > 0 && !(WEAKEST..=STRONGEST).contains(&elo) {
            let expected =
                format!("elo: expected a rating from {WEAKEST} to {STRONGEST}, found {elo}");
            return Err(WasmError::usage(expected).into());
        }
        let player = (elo > 0).then(|| (Level::of(elo), seed as u64));
        self.task = Some(Task {
            game,
            limits,
            style: Style { chess960, san },
            player,
        });
        Ok(shelfish::position::Position::from_chess(&chess).to_string())
    }

    /// Limits the time of the prepared search by the clock of the side to move: milliseconds left, milliseconds added after
    /// each move, and moves until the next time control, 0 if unknown. Each move loses `overhead` milliseconds.
    pub fn on_clock(&mut self, time: f64, increment: f64, moves: u32, overhead: f64) {
        let moves = (moves > 0).then_some(moves);
        let clock = Remaining {
            time: duration(time),
            increment: duration(increment),
            moves,
        };
        if let Some(task) = &mut self.task {
            let deadline = task.limits.deadline;
            task.limits = std::mem::take(&mut task.limits).on_clock(clock, duration(overhead));
            task.limits.deadline = deadline.or(task.limits.deadline);
        }
    }

    /// Returns whether the prepared position occurred before in its game.
    pub fn is_repeated(&self) -> bool {
        self.task
            .as_ref()
            .is_some_and(|task| task.game.occurrences() > 1)
    }

    /// Returns the index of the variation that the last search chose.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Searches and reports variations. Continues a suspended search.
    pub fn run(&mut self) {
        let Some(task) = self.task.take() else { return };
        let mut control = Slices {
            start: now(),
            task: &task,
            is_stoppable: true,
        };
        let (lines, chosen) = match task.player {
            Some((level, seed)) => play(&task.game, level, seed, &task.limits, &mut control),
            None => (
                search(
                    &task.game,
                    &self.table,
                    &mut self.histories,
                    &task.limits,
                    &mut control,
                ),
                0,
            ),
        };
        self.chosen = chosen;
        if lines.first().is_some_and(|line| line.depth == 0) {
            // Too few nodes for an answer, or stopped at once, so that a small search gives the answer.
            let mut limits = task.limits.clone();
            (limits.depth, limits.nodes, limits.deadline) = (Some(1), None, None);
            control.is_stoppable = false;
            search(
                &task.game,
                &self.table,
                &mut self.histories,
                &limits,
                &mut control,
            );
        }
    }
}

struct Slices<'a> {
    start: f64,
    task: &'a Task,
    is_stoppable: bool,
}

impl Control for Slices<'_> {
    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64((now() - self.start).max(0.0) / 1e3)
    }

    fn stopped(&self, _nodes: u64) -> bool {
        self.is_stoppable && pause()
    }

    fn found(&mut self, lines: &[Line]) {
        let chess = self.task.game.position().chess();
        let white = chess.turn() == Color::White;
        let mut rest = lines.len();
        for line in lines {
            rest -= 1;
            // An incomplete iteration has the previous depth.
            let depth = line.depth - usize::from(line.bound != Bound::Exact);
            let (is_mate, score) = match line.score {
                UciScore::Cp(cp) => (false, cp),
                UciScore::Mate(moves) => (true, moves),
            };
            let (uci, san) = written(chess, &line.moves, self.task.style);
            let score = if white { score } else { -score };
            report(
                rest > 0,
                depth,
                line.seldepth,
                line.nodes as f64,
                is_mate,
                score,
                &uci,
                &san,
            );
        }
    }
}

/// Returns moves in UCI, and in SAN if requested.
fn written(chess: &Chess, line: &[Move], style: Style) -> (String, String) {
    let castling = if style.chess960 {
        CastlingMode::Chess960
    } else {
        CastlingMode::Standard
    };
    let uci: Vec<String> = line.iter().map(|&m| uci(m, castling).to_string()).collect();
    let mut chess = chess.clone();
    let san = line.iter().filter(|_| style.san);
    let san: Vec<String> = san
        .map(|&m| SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string())
        .collect();
    (uci.join(" "), san.join(" "))
}

fn duration(milliseconds: f64) -> Duration {
    Duration::from_secs_f64(milliseconds.max(0.0) / 1e3)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|word| !word.is_empty())
}

fn illegal(list: &str, index: usize, text: &str) -> WasmError {
    WasmError::usage(format!(
        "{list}[{index}]: expected a legal move in UCI, found {}",
        text.escape_debug()
    ))
}
