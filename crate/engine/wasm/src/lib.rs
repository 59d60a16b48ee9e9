//! The WASM module of `shelfish/engine`: the search as JavaScript takes it.
//!
//! A search hears nothing while it runs. So it is suspended now and then, within [`pause`], and goes on where it was:
//! `wasm-opt --asyncify` makes the module able to (see `build-tools/xtask/src/npm.rs`). What is wrong goes as an object with
//! a `code` and a `message`.
#![cfg(target_arch = "wasm32")]

use std::time::Duration;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _};
use shelfish::position::uci;
use shelfish_engine::{
    Bound, Control, FenError, Game, Histories, Level, Limits, Line, STRONGEST, Table, UciScore, WEAKEST, play, search,
};
use wasm_bindgen::prelude::*;

/// Smaller and faster than the allocator of the standard library.
#[global_allocator]
static ALLOCATOR: talc::wasm::WasmDynamicTalc = talc::wasm::new_wasm_dynamic_allocator();

/// Bytes for the frames of a search that is suspended.
const STACK: usize = 1 << 19;

// Functions and no methods: a frame that refers to an object of JavaScript could not be suspended.
#[wasm_bindgen(raw_module = "./engine/host.js")]
extern "C" {
    /// Milliseconds since some time.
    fn now() -> f64;

    /// Whether to end. The search may be suspended in here.
    fn pause() -> bool;

    /// A line of an iteration was found; `more` if others of the same iteration follow. Scores are White's.
    #[allow(clippy::too_many_arguments, reason = "numbers are passed for less than objects")]
    fn report(more: bool, depth: usize, deepest: usize, nodes: f64, is_mate: bool, score: i32, uci: &str, san: &str);
}

/// What went wrong, with its code as documented in the package.
#[derive(Serialize)]
struct Failure {
    code: &'static str,
    message: String,
    /// How the game ended, if it is over.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
}

impl From<Failure> for JsValue {
    fn from(failure: Failure) -> JsValue {
        serde_wasm_bindgen::to_value(&failure).unwrap_or_default()
    }
}

/// How moves are written.
#[derive(Clone, Copy)]
struct Style {
    chess960: bool,
    san: bool,
}

/// A player of less than full strength, and the number that its choice depends on.
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
    /// An engine with a transposition table of so many bytes.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: usize) -> Engine {
        let stack = vec![0; STACK / 8].into_boxed_slice();
        Engine { table: Table::new(bytes), histories: Histories::default(), task: None, chosen: 0, stack }
    }

    /// Where frames go when a search is suspended.
    pub fn stack(&self) -> *const u64 {
        self.stack.as_ptr()
    }

    /// How many bytes there are for them.
    pub fn stack_bytes(&self) -> usize {
        STACK
    }

    /// Forgets what was learned of positions.
    pub fn clear(&mut self) {
        self.table.clear();
        self.histories = Histories::default();
    }

    /// Takes a position and moves from there, in UCI with blanks between them, and limits, each 0 for none; `only` are the
    /// moves to look at, all if there are none; with `elo` a player of that rating thinks, and chooses by `seed`. The position
    /// as FEN comes back, four fields.
    #[allow(clippy::too_many_arguments, reason = "numbers are passed for less than objects")]
    pub fn prepare(
        &mut self,
        fen: &str,
        moves: &str,
        only: &str,
        depth: usize,
        nodes: f64,
        milliseconds: f64,
        lines: usize,
        chess960: bool,
        san: bool,
        elo: u32,
        seed: f64,
    ) -> Result<String, JsValue> {
        let start = fen.parse().map_err(|error: FenError| failure("fen", error.to_string()))?;
        let mut game = Game::new(start);
        for (index, text) in words(moves).enumerate() {
            let m = game.position().legal_move(text).ok_or_else(|| unlike("moves", index, text))?;
            game.play(m);
        }
        let chess = game.position().chess().clone();
        if chess.legal_moves().is_empty() {
            let outcome = if chess.is_checkmate() { "checkmate" } else { "stalemate" };
            let message = format!("the game is over by {outcome}, so there is nothing to evaluate");
            return Err(Failure { outcome: Some(outcome), ..failure("over", message) }.into());
        }
        let chosen = words(only).enumerate();
        let position = game.position();
        let chosen =
            chosen.map(|(index, text)| position.legal_move(text).ok_or_else(|| unlike("searchMoves", index, text)));
        let mut limits = Limits::default();
        limits.depth = (depth > 0).then_some(depth);
        limits.nodes = (nodes > 0.0).then_some(nodes as u64);
        limits.deadline = (milliseconds > 0.0).then(|| Duration::from_secs_f64(milliseconds / 1e3));
        limits.moves = chosen.collect::<Result<_, _>>()?;
        limits.lines = lines;
        if elo > 0 && !(WEAKEST..=STRONGEST).contains(&elo) {
            let expected = format!("elo: expected a rating from {WEAKEST} to {STRONGEST}, found {elo}");
            return Err(failure("usage", expected).into());
        }
        let player = (elo > 0).then(|| (Level::of(elo), seed as u64));
        self.task = Some(Task { game, limits, style: Style { chess960, san }, player });
        Ok(shelfish::position::Position::from_chess(&chess).to_string())
    }

    /// The index of the line that the last search would play.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Searches, and tells the host what it finds. Called again while the search is suspended it goes on.
    pub fn run(&mut self) {
        let Some(task) = self.task.take() else { return };
        let mut control = Slices { start: now(), task: &task };
        let (lines, chosen) = match task.player {
            Some((level, seed)) => play(&task.game, level, seed, &task.limits, &mut control),
            None => (search(&task.game, &self.table, &mut self.histories, &task.limits, &mut control), 0),
        };
        self.chosen = chosen;
        if lines.first().is_some_and(|line| line.depth == 0) {
            // Too few nodes for anything: what is said rests on a search, if a small one.
            let mut limits = task.limits.clone();
            (limits.depth, limits.nodes, limits.deadline) = (Some(1), None, None);
            search(&task.game, &self.table, &mut self.histories, &limits, &mut control);
        }
    }
}

struct Slices<'a> {
    start: f64,
    task: &'a Task,
}

impl Control for Slices<'_> {
    fn elapsed(&self) -> Duration {
        Duration::from_secs_f64((now() - self.start).max(0.0) / 1e3)
    }

    fn stopped(&self, _nodes: u64) -> bool {
        pause()
    }

    fn found(&mut self, lines: &[Line]) {
        let chess = self.task.game.position().chess();
        let white = chess.turn() == Color::White;
        let mut rest = lines.len();
        for line in lines {
            rest -= 1;
            // An iteration that was broken off is not that deep yet.
            let depth = line.depth - usize::from(line.bound != Bound::Exact);
            let (is_mate, score) = match line.score {
                UciScore::Cp(cp) => (false, cp),
                UciScore::Mate(moves) => (true, moves),
            };
            let (uci, san) = written(chess, &line.moves, self.task.style);
            let score = if white { score } else { -score };
            report(rest > 0, depth, line.seldepth, line.nodes as f64, is_mate, score, &uci, &san);
        }
    }
}

/// Moves in UCI, and in SAN if it is wanted.
fn written(chess: &Chess, line: &[Move], style: Style) -> (String, String) {
    let castling = if style.chess960 { CastlingMode::Chess960 } else { CastlingMode::Standard };
    let uci: Vec<String> = line.iter().map(|&m| uci(m, castling).to_string()).collect();
    let mut chess = chess.clone();
    let san = line.iter().filter(|_| style.san);
    let san: Vec<String> = san.map(|&m| SanPlus::from_move_and_play_unchecked(&mut chess, m).to_string()).collect();
    (uci.join(" "), san.join(" "))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|word| !word.is_empty())
}

fn failure(code: &'static str, message: String) -> Failure {
    Failure { code, message, outcome: None }
}

fn unlike(list: &str, index: usize, text: &str) -> Failure {
    failure("usage", format!("{list}[{index}]: expected a legal move in UCI, found {}", text.escape_debug()))
}
