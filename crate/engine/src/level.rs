//! Players of less than full strength. They search fewer nodes and choose at random among moves of similar scores. No
//! player chooses a move whose score is bad.

use crate::{
    Game, Histories,
    deepening::{Line, search},
    limits::{Control, Limits},
    score::UciScore,
    tt::Table,
    zobrist::split_mix,
};

/// The lowest rating of a level.
pub const WEAKEST: u32 = 800;
/// The highest rating of a level. A stronger player is the engine at full strength.
pub const STRONGEST: u32 = 2_600;

/// Number of moves that a level chooses from.
const CHOICES: usize = 6;
/// A move that is worse by this multiple of [`Level::half`] is never played.
const MAX_HALVINGS: i32 = 4;
/// Weight of the best move.
const WHOLE: u64 = 1 << 16;

/// The strength of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Nodes searched for a move.
    pub nodes: u64,
    /// Loss in centipawns, in an even position, that makes a move half as likely.
    pub half: u32,
}

/// Rating, nodes and half of levels, with linear interpolation between them. They were measured against the skill levels of Stockfish 15.1, with
/// 300,000 nodes a move (`MATCHES.md`).
const LEVELS: [(u32, u64, u32); 6] = [
    (800, 380, 55),
    (1_200, 3_400, 29),
    (1_600, 8_000, 18),
    (2_000, 20_000, 11),
    (2_300, 62_000, 6),
    (2_600, 150_000, 3),
];

impl Level {
    /// Returns the level of a rating, clamped to [`WEAKEST`] and [`STRONGEST`].
    ///
    /// ```
    /// use shelfish_engine::Level;
    /// assert!(Level::of(1_000).nodes < Level::of(2_000).nodes);
    /// assert_eq!(Level::of(0), Level::of(800));
    /// ```
    pub fn of(rating: u32) -> Level {
        let rating = rating.clamp(WEAKEST, STRONGEST);
        let above = LEVELS
            .iter()
            .position(|level| level.0 >= rating)
            .unwrap_or(0);
        let (weaker, stronger) = (LEVELS[above.saturating_sub(1)], LEVELS[above]);
        let whole = u64::from(stronger.0 - weaker.0).max(1);
        let part = u64::from(stronger.0 - rating);
        let between = |a: u64, b: u64| (a * part + b * (whole - part)) / whole;
        Level {
            nodes: between(weaker.1, stronger.1),
            half: between(weaker.2.into(), stronger.2.into()) as u32,
        }
    }

    /// Returns the index of the line to play; `lines` are sorted, best first, and `random` is any number.
    fn choose(self, lines: &[Line], random: u64) -> usize {
        let Some(best) = lines.first() else { return 0 };
        let weight = |line: &Line| self.weight(value(best.score) - value(line.score));
        let weights: Vec<u64> = lines.iter().map(weight).collect();
        let mut rest = random % weights.iter().sum::<u64>().max(1);
        for (index, weight) in weights.into_iter().enumerate() {
            if rest < weight {
                return index;
            }
            rest -= weight;
        }
        0
    }

    /// Returns the weight of a move that is worse by `loss`: half for each [`Level::half`], linear in between.
    fn weight(self, loss: i32) -> u64 {
        let half = self.half.clamp(1, 1_000) as i32;
        let (halvings, rest) = (loss.max(0) / half, loss.max(0) % half);
        if halvings >= MAX_HALVINGS {
            return 0;
        }
        (WHOLE >> halvings) * (2 * half - rest) as u64 / (2 * half) as u64
    }
}

/// Returns the value of a score for a player. A centipawn counts less the more decided the game is.
fn value(score: UciScore) -> i32 {
    match score {
        UciScore::Cp(cp) => cp * 1_000 / (1_000 + cp.abs()),
        UciScore::Mate(moves) if moves > 0 => 1_200 - moves.min(100),
        UciScore::Mate(moves) => -1_200 - moves.max(-100),
    }
}

/// Searches the last position of a game as a player of a level. Returns the lines, best first, and the index of the line to
/// play. The result depends only on the game, the level, the seed and the limits.
///
/// ```
/// use shelfish_engine::{Game, Level, Limits, Position, Silent, play};
/// let game = Game::new(Position::default());
/// let (lines, chosen) = play(&game, Level::of(1_200), 7, &Limits::default(), &mut Silent);
/// assert!(lines.len() > 1 && chosen < lines.len());
/// ```
pub fn play(
    game: &Game,
    level: Level,
    seed: u64,
    limits: &Limits,
    control: &mut dyn Control,
) -> (Vec<Line>, usize) {
    let nodes = Some(
        limits
            .nodes
            .map_or(level.nodes, |nodes| nodes.min(level.nodes)),
    );
    let limits = Limits {
        nodes,
        lines: limits.lines.max(CHOICES),
        ..limits.clone()
    };
    // A new table and new histories: the player must not know what a full search found.
    let lines = search(
        game,
        &Table::new(1 << 20),
        &mut Histories::default(),
        &limits,
        control,
    );
    let chosen = level.choose(
        &lines,
        split_mix(seed ^ game.position().key().wrapping_add(game.length() as u64)),
    );
    (lines, chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bound, Position, Silent};

    fn lines(scores: &[UciScore]) -> Vec<Line> {
        let line = |(index, &score): (usize, &UciScore)| Line {
            depth: 1,
            seldepth: 1,
            rank: index + 1,
            score,
            bound: Bound::Exact,
            nodes: 1,
            hashfull: 0,
            moves: Vec::new(),
        };
        scores.iter().enumerate().map(line).collect()
    }

    /// Counts how often each line is chosen in ten thousand games.
    fn choices(level: Level, scores: &[UciScore]) -> Vec<usize> {
        let lines = lines(scores);
        let mut counts = vec![0; lines.len()];
        (0..10_000).for_each(|n| counts[level.choose(&lines, split_mix(n))] += 1);
        counts
    }

    #[test]
    fn a_move_with_the_halving_loss_is_played_half_as_often() {
        let counts = choices(
            Level { nodes: 1, half: 50 },
            &[UciScore::Cp(0), UciScore::Cp(-53), UciScore::Cp(-400)],
        );
        assert!(
            (6_500..6_850).contains(&counts[0]) && counts[2] == 0,
            "{counts:?}"
        );
    }

    #[test]
    fn a_mate_is_neither_missed_nor_allowed_for_a_pawn() {
        let weak = Level::of(WEAKEST);
        assert_eq!(
            choices(weak, &[UciScore::Mate(1), UciScore::Cp(300)]),
            [10_000, 0]
        );
        assert_eq!(
            choices(weak, &[UciScore::Cp(-300), UciScore::Mate(-2)]),
            [10_000, 0]
        );
        assert!(choices(weak, &[UciScore::Mate(-5), UciScore::Mate(-2)])[1] > 0);
    }

    #[test]
    fn stronger_levels_search_more_nodes_and_choose_better_moves() {
        let levels: Vec<Level> = (WEAKEST..=STRONGEST).step_by(50).map(Level::of).collect();
        assert!(
            levels.is_sorted_by(|a, b| a.nodes <= b.nodes && a.half >= b.half),
            "{levels:?}"
        );
        assert_eq!(Level::of(u32::MAX), Level::of(STRONGEST));
        for (rating, nodes, half) in LEVELS {
            assert_eq!(Level::of(rating), Level { nodes, half });
        }
    }

    #[test]
    fn the_move_depends_on_the_seed_alone() {
        let game = Game::new(Position::default());
        let chosen = |seed| {
            let (lines, chosen) = play(
                &game,
                Level::of(1_000),
                seed,
                &Limits::default(),
                &mut Silent,
            );
            lines[chosen].moves[0]
        };
        let first: Vec<_> = (0..20).map(chosen).collect();
        assert_eq!(first, (0..20).map(chosen).collect::<Vec<_>>());
        assert!(first.iter().any(|m| *m != first[0]), "{first:?}");
    }
}
