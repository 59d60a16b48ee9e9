//! `/standard?fen=`: results of endgame tables in the shape of Lichess' tablebase API.

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position as _};
use shelfish::position::uci;
use shelfish_endgames::{Probe, ProbedMove, Verdict};

/// A position, in the shape of Lichess. Distances to mate and results of variants are unknown.
#[derive(Serialize)]
pub struct Answer {
    #[serde(flatten)]
    end: End,
    #[serde(flatten)]
    result: Outcome,
    moves: Vec<Move>,
}

/// Whether the game is over.
#[derive(Serialize)]
struct End {
    checkmate: bool,
    stalemate: bool,
    variant_win: bool,
    variant_loss: bool,
    insufficient_material: bool,
}

/// Result of a position for its side to move.
#[derive(Serialize)]
struct Outcome {
    category: &'static str,
    dtz: i32,
    precise_dtz: Option<i32>,
    dtm: Option<i32>,
}

/// A move, with the result of the position after the move, for the other side.
#[derive(Serialize)]
struct Move {
    uci: String,
    san: String,
    zeroing: bool,
    #[serde(flatten)]
    end: End,
    #[serde(flatten)]
    result: Outcome,
}

impl From<Verdict> for Outcome {
    fn from(
        Verdict {
            outcome,
            dtz,
            is_rounded,
        }: Verdict,
    ) -> Outcome {
        Outcome {
            category: outcome.name(),
            dtz,
            precise_dtz: (!is_rounded).then_some(dtz),
            dtm: None,
        }
    }
}

fn end(checkmate: bool, stalemate: bool, insufficient_material: bool) -> End {
    End {
        checkmate,
        stalemate,
        variant_win: false,
        variant_loss: false,
        insufficient_material,
    }
}

/// Converts the result of a position.
pub fn answer(chess: &Chess, probe: &Probe) -> Answer {
    let encode = |probed: &ProbedMove| Move {
        uci: uci(probed.m, CastlingMode::Standard).to_string(),
        san: SanPlus::from_move(chess.clone(), probed.m).to_string(),
        zeroing: probed.is_zeroing,
        end: end(
            probed.is_checkmate,
            probed.is_stalemate,
            probed.is_insufficient_material,
        ),
        result: probed.after.into(),
    };
    Answer {
        end: end(
            chess.is_checkmate(),
            chess.is_stalemate(),
            chess.is_insufficient_material(),
        ),
        result: probe.verdict.into(),
        moves: probe.moves.iter().map(encode).collect(),
    }
}
