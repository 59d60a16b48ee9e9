//! The earlier lines of a record as a prefix tree (trie). One walk finds the longest prefix that a line shares with any
//! earlier line.

use shakmaty::Move;

/// Lines; those that begin with the same moves share nodes.
#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

/// A move that one or more lines play after the same moves.
#[derive(Debug)]
struct Node {
    /// `None` at the root.
    m: Option<Move>,
    /// The first line that it is part of.
    #[cfg_attr(
        not(any(feature = "write", test)),
        expect(dead_code, reason = "only writers ask for it")
    )]
    line: usize,
    /// The first child, and the next child of the same parent; 0 for none.
    child: usize,
    sibling: usize,
}

impl Default for Tree {
    fn default() -> Tree {
        Tree(vec![Node {
            m: None,
            line: 0,
            child: 0,
            sibling: 0,
        }])
    }
}

impl Tree {
    const ROOT: usize = 0;

    /// Returns the numbers of the children of a node.
    fn child_nodes(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |at: usize| Some(at).filter(|&at| at != Tree::ROOT);
        core::iter::successors(next(self.0[node].child), move |&at| {
            next(self.0[at].sibling)
        })
    }

    /// Follows a line from the root as far as there are nodes: the last node, and how many moves lead to it.
    pub(super) fn follow(&self, line: &[Move]) -> (usize, usize) {
        let mut node = Tree::ROOT;
        for (shared, m) in line.iter().enumerate() {
            match self.child_nodes(node).find(|&at| self.0[at].m == Some(*m)) {
                Some(next) => node = next,
                None => return (node, shared),
            }
        }
        (node, line.len())
    }

    /// Adds the rest of a line below a node.
    pub(super) fn insert(&mut self, mut node: usize, rest: &[Move], line: usize) {
        for m in rest {
            let at = self.0.len();
            self.0.push(Node {
                m: Some(*m),
                line,
                child: 0,
                sibling: self.0[node].child,
            });
            self.0[node].child = at;
            node = at;
        }
    }

    /// Returns the first line that goes through a node.
    #[cfg(any(feature = "write", test))]
    pub(super) fn first_line(&self, node: usize) -> usize {
        self.0[node].line
    }

    /// Returns the moves of the children of a node. A line that leaves the tree at this node continues with a different
    /// move.
    pub(super) fn children(&self, node: usize) -> Vec<Move> {
        self.child_nodes(node)
            .filter_map(|at| self.0[at].m)
            .collect()
    }
}
