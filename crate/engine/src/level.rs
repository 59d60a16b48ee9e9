//! Players of less than full strength. They search fewer nodes, choose at random among moves of similar scores, and have lapses: then
//! they do not see what the opponent can answer.

use shakmaty::{Move, Position as _};

use crate::{
    Game, Histories, Position,
    deepening::{Line, search},
    limits::{Control, Limits},
    network::{Accumulators, Network},
    score::UciScore,
    see,
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
/// A player with at most this number of lapses sees that a move allows mate.
const CAREFUL: u64 = 60;
/// A move that loses more than these centipawns by captures on its square is no lapse.
const PLAIN: i32 = -400;
/// Weight of the best move.
const WHOLE: u64 = 1 << 16;

/// The strength of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Nodes searched for a move.
    pub nodes: u64,
    /// Loss in centipawns, in an even position, that makes a move half as likely.
    pub half: u32,
    /// Moves of a thousand that are lapses: the player overlooks what the opponent can answer.
    pub lapses: u64,
}

/// Rating, nodes, half and lapses of levels, with linear interpolation between them. They were measured against levels of Stockfish 15.1
/// (`MATCHES.md`).
const LEVELS: [(u32, u64, u32, u64); 8] = [
    (800, 750, 62, 135),
    (1_000, 2_400, 46, 99),
    (1_200, 5_000, 34, 69),
    (1_400, 8_000, 24, 37),
    (1_600, 9_500, 18, 22),
    (2_000, 20_000, 11, 0),
    (2_300, 62_000, 6, 0),
    (2_600, 150_000, 3, 0),
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
            lapses: between(weaker.3, stronger.3),
        }
    }

    /// Returns the move of a lapse: it looks good at a glance, without an answer of the opponent.
    fn glance(self, position: &Position, random: u64) -> Vec<Move> {
        let network = Network::embedded();
        let is_mated = |after: Position| after.legal_moves().iter().any(|&m| mates(&after, m));
        let is_seen = |m| {
            !see::wins(position, m, PLAIN) || self.lapses <= CAREFUL && is_mated(position.play(m))
        };
        let mut moves = position.legal_moves();
        moves.retain(|&mut m| !is_seen(m));
        let looks = |&m: &Move| {
            if mates(position, m) {
                return value(UciScore::Mate(1));
            }
            let after = position.play(m);
            let seen = Accumulators::of_position(network, &after);
            value(UciScore::from_search(-network.evaluate(&after, &seen)))
        };
        let values: Vec<i32> = moves.iter().map(looks).collect();
        let chosen = self.choose(&values, random);
        moves.get(chosen).copied().into_iter().collect()
    }

    /// Returns the index of the move to play; `values` are those of the moves, and `random` is any number.
    fn choose(self, values: &[i32], random: u64) -> usize {
        let best = values.iter().copied().max().unwrap_or(0);
        let weights: Vec<u64> = (values.iter().map(|value| self.weight(best - value))).collect();
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

/// Returns whether a legal move mates. Not inlined, for a small module.
#[inline(never)]
fn mates(position: &Position, m: Move) -> bool {
    position.play(m).chess().is_checkmate()
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
    let mut limits = Limits {
        nodes,
        lines: limits.lines.max(CHOICES),
        ..limits.clone()
    };
    let random = split_mix(seed ^ game.position().key().wrapping_add(game.length() as u64));
    if limits.moves.is_empty() && split_mix(random) % 1_000 < level.lapses {
        limits.moves = level.glance(game.position(), random);
    }
    // A new table and new histories: the player must not know what a full search found.
    let lines = search(
        game,
        &Table::new(1 << 20),
        &mut Histories::default(),
        &limits,
        control,
    );
    let values: Vec<i32> = lines.iter().map(|line| value(line.score)).collect();
    let chosen = level.choose(&values, random);
    (lines, chosen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    /// Counts how often each line is chosen in ten thousand games.
    fn choices(level: Level, scores: &[UciScore]) -> Vec<usize> {
        let values: Vec<i32> = scores.iter().map(|&score| value(score)).collect();
        let mut counts = vec![0; scores.len()];
        (0..10_000).for_each(|n| counts[level.choose(&values, split_mix(n))] += 1);
        counts
    }

    #[test]
    fn a_move_with_the_halving_loss_is_played_half_as_often() {
        let counts = choices(
            Level {
                half: 50,
                ..Level::of(WEAKEST)
            },
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
            levels.is_sorted_by(|a, b| a.nodes <= b.nodes
                && a.half >= b.half
                && a.lapses >= b.lapses),
            "{levels:?}"
        );
        assert_eq!(Level::of(u32::MAX), Level::of(STRONGEST));
        for (rating, nodes, half, lapses) in LEVELS {
            let level = Level {
                nodes,
                half,
                lapses,
            };
            assert_eq!(Level::of(rating), level);
        }
    }

    #[test]
    fn a_beginner_overlooks_an_answer_but_a_careful_player_no_mate() {
        // The rook can take a pawn, but then the back rank is open.
        let game = Game::new("3r2k1/5ppp/8/8/8/p7/5PPP/R5K1 w - - 0 1".parse().unwrap());
        let mated = |lapses| {
            let level = Level {
                lapses,
                ..Level::of(WEAKEST)
            };
            let played = |seed| play(&game, level, seed, &Limits::default(), &mut Silent);
            (0..300)
                .map(played)
                .filter(|(lines, chosen)| matches!(lines[*chosen].score, UciScore::Mate(-1)))
                .count()
        };
        assert_ne!(mated(200), 0);
        assert_eq!(mated(CAREFUL), 0);
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
