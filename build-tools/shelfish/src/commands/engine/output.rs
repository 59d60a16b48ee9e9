//! UCI messages of the engine.

use std::fmt::Write;
use std::time::Duration;

use shakmaty::{CastlingMode, Move};
use shelfish::position::uci;
use shelfish_engine::{Bound, Line};

/// Returns the notation of castling that the GUI expects.
pub fn mode(chess960: bool) -> CastlingMode {
    if chess960 {
        CastlingMode::Chess960
    } else {
        CastlingMode::Standard
    }
}

/// Formats a line of play as an `info` message. `table_hits` is the number of results by endgame tables.
pub fn info(
    line: &Line,
    nodes: u64,
    table_hits: u64,
    time: Duration,
    mode: CastlingMode,
) -> String {
    let bound = match line.bound {
        Bound::Exact => "",
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
    };
    let speed = match time.as_micros() {
        // Lines of a database take no time.
        0 => 0,
        time => u128::from(nodes) * 1_000_000 / time,
    };
    let mut text = format!(
        "info depth {} seldepth {} multipv {} score {}{bound} nodes {nodes} nps {speed} hashfull {} tbhits {table_hits} time {} pv",
        line.depth,
        line.seldepth,
        line.rank,
        line.score,
        line.hashfull,
        time.as_millis(),
    );
    for m in &line.moves {
        let _ = write!(text, " {}", uci(*m, mode));
    }
    text.push('\n');
    text
}

/// Formats the best move and the expected reply. Without a legal move, the best move is `(none)`.
pub fn best_move(moves: &[Move], mode: CastlingMode) -> String {
    let Some(best) = moves.first() else {
        return "bestmove (none)\n".to_owned();
    };
    let ponder = moves
        .get(1)
        .map(|m| format!(" ponder {}", uci(*m, mode)))
        .unwrap_or_default();
    format!("bestmove {}{ponder}\n", uci(*best, mode))
}
