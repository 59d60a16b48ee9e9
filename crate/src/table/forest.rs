//! The positions of a block as a forest: most are one ply away from another position of the block, the others are roots.
//!
//! Positions of a game with the same pawns are neighbours in the table, each one move after the one before. Such a
//! position is coded by its parent and a *step*, a move: the number of the piece and the number of its target. A root is
//! coded by its differences from the root before it. Steps are pseudo-legal moves other than promotions and en-passant
//! captures; a position that no step reaches is a root.

use shakmaty::attacks;
use shakmaty::{
    Bitboard, Board, CastlingSide, Chess, Color, EnPassantMode, File, Piece, Position as _, Rank, Role, Setup, Square,
};

use super::columns::{ColumnError, Columns, Values};
#[cfg(feature = "write")]
use crate::position::file_code;
use crate::position::{FILES, KINDS, Key, set_file_code};

const LINK: usize = 0;
const STEP_PIECE: usize = 1;
const STEP_TARGET: usize = 2;
const FLAGS: usize = 3;
const FLAGS_EXTRA: usize = 4;
const PAWN_FILES: usize = 5;
const PAWN_CODES: usize = 6;
const PAWN_CODES_HIGH: usize = 7;
const MATERIAL_KINDS: usize = 8;
const MATERIAL_COUNTS: usize = 9;
const SQUARES: usize = 10;
/// Names of the columns of a forest.
pub(crate) const COLUMNS: &[&str] = &[
    "links",
    "step pieces",
    "step targets",
    "root flags",
    "root rights",
    "root pawn files",
    "root pawns",
    "root pawns, high",
    "root material kinds",
    "root material",
    "root kings",
    "root queens",
    "root rooks",
    "root bishops",
    "root knights",
];

/// The most positions of a block, which bounds what a reader allocates.
pub(crate) const MAX_POSITIONS: usize = 1 << 13;

const BLACK_TO_MOVE: u8 = 1;
const CORNERS: [(u8, Square); 4] = [(2, Square::A1), (4, Square::H1), (8, Square::A8), (16, Square::H8)];
const OTHER_RIGHTS: u8 = 32;
const EN_PASSANT: u8 = 64;

/// The kinds of a root's pieces, kings first; two kinds of one role share a column.
const ROOT_KINDS: [Piece; 10] = {
    let [q, bq, r, br, b, bb, n, bn] = KINDS;
    [Color::White.king(), Color::Black.king(), q, bq, r, br, b, bb, n, bn]
};

/// The order in which the pieces of the side to move are numbered.
const ROLES: [Role; 6] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King, Role::Pawn];

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
        Node { board: Board::empty(), turn: Color::White, castling_rights: Bitboard::EMPTY, ep_square: None }
    }

    /// The pieces of the side to move, in the order of their numbers.
    fn movers(&self) -> impl Iterator<Item = (Role, Square)> + '_ {
        let own = self.board.by_color(self.turn);
        ROLES.into_iter().flat_map(move |role| (self.board.by_role(role) & own).into_iter().map(move |at| (role, at)))
    }

    /// The targets of a piece; the square of an own rook stands for castling with it.
    fn targets(&self, role: Role, from: Square) -> Bitboard {
        let occupied = self.board.occupied();
        let own = self.board.by_color(self.turn);
        if role == Role::Pawn {
            let captures = attacks::pawn_attacks(self.turn, from) & self.board.by_color(!self.turn);
            let forward = |squares: Bitboard| self.turn.fold_wb(squares.shift(8), squares.shift(-8)) & !occupied;
            let push = forward(Bitboard::from_square(from));
            let double = forward(push & Bitboard::from_rank(self.turn.fold_wb(Rank::Third, Rank::Sixth)));
            return (captures | push | double) & !Bitboard::BACKRANKS;
        }
        let castling = if role == Role::King { self.castling_rights & own } else { Bitboard::EMPTY };
        (attacks::attacks(from, role.of(self.turn), occupied) & !own) | castling
    }

    /// The position after a step.
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
                next.board.set_piece_at(side.rook_to(self.turn), self.turn.rook());
                next.board.set_piece_at(side.king_to(self.turn), self.turn.king());
                return next;
            }
        }
        next.board.set_piece_at(to, role.of(self.turn));
        next
    }
}

/// The square from the point of view of a side: Black's is mirrored top to bottom.
fn relative(turn: Color, square: Square) -> Square {
    turn.fold_wb(square, square.flip_vertical())
}

/// The origin and the target of a step: for castling the rook's square.
pub(crate) type StepSquares = (Square, Square);

/// What stands for the step to a root.
const NO_STEP: StepSquares = (Square::A1, Square::A1);

/// Positions in stored order, and the parent of each that is one ply from an earlier one.
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
            return Err(ColumnError::Value { column: LINK, found: links.len() as u64 });
        }
        let mut steps = (columns.values(STEP_PIECE), columns.values(STEP_TARGET));
        let mut roots = RootReader::new(columns);
        let mut forest = Forest {
            nodes: Vec::with_capacity(links.len()),
            parents: Vec::with_capacity(links.len()),
            steps: Vec::with_capacity(links.len()),
        };
        let mut path: Vec<u32> = Vec::new();
        for &link in links {
            if link == 0 {
                path.clear();
                forest.nodes.push(roots.next()?);
                forest.parents.push(None);
                forest.steps.push(NO_STEP);
            } else {
                let keep = path.len().checked_sub(usize::from(link) - 1).filter(|&keep| keep > 0);
                path.truncate(keep.ok_or(ColumnError::Value { column: LINK, found: link.into() })?);
                let parent = path[path.len() - 1];
                let node = &forest.nodes[parent as usize];
                let (node, step) = decode_step(node, &mut steps.0, &mut steps.1)?;
                forest.nodes.push(node);
                forest.parents.push(Some(parent));
                forest.steps.push(step);
            }
            path.push(forest.nodes.len() as u32 - 1);
        }
        steps.0.finish()?;
        steps.1.finish()?;
        roots.finish()?;
        Ok(forest)
    }
}

fn decode_step(
    node: &Node,
    pieces: &mut Values<'_>,
    targets: &mut Values<'_>,
) -> Result<(Node, StepSquares), ColumnError> {
    let piece = pieces.byte()?;
    let (role, from) = node.movers().nth(piece.into()).ok_or_else(|| pieces.out_of_range(piece.into()))?;
    let target = targets.byte()?;
    let squares = node.targets(role, from);
    let squares = node.turn.fold_wb(squares, squares.flip_vertical());
    let to = squares.into_iter().nth(target.into()).ok_or_else(|| targets.out_of_range(target.into()))?;
    let to = relative(node.turn, to);
    Ok((node.step(role, from, to), (from, to)))
}

/// Reads roots, each coded by its differences from the one before.
struct RootReader<'a> {
    columns: [Values<'a>; COLUMNS.len()],
    files: [u16; 8],
    counts: [u8; 8],
    squares: [Vec<Square>; 10],
}

impl<'a> RootReader<'a> {
    fn new(columns: &'a Columns) -> RootReader<'a> {
        RootReader {
            columns: core::array::from_fn(|column| columns.values(column)),
            files: [0; 8],
            counts: [0; 8],
            squares: Default::default(),
        }
    }

    fn next(&mut self) -> Result<Node, ColumnError> {
        let mut node = Node::empty();
        let flags = self.columns[FLAGS].byte()?;
        if flags & BLACK_TO_MOVE != 0 {
            node.turn = Color::Black;
        }
        for (flag, corner) in CORNERS {
            if flags & flag != 0 {
                node.castling_rights.add(corner);
            }
        }
        if flags & OTHER_RIGHTS != 0 {
            let first = self.columns[FLAGS_EXTRA].byte()?;
            let last = self.columns[FLAGS_EXTRA].byte()?;
            node.castling_rights = Bitboard(u64::from(first) | u64::from(last) << 56);
        }
        if flags & EN_PASSANT != 0 {
            let found = self.columns[FLAGS_EXTRA].byte()?;
            let file = File::try_from(found).map_err(|_| self.columns[FLAGS_EXTRA].out_of_range(found.into()))?;
            node.ep_square = Some(Square::from_coords(file, node.turn.fold_wb(Rank::Sixth, Rank::Third)));
        }

        let changed = self.columns[PAWN_FILES].byte()?;
        for (n, file) in FILES.into_iter().enumerate() {
            if changed >> n & 1 != 0 {
                let low = self.columns[PAWN_CODES].byte()?;
                self.files[n] = u16::from(self.columns[PAWN_CODES_HIGH].byte()?) << 8 | u16::from(low);
            }
            let code = self.files[n];
            set_file_code(&mut node.board, file, code)
                .ok_or_else(|| self.columns[PAWN_CODES].out_of_range(code.into()))?;
        }
        let changed = self.columns[MATERIAL_KINDS].byte()?;
        for kind in 0..KINDS.len() {
            if changed >> kind & 1 != 0 {
                self.counts[kind] = self.columns[MATERIAL_COUNTS].byte()?;
            }
        }
        for (n, kind) in ROOT_KINDS.into_iter().enumerate() {
            let count = n.checked_sub(2).map_or(1, |n| self.counts[n]);
            let values = &mut self.columns[SQUARES + n / 2];
            read_squares(values, &mut self.squares[n], kind, count, &mut node.board)?;
        }
        Ok(node)
    }

    fn finish(&self) -> Result<(), ColumnError> {
        self.columns[FLAGS..].iter().try_for_each(Values::finish)
    }
}

/// Reads the squares of one kind of piece. 0 is the square in the root before; any other value is the square plus one, from
/// the point of view of the piece's side.
fn read_squares(
    values: &mut Values<'_>,
    last: &mut Vec<Square>,
    kind: Piece,
    count: u8,
    board: &mut Board,
) -> Result<(), ColumnError> {
    for n in 0..count.into() {
        let found = values.byte()?;
        let square = match found.checked_sub(1) {
            None => last.get(n).copied(),
            Some(square) => Square::try_from(square).ok().map(|square| relative(kind.color, square)),
        };
        let square = square.filter(|&square| !board.occupied().contains(square));
        let square = square.ok_or_else(|| values.out_of_range(found.into()))?;
        board.set_piece_at(square, kind);
        match last.get_mut(n) {
            Some(last) => *last = square,
            None => last.push(square),
        }
    }
    Ok(())
}

#[cfg(feature = "write")]
pub(crate) use encode::{Written, encode};

#[cfg(feature = "write")]
mod encode {
    use super::*;

    /// A step to the position with the number `child`: the numbers of the piece and of its target.
    #[derive(Copy, Clone)]
    struct Step {
        child: u32,
        piece: u8,
        target: u8,
        squares: StepSquares,
    }

    /// A forest that was written.
    #[derive(Default)]
    pub(crate) struct Written {
        /// The number of each position among those given, in stored order.
        pub(crate) order: Vec<u32>,
        /// The stored number of the parent of each, in stored order.
        pub(crate) parents: Vec<Option<u32>>,
        /// The step to each that has a parent, in stored order.
        pub(crate) steps: Vec<StepSquares>,
    }

    /// Chooses a forest of `nodes`, which are in ascending order of keys, and writes it. Where steps that `goes` is true of
    /// (a node's number, origin and target) lead to a position, no others do.
    pub(crate) fn encode(
        nodes: &[Node],
        goes: &dyn Fn(usize, Square, Square) -> bool,
        columns: &mut [Vec<u8>],
    ) -> Written {
        let steps = steps_between(nodes, goes);
        let mut has_parent = vec![false; nodes.len()];
        for step in steps.iter().flatten() {
            has_parent[step.child as usize] = true;
        }
        let mut written = Written::default();
        let mut stored = vec![false; nodes.len()];
        let mut roots = RootWriter::default();
        // First the positions that no step reaches, then those that only cycles of steps reach.
        let first = (0..nodes.len()).filter(|&n| !has_parent[n]);
        let rest = (0..nodes.len()).filter(|&n| has_parent[n]);
        for root in first.chain(rest) {
            if stored[root] {
                continue;
            }
            stored[root] = true;
            columns[LINK].push(0);
            roots.push(&nodes[root], columns);
            written.order.push(root as u32);
            written.parents.push(None);
            written.steps.push(NO_STEP);
            // The path of (stored number, steps yet to try) from the root to the last stored position.
            let mut path = vec![(written.order.len() as u32 - 1, steps[root].iter())];
            let mut up = 1u8;
            while let Some((parent, untried)) = path.last_mut() {
                let parent = *parent;
                match untried.find(|step| !stored[step.child as usize]) {
                    // A link reaches at most 254 positions up the path; what is further away becomes a root.
                    Some(step) if up < u8::MAX => {
                        stored[step.child as usize] = true;
                        columns[LINK].push(up);
                        columns[STEP_PIECE].push(step.piece);
                        columns[STEP_TARGET].push(step.target);
                        written.order.push(step.child);
                        written.parents.push(Some(parent));
                        written.steps.push(step.squares);
                        path.push((written.order.len() as u32 - 1, steps[step.child as usize].iter()));
                        up = 1;
                    }
                    _ => {
                        path.pop();
                        up = up.saturating_add(1);
                    }
                }
            }
        }
        written
    }

    fn steps_between(nodes: &[Node], goes: &dyn Fn(usize, Square, Square) -> bool) -> Vec<Vec<Step>> {
        let hashes: Vec<u64> = nodes.iter().map(Node::hash).collect();
        let index = Index::new(nodes, &hashes);
        let mut is_reached = vec![false; nodes.len()];
        let mut all: Vec<Vec<Step>> = Vec::with_capacity(nodes.len());
        let mut alike = 0..0;
        for (n, node) in nodes.iter().enumerate() {
            if n >= alike.end {
                let end =
                    nodes[n..].iter().position(|other| !other.is_alike(node)).map_or(nodes.len(), |count| n + count);
                alike = n..end;
            }
            let mut steps = Vec::new();
            let hash = hashes[n] ^ TURN;
            let own = node.board.by_color(node.turn);
            let occupied = node.board.occupied();
            // A quiet move of a piece leads to a position with the same pawns and pieces, which is near by: where there are
            // few of these they are looked at, in place of all such moves.
            let are_few = alike.len() <= FEW;
            if are_few {
                let children = alike.clone().filter_map(|child| Some((child, node.quiet_step(&nodes[child])?)));
                steps.extend(children.map(|(child, (role, from, to))| node.numbered(child as u32, role, from, to)));
            }
            for (role, from) in node.movers() {
                let targets = node.targets(role, from);
                let asked = if are_few && role != Role::Pawn { targets & occupied } else { targets };
                let mover = role.of(node.turn);
                let left = hash ^ hash_of(mover, from);
                for to in asked {
                    let taken = if occupied.contains(to) { node.board.piece_at(to) } else { None };
                    let next = match taken {
                        // Castling moves two pieces.
                        Some(_) if own.contains(to) => node.step(role, from, to).hash(),
                        Some(taken) => left ^ hash_of(mover, to) ^ hash_of(taken, to),
                        None => left ^ hash_of(mover, to),
                    };
                    if let Some(child) = index.find(next, || node.step(role, from, to)) {
                        steps.push(node.numbered(child, role, from, to));
                    }
                }
            }
            for Step { child, squares: (from, to), .. } in &steps {
                is_reached[*child as usize] |= goes(n, *from, *to);
            }
            steps.sort_unstable_by_key(|step| (step.piece, step.target));
            all.push(steps);
        }
        for (n, steps) in all.iter_mut().enumerate() {
            steps.retain(|step| !is_reached[step.child as usize] || goes(n, step.squares.0, step.squares.1));
        }
        all
    }

    /// So many positions that differ by where pieces stand are told apart sooner one by one than by their hashes.
    const FEW: usize = 64;

    /// What the hash of a position changes by with the side to move.
    const TURN: u64 = 0x9e37_79b9_7f4a_7c15;

    /// What a piece on a square adds to the hash of a position: splitmix64 of their number.
    fn hash_of(piece: Piece, square: Square) -> u64 {
        const HASHES: [u64; 1024] = {
            let mut hashes = [0; 1024];
            let mut n = 0;
            while n < hashes.len() {
                let mut hash = (n as u64 + 2).wrapping_mul(TURN);
                hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
                hashes[n] = hash ^ hash >> 31;
                n += 1;
            }
            hashes
        };
        static TABLE: [u64; 1024] = HASHES;
        TABLE[piece.role as usize | (piece.color as usize) << 3 | (square as usize) << 4]
    }

    impl Node {
        /// Whether another position has the same pawns, and as many of each other piece.
        fn is_alike(&self, other: &Node) -> bool {
            let (a, b) = (&self.board, &other.board);
            let pawns = |board: &Board| (board.pawns() & board.white(), board.pawns() & board.black());
            pawns(a) == pawns(b) && KINDS.iter().all(|&kind| a.by_piece(kind).count() == b.by_piece(kind).count())
        }

        /// The step to another position by a piece that takes nothing and does not castle, if there is one.
        fn quiet_step(&self, child: &Node) -> Option<(Role, Square, Square)> {
            let (own, other) = (self.turn, !self.turn);
            let is_possible = child.turn == other && child.board.by_color(other) == self.board.by_color(other);
            let (before, after) = (self.board.by_color(own), child.board.by_color(own));
            let from = (before & !after).single_square().filter(|_| is_possible)?;
            let to = (after & !before).single_square()?;
            let role = self.board.role_at(from).filter(|role| *role != Role::Pawn)?;
            let is_step = self.targets(role, from).contains(to) && self.step(role, from, to) == *child;
            is_step.then_some((role, from, to))
        }

        /// A step with its numbers.
        fn numbered(&self, child: u32, role: Role, from: Square, to: Square) -> Step {
            let below = |square: Square| Bitboard((1 << square as u32) - 1);
            let own = self.board.by_color(self.turn);
            let before: usize = ROLES
                .into_iter()
                .take_while(|other| *other != role)
                .map(|other| (self.board.by_role(other) & own).count())
                .sum();
            let piece = before + (self.board.by_role(role) & own & below(from)).count();
            let targets = self.targets(role, from);
            let targets = self.turn.fold_wb(targets, targets.flip_vertical());
            let target = (targets & below(relative(self.turn, to))).count();
            Step { child, piece: piece as u8, target: target as u8, squares: (from, to) }
        }

        /// A hash that a step changes by its pieces; castling rights and en-passant squares, which seldom differ alone, are
        /// not in it.
        fn hash(&self) -> u64 {
            let mut hash = self.turn.fold_wb(0, TURN);
            for color in Color::ALL {
                for role in Role::ALL {
                    let squares = self.board.by_role(role) & self.board.by_color(color);
                    squares.into_iter().for_each(|square| hash ^= hash_of(role.of(color), square));
                }
            }
            hash
        }
    }

    /// Nodes by their hashes: open addressing, behind a filter of bits. Of some forty steps from a node one or two lead to
    /// others; the filter, which a processor's nearest cache holds, tells nearly all the rest.
    struct Index<'a> {
        nodes: &'a [Node],
        slots: Vec<(u64, u32)>,
        filter: Vec<u64>,
    }

    impl Index<'_> {
        const EMPTY: u32 = u32::MAX;

        fn new<'a>(nodes: &'a [Node], hashes: &[u64]) -> Index<'a> {
            let mut slots = vec![(0, Index::EMPTY); (2 * nodes.len()).next_power_of_two()];
            let mut filter = vec![0; 1 << 10];
            for (n, &hash) in hashes.iter().enumerate() {
                let (word, bit) = Index::bit(hash);
                filter[word] |= bit;
                let mut at = hash as usize & (slots.len() - 1);
                while slots[at].1 != Index::EMPTY {
                    at = (at + 1) & (slots.len() - 1);
                }
                slots[at] = (hash, n as u32);
            }
            Index { nodes, slots, filter }
        }

        /// The word and the bit of the filter for a hash: by its highest 16 bits.
        fn bit(hash: u64) -> (usize, u64) {
            ((hash >> 54) as usize, 1 << (hash >> 48 & 63))
        }

        /// The number of the node with this hash that is the one that `node` makes.
        fn find(&self, hash: u64, node: impl Fn() -> Node) -> Option<u32> {
            let (word, bit) = Index::bit(hash);
            if self.filter[word] & bit == 0 {
                return None;
            }
            let mut at = hash as usize & (self.slots.len() - 1);
            while self.slots[at].1 != Index::EMPTY {
                let (other, n) = self.slots[at];
                if other == hash && self.nodes[n as usize] == node() {
                    return Some(n);
                }
                at = (at + 1) & (self.slots.len() - 1);
            }
            None
        }
    }

    #[derive(Default)]
    struct RootWriter {
        files: [u16; 8],
        counts: [u8; 8],
        squares: [Vec<Square>; 10],
    }

    impl RootWriter {
        fn push(&mut self, node: &Node, columns: &mut [Vec<u8>]) {
            let corners = CORNERS.iter().filter(|(_, corner)| node.castling_rights.contains(*corner));
            let (mut flags, standard) = corners
                .fold((0, Bitboard::EMPTY), |(flags, rights), (flag, corner)| (flags | flag, rights.with(*corner)));
            if node.turn.is_black() {
                flags |= BLACK_TO_MOVE;
            }
            if standard != node.castling_rights {
                flags |= OTHER_RIGHTS;
                columns[FLAGS_EXTRA].push(node.castling_rights.0 as u8);
                columns[FLAGS_EXTRA].push((node.castling_rights.0 >> 56) as u8);
            }
            if let Some(square) = node.ep_square {
                flags |= EN_PASSANT;
                columns[FLAGS_EXTRA].push(square.file() as u8);
            }
            columns[FLAGS].push(flags);

            let mut changed = 0;
            for (n, file) in FILES.into_iter().enumerate() {
                let code = file_code(&node.board, file);
                if code != self.files[n] {
                    changed |= 1 << n;
                    columns[PAWN_CODES].push(code as u8);
                    columns[PAWN_CODES_HIGH].push((code >> 8) as u8);
                    self.files[n] = code;
                }
            }
            columns[PAWN_FILES].push(changed);
            let mut changed = 0;
            for (n, kind) in KINDS.into_iter().enumerate() {
                let count = node.board.by_piece(kind).count() as u8;
                if count != self.counts[n] {
                    changed |= 1 << n;
                    columns[MATERIAL_COUNTS].push(count);
                    self.counts[n] = count;
                }
            }
            columns[MATERIAL_KINDS].push(changed);
            for (n, kind) in ROOT_KINDS.into_iter().enumerate() {
                let squares = node.board.by_piece(kind);
                write_squares(squares, kind.color, &mut self.squares[n], &mut columns[SQUARES + n / 2]);
            }
        }
    }

    fn write_squares(squares: Bitboard, color: Color, last: &mut Vec<Square>, column: &mut Vec<u8>) {
        for (n, square) in squares.into_iter().enumerate() {
            let same = last.get(n) == Some(&square);
            column.push(if same { 0 } else { relative(color, square) as u8 + 1 });
            match last.get_mut(n) {
                Some(last) => *last = square,
                None => last.push(square),
            }
        }
    }
}
