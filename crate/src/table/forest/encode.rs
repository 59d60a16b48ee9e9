//! Choosing a forest of a block's positions, and writing it.

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

/// Chooses a forest of `nodes`, in ascending order of keys, and writes it. `is_preferred` receives the index of a node,
/// an origin and a target. If preferred steps lead to a position, other steps to it are ignored.
pub(crate) fn encode(
    nodes: &[Node],
    is_preferred: &dyn Fn(usize, Square, Square) -> bool,
    columns: &mut [Vec<u8>],
) -> Result<Written, ColumnError> {
    let steps = steps_between(nodes, is_preferred);
    let mut has_parent = vec![false; nodes.len()];
    for step in steps.iter().flatten() {
        has_parent[step.child as usize] = true;
    }
    let mut written = Written::default();
    let mut stored = vec![false; nodes.len()];
    let mut last_root = LastRoot::default();
    let mut coder = Coder::writer(columns);
    // First the positions that no step reaches, then those that only cycles of steps reach.
    let first = (0..nodes.len()).filter(|&n| !has_parent[n]);
    let rest = (0..nodes.len()).filter(|&n| has_parent[n]);
    for root in first.chain(rest) {
        if stored[root] {
            continue;
        }
        stored[root] = true;
        coder.byte(LINK, 0)?;
        last_root.code(&mut coder, Some(&nodes[root]))?;
        written.order.push(root as u32);
        written.parents.push(None);
        written.steps.push(NO_STEP);
        // The path of (stored number, steps yet to try) from the root to the last stored position.
        let mut path = vec![(written.order.len() as u32 - 1, steps[root].iter())];
        let mut up = 1u8;
        while let Some((parent, untried)) = path.last_mut() {
            let parent = *parent;
            match untried.find(|step| !stored[step.child as usize]) {
                // A position that a link does not reach becomes a root.
                Some(step) if up <= MAX_NIBBLE && step.piece <= MAX_NIBBLE => {
                    stored[step.child as usize] = true;
                    coder.byte(LINK, up << 4 | step.piece)?;
                    coder.byte(STEP_TARGET, step.target)?;
                    written.order.push(step.child);
                    written.parents.push(Some(parent));
                    written.steps.push(step.squares);
                    path.push((
                        written.order.len() as u32 - 1,
                        steps[step.child as usize].iter(),
                    ));
                    up = 1;
                }
                _ => {
                    path.pop();
                    up = up.saturating_add(1);
                }
            }
        }
    }
    Ok(written)
}

fn steps_between(
    nodes: &[Node],
    is_preferred: &dyn Fn(usize, Square, Square) -> bool,
) -> Vec<Vec<Step>> {
    let hashes: Vec<u64> = nodes.iter().map(Node::hash).collect();
    let index = Index::new(nodes, &hashes);
    let mut is_reached = vec![false; nodes.len()];
    let mut all: Vec<Vec<Step>> = Vec::with_capacity(nodes.len());
    for (n, node) in nodes.iter().enumerate() {
        let mut steps: Vec<Step> = Vec::new();
        let hash = hashes[n] ^ TURN;
        let own = node.board.by_color(node.turn);
        let occupied = node.board.occupied();
        for (piece, (role, from)) in node.movers().enumerate() {
            let targets = node.targets(role, from);
            let targets = node.turn.fold_wb(targets, targets.flip_vertical());
            let mover = role.of(node.turn);
            let left = hash ^ hash_of(mover, from);
            for (target, to) in targets.into_iter().enumerate() {
                let to = relative_square(to, node.turn);
                let taken = if occupied.contains(to) {
                    node.board.piece_at(to)
                } else {
                    None
                };
                let next = match taken {
                    // Castling moves two pieces.
                    Some(_) if own.contains(to) => node.step(role, from, to).hash(),
                    Some(taken) => left ^ hash_of(mover, to) ^ hash_of(taken, to),
                    None => left ^ hash_of(mover, to),
                };
                if let Some(child) = index.find(next, || node.step(role, from, to)) {
                    steps.push(Step {
                        child,
                        piece: piece as u8,
                        target: target as u8,
                        squares: (from, to),
                    });
                }
            }
        }
        for step in &steps {
            is_reached[step.child as usize] |= is_preferred(n, step.squares.0, step.squares.1);
        }
        all.push(steps);
    }
    for (n, steps) in all.iter_mut().enumerate() {
        steps.retain(|step| {
            !is_reached[step.child as usize] || is_preferred(n, step.squares.0, step.squares.1)
        });
    }
    all
}

/// The change of a position's hash with the side to move.
const TURN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the contribution of a piece on a square to the hash of a position: splitmix64 of their index.
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
    /// Returns a hash that a step changes by its pieces; castling rights and en-passant squares, which seldom differ
    /// alone, are not in it.
    fn hash(&self) -> u64 {
        let mut hash = self.turn.fold_wb(0, TURN);
        for color in Color::ALL {
            for role in Role::ALL {
                let squares = self.board.by_role(role) & self.board.by_color(color);
                squares
                    .into_iter()
                    .for_each(|square| hash ^= hash_of(role.of(color), square));
            }
        }
        hash
    }
}

/// An index of nodes by hash, sorted, behind a bit filter. Of some forty steps from a node, one or two lead to other nodes.
/// The filter, which fits into the nearest cache of a processor, rejects nearly all others.
struct Index<'a> {
    nodes: &'a [Node],
    sorted: Vec<(u64, u32)>,
    filter: Vec<u64>,
}

impl Index<'_> {
    fn new<'a>(nodes: &'a [Node], hashes: &[u64]) -> Index<'a> {
        let mut filter = vec![0; 1 << 10];
        for &hash in hashes {
            let (word, bit) = Index::bit(hash);
            filter[word] |= bit;
        }
        let mut sorted: Vec<_> = hashes.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        Index {
            nodes,
            sorted,
            filter,
        }
    }

    /// Returns the word and the bit of the filter for a hash: by its highest 16 bits.
    fn bit(hash: u64) -> (usize, u64) {
        ((hash >> 54) as usize, 1 << (hash >> 48 & 63))
    }

    /// Returns the index of the node that has this hash and equals the result of `node`.
    fn find(&self, hash: u64, node: impl Fn() -> Node) -> Option<u32> {
        let (word, bit) = Index::bit(hash);
        if self.filter[word] & bit == 0 {
            return None;
        }
        self.sorted[self.sorted.partition_point(|(other, _)| *other < hash)..]
            .iter()
            .take_while(|(other, _)| *other == hash)
            .map(|(_, n)| *n)
            .find(|n| self.nodes[*n as usize] == node())
    }
}
