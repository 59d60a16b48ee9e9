//! The learned order of positions: a decision tree whose leaves keep the positions of a game together.
//!
//! A node asks a question about the board whose answer rarely changes between the plies of a game. `lab fit-order`
//! learns the tree. The tree is frozen, because another tree would be a new format.

use std::sync::OnceLock;

use shakmaty::{Bitboard, Board, Color, File, Piece, Rank, Role, Square};

/// Kinds of pieces except pawns and kings, in the order in which material and squares are compared.
pub const KINDS: [Piece; 8] = [
    Color::White.queen(),
    Color::Black.queen(),
    Color::White.rook(),
    Color::Black.rook(),
    Color::White.bishop(),
    Color::Black.bishop(),
    Color::White.knight(),
    Color::Black.knight(),
];

/// The pieces of the back rank of the initial position, from the a-file.
const BACK_RANK: [Role; 8] = [
    Role::Rook,
    Role::Knight,
    Role::Bishop,
    Role::Queen,
    Role::King,
    Role::Bishop,
    Role::Knight,
    Role::Rook,
];

/// The number of questions.
#[allow(dead_code, reason = "tests and `lab fit-order` need the number")]
pub const QUESTIONS: u8 = 168;
/// The byte of a leaf; every other byte of a tree is a question.
pub const LEAF: u8 = 255;

/// The tree in depth-first order: a question, its subtree for *no*, its subtree for *yes*.
static TREE: &[u8] = include_bytes!("order.bin");

/// Returns the answer to a question, as `FORMAT.md` lists them.
pub fn holds(question: u8, board: &Board) -> bool {
    let man = |color: usize, role| {
        let color = if color == 0 {
            Color::White
        } else {
            Color::Black
        };
        board.by_piece(Piece { color, role })
    };
    let pawns = |color| man(color, Role::Pawn);
    let n = usize::from(question);
    let file = Bitboard::from_file(File::new(u32::from(question % 8)));
    match n {
        0..48 => pawns(0).contains(Square::new(u32::from(question) + 8)),
        48..96 => pawns(1).contains(Square::new(u32::from(question) - 40)),
        96..112 => board.by_piece(KINDS[(n - 96) / 2]).count() > n % 2,
        112..128 => pawns((n - 112) / 8).count() > n % 8,
        128..144 => (pawns((n - 128) / 8) & file).any(),
        144..160 => {
            let rank = [Rank::First, Rank::Eighth][(n - 144) / 8];
            (man((n - 144) / 8, BACK_RANK[n % 8]) & file & Bitboard::from_rank(rank)).any()
        }
        160..164 => {
            let colour = [Bitboard::LIGHT_SQUARES, Bitboard::DARK_SQUARES][n % 2];
            (man((n - 160) / 2, Role::Bishop) & colour).any()
        }
        _ => {
            let square = [Square::B2, Square::G2, Square::B7, Square::G7][n % 4];
            man((n % 4) / 2, Role::Bishop).contains(square)
        }
    }
}

/// A tree that can be walked.
pub struct Tree(Vec<Node>);

struct Node {
    question: u8,
    /// The node of the answer *yes*; the number of a leaf.
    next: u16,
}

impl Tree {
    /// Numbers the leaves of a tree in depth-first order, and finds the node of each *yes*.
    pub fn new(bytes: &[u8]) -> Tree {
        let mut nodes: Vec<Node> = Vec::with_capacity(bytes.len());
        let mut waiting = Vec::new();
        let mut leaves = 0;
        for (n, &question) in bytes.iter().enumerate() {
            nodes.push(Node {
                question,
                next: leaves,
            });
            if question != LEAF {
                waiting.push(n);
                continue;
            }
            leaves += 1;
            if let Some(node) = waiting.pop() {
                nodes[node].next = n as u16 + 1;
            }
        }
        Tree(nodes)
    }

    /// Returns the number of the leaf of a board.
    pub fn leaf(&self, board: &Board) -> u16 {
        let mut at = 0;
        loop {
            let Node { question, next } = self.0[at];
            if question == LEAF {
                return next;
            }
            at = if holds(question, board) {
                next.into()
            } else {
                at + 1
            };
        }
    }
}

/// Returns the number of the leaf of a board in the frozen tree.
pub(crate) fn leaf(board: &Board) -> u16 {
    static LEARNED: OnceLock<Tree> = OnceLock::new();
    LEARNED.get_or_init(|| Tree::new(TREE)).leaf(board)
}
