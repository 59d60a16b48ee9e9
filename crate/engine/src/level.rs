//! Players of less than full strength. They look at fewer positions, and of moves that they hold for about as good they
//! play now one, now another; none plays a move that it knows to be bad.

use crate::{
    Game, Histories,
    deepening::{Line, search},
    limits::{Control, Limits},
    score::Score,
    tt::Table,
    zobrist::split_mix,
};

/// The least rating of a level.
pub const WEAKEST: u32 = 800;
/// The highest rating of a level; beyond it there is the engine's full strength.
pub const STRONGEST: u32 = 2_600;

/// Moves among which a level chooses.
const CHOICES: usize = 6;
/// A move that is worse by so many times [`Level::half`] is not played.
const FURTHEST: i32 = 4;
/// A choice is made within fractions of this.
const WHOLE: u64 = 1 << 16;

/// How strong a player is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Nodes that it looks at.
    pub nodes: u64,
    /// Centipawns, in a position that is even: a move that is worse by so much is played half as often.
    pub half: u32,
}

/// Ratings and what a player of each sees; between two of them it is in proportion. All but the last were
/// measured against Stockfish 15.1's skill levels (`MATCHES.md`).
const LEVELS: [(u32, Level); 6] = [
    (800, Level { nodes: 700, half: 55 }),
    (1_200, Level { nodes: 1_800, half: 35 }),
    (1_600, Level { nodes: 10_000, half: 18 }),
    (2_000, Level { nodes: 32_000, half: 11 }),
    (2_300, Level { nodes: 120_000, half: 6 }),
    (2_600, Level { nodes: 500_000, half: 3 }),
];

impl Level {
    /// The level of a rating, from [`WEAKEST`] to [`STRONGEST`]; others are taken for the nearer one of these.
    ///
    /// ```
    /// use shelfish_engine::Level;
    /// assert!(Level::of(1_000).nodes < Level::of(2_000).nodes);
    /// assert_eq!(Level::of(0), Level::of(800));
    /// ```
    pub fn of(rating: u32) -> Level {
        let rating = rating.clamp(WEAKEST, STRONGEST);
        let above = LEVELS.iter().position(|(at, _)| *at >= rating).unwrap_or(LEVELS.len() - 1);
        let ((low, weaker), (high, stronger)) = (LEVELS[above.saturating_sub(1)], LEVELS[above]);
        let between = |a: u64, b: u64| match u64::from(high - low) {
            0 => b,
            whole => (a * u64::from(high - rating) + b * u64::from(rating - low)) / whole,
        };
        Level {
            nodes: between(weaker.nodes, stronger.nodes),
            half: between(weaker.half.into(), stronger.half.into()) as u32,
        }
    }

    /// Which of the lines is played, best first; `random` is any number.
    fn choose(self, lines: &[Line], random: u64) -> usize {
        let Some(best) = lines.first() else { return 0 };
        let weights = lines.iter().map(|line| self.weight(worth(best.score) - worth(line.score)));
        let weights: Vec<u64> = weights.collect();
        let mut rest = random % weights.iter().sum::<u64>().max(1);
        for (index, weight) in weights.into_iter().enumerate() {
            if rest < weight {
                return index;
            }
            rest -= weight;
        }
        0
    }

    /// How often a move is played that is worse by so much: half as often for each [`Level::half`], in proportion between.
    fn weight(self, loss: i32) -> u64 {
        let half = self.half.clamp(1, 1_000) as i32;
        let (halvings, rest) = (loss.max(0) / half, loss.max(0) % half);
        if halvings >= FURTHEST {
            return 0;
        }
        (WHOLE >> halvings) * (2 * half - rest) as u64 / (2 * half) as u64
    }
}

/// What a score is worth to a player: the more the game is decided, the less a centipawn.
fn worth(score: Score) -> i32 {
    match score {
        Score::Cp(cp) => cp * 1_000 / (1_000 + cp.abs()),
        Score::Mate(moves) if moves > 0 => 1_200 - moves.min(100),
        Score::Mate(moves) => -1_200 - moves.max(-100),
    }
}

/// What a player of a level thinks of the last position of a game: the lines that it sees, best first, and the index of the
/// one that it plays. The same game, seed and limits give the same.
///
/// ```
/// use shelfish_engine::{Game, Level, Limits, Position, Silent, play};
/// let game = Game::new(Position::default());
/// let (lines, chosen) = play(&game, Level::of(1_200), 7, &Limits::default(), &mut Silent);
/// assert!(lines.len() > 1 && chosen < lines.len());
/// ```
pub fn play(game: &Game, level: Level, seed: u64, limits: &Limits, control: &mut dyn Control) -> (Vec<Line>, usize) {
    let nodes = Some(limits.nodes.map_or(level.nodes, |nodes| nodes.min(level.nodes)));
    let limits = Limits { nodes, lines: limits.lines.max(CHOICES), ..limits.clone() };
    // A memory of its own: what a full search found is not to be remembered.
    let lines = search(game, &Table::new(1 << 20), &mut Histories::default(), &limits, control);
    let chosen = level.choose(&lines, split_mix(seed ^ game.position().key().wrapping_add(game.length() as u64)));
    (lines, chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Position, Silent};

    fn lines(scores: &[Score]) -> Vec<Line> {
        let line = |(index, &score): (usize, &Score)| Line {
            depth: 1,
            deepest: 1,
            rank: index + 1,
            score,
            bound: Bound::Exact,
            nodes: 1,
            full: 0,
            moves: Vec::new(),
        };
        scores.iter().enumerate().map(line).collect()
    }

    /// How often each line is chosen, of ten thousand times.
    fn choices(level: Level, scores: &[Score]) -> Vec<usize> {
        let lines = lines(scores);
        let mut counts = vec![0; lines.len()];
        (0..10_000).for_each(|n| counts[level.choose(&lines, split_mix(n))] += 1);
        counts
    }

    #[test]
    fn a_move_that_is_worse_by_a_half_is_played_half_as_often() {
        let counts = choices(Level { nodes: 1, half: 50 }, &[Score::Cp(0), Score::Cp(-53), Score::Cp(-400)]);
        assert!((6_500..6_850).contains(&counts[0]) && counts[2] == 0, "{counts:?}");
    }

    #[test]
    fn a_mate_is_not_missed_for_a_pawn_nor_a_mate_walked_into() {
        let weak = Level::of(WEAKEST);
        assert_eq!(choices(weak, &[Score::Mate(1), Score::Cp(300)]), [10_000, 0]);
        assert_eq!(choices(weak, &[Score::Cp(-300), Score::Mate(-2)]), [10_000, 0]);
        assert!(choices(weak, &[Score::Mate(-5), Score::Mate(-2)])[1] > 0);
    }

    #[test]
    fn stronger_levels_see_more_and_choose_more_surely() {
        let levels: Vec<Level> = (WEAKEST..=STRONGEST).step_by(50).map(Level::of).collect();
        assert!(levels.is_sorted_by(|a, b| a.nodes <= b.nodes && a.half >= b.half), "{levels:?}");
        assert_eq!(Level::of(u32::MAX), Level::of(STRONGEST));
        for (rating, level) in LEVELS {
            assert_eq!(Level::of(rating), level);
        }
    }

    #[test]
    fn the_seed_decides_and_nothing_else_does() {
        let game = Game::new(Position::default());
        let chosen = |seed| {
            let (lines, chosen) = play(&game, Level::of(1_000), seed, &Limits::default(), &mut Silent);
            lines[chosen].moves[0]
        };
        let first: Vec<_> = (0..20).map(chosen).collect();
        assert_eq!(first, (0..20).map(chosen).collect::<Vec<_>>());
        assert!(first.iter().any(|m| *m != first[0]), "{first:?}");
    }

    #[test]
    fn no_level_looks_at_more_than_it_may() {
        let game = Game::new(Position::default());
        for (nodes, most) in [(None, Level::of(1_500).nodes), (Some(50), 50)] {
            let limits = Limits { nodes, ..Limits::default() };
            let (lines, _) = play(&game, Level::of(1_500), 1, &limits, &mut Silent);
            assert!(lines.iter().all(|line| line.nodes <= most), "{lines:?}");
        }
    }
}
