//! Material that a line wins.

use shakmaty::{Chess, Color, Move, Position as _, Role, Square};

use super::line::{Exchanges, Line, MAX_PROOF, balance, draw, value};
use super::{Piece, name};

/// Material that a side wins with a line.
pub struct Gain {
    /// Kind and text of the claim, and the piece that is won or promotes.
    pub claim: (&'static str, String, Piece),
    /// Pawns that the material is worth.
    pub pawns: i32,
    /// Number of moves that prove the gain.
    pub count: usize,
}

/// Maximum number of moves of a line that proves the gain of a pawn. A pawn that is lost later explains little.
const MAX_PROOF_OF_A_PAWN: usize = 8;

/// Maximum number of pieces that are named as the price of a piece.
const MAX_PRICE: usize = 2;

/// A captured piece.
#[derive(Copy, Clone, Debug)]
struct Capture {
    role: Role,
    /// Square of the piece before the line.
    origin: Square,
    /// Square on which it was taken.
    square: Square,
    ply: usize,
}

/// Returns the material that a side wins with a line. The line has `lead` moves before the first move that counts as proof. The
/// mover of the explained move loses the material if `is_loss`, or else misses it.
pub fn gain(
    line: &Line,
    lead: usize,
    winner: Color,
    is_loss: bool,
    exchanges: &mut Exchanges,
) -> Option<Gain> {
    let Line { positions, moves } = line;
    let before = balance(positions[0].board(), winner);
    let raw = |ply: usize| balance(positions[ply].board(), winner) - before;
    // The gain that is certain after each ply, and the least certain gain from each ply on.
    let mut certain: Vec<i32> = (0..=moves.len()).map(raw).collect();
    let mut kept = vec![i32::MAX; moves.len() + 1];
    let mut least = i32::MAX;
    for (ply, position) in positions.iter().enumerate().skip(lead + 1).rev() {
        let is_last = ply == moves.len();
        if is_last && draw(position).is_some() {
            return None;
        }
        if position.turn() != winner {
            // The opponent may win back by captures.
            certain[ply] = raw(ply).min(-exchanges.resolve(position)? - before);
        } else if is_last {
            certain[ply] = exchanges.resolve(position)? - before;
        }
        // In the middle of an exchange, the next ply decides.
        if position.turn() != winner || is_last {
            least = least.min(certain[ply]);
        }
        kept[ply] = least;
    }
    let mut gains: Vec<Gain> = Vec::new();
    for end in lead + 1..=moves.len().min(lead + MAX_PROOF) {
        let is_certain = raw(end) > 0 && raw(end) == certain[end] && 3 * kept[end] >= 2 * raw(end);
        if is_certain {
            gains.extend(describe(
                &positions[..=end],
                &moves[..end],
                lead,
                winner,
                is_loss,
            ));
        }
    }
    // The first gain that is most of the largest gain.
    let most = gains.iter().map(|gain| gain.pawns).max()?;
    gains.into_iter().find(|gain| 3 * gain.pawns >= 2 * most)
}

/// Names the material that a line wins.
fn describe(
    positions: &[Chess],
    moves: &[Move],
    lead: usize,
    winner: Color,
    is_loss: bool,
) -> Option<Gain> {
    let Ledger {
        taken,
        lost,
        promoted,
        open,
    } = Ledger::new(positions, moves, lead, winner)?;
    let price: Vec<Role> = lost.iter().map(|capture| capture.role).collect();
    let cost: i32 = price.iter().copied().map(value).sum();
    let first_of_most = |capture: &&Capture| (value(capture.role), core::cmp::Reverse(capture.ply));
    let top = taken.iter().max_by_key(first_of_most);
    let worth = top.map_or(0, |top| value(top.role));
    let is_short = moves.len() <= lead + MAX_PROOF_OF_A_PAWN;
    let is_clear = |pawns: i32| pawns > 1 || pawns == 1 && price.is_empty() && is_short;
    // Words of a loss and of a missed gain, around the names of pieces.
    let gain = |[lost, missed]: [(&'static str, &str, &str); 2], piece, names: &str, pawns| {
        let (kind, before, after) = if is_loss { lost } else { missed };
        Gain {
            claim: (kind, [before, names, after].concat(), piece),
            pawns,
            count: moves.len() - lead,
        }
    };
    if let Some((pawn, role)) = promoted {
        let pawns = value(role) - value(Role::Pawn) - cost;
        if value(role) - value(Role::Pawn) >= worth && is_clear(pawns) {
            let piece = Piece {
                role: Role::Pawn,
                square: Some(pawn),
            };
            let words = [
                ("allowsPromotion", "allows ", " to promote"),
                ("missesPromotion", "misses the promotion of ", ""),
            ];
            return Some(gain(words, piece, &piece.text(), pawns));
        }
    }
    let (capture, pawns) = (*top?, worth - cost);
    if !is_clear(pawns) || price.len() > MAX_PRICE {
        return None;
    }
    // The square of a pawn that has moved says little.
    let is_there = capture.role != Role::Pawn || capture.square == capture.origin;
    let piece = Piece {
        role: capture.role,
        square: (is_there && !open.contains(&worth)).then_some(capture.origin),
    };
    let end = &positions[positions.len() - 1];
    let taker = moves[moves.len() - 1].to();
    let is_recaptured = || end.legal_moves().iter().any(|m| m.to() == taker);
    if moves.len() == lead + 1 && price.is_empty() && !is_recaptured() {
        let words = [
            ("loses", "leaves ", " hanging"),
            ("misses", "does not take ", ""),
        ];
        return Some(gain(words, piece, &piece.text(), pawns));
    }
    if let Some(targets) = fork(positions, moves, lead, capture) {
        let words = [
            ("allowsFork", "allows a fork of ", ""),
            ("missesFork", "misses a fork of ", ""),
        ];
        let names: Vec<String> = targets.iter().map(Piece::text).collect();
        let (last, others) = names.split_last()?;
        let names = [&others.join(", "), " and ", last].concat();
        return Some(gain(words, piece, &names, pawns));
    }
    let price = match price[..] {
        [] => String::new(),
        [first, second] if first == second => [" for two ", name(first), "s"].concat(),
        [first, ref rest @ ..] => {
            let rest = rest.iter().map(|role| [" and a ", name(*role)].concat());
            [" for a ", name(first), &rest.collect::<String>()].concat()
        }
    };
    let words = [
        ("loses", "loses ", &*price),
        ("misses", "misses the win of ", &*price),
    ];
    Some(gain(words, piece, &piece.text(), pawns))
}

/// Returns the pieces that the first move attacks, if its piece then takes one of them. An attacked piece is worth more than
/// the attacker, or it is not defended.
fn fork(positions: &[Chess], moves: &[Move], lead: usize, capture: Capture) -> Option<Vec<Piece>> {
    let (first, next) = (moves.get(lead)?, moves.get(lead + 2)?);
    if first.is_castle()
        || first.is_promotion()
        || next.from() != Some(first.to())
        || capture.ply != lead + 2
    {
        return None;
    }
    let position = &positions[lead + 1];
    let (board, loser, attacker) = (position.board(), position.turn(), first.role());
    let is_target = |role: Role, square: Square| {
        let is_defended = board.attacks_to(square, loser, board.occupied()).any();
        let is_worth_more = attacker != Role::King && value(role) > value(attacker);
        role == Role::King || is_worth_more || !is_defended
    };
    let attacked = board.attacks_from(first.to()) & board.by_color(loser);
    let mut targets = Vec::new();
    for role in [
        Role::King,
        Role::Queen,
        Role::Rook,
        Role::Bishop,
        Role::Knight,
    ] {
        let squares = (attacked & board.by_role(role))
            .into_iter()
            .filter(|square| is_target(role, *square));
        targets.extend(squares.map(|square| Piece {
            role,
            square: Some(square),
        }));
    }
    let is_won = targets
        .iter()
        .any(|piece| piece.square == Some(capture.square));
    (targets.len() > 1 && is_won).then_some(targets)
}

/// Material that changes in a line, without exchanges of equal value.
struct Ledger {
    /// Pieces that the winner takes.
    taken: Vec<Capture>,
    /// Pieces that the winner loses.
    lost: Vec<Capture>,
    /// Square of a pawn of the winner before the line, and the piece that it becomes.
    promoted: Option<(Square, Role)>,
    /// Values of pieces that were exchanged on different squares. It is open which of several such pieces is lost.
    open: Vec<i32>,
}

impl Ledger {
    /// Returns `None` if a promoted piece of the loser remains.
    fn new(positions: &[Chess], moves: &[Move], lead: usize, winner: Color) -> Option<Ledger> {
        let mut pieces = Pieces::default();
        let (mut taken, mut lost) = (Vec::new(), Vec::new());
        for (ply, (m, position)) in moves.iter().zip(positions).enumerate() {
            if ply == lead {
                pieces = Pieces::default();
            }
            let capture = pieces.play(*m, position.turn(), ply);
            if position.turn() == winner {
                &mut taken
            } else {
                &mut lost
            }
            .extend(capture);
        }
        if pieces.promoted.iter().any(|(_, _, side)| *side != winner)
            || moves[..lead].iter().any(|m| m.is_promotion())
        {
            return None;
        }
        let mut promoted = pieces
            .promoted
            .first()
            .map(|(square, role, _)| (pieces.origins[*square as usize], *role));
        // A promoted piece in exchange for an equal piece is a pawn less.
        if let Some(same) = lost
            .iter_mut()
            .find(|lost: &&mut Capture| promoted.is_some_and(|(_, role)| role == lost.role))
        {
            same.role = Role::Pawn;
            promoted = None;
        }
        let mut ledger = Ledger {
            taken,
            lost,
            promoted,
            open: Vec::new(),
        };
        ledger.cancel(|taken, lost| {
            taken.square == lost.square && value(taken.role) == value(lost.role)
        });
        let mut open = ledger.cancel(|taken, lost| taken.role == lost.role);
        open.extend(ledger.cancel(|taken, lost| value(taken.role) == value(lost.role)));
        Some(Ledger { open, ..ledger })
    }

    /// Removes pairs of captures. Returns their values.
    fn cancel(&mut self, is_exchange: fn(&Capture, &Capture) -> bool) -> Vec<i32> {
        let (lost, mut values) = (&mut self.lost, Vec::new());
        self.taken.retain(|taken| {
            let Some(pair) = lost.iter().position(|lost| is_exchange(taken, lost)) else {
                return true;
            };
            lost.remove(pair);
            values.push(value(taken.role));
            false
        });
        values
    }
}

/// Pieces of a board that moves are played on.
struct Pieces {
    /// Square of each piece before the moves, by its present square.
    origins: [Square; 64],
    /// Squares, roles and sides of the pieces that promoted.
    promoted: Vec<(Square, Role, Color)>,
}

impl Default for Pieces {
    fn default() -> Pieces {
        Pieces {
            origins: Square::ALL,
            promoted: Vec::new(),
        }
    }
}

impl Pieces {
    /// Plays a move of a side. Returns the piece that it takes. A promoted piece counts as a pawn.
    fn play(&mut self, m: Move, side: Color, ply: usize) -> Option<Capture> {
        let (from, to) = (m.from()?, m.to());
        let before = self.origins;
        let origin = |square: Square| before[square as usize];
        if let Some(castling) = m.castling_side() {
            self.origins[castling.king_to(side) as usize] = origin(from);
            self.origins[castling.rook_to(side) as usize] = origin(to);
            return None;
        }
        let square = if m.is_en_passant() {
            Square::from_coords(to.file(), from.rank())
        } else {
            to
        };
        let count = self.promoted.len();
        self.promoted.retain(|(promoted, ..)| *promoted != square);
        let was_pawn = self.promoted.len() < count;
        for (promoted, ..) in self
            .promoted
            .iter_mut()
            .filter(|(promoted, ..)| *promoted == from)
        {
            *promoted = to;
        }
        self.origins[to as usize] = origin(from);
        self.promoted
            .extend(m.promotion().map(|role| (to, role, side)));
        let role = m.capture()?;
        Some(Capture {
            role: if was_pawn { Role::Pawn } else { role },
            origin: origin(square),
            square,
            ply,
        })
    }
}
