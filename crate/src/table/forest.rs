//! The positions of a block as a forest: most positions are a ply after a position of the block; the remaining
//! positions are roots.
//!
//! Positions of a game with the same pawns are neighbours in the table, each one move after the previous one. Such a
//! position is encoded as its parent and a *step*: the index of the piece and the index of its target. A root is
//! encoded as its differences from the previous root. Steps are pseudo-legal moves except promotions and en passant
//! captures. A position that no step reaches is a root.

use shakmaty::attacks;
use shakmaty::{
    Bitboard, Board, CastlingSide, Chess, Color, EnPassantMode, File, Piece, Position as _, Rank,
    Role, Setup, Square,
};

use super::columns::{Coder, ColumnError, Columns, MAX_COLUMNS, out_of_range};
use crate::moves::relative_square;
use crate::position::{FILES, KINDS, Key, file_code, set_file_code};

const LINK: usize = 0;
const STEP_TARGET: usize = 1;
const ROOT_BITS: usize = 2;
const ROOT_VALUES: usize = 3;
const SQUARES: usize = 4;
/// Number of columns of a forest.
pub(crate) const COLUMNS: usize = 5;

/// Maximum link, and maximum number of a moved piece. Both share a byte.
const MAX_NIBBLE: u8 = 15;

/// Maximum number of positions of a block. It limits the memory of a reader.
pub(crate) const MAX_POSITIONS: usize = 1 << 13;

const BLACK_TO_MOVE: u8 = 1;
const CORNERS: [(u8, Square); 4] = [
    (2, Square::A1),
    (4, Square::H1),
    (8, Square::A8),
    (16, Square::H8),
];
const OTHER_RIGHTS: u8 = 32;
const EN_PASSANT: u8 = 64;

/// The kinds of a root's pieces, kings first; two kinds of one role share a column.
const ROOT_KINDS: [Piece; 10] = {
    let [q, bq, r, br, b, bb, n, bn] = KINDS;
    [
        Color::White.king(),
        Color::Black.king(),
        q,
        bq,
        r,
        br,
        b,
        bb,
        n,
        bn,
    ]
};

/// The order in which the pieces of the side to move are numbered.
const ROLES: [Role; 6] = [
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Queen,
    Role::King,
    Role::Pawn,
];

/// A position as a block stores it, not checked against the rules of chess.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) board: Board,
    pub(crate) turn: Color,
    pub(crate) castling_rights: Bitboard,
    pub(crate) ep_square: Option<Square>,
}

impl Node {
    pub(crate) fn new(chess: &Chess) -> Node {
        Node {
            board: chess.board().clone(),
            turn: chess.turn(),
            castling_rights: chess.castles().castling_rights(),
            ep_square: chess.ep_square(EnPassantMode::Legal),
        }
    }

    pub(crate) fn setup(&self) -> Setup {
        Setup {
            board: self.board.clone(),
            turn: self.turn,
            castling_rights: self.castling_rights,
            ep_square: self.ep_square,
            ..Setup::empty()
        }
    }

    pub(crate) fn key(&self) -> Key {
        Key::from_setup(&self.setup())
    }

    fn empty() -> Node {
        Node {
            board: Board::empty(),
            turn: Color::White,
            castling_rights: Bitboard::EMPTY,
            ep_square: None,
        }
    }

    /// Returns the pieces of the side to move, in the order of their numbers.
    fn movers(&self) -> impl Iterator<Item = (Role, Square)> + '_ {
        let own = self.board.by_color(self.turn);
        ROLES.into_iter().flat_map(move |role| {
            (self.board.by_role(role) & own)
                .into_iter()
                .map(move |at| (role, at))
        })
    }

    /// Returns the targets of a piece; the square of an own rook stands for castling with it.
    fn targets(&self, role: Role, from: Square) -> Bitboard {
        let occupied = self.board.occupied();
        let own = self.board.by_color(self.turn);
        if role == Role::Pawn {
            let captures = attacks::pawn_attacks(self.turn, from) & self.board.by_color(!self.turn);
            let forward = |squares: Bitboard| {
                self.turn.fold_wb(squares.shift(8), squares.shift(-8)) & !occupied
            };
            let push = forward(Bitboard::from_square(from));
            let double =
                forward(push & Bitboard::from_rank(self.turn.fold_wb(Rank::Third, Rank::Sixth)));
            return (captures | push | double) & !Bitboard::BACKRANKS;
        }
        let castling = if role == Role::King {
            self.castling_rights & own
        } else {
            Bitboard::EMPTY
        };
        (attacks::attacks(from, role.of(self.turn), occupied) & !own) | castling
    }

    /// Returns the position after a step.
    fn step(&self, role: Role, from: Square, to: Square) -> Node {
        let mut next = self.clone();
        next.turn = !self.turn;
        next.ep_square = None;
        next.castling_rights.discard(to);
        next.castling_rights.discard(from);
        next.board.discard_piece_at(from);
        if role == Role::King {
            let home = self.turn.fold_wb(Rank::First, Rank::Eighth);
            next.castling_rights &= !Bitboard::from_rank(home);
            if self.board.by_color(self.turn).contains(to) {
                let side = CastlingSide::from_king_side(from < to);
                next.board.discard_piece_at(to);
                next.board
                    .set_piece_at(side.rook_to(self.turn), self.turn.rook());
                next.board
                    .set_piece_at(side.king_to(self.turn), self.turn.king());
                return next;
            }
        }
        next.board.set_piece_at(to, role.of(self.turn));
        next
    }
}

/// The origin and the target of a step: for castling the rook's square.
pub(crate) type StepSquares = (Square, Square);

/// The step to a root.
const NO_STEP: StepSquares = (Square::A1, Square::A1);

/// Positions in stored order. A position one ply after an earlier position has it as parent.
#[derive(Debug)]
pub(crate) struct Forest {
    pub(crate) nodes: Vec<Node>,
    pub(crate) parents: Vec<Option<u32>>,
    /// The step to each position that has a parent.
    pub(crate) steps: Vec<StepSquares>,
}

impl Forest {
    /// Reads the positions of a block.
    pub(crate) fn decode(columns: &Columns) -> Result<Forest, ColumnError> {
        let links = columns.bytes(LINK);
        if links.is_empty() || links.len() > MAX_POSITIONS {
            return Err(out_of_range(LINK, links.len() as u64));
        }
        let mut coder = Coder::reader(columns, MAX_COLUMNS);
        let mut last_root = LastRoot::default();
        let mut forest = Forest {
            nodes: Vec::with_capacity(links.len()),
            parents: Vec::with_capacity(links.len()),
            steps: Vec::with_capacity(links.len()),
        };
        let mut path: Vec<u32> = Vec::new();
        for &link in links {
            let (up, piece) = (usize::from(link >> 4), link & MAX_NIBBLE);
            if link == 0 {
                path.clear();
                forest.nodes.push(last_root.code(&mut coder, None)?);
                forest.parents.push(None);
                forest.steps.push(NO_STEP);
            } else {
                if up == 0 || up > path.len() {
                    return Err(out_of_range(LINK, link.into()));
                }
                path.truncate(path.len() + 1 - up);
                let parent = path[path.len() - 1];
                let node = &forest.nodes[parent as usize];
                let (node, step) = decode_step(node, piece, &mut coder)?;
                forest.nodes.push(node);
                forest.parents.push(Some(parent));
                forest.steps.push(step);
            }
            path.push(forest.nodes.len() as u32 - 1);
        }
        coder.finish(STEP_TARGET..COLUMNS, MAX_COLUMNS)?;
        Ok(forest)
    }
}

fn decode_step(
    node: &Node,
    piece: u8,
    coder: &mut Coder<'_>,
) -> Result<(Node, StepSquares), ColumnError> {
    let (role, from) = node
        .movers()
        .nth(piece.into())
        .ok_or(out_of_range(LINK, piece.into()))?;
    let target = coder.byte(STEP_TARGET, 0)?;
    let squares = node.targets(role, from);
    let squares = node.turn.fold_wb(squares, squares.flip_vertical());
    let to = squares
        .into_iter()
        .nth(target.into())
        .ok_or(out_of_range(STEP_TARGET, target.into()))?;
    let to = relative_square(to, node.turn);
    Ok((node.step(role, from, to), (from, to)))
}

/// The root before: each root is coded by its differences from it.
#[derive(Default)]
struct LastRoot {
    files: [u16; 8],
    counts: [u8; 8],
    squares: [Vec<Square>; 10],
}

impl LastRoot {
    /// Codes the next root, which is `input` for a writer.
    fn code(&mut self, coder: &mut Coder<'_>, input: Option<&Node>) -> Result<Node, ColumnError> {
        let mut node = Node::empty();
        let flags = coder.byte(ROOT_BITS, input.map_or(0, flags_of))?;
        if flags & BLACK_TO_MOVE != 0 {
            node.turn = Color::Black;
        }
        for (flag, corner) in CORNERS {
            if flags & flag != 0 {
                node.castling_rights.add(corner);
            }
        }
        if flags & OTHER_RIGHTS != 0 {
            let rights = input.map_or(0, |input| input.castling_rights.0);
            let first = coder.byte(ROOT_VALUES, rights as u8)?;
            let last = coder.byte(ROOT_VALUES, (rights >> 56) as u8)?;
            node.castling_rights = Bitboard(u64::from(first) | u64::from(last) << 56);
        }
        if flags & EN_PASSANT != 0 {
            let file = input.and_then(|input| input.ep_square);
            let found = coder.byte(ROOT_VALUES, file.map_or(0, |square| square.file() as u8))?;
            let file =
                File::try_from(found).map_err(|_| out_of_range(ROOT_VALUES, found.into()))?;
            let rank = node.turn.fold_wb(Rank::Sixth, Rank::Third);
            node.ep_square = Some(Square::from_coords(file, rank));
        }

        let files = input.map_or(self.files, |input| {
            FILES.map(|file| file_code(&input.board, file))
        });
        let changed = coder.byte(ROOT_BITS, differences(&files, &self.files))?;
        for (n, file) in FILES.into_iter().enumerate() {
            if changed >> n & 1 != 0 {
                // Two ranks to a byte: pawns and numbers of pieces are mostly small values.
                let mut code = 0;
                for scale in [81, 9, 1] {
                    let value = coder.byte(ROOT_VALUES, (files[n] / scale % 9) as u8)?;
                    code = 9 * code + u16::from(value);
                }
                self.files[n] = code;
            }
            let code = self.files[n];
            set_file_code(&mut node.board, file, code)
                .ok_or_else(|| out_of_range(ROOT_VALUES, code.into()))?;
        }
        let counts = input.map_or(self.counts, |input| {
            KINDS.map(|kind| input.board.by_piece(kind).count() as u8)
        });
        let changed = coder.byte(ROOT_BITS, differences(&counts, &self.counts))?;
        for (n, count) in counts.into_iter().enumerate() {
            if changed >> n & 1 != 0 {
                self.counts[n] = coder.byte(ROOT_VALUES, count)?;
            }
        }
        for (n, kind) in ROOT_KINDS.into_iter().enumerate() {
            let count = n.checked_sub(2).map_or(1, |n| self.counts[n]);
            let squares = input.map_or(Bitboard::EMPTY, |input| input.board.by_piece(kind));
            let mut squares = squares.into_iter();
            let last = &mut self.squares[n];
            for n in 0..count.into() {
                let code = squares.next().map_or(0, |square| match last.get(n) {
                    Some(last) if *last == square => 0,
                    _ => relative_square(square, kind.color) as u8 + 1,
                });
                // 0 stands for the square in the previous root. Any other code is the square plus one, from the point
                // of view of the piece's side.
                let found = coder.byte(SQUARES, code)?;
                let square = match found.checked_sub(1) {
                    None => last.get(n).copied(),
                    Some(square) => Square::try_from(square)
                        .ok()
                        .map(|square| relative_square(square, kind.color)),
                };
                let square = square.filter(|&square| !node.board.occupied().contains(square));
                let square = square.ok_or_else(|| out_of_range(SQUARES, found.into()))?;
                node.board.set_piece_at(square, kind);
                match last.get_mut(n) {
                    Some(last) => *last = square,
                    None => last.push(square),
                }
            }
        }
        Ok(node)
    }
}

/// Returns the flags of a root.
fn flags_of(node: &Node) -> u8 {
    let (mut flags, mut standard) = (0, Bitboard::EMPTY);
    for (flag, corner) in CORNERS {
        if node.castling_rights.contains(corner) {
            flags |= flag;
            standard.add(corner);
        }
    }
    for (flag, is_set) in [
        (BLACK_TO_MOVE, node.turn.is_black()),
        (OTHER_RIGHTS, standard != node.castling_rights),
        (EN_PASSANT, node.ep_square.is_some()),
    ] {
        flags |= if is_set { flag } else { 0 };
    }
    flags
}

/// Returns a bit for each place at which the values differ.
fn differences<T: PartialEq>(values: &[T; 8], others: &[T; 8]) -> u8 {
    let differs = |n: usize| u8::from(values[n] != others[n]) << n;
    (0..8).map(differs).sum()
}

#[cfg(feature = "write")]
pub(crate) use encode::{Written, encode};

#[cfg(feature = "write")]
mod encode;
