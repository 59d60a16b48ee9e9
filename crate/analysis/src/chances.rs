//! Winning chances of a score.

/// Limit of scores in centipawns, for accuracy and average centipawn loss (`Eval.Cp.CEILING` of scalachess). A mate counts as
/// the limit.
pub const CEILING: i32 = 1_000;

/// Centipawns of the initial position if it has no evaluation (`WhiteScore.initial` of scalachess).
pub const INITIAL: i32 = 15;

/// Slope of winning chances, fitted to games of Lichess (`WinPercent` of scalachess, <https://lichess.org/page/accuracy>).
const SLOPE: f64 = 0.003_682_08;

/// Returns White's winning chances at a score in centipawns, from −1 (lost) to 1 (won).
///
/// The source is `WinPercent.winningChances` of scalachess: 2 / (1 + exp(−0.00368208 cp)) − 1.
///
/// ```
/// use shelfish_analysis::chances::winning_chances;
/// assert_eq!(winning_chances(0), 0.0);
/// assert!((winning_chances(100) - 0.1821).abs() < 1e-4);
/// assert_eq!(winning_chances(-100), -winning_chances(100));
/// ```
pub fn winning_chances(cp: i32) -> f64 {
    // The magnitude is used, so that the chances of both sides are exactly symmetric. `libm` is equal on all targets.
    let magnitude = 2.0 / (1.0 + libm::exp(-SLOPE * f64::from(cp.unsigned_abs()))) - 1.0;
    if cp < 0 { -magnitude } else { magnitude }
}
