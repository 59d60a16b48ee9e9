//! Explains bad moves by facts that follow from lines, exchange values and the rules.
//!
//! An explanation is a claim with the moves that prove it. Material is lost if a line wins it and the rest of the line does not
//! win it back. Captures that are possible at the end of the line count too. The scores must agree: they differ by at least
//! half of the material. A line is a proof only as far as its moves are the best moves. If no claim is proven, a move has no
//! explanation.

mod capture;
mod claim;
mod line;
mod material;

use core::fmt;

use serde::Serialize;
use shakmaty::uci::UciMove;
use shakmaty::{Color, Role, Square};
use shelfish::eval::Score;

pub use self::claim::explain;

use crate::known::KnownEval;

/// Explanation of a bad move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    /// The claim.
    pub fact: Fact,
    /// The moves that prove the claim, in UCI. Castling is written as in [`MoveReport::best`](crate::MoveReport::best).
    pub line: Vec<UciMove>,
    /// The same moves in SAN.
    pub san: Vec<String>,
}

/// Position in which a line begins.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Begins {
    /// The position before the explained move.
    Before,
    /// The position after the explained move.
    After,
}

impl Serialize for Explanation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Fields<'a> {
            kind: &'static str,
            text: String,
            mate: Option<u32>,
            role: Option<&'static str>,
            square: Option<String>,
            begins: Begins,
            line: Vec<String>,
            san: &'a [String],
        }
        let piece = self.fact.piece();
        Fields {
            kind: self.fact.kind(),
            text: self.fact.to_string(),
            mate: self.fact.mate(),
            role: piece.map(|piece| name(piece.role)),
            square: piece
                .and_then(|piece| piece.square)
                .map(|square| square.to_string()),
            begins: self.fact.begins(),
            line: self.line.iter().map(UciMove::to_string).collect(),
            san: &self.san,
        }
        .serialize(serializer)
    }
}

/// A claim about a bad move.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fact {
    /// The move ends the game with a draw, or the line ends so.
    Draws(Draw),
    /// The move changes the result of the ending, by endgame tables.
    GivesAway {
        /// Result before the move.
        before: Ending,
        /// Result after the move.
        after: Ending,
    },
    /// The opponent mates.
    AllowsMate {
        /// Number of moves of the opponent.
        moves: u32,
    },
    /// The best move mates, the played move does not.
    MissesMate {
        /// Number of moves with the best line.
        moves: u32,
    },
    /// The opponent wins material.
    Loses(Material),
    /// The best line wins material.
    Misses(Material),
}

/// Result of an ending for the side that moved.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// Loss.
    Loss,
    /// Draw.
    Draw,
    /// Win.
    Win,
}

impl Ending {
    fn of(known: &KnownEval, side: Color) -> Option<Ending> {
        let Score::Cp(cp) = known.score else {
            return None;
        };
        known
            .is_exact()
            .then(|| match side.fold_wb(cp, -cp).signum() {
                1 => Ending::Win,
                0 => Ending::Draw,
                _ => Ending::Loss,
            })
    }

    fn text(self) -> &'static str {
        match self {
            Ending::Loss => "loss",
            Ending::Draw => "draw",
            Ending::Win => "win",
        }
    }
}

/// A draw by the rules.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Draw {
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// No side has enough pieces for a mate.
    InsufficientMaterial,
}

/// Material that a line wins.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Material {
    /// A piece that the first move takes, and no piece can take back.
    Hanging(Piece),
    /// A piece that the line wins, for pieces of less value.
    Piece {
        /// The piece that is won.
        piece: Piece,
        /// Pieces that its side wins for it.
        price: Vec<Role>,
    },
    /// The first move attacks several pieces and then takes one of them.
    Fork {
        /// The piece that is taken.
        piece: Piece,
        /// The pieces that are attacked.
        targets: Vec<Piece>,
    },
    /// A pawn promotes and is not taken.
    Promotion {
        /// Square of the pawn before the line.
        pawn: Square,
    },
}

/// A piece on the board before the line.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Role of the piece.
    pub role: Role,
    /// Square of the piece. `None` if exchanges leave open which of several pieces is lost.
    pub square: Option<Square>,
}

impl Fact {
    /// Returns the position in which the line begins.
    pub fn begins(&self) -> Begins {
        match self {
            Fact::MissesMate { .. } | Fact::Misses(_) => Begins::Before,
            _ => Begins::After,
        }
    }

    /// Returns the number of moves to mate.
    pub fn mate(&self) -> Option<u32> {
        match self {
            Fact::AllowsMate { moves } | Fact::MissesMate { moves } => Some(*moves),
            _ => None,
        }
    }

    /// Returns the piece that is won, or the pawn that promotes.
    pub fn piece(&self) -> Option<Piece> {
        let (Fact::Loses(material) | Fact::Misses(material)) = self else {
            return None;
        };
        Some(match material {
            Material::Hanging(piece)
            | Material::Piece { piece, .. }
            | Material::Fork { piece, .. } => *piece,
            Material::Promotion { pawn } => Piece {
                role: Role::Pawn,
                square: Some(*pawn),
            },
        })
    }

    fn piece_text(&self) -> String {
        self.piece().map(|piece| piece.text()).unwrap_or_default()
    }

    /// Returns the name of the kind in JSON.
    fn kind(&self) -> &'static str {
        match self {
            Fact::Draws(_) => "draws",
            Fact::GivesAway {
                before: Ending::Win,
                ..
            } => "givesAwayWin",
            Fact::GivesAway { .. } => "givesAwayDraw",
            Fact::AllowsMate { .. } => "allowsMate",
            Fact::MissesMate { .. } => "missesMate",
            Fact::Loses(Material::Promotion { .. }) => "allowsPromotion",
            Fact::Loses(Material::Fork { .. }) => "allowsFork",
            Fact::Loses(_) => "loses",
            Fact::Misses(Material::Promotion { .. }) => "missesPromotion",
            Fact::Misses(Material::Fork { .. }) => "missesFork",
            Fact::Misses(_) => "misses",
        }
    }
}

impl Explanation {
    /// Returns the claim with its line as a sentence, such as `Allows mate in 1: 2... Qh4#.`
    pub fn sentence(&self, ply: usize) -> String {
        let text = self.with_line(ply);
        let (first, rest) = text.split_at_checked(1).unwrap_or_default();
        [&first.to_ascii_uppercase(), rest, "."].concat()
    }

    /// Returns the claim with its line, such as `loses the knight on f6: 12. Bxf6 Qxf6 13. Nd5`. `ply` is the number of plies of
    /// the game before the move.
    pub fn with_line(&self, ply: usize) -> String {
        let mut text = self.fact.to_string();
        let first = ply + usize::from(self.fact.begins() == Begins::After);
        for (n, (ply, san)) in (first..).zip(&self.san).enumerate() {
            text.push_str(if n == 0 { ": " } else { " " });
            if n == 0 || ply.is_multiple_of(2) {
                text.push_str(&number(ply));
            }
            text.push_str(san);
        }
        // The line of a long mate is cut.
        if !self.san.is_empty()
            && self
                .fact
                .mate()
                .is_some_and(|moves| self.san.len() + 1 < 2 * moves as usize)
        {
            text.push_str(" …");
        }
        text
    }
}

/// Returns the number of a move and a blank, such as `12. ` or `12... `. `ply` is the number of plies before the move.
pub fn number(ply: usize) -> String {
    format!(
        "{}{} ",
        ply / 2 + 1,
        if ply.is_multiple_of(2) { "." } else { "..." }
    )
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Joined text takes less of the module than formatted text.
        let text = match self {
            Fact::Draws(Draw::Stalemate) => "draws by stalemate".to_owned(),
            Fact::Draws(Draw::InsufficientMaterial) => "draws, as no side can mate".to_owned(),
            Fact::GivesAway { before, after } => [
                "gives away the ",
                before.text(),
                " (tables: ",
                after.text(),
                ")",
            ]
            .concat(),
            Fact::AllowsMate { moves } => ["allows mate in ", &moves.to_string()].concat(),
            Fact::MissesMate { moves } => ["misses mate in ", &moves.to_string()].concat(),
            Fact::Loses(material) => match material {
                Material::Hanging(piece) => ["leaves ", &piece.text(), " hanging"].concat(),
                Material::Piece { piece, price } => {
                    ["loses ", &piece.text(), &price_text(price)].concat()
                }
                Material::Fork { targets, .. } => {
                    ["allows a fork of ", &list_text(targets)].concat()
                }
                Material::Promotion { .. } => {
                    ["allows ", &self.piece_text(), " to promote"].concat()
                }
            },
            Fact::Misses(material) => match material {
                Material::Hanging(piece) => ["does not take ", &piece.text()].concat(),
                Material::Piece { piece, price } => {
                    ["misses the win of ", &piece.text(), &price_text(price)].concat()
                }
                Material::Fork { targets, .. } => {
                    ["misses a fork of ", &list_text(targets)].concat()
                }
                Material::Promotion { .. } => {
                    ["misses the promotion of ", &self.piece_text()].concat()
                }
            },
        };
        f.write_str(&text)
    }
}

impl Piece {
    fn text(&self) -> String {
        let role = name(self.role);
        match self.square {
            Some(square) if self.role != Role::King => {
                ["the ", role, " on ", &square.to_string()].concat()
            }
            Some(_) => ["the ", role].concat(),
            None => ["a ", role].concat(),
        }
    }
}

/// Names the pieces that a side wins for a lost piece.
fn price_text(price: &[Role]) -> String {
    match price {
        [] => String::new(),
        [first, second, ..] if first == second => [" for two ", name(*first), "s"].concat(),
        [first, second, ..] => [" for a ", name(*first), " and a ", name(*second)].concat(),
        [first] => [" for a ", name(*first)].concat(),
    }
}

fn list_text(pieces: &[Piece]) -> String {
    let mut text = String::new();
    for (n, piece) in pieces.iter().enumerate() {
        let is_last = n + 1 == pieces.len();
        text.push_str(if n == 0 {
            ""
        } else if is_last {
            " and "
        } else {
            ", "
        });
        text.push_str(&piece.text());
    }
    text
}

fn name(role: Role) -> &'static str {
    ["pawn", "knight", "bishop", "rook", "queen", "king"][role as usize - 1]
}
