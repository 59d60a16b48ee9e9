//! Explains bad moves by facts that follow from lines, exchange values and the rules.
//!
//! An explanation is a claim with the moves that prove it. Material is lost if a line wins it and the rest of the line does not
//! win it back. Captures that are possible at the end of the line count too. The scores must agree: they differ by at least
//! half of the material. A line is a proof only as far as its moves are the best moves. If no claim is proven, a move has no
//! explanation.

mod capture;
mod material;

use core::fmt;

use serde::Serialize;
use shakmaty::san::SanPlus;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move, Position as _, Role, Square};
use shelfish::eval::Score;
use shelfish::position::uci;

use self::capture::{Gain, gain};
use self::material::{Exchanges, balance, value};
use crate::known::KnownEval;

/// Maximum number of moves of a line that are read.
const MAX_LINE: usize = 24;

/// Maximum number of moves of a line that proves a claim.
const MAX_PROOF: usize = 9;

/// Maximum number of moves of a line that is not complete.
const MAX_CUT: usize = 5;

/// Centipawns that a mate counts in the comparison of scores.
const MATE_CP: i32 = 10_000;

/// Centipawns by which the scores must differ for each pawn of material.
const CP_OF_A_PAWN: i32 = 50;

/// Maximum centipawns by which the scores may differ if a pawn is lost. A pawn is not the reason of a larger loss.
const MAX_DROP_FOR_A_PAWN: i32 = 200;

/// Maximum of the centipawns that the material before a line counts.
const MAX_BALANCE_CP: i32 = 300;

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
            square: piece.and_then(|piece| piece.square).map(|square| square.to_string()),
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
        let Score::Cp(cp) = known.score else { return None };
        known.is_exact().then(|| match side.fold_wb(cp, -cp).signum() {
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
        let (Fact::Loses(material) | Fact::Misses(material)) = self else { return None };
        Some(match material {
            Material::Hanging(piece) | Material::Piece { piece, .. } | Material::Fork { piece, .. } => *piece,
            Material::Promotion { pawn } => Piece { role: Role::Pawn, square: Some(*pawn) },
        })
    }

    fn piece_text(&self) -> String {
        self.piece().map(|piece| piece.text()).unwrap_or_default()
    }

    /// Returns the name of the kind in JSON.
    fn kind(&self) -> &'static str {
        match self {
            Fact::Draws(_) => "draws",
            Fact::GivesAway { before: Ending::Win, .. } => "givesAwayWin",
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
        if !self.san.is_empty() && self.fact.mate().is_some_and(|moves| self.san.len() + 1 < 2 * moves as usize) {
            text.push_str(" …");
        }
        text
    }
}

/// Returns the number of a move and a blank, such as `12. ` or `12... `. `ply` is the number of plies before the move.
pub fn number(ply: usize) -> String {
    format!("{}{} ", ply / 2 + 1, if ply.is_multiple_of(2) { "." } else { "..." })
}

/// Explains a bad move by the evaluations before and after the move. Returns `None` if no claim is proven.
///
/// ```
/// use shakmaty::{Chess, Move, Position, Role, Square};
/// use shelfish_analysis::{Game, KnownEval, explanation::explain};
///
/// let game = Game::from_uci(None, ["e2e4", "e7e5", "d1h5", "g8f6", "h5h7"])?;
/// let before = game.positions().nth(4).ok_or("no position")?;
/// let mut after = KnownEval::cp(-700, 30);
/// after.line = vec!["h8h7".parse()?, "b1c3".parse()?];
/// let found = explain(&before, game.moves()[4], Some(&KnownEval::cp(20, 30)), Some(&after)).ok_or("no explanation")?;
/// assert_eq!(found.with_line(4), "loses the queen on h7 for a pawn: 3... Rxh7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn explain(
    before: &Chess,
    played: Move,
    known_before: Option<&KnownEval>,
    known_after: Option<&KnownEval>,
) -> Option<Explanation> {
    let mut after = before.clone();
    after.play_unchecked(played);
    let claim = Claim {
        mover: before.turn(),
        played,
        best: Line::new(before.clone(), known_before),
        refutation: Line::new(after, known_after),
        scores: (known_before.map(|known| known.score), known_after.map(|known| known.score)),
    };
    let ending = |known: Option<&KnownEval>| Ending::of(known?, claim.mover);
    if let (Some(before), Some(after)) = (ending(known_before), ending(known_after))
        && after < before
    {
        return Some(claim.explanation(Fact::GivesAway { before, after }, MAX_CUT));
    }
    if claim.refutation.positions[0].is_game_over() {
        return claim.draws_now();
    }
    claim.allows_mate().or_else(|| claim.draws()).or_else(|| claim.misses_mate()).or_else(|| claim.material())
}

/// A line of legal moves.
struct Line {
    /// The positions before the first move and after each move.
    positions: Vec<Chess>,
    moves: Vec<Move>,
}

impl Line {
    /// Returns the legal beginning of the line of an evaluation.
    fn new(start: Chess, known: Option<&KnownEval>) -> Line {
        let mut line = Line { positions: vec![start], moves: Vec::new() };
        for m in known.map(|known| &known.line[..]).unwrap_or_default().iter().take(MAX_LINE) {
            let Ok(m) = m.to_move(line.end()) else { break };
            line.push(m);
        }
        line
    }

    fn push(&mut self, m: Move) {
        let mut next = self.end().clone();
        next.play_unchecked(m);
        self.positions.push(next);
        self.moves.push(m);
    }

    fn end(&self) -> &Chess {
        &self.positions[self.moves.len()]
    }
}

/// Facts about a bad move.
struct Claim {
    mover: Color,
    played: Move,
    /// The best line before the move.
    best: Line,
    /// The best line after the move.
    refutation: Line,
    /// Scores before and after the move, from White's point of view.
    scores: (Option<Score>, Option<Score>),
}

impl Claim {
    /// Explains the move by a fact and the first moves of its line.
    fn explanation(&self, fact: Fact, count: usize) -> Explanation {
        let line = if fact.begins() == Begins::Before { &self.best } else { &self.refutation };
        let mut explanation = Explanation { fact, line: Vec::new(), san: Vec::new() };
        for (m, position) in line.moves.iter().zip(&line.positions).take(count) {
            explanation.line.push(uci(*m, CastlingMode::Standard));
            let mut san = String::new();
            SanPlus::from_move(position.clone(), *m).append_to_string(&mut san);
            explanation.san.push(san);
        }
        explanation
    }

    /// Returns the number of moves in which a score mates for a side.
    fn mate(score: Option<Score>, side: Color) -> Option<u32> {
        match score? {
            Score::Mate(moves) if (moves > 0) == side.is_white() => Some(moves.unsigned_abs()),
            _ => None,
        }
    }

    fn draws_now(&self) -> Option<Explanation> {
        Some(self.explanation(Fact::Draws(draw(&self.refutation.positions[0])?), 0))
    }

    /// Returns whether the refutation ends in a draw by the rules, and the score agrees.
    fn draws(&self) -> Option<Explanation> {
        let (draw, count) = (draw(self.refutation.end())?, self.refutation.moves.len());
        let was_better = self.scores.0.is_some_and(|score| centipawns(score, self.mover) > 0);
        (was_better && count <= MAX_PROOF && self.scores.1 == Some(Score::Cp(0)))
            .then(|| self.explanation(Fact::Draws(draw), count))
    }

    fn allows_mate(&self) -> Option<Explanation> {
        let opponent = self.mover.other();
        let moves = Claim::mate(self.scores.1, opponent)?;
        if Claim::mate(self.scores.0, opponent).is_some() {
            return None;
        }
        Some(self.explanation(Fact::AllowsMate { moves }, mating(&self.refutation, moves)?))
    }

    fn misses_mate(&self) -> Option<Explanation> {
        let moves = Claim::mate(self.scores.0, self.mover)?;
        if self.scores.1.is_none() || Claim::mate(self.scores.1, self.mover).is_some() || self.is_best() {
            return None;
        }
        Some(self.explanation(Fact::MissesMate { moves }, mating(&self.best, moves)?))
    }

    fn is_best(&self) -> bool {
        self.best.moves.first() == Some(&self.played)
    }

    /// Returns the larger of a loss and a missed gain.
    fn material(&self) -> Option<Explanation> {
        let (Some(before), Some(after)) = self.scores else { return None };
        let (mover, opponent) = (self.mover, self.mover.other());
        let drop = centipawns(before, mover) - centipawns(after, mover);
        let mut exchanges = Exchanges::new();
        let Claim { best, refutation, .. } = self;
        // A loss or a gain that both lines contain explains nothing.
        let start = balance(best.positions[0].board(), mover);
        let mut outcome = |end: &Chess| {
            let sign = if end.turn() == mover { 1 } else { -1 };
            Some(sign * exchanges.resolve(end)? - start)
        };
        let (by_best, by_played) = (outcome(best.end())?, outcome(refutation.end())?);
        let explains = |gain: &Gain, start: &Chess, winner: Color, score: Score, by_other: i32| {
            // The winner has no full compensation for the material.
            let material = (100 * balance(start.board(), winner)).min(MAX_BALANCE_CP);
            let support = CP_OF_A_PAWN * gain.pawns;
            let is_reason = drop >= support && (gain.pawns > 1 || drop <= MAX_DROP_FOR_A_PAWN);
            is_reason && centipawns(score, winner) >= material + support && 2 * (gain.pawns - by_other) >= gain.pawns
        };
        // If both moves take the same piece, the loss begins after that.
        let same = best.moves.first().filter(|best| best.is_capture() && best.to() == self.played.to());
        let same = same.and(self.played.capture());
        let mut played = Line { positions: vec![best.positions[0].clone()], moves: Vec::new() };
        played.push(self.played);
        refutation.moves.iter().for_each(|m| played.push(*m));
        let (line, lead, by_other) = match same {
            Some(taken) => (refutation, 0, value(taken) - by_best),
            None => (&played, 1, -by_best),
        };
        let loss = gain(line, lead, opponent, &mut exchanges)
            .filter(|loss| explains(loss, &line.positions[0], opponent, after, by_other));
        let missed = gain(best, 0, mover, &mut exchanges)
            .filter(|_| !refutation.moves.is_empty() && same.is_none() && !self.is_best())
            .filter(|missed| explains(missed, &best.positions[0], mover, before, by_played));
        let is_larger = |missed: &Gain| loss.as_ref().is_none_or(|loss| missed.pawns > loss.pawns);
        match missed.filter(is_larger) {
            Some(Gain { material, count, .. }) => Some(self.explanation(Fact::Misses(material), count)),
            None => loss.map(|Gain { material, count, .. }| self.explanation(Fact::Loses(material), count)),
        }
    }
}

fn centipawns(score: Score, side: Color) -> i32 {
    let cp = match score {
        Score::Cp(cp) => cp.clamp(-MATE_CP, MATE_CP),
        Score::Mate(moves) => MATE_CP * moves.signum(),
    };
    side.fold_wb(cp, -cp)
}

fn draw(position: &Chess) -> Option<Draw> {
    if position.is_stalemate() {
        Some(Draw::Stalemate)
    } else {
        position.is_insufficient_material().then_some(Draw::InsufficientMaterial)
    }
}

/// Returns the number of moves that show a mate in `moves` moves. Returns `None` if the line contradicts the mate.
fn mating(line: &Line, moves: u32) -> Option<usize> {
    let (plies, count) = ((2 * moves as usize).checked_sub(1)?, line.moves.len());
    let is_complete = count >= plies;
    let agrees = if is_complete { line.positions[plies].is_checkmate() } else { !line.end().is_game_over() };
    agrees.then(|| if is_complete && plies <= MAX_PROOF { plies } else { count.min(MAX_CUT) })
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Joined text takes less of the module than formatted text.
        let text = match self {
            Fact::Draws(Draw::Stalemate) => "draws by stalemate".to_owned(),
            Fact::Draws(Draw::InsufficientMaterial) => "draws, as no side can mate".to_owned(),
            Fact::GivesAway { before, after } => {
                ["gives away the ", before.text(), " (tables: ", after.text(), ")"].concat()
            }
            Fact::AllowsMate { moves } => ["allows mate in ", &moves.to_string()].concat(),
            Fact::MissesMate { moves } => ["misses mate in ", &moves.to_string()].concat(),
            Fact::Loses(material) => match material {
                Material::Hanging(piece) => ["leaves ", &piece.text(), " hanging"].concat(),
                Material::Piece { piece, price } => ["loses ", &piece.text(), &price_text(price)].concat(),
                Material::Fork { targets, .. } => ["allows a fork of ", &list_text(targets)].concat(),
                Material::Promotion { .. } => ["allows ", &self.piece_text(), " to promote"].concat(),
            },
            Fact::Misses(material) => match material {
                Material::Hanging(piece) => ["does not take ", &piece.text()].concat(),
                Material::Piece { piece, price } => ["misses the win of ", &piece.text(), &price_text(price)].concat(),
                Material::Fork { targets, .. } => ["misses a fork of ", &list_text(targets)].concat(),
                Material::Promotion { .. } => ["misses the promotion of ", &self.piece_text()].concat(),
            },
        };
        f.write_str(&text)
    }
}

impl Piece {
    fn text(&self) -> String {
        let role = name(self.role);
        match self.square {
            Some(square) if self.role != Role::King => ["the ", role, " on ", &square.to_string()].concat(),
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
