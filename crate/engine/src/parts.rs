//! Parts of the search that the feature `parts` can turn off, so that matches measure what each part contributes. Without
//! the feature all parts are on, at no cost.

#[cfg(feature = "parts")]
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! parts {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// A part of the search.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Part {
            $($(#[$doc])* $name,)*
        }

        impl Part {
            /// All parts.
            pub const ALL: &[Part] = &[$(Part::$name,)*];
        }
    };
}

parts! {
    /// Narrow windows around the score of the previous iteration.
    Aspiration,
    /// Corrects evaluations by the errors found in positions with similar pawns.
    Correction,
    /// Corrects evaluations by similar pieces and by the last move, too.
    PieceCorrection,
    /// Compares the evaluation with that of two plies before.
    Improving,
    /// Returns without a search if the evaluation is far above beta.
    ReverseFutility,
    /// Searches captures only if the evaluation is far below alpha.
    Razoring,
    /// Returns earlier if the last move made the evaluation of its side worse.
    Worsening,
    /// Lets the opponent move twice.
    NullMove,
    /// Lets the opponent move twice only in nodes that the search expects to refute.
    NullInCutNodes,
    /// Reduces the depth of nodes that have no move in the table.
    InternalReduction,
    /// Tries moves early that refuted siblings.
    Killers,
    /// Orders quiet moves by their success in any position.
    Butterfly,
    /// Orders quiet moves by their success after the same previous moves.
    Continuation,
    /// Orders quiet moves by their success with the same pawns.
    PawnHistory,
    /// Rewards a quiet move that improved the evaluation.
    EvaluationChange,
    /// Rewards a quiet move that no answer refuted.
    Unrefuted,
    /// Rewards the quiet move of an entry in the table that ends a node.
    TableReward,
    /// Rewards a reduced move by the result of its second search.
    Research,
    /// Rewards a move more if its score is far above beta.
    FarAbove,
    /// Skips late quiet moves.
    LateMoves,
    /// Skips quiet moves if the evaluation is too low.
    Futility,
    /// Tries checks after other quiet moves are skipped.
    LateChecks,
    /// Skips quiet moves that lose material.
    QuietExchange,
    /// Skips captures that lose much material.
    CaptureExchange,
    /// Extends a move that is better than all others.
    Singular,
    /// Reduces the depth of late moves.
    Reductions,
    /// Adjusts the reduction of late moves by their history.
    ReductionHistory,
    /// Adjusts the reduction of late captures by their history.
    CaptureReduction,
    /// Reduces late moves less if the evaluation is uncertain.
    CorrectionReduction,
    /// Reduces late moves more if many of their siblings' successors were refuted.
    CutoffReduction,
}

#[cfg(feature = "parts")]
static OFF: AtomicU64 = AtomicU64::new(0);

/// Turns parts off for the whole process.
#[cfg(feature = "parts")]
pub fn turn_off(parts: &[Part]) {
    OFF.store(parts.iter().map(|&part| 1 << part as u64).sum(), Relaxed);
}

/// Returns whether a part is on.
#[cfg(feature = "parts")]
#[inline]
pub fn on(part: Part) -> bool {
    OFF.load(Relaxed) >> part as u64 & 1 == 0
}

/// Returns whether a part is on.
#[cfg(not(feature = "parts"))]
#[inline]
pub const fn on(_: Part) -> bool {
    true
}
