//! The earlier lines of a record as a tree of moves: what a line shares with any of them is found in one walk, however
//! many they are.

use shakmaty::Move;

/// Lines, merged where they begin alike.
#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

/// A move of one or more lines.
#[derive(Debug)]
struct Node {
    /// `None` at the root.
    m: Option<Move>,
    /// The first line that it is part of.
    #[cfg_attr(not(any(feature = "write", test)), expect(dead_code, reason = "writers alone ask for it"))]
    line: usize,
    /// The first move that follows it, and the next one that stands in its place; 0 for none.
    child: usize,
    sibling: usize,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree(vec![Node { m: None, line: 0, child: 0, sibling: 0 }])
    }
}

impl Tree {
    const ROOT: usize = 0;

    /// The numbers of the moves that follow a move.
    fn followers(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |at: usize| Some(at).filter(|&at| at != Tree::ROOT);
        core::iter::successors(next(self.0[node].child), move |&at| next(self.0[at].sibling))
    }

    /// Follows a line as far as earlier ones go: the last move, and how many there are.
    pub(super) fn follow(&self, line: &[Move]) -> (usize, usize) {
        let mut node = Tree::ROOT;
        for (shared, m) in line.iter().enumerate() {
            match self.followers(node).find(|&at| self.0[at].m == Some(*m)) {
                Some(next) => node = next,
                None => return (node, shared),
            }
        }
        (node, line.len())
    }

    /// Adds the moves of a line that come after a move.
    pub(super) fn insert(&mut self, mut node: usize, rest: &[Move], line: usize) {
        for m in rest {
            let at = self.0.len();
            self.0.push(Node { m: Some(*m), line, child: 0, sibling: self.0[node].child });
            self.0[node].child = at;
            node = at;
        }
    }

    /// The first line that goes through a move.
    #[cfg(any(feature = "write", test))]
    pub(super) fn first_line(&self, node: usize) -> usize {
        self.0[node].line
    }

    /// The moves by which earlier lines go on after a move: a line that shared no more goes on with none of them.
    pub(super) fn children(&self, node: usize) -> Vec<Move> {
        self.followers(node).filter_map(|at| self.0[at].m).collect()
    }
}
