//! Results without distances.

use core::fmt;

/// The result of a position for the side to move, with the 50-move rule.
///
/// The order is from the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Loss.
    Loss,
    /// Loss, or a draw by the 50-move rule. Rounded distances do not decide which.
    MaybeLoss,
    /// Draw by the 50-move rule. It would be a loss without the rule.
    BlessedLoss,
    /// Draw.
    Draw,
    /// Draw by the 50-move rule. It would be a win without the rule.
    CursedWin,
    /// Win, or a draw by the 50-move rule. Rounded distances do not decide which.
    MaybeWin,
    /// Win.
    Win,
}

impl Outcome {
    /// The name, as in Lichess' API.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Loss => "loss",
            Outcome::MaybeLoss => "maybe-loss",
            Outcome::BlessedLoss => "blessed-loss",
            Outcome::Draw => "draw",
            Outcome::CursedWin => "cursed-win",
            Outcome::MaybeWin => "maybe-win",
            Outcome::Win => "win",
        }
    }

    /// Returns the outcome for the other side.
    pub fn reversed(self) -> Outcome {
        match self {
            Outcome::Loss => Outcome::Win,
            Outcome::MaybeLoss => Outcome::MaybeWin,
            Outcome::BlessedLoss => Outcome::CursedWin,
            Outcome::Draw => Outcome::Draw,
            Outcome::CursedWin => Outcome::BlessedLoss,
            Outcome::MaybeWin => Outcome::MaybeLoss,
            Outcome::Win => Outcome::Loss,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
