//! Margins of the search: centipawns, plies, and shares. Changes need matches (`MATCHES.md`).

/// Half width of the first window around the score of the previous iteration.
pub const WINDOW: i32 = 14;
/// Half width from which on the window is full.
pub const WIDEST_WINDOW: i32 = 500;
/// Minimum depth of a search with a narrow window.
pub const WINDOW_DEPTH: usize = 4;
/// Maximum reduction of the depth after a score above the window.
pub const WINDOW_REDUCTION: i32 = 3;

/// Maximum depth of reverse futility pruning.
pub const REVERSE_FUTILITY_DEPTH: i32 = 8;
/// Margin of reverse futility pruning for each ply.
pub const REVERSE_FUTILITY: i32 = 75;
/// Change of the margin if the last move made the evaluation of its side worse.
pub const REVERSE_FUTILITY_WORSENING: i32 = 25;
/// Maximum depth of razoring.
pub const RAZORING_DEPTH: i32 = 3;
/// Margin of razoring for each ply.
pub const RAZORING: i32 = 200;

/// Minimum depth of a null move.
pub const NULL_DEPTH: i32 = 3;
/// Reduction of a null move, in addition to a third of the depth.
pub const NULL_REDUCTION: i32 = 3;
/// Margin above beta that reduces a null move by another ply, at most [`NULL_EXTRA`] plies.
pub const NULL_MARGIN: i32 = 180;
/// Maximum number of plies that the evaluation adds to the reduction of a null move.
pub const NULL_EXTRA: i32 = 3;
/// Margin below beta within which a null move is tried, less [`NULL_SLOPE`] for each ply.
pub const NULL_BELOW: i32 = 120;
/// See [`NULL_BELOW`].
pub const NULL_SLOPE: i32 = 20;
/// Minimum depth at which nodes without a move in the table are reduced.
pub const INTERNAL_REDUCTION_DEPTH: i32 = 4;

/// Number of quiet moves that are searched at depth 0. Each node searches as many more as the square of its depth.
pub const LATE_MOVES: i32 = 4;
/// Maximum reduced depth of futility pruning.
pub const FUTILITY_DEPTH: i32 = 7;
/// Margin of futility pruning at depth 0.
pub const FUTILITY: i32 = 90;
/// Margin of futility pruning for each ply.
pub const FUTILITY_SLOPE: i32 = 95;
/// Units of history that are worth a centipawn in futility pruning.
pub const FUTILITY_HISTORY: i32 = 256;
/// Maximum reduced depth at which quiet moves that lose material are skipped.
pub const QUIET_EXCHANGE_DEPTH: i32 = 8;
/// Loss of material for which quiet moves are skipped, for each squared ply.
pub const QUIET_EXCHANGE: i32 = 22;
/// Maximum depth at which captures that lose material are skipped.
pub const CAPTURE_EXCHANGE_DEPTH: i32 = 7;
/// Loss of material for which captures are skipped, for each ply.
pub const CAPTURE_EXCHANGE: i32 = 95;

/// Minimum depth of a singular search.
pub const SINGULAR_DEPTH: i32 = 7;
/// Maximum difference between the depth of a node and the depth of its entry for a singular search.
pub const SINGULAR_ENTRY: i32 = 3;
/// Margin below the score of the table for a singular move, for each ply.
pub const SINGULAR: i32 = 2;
/// Margin of a double extension.
pub const DOUBLE_EXTENSION: i32 = 20;
/// Maximum number of double extensions on a line.
pub const DOUBLE_EXTENSIONS: i32 = 6;

/// Minimum depth of late move reductions.
pub const REDUCTION_DEPTH: i32 = 2;
/// Changes of a reduction, in 1/1024 plies: for nodes that were on a principal variation.
pub const REDUCE_WAS_PV: i32 = -1_024;
/// In nodes of the principal variation.
pub const REDUCE_PV: i32 = -512;
/// In nodes that the search expects to refute.
pub const REDUCE_CUT_NODE: i32 = 1_536;
/// If the evaluation did not improve.
pub const REDUCE_NOT_IMPROVING: i32 = 512;
/// For checks.
pub const REDUCE_CHECK: i32 = -1_024;
/// For quiet moves if the table contains a capture.
pub const REDUCE_AFTER_CAPTURE: i32 = 768;
/// For captures.
pub const REDUCE_CAPTURE: i32 = -1_024;
/// For killers.
pub const REDUCE_KILLER: i32 = -1_024;
/// Units of history that change a reduction by 1/1024 ply.
pub const REDUCTION_HISTORY: i32 = 10;
/// Units of the history of captures that change a reduction by 1/1024 ply.
pub const REDUCTION_CAPTURE_HISTORY: i32 = 16;
/// Change of a reduction for each centipawn of correction of the evaluation, in 1/1024 plies.
pub const REDUCTION_CORRECTION: i32 = 8;
/// Change of a reduction if more than three moves refuted successors of the node, in 1/1024 plies.
pub const REDUCE_CUTOFFS: i32 = 1_024;

/// Units of history that are worth a sixteenth of a centipawn in the order of captures.
pub const CAPTURE_HISTORY: i32 = 12;

/// Bonus of a move that refutes a position, for each ply.
pub const BONUS: i32 = 160;
/// Subtracted from the bonus.
pub const BONUS_LESS: i32 = 60;
/// Maximum bonus.
pub const MAX_BONUS: i32 = 1_700;
/// Centipawns above beta that raise a bonus by a ply.
pub const FAR_ABOVE: i32 = 60;
/// Bonus of a move that no answer refutes, in sixteenths.
pub const UNREFUTED: i32 = 10;
/// Bonus of a move for each centipawn by which it improves the evaluation of its side.
pub const CHANGE_BONUS: i32 = 12;
/// Maximum bonus for a better evaluation.
pub const MAX_CHANGE_BONUS: i32 = 1_000;
