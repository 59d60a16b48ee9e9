//! The numbers of all records of a block, in memory.

use core::ops::Range;

use shakmaty::{Move, Square};

use super::layout::Layout;
use super::move_games::MoveGames;

/// The numbers of all records of a block. A move that does not lead to another position of the block is an *other move*.
#[derive(Debug, Default)]
pub struct BlockColumns {
    pub(super) layout: Layout,
    pub(super) steps: Steps,
    /// The games that reach each position from its parent, then those that end in each position, then those of each
    /// other move.
    pub(super) games: MoveGames,
    /// The range of each position's other moves among those of the block.
    pub(super) others: Vec<Range<usize>>,
    /// Rank among the legal moves, for each other move.
    pub(super) ranks: Vec<u32>,
    /// Number of moves of all positions.
    pub(super) moves: usize,
}

impl BlockColumns {
    pub(super) fn new(layout: Layout, parents: &[Option<u32>]) -> BlockColumns {
        BlockColumns {
            layout,
            steps: Steps::new(parents),
            games: MoveGames::new(layout, 2 * parents.len()),
            others: vec![0..0; parents.len()],
            ranks: Vec::new(),
            moves: 0,
        }
    }

    /// Returns the index in `games` of the games that end in position `n`.
    pub(super) fn ended(&self, n: usize) -> usize {
        self.others.len() + n
    }

    /// Returns the index in `games` of other move `n`.
    pub(super) fn other(&self, n: usize) -> usize {
        2 * self.others.len() + n
    }

    /// Returns the positions one step from position `n`.
    pub(super) fn children(&self, n: usize) -> &[u32] {
        &self.steps.children[self.steps.of(n)]
    }

    /// Returns the approximate size in memory, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.games.memory()
            + self.others.len() * (size_of::<Range<usize>>() + 2 * size_of::<u32>())
            + self.ranks.len() * size_of::<u32>()
    }
}

/// The positions one step from each position.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// The index of each position's first child in `children`, and the number of children.
    starts: Vec<u32>,
    pub(super) children: Vec<u32>,
}

impl Steps {
    fn new(parents: &[Option<u32>]) -> Steps {
        let mut starts = vec![0; parents.len() + 1];
        for parent in parents.iter().flatten() {
            starts[*parent as usize + 1] += 1;
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0; parents.iter().flatten().count()];
        for (n, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                let at = &mut next[*parent as usize];
                children[*at as usize] = n as u32;
                *at += 1;
            }
        }
        Steps { starts, children }
    }

    /// Returns the range of the children of position `n`.
    pub(super) fn of(&self, n: usize) -> Range<usize> {
        self.starts[n] as usize..self.starts[n + 1] as usize
    }
}

/// Returns whether a move is the step between two squares. Castling goes to the square of the rook.
pub(super) fn is_step(m: Move, from: Square, to: Square) -> bool {
    m.from() == Some(from) && m.to() == to && m.promotion().is_none() && !m.is_en_passant()
}
