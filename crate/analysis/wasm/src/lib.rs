//! The WASM module of `shelfish/analysis`: reports and annotated PGN.
//!
//! The package's TypeScript encodes evaluations as numbers and text. Reports and errors are plain objects.
#![cfg(target_arch = "wasm32")]

use std::io::Cursor;

use js_sys::Reflect;
use serde::Serialize;
use shakmaty::fen::Epd;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position};
use shelfish_analysis::pgn::{self, GameText, GameTexts, Line, Note, PgnError, PgnGame, Skipped};
use shelfish_analysis::{
    DEFAULT_NODES, Game, GameError, KnownEval, Origin, ReportError, Review, Score, uci,
};
use shelfish_wasm_shared::{WasmError, to_js};
use wasm_bindgen::prelude::*;

fn game_error(error: GameError) -> WasmError {
    let code = if matches!(error, GameError::Fen(_)) {
        "fen"
    } else {
        "usage"
    };
    WasmError::new(code, error.to_string())
}

fn report_error(error: ReportError) -> WasmError {
    WasmError::usage(error.to_string())
}

/// Numbers of an evaluation: centipawns, moves to mate, depth, thousands of nodes, the index of its origin, and centipawns and moves to
/// mate of the second line. A missing number is NaN.
const NUMBERS: usize = 7;

/// Origins by their index.
const ORIGINS: [Origin; 6] = [
    Origin::Database,
    Origin::Pgn,
    Origin::Engine,
    Origin::Uci,
    Origin::Endgames,
    Origin::Engine,
];

/// Index of the engine's own scores, which are not on the scale of Stockfish.
const UNSCALED: usize = 5;

/// Decodes evaluations from their numbers and from lines of moves in UCI. `encode.ts` has checked the numbers.
fn evaluations(numbers: &[f64], lines: &str) -> Result<Vec<Option<KnownEval>>, WasmError> {
    let wrong = |index: usize, expected: &str| {
        WasmError::usage(["evaluations[", &index.to_string(), "]", expected].concat())
    };
    let number = |number: f64| (!number.is_nan()).then_some(number);
    let parsed = |cp: f64, mate: f64| {
        let cp = number(cp).map(|cp| Score::Cp(cp as i32));
        cp.or_else(|| Some(Score::Mate(number(mate)? as i32)))
    };
    let mut known = Vec::new();
    let rows = numbers
        .as_chunks::<NUMBERS>()
        .0
        .iter()
        .zip(lines.split('\n'));
    for (index, (numbers, line)) in rows.enumerate() {
        let [cp, mate, depth, knodes, origin, second_cp, second_mate] = *numbers;
        let Some(score) = parsed(cp, mate) else {
            known.push(None);
            continue;
        };
        if !score.is_in_range() {
            let expected =
                ": expected a score, and no mate in 0, as a game that is over needs none";
            return Err(wrong(index, expected));
        }
        let moves = line.split(' ').filter(|text| !text.is_empty());
        let line: Result<Vec<UciMove>, _> = moves
            .map(|text| UciMove::from_ascii(text.as_bytes()))
            .collect();
        let found = KnownEval {
            score,
            depth: number(depth).map(|depth| depth as u16),
            knodes: number(knodes).map(|knodes| knodes as u64),
            line: line.map_err(|_| wrong(index, ".line: expected moves in UCI such as e2e4"))?,
            second: parsed(second_cp, second_mate).filter(|score| score.is_in_range()),
            origin: ORIGINS[(origin as usize).min(UNSCALED)],
        };
        let is_unscaled = origin as usize == UNSCALED;
        known.push(Some(if is_unscaled { found.scaled() } else { found }));
    }
    Ok(known)
}

/// Parses moves in UCI, separated by spaces.
fn game(fen: Option<&str>, moves: &str) -> Result<Game, WasmError> {
    Game::from_uci(fen, moves.split(' ').filter(|text| !text.is_empty())).map_err(game_error)
}

/// Reports on a game. `moves` are in UCI, separated by spaces.
#[wasm_bindgen]
pub fn report(
    fen: Option<String>,
    moves: &str,
    numbers: &[f64],
    lines: &str,
) -> Result<JsValue, JsValue> {
    let mut review = GameReview::new(fen, moves, 0.0)?;
    review.give(numbers, lines)?;
    Ok(review.report())
}

/// Annotates the first game of a PGN.
#[wasm_bindgen]
pub fn annotate(text: &str, numbers: &[f64], lines: &str) -> Result<String, JsValue> {
    let work = || -> Result<_, WasmError> {
        let (_, mut game) = first_game(text)?;
        shelfish_analysis::annotate(&mut game, &evaluations(numbers, lines)?)
            .map_err(report_error)?;
        Ok(game.to_string())
    };
    Ok(work()?)
}

/// A review of a game, which decides what an engine searches.
#[wasm_bindgen]
pub struct GameReview {
    review: Review,
}

/// Positions to search one after the other.
#[derive(Serialize)]
struct Searches {
    /// Indices of the positions.
    positions: Vec<usize>,
    fens: Vec<String>,
    nodes: u64,
    lines: usize,
}

#[wasm_bindgen]
impl GameReview {
    /// Creates a review of a game, whose moves are in UCI, separated by spaces. With `nodes` 0, the number of nodes is the default.
    #[wasm_bindgen(constructor)]
    pub fn new(fen: Option<String>, moves: &str, nodes: f64) -> Result<GameReview, JsValue> {
        let nodes = if nodes > 0.0 {
            nodes as u64
        } else {
            DEFAULT_NODES
        };
        Ok(GameReview {
            review: Review::new(game(fen.as_deref(), moves)?, nodes),
        })
    }

    /// Adds evaluations of a database or a PGN, one for each position of the game.
    pub fn give(&mut self, numbers: &[f64], lines: &str) -> Result<(), JsValue> {
        Ok(self
            .review
            .give(&evaluations(numbers, lines)?)
            .map_err(report_error)?)
    }

    /// Returns the searches of the next pass, or an empty list after the last pass.
    pub fn next_pass(&mut self) -> JsValue {
        let sequences = self.review.next_pass().into_iter();
        let fen = |index: &usize| self.review.positions()[*index].to_string();
        let searches = sequences.map(|sequence| Searches {
            fens: sequence.positions.iter().map(fen).collect(),
            positions: sequence.positions,
            nodes: sequence.nodes,
            lines: sequence.lines,
        });
        to_js(&searches.collect::<Vec<_>>())
    }

    /// Adds the result of a search.
    pub fn answer(&mut self, index: usize, numbers: &[f64], line: &str) -> Result<(), JsValue> {
        match evaluations(numbers, line)?.pop().flatten() {
            Some(found) => Ok(self.review.answer(index, found).map_err(report_error)?),
            None => Ok(()),
        }
    }

    /// Returns the report by the evaluations so far.
    pub fn report(&self) -> JsValue {
        let report = self.review.report();
        let value = to_js(&report);
        let moves = Reflect::get(&value, &"moves".into()).unwrap_or_default();
        for (n, found) in report.moves.iter().enumerate() {
            if let (Some(uci), Some(san)) = (&found.best, &found.best_san)
                && let Ok(item) = Reflect::get_u32(&moves, n as u32)
            {
                let _ = Reflect::set(&item, &"best".into(), &to_js(&Best { uci, san }));
            }
        }
        value
    }

    /// Returns the evaluations that count, one for each position of the game.
    pub fn evaluations(&self) -> JsValue {
        to_js(&Known::all(&self.review.evaluations()))
    }

    /// Annotates the first game of a PGN, which must be the game of the review.
    pub fn annotate(&self, text: &str) -> Result<String, JsValue> {
        let (_, mut game) = first_game(text)?;
        shelfish_analysis::annotate_review(&mut game, &self.review).map_err(report_error)?;
        Ok(game.to_string())
    }
}

/// A game of a PGN.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    number: u64,
    line: u64,
    text: String,
    tags: Vec<(String, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fen: Option<String>,
    moves: Vec<String>,
    positions: Vec<String>,
    evaluations: Vec<Option<Known>>,
    comments: Vec<String>,
    tree: Vec<Node>,
    result: Option<&'static str>,
    is_check: bool,
    is_stalemate: bool,
    error: Option<String>,
    error_at: Option<usize>,
    skipped: [u32; 3],
}

/// The best move.
#[derive(Serialize)]
struct Best<'a> {
    uci: &'a str,
    san: &'a str,
}

/// A move of a game, with its annotations.
#[derive(Serialize)]
struct Node {
    san: String,
    uci: String,
    nags: Vec<u8>,
    before: Vec<String>,
    comments: Vec<String>,
    variations: Vec<Vec<Node>>,
}

/// An evaluation.
#[derive(Serialize)]
struct Known {
    from: Origin,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    knodes: Option<u64>,
    pvs: Vec<Pv>,
}

/// A variation. Only the score of a second line is known.
#[derive(Serialize)]
struct Pv {
    #[serde(skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    score: String,
    uci: Vec<String>,
}

impl Known {
    fn all(evaluations: &[Option<KnownEval>]) -> Vec<Option<Known>> {
        let known = evaluations.iter().map(Option::as_ref);
        known.map(|known| known.map(Known::new)).collect()
    }

    fn new(known: &KnownEval) -> Known {
        let pv = |score: Score, line: &[UciMove]| {
            let (cp, mate) = score.cp_and_mate();
            Pv {
                cp,
                mate,
                score: score.to_string(),
                uci: line.iter().map(ToString::to_string).collect(),
            }
        };
        let first = pv(known.score, &known.line);
        let second = known.second.map(|score| pv(score, &[]));
        Known {
            from: known.origin,
            depth: known.depth,
            knodes: known.knodes,
            pvs: [first].into_iter().chain(second).collect(),
        }
    }
}

/// Reads the games of a file, one at a time.
#[wasm_bindgen]
pub struct GameReader {
    texts: GameTexts<Cursor<Vec<u8>>>,
    castling: CastlingMode,
}

#[wasm_bindgen]
impl GameReader {
    /// Creates a reader of a file.
    #[wasm_bindgen(constructor)]
    pub fn new(file: Vec<u8>, chess960: bool) -> GameReader {
        GameReader {
            texts: GameTexts::new(Cursor::new(file)),
            castling: CastlingMode::from_chess960(chess960),
        }
    }

    /// Reads the next game. Returns `undefined` after the last game.
    pub fn next_game(&mut self) -> JsValue {
        let text = self.texts.next().and_then(Result::ok);
        text.map_or(JsValue::UNDEFINED, |text| {
            let game = pgn::read(&text.text, text.line);
            to_js(&read_game(text, game, self.castling))
        })
    }
}

/// Reads the first game of a PGN.
#[wasm_bindgen]
pub fn read(text: &str, chess960: bool) -> Result<JsValue, JsValue> {
    let (text, game) = first_game(text)?;
    let castling = CastlingMode::from_chess960(chess960);
    Ok(to_js(&read_game(text, game, castling)))
}

fn read_game(
    GameText { number, line, text }: GameText,
    game: PgnGame,
    castling: CastlingMode,
) -> Read {
    let positions: Vec<Chess> = game.game.positions().collect();
    let fen = game.tag("FEN").map(|fen| fen.replace('_', " "));
    let fen = fen.filter(|fen| !matches!(fen.trim(), "" | "?"));
    let epd = |position| Epd::from_position(position, EnPassantMode::Legal).to_string();
    let uci = |m: &Move| uci(*m, castling).to_string();
    let Skipped {
        tags,
        words,
        variations,
    } = game.skipped;
    let mut start = game.start().clone();
    Read {
        number,
        line,
        fen,
        moves: game.game.moves().iter().map(uci).collect(),
        is_check: start.is_check(),
        is_stalemate: positions.last().is_some_and(Position::is_stalemate),
        positions: positions.iter().map(epd).collect(),
        evaluations: Known::all(&game.evaluations()),
        comments: comments(&game.line.notes),
        tree: nodes(&game.line, &mut start, Vec::new(), castling),
        result: game.result,
        error_at: game.error.as_ref().map(|error| offset(&text, line, error)),
        error: game.error.map(|error| error.to_string()),
        tags: game.tags,
        skipped: [tags, words, variations],
        text,
    }
}

/// Returns the offset of an error in a text, in units of UTF-16, as JavaScript counts them.
fn offset(text: &str, first: u64, error: &PgnError) -> usize {
    let units = |text: &str| text.encode_utf16().count();
    let mut lines = text.split_inclusive('\n');
    let before: usize = (first..error.line)
        .filter_map(|_| lines.next().map(units))
        .sum();
    let line = lines.next().unwrap_or_default().chars();
    before
        + line
            .take(error.column as usize - 1)
            .map(char::len_utf16)
            .sum::<usize>()
}

/// Returns the moves of a line from a position, up to the first that is not legal. The first move has comments before it.
fn nodes(
    line: &Line,
    position: &mut Chess,
    mut before: Vec<String>,
    castling: CastlingMode,
) -> Vec<Node> {
    let mut nodes = Vec::new();
    for step in &line.moves {
        let Some(m) = step.m else { break };
        let variations = step.notes.iter().filter_map(|note| match note {
            Note::Variation(line) => {
                let position = &mut position.clone();
                Some(self::nodes(line, position, comments(&line.notes), castling))
                    .filter(|nodes| !nodes.is_empty())
            }
            _ => None,
        });
        let variations = variations.collect();
        let nags = step.notes.iter().filter_map(|note| match note {
            Note::Nag(nag) => Some(*nag),
            _ => None,
        });
        nodes.push(Node {
            uci: uci(m, castling).to_string(),
            nags: nags.collect(),
            before: core::mem::take(&mut before),
            comments: comments(&step.notes),
            variations,
            san: SanPlus::from_move_and_play_unchecked(position, m).to_string(),
        });
    }
    nodes
}

fn comments(notes: &[Note]) -> Vec<String> {
    let comments = notes.iter().filter_map(|note| match note {
        Note::Comment(text) => Some(text.trim().to_owned()),
        _ => None,
    });
    comments.filter(|text| !text.is_empty()).collect()
}

/// Returns the move that a typed text names, in UCI.
#[wasm_bindgen]
pub fn find_move(fen: &str, text: &str, chess960: bool) -> Option<String> {
    let game = Game::from_uci(Some(fen), []).ok()?;
    let m = pgn::find_move(game.start(), text)?;
    Some(uci(m, CastlingMode::from_chess960(chess960)).to_string())
}

fn first_game(text: &str) -> Result<(GameText, PgnGame), WasmError> {
    let mut texts = GameTexts::new(Cursor::new(text.as_bytes().to_vec()));
    let first = texts.next().and_then(Result::ok).unwrap_or_default();
    let game = pgn::read(&first.text, first.line).checked();
    match game {
        Ok(game) => Ok((first, game)),
        Err(error) => Err(WasmError::new("pgn", error.to_string())),
    }
}
