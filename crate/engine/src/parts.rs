//! Parts of the search that a match can do without, to see what each of them brings. Only with the feature `parts`;
//! without it all of them are on, and the question costs nothing.

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
            /// All of them.
            pub const ALL: &[Part] = &[$(Part::$name,)*];
        }
    };
}

parts! {
    /// Windows about the score of the iteration before.
    Aspiration,
    /// Evaluations corrected by what was found of like pawns.
    Correction,
    /// … and of like pieces, and after the same move.
    PieceCorrection,
    /// An evaluation is bettered by a bound in the table.
    TableEval,
    /// Whether the evaluation rises from move to move.
    Improving,
    /// No search if the evaluation is far above beta.
    ReverseFutility,
    /// Captures only if the evaluation is far below alpha.
    Razoring,
    /// The opponent may move twice.
    NullMove,
    /// Nodes without a known move are searched less deep.
    InternalReduction,
    /// Moves that refuted siblings are tried early.
    Killers,
    /// How good a quiet move was wherever it was played.
    Butterfly,
    /// How good a quiet move was after the moves before it.
    Continuation,
    /// Late quiet moves are left out.
    LateMoves,
    /// Quiet moves are left out if the evaluation is too low.
    Futility,
    /// Checks are tried where other quiet moves are left out.
    LateChecks,
    /// Quiet moves that lose material are left out.
    QuietExchange,
    /// Captures that lose much are left out.
    CaptureExchange,
    /// A move that is better than all others is searched deeper.
    Singular,
    /// Late moves are searched less deep.
    Reductions,
    /// … by how good they were before.
    ReductionHistory,
    /// In quiescence, captures that cannot raise alpha are left out.
    Delta,
}

#[cfg(feature = "parts")]
static OFF: AtomicU64 = AtomicU64::new(0);

/// Turns parts off, in the whole process.
#[cfg(feature = "parts")]
pub fn turn_off(parts: &[Part]) {
    OFF.store(parts.iter().map(|&part| 1 << part as u64).sum(), Relaxed);
}

/// Whether a part is on.
#[cfg(feature = "parts")]
#[inline]
pub fn on(part: Part) -> bool {
    OFF.load(Relaxed) >> part as u64 & 1 == 0
}

/// Whether a part is on.
#[cfg(not(feature = "parts"))]
#[inline]
pub const fn on(_: Part) -> bool {
    true
}
