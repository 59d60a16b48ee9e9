//! Review of a game: decides which positions an engine searches, and when the report is final.
//!
//! A review begins with the evaluations of a database or a PGN. Its passes request searches of an engine:
//!
//! 1. a draft of the positions of all moves that have no comparable evaluations,
//! 2. the same positions with more nodes,
//! 3. the positions before and after each move whose loss is near or above an inaccuracy,
//! 4. with more nodes again, the moves that pass 3 still judges, unless both passes agree on a large loss,
//! 5. with two lines and few nodes, the positions before good moves that may be the only good move,
//! 6. with two lines and more nodes, the positions for which pass 5 finds that.
//!
//! Passes 5 and 6 change no judgment: see [`mark`](crate::mark).
//!
//! The positions of a [`Sequence`] are neighbours, searched from the end of the game to its beginning by an engine whose
//! transposition table was cleared before. The limit is a number of nodes. The report therefore depends neither on time nor on
//! the number of engines.

use shakmaty::{Chess, Position as _};
use shelfish::position::Position;

use crate::comparison::{Comparison, Evidence, PASSES, Searched, compare};
use crate::game::Game;
use crate::known::{KnownEval, Origin};
use crate::mark::{self, Mark};
use crate::report::{Report, ReportError};
use crate::value::{INITIAL, Value};

/// Default number of nodes of the third pass.
pub const DEFAULT_NODES: u64 = 250_000;

/// Nodes of each pass, as a fraction of the nodes of the third pass.
const FRACTIONS: [(u64, u64); PASSES] = [(1, 30), (3, 5), (1, 1), (8, 5)];

/// Nodes of the passes with two lines, as a fraction of the nodes of the third pass.
const MARK_FRACTIONS: [(u64, u64); 2] = [(1, 10), (1, 1)];

/// Minimum number of nodes of a search. An engine needs some nodes for a first iteration.
const MIN_NODES: u64 = 1_000;

/// Maximum number of positions of a sequence. Longer sequences share more of the table, shorter sequences keep more engines
/// busy.
const MAX_SEQUENCE: usize = 10;

/// Positions that an engine searches one after the other. The engine forgets earlier searches before the first position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// Indices of the positions in [`Review::positions`], in the order of the searches.
    pub positions: Vec<usize>,
    /// Number of nodes for each position.
    pub nodes: u64,
    /// Number of lines for each position: 1, or 2 in the passes for marks.
    pub lines: usize,
}

/// Review of a game.
///
/// ```
/// use shelfish_analysis::{DEFAULT_NODES, Game, KnownEval, Origin, Review, Score};
/// let game = Game::from_uci(None, ["f2f3", "e7e5", "g2g4", "d8h4"])?;
/// let mut review = Review::new(game, DEFAULT_NODES);
/// while let sequences @ [_, ..] = &review.next_pass()[..] {
///     for index in sequences.iter().flat_map(|sequence| &sequence.positions) {
///         // An engine searches `review.positions()[*index]`. Before the mate, Black wins.
///         let score = if *index < 3 { Score::Cp(-20) } else { Score::Mate(-1) };
///         review.answer(*index, KnownEval { origin: Origin::Engine, ..KnownEval::new(score, Some(12)) })?;
///     }
/// }
/// let report = review.report();
/// assert!(report.settled);
/// assert_eq!(report.white.blunders, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Review {
    game: Game,
    /// The distinct positions of the game, in the order of their first occurrence.
    positions: Vec<Position>,
    /// Index of the position before each move, and of the last position.
    indices: Vec<usize>,
    given: Vec<Option<KnownEval>>,
    found: Vec<[Option<KnownEval>; PASSES]>,
    /// Results of the passes with two lines.
    two_lines: Vec<[Option<KnownEval>; MARK_FRACTIONS.len()]>,
    /// Comparisons that were settled before the current pass. Later passes may search the same positions for other moves.
    settled: Vec<Option<Comparison>>,
    /// Number of passes that were requested.
    passes: usize,
    nodes: u64,
}

impl Review {
    /// Creates a review of a game. `nodes` is the number of nodes of the third pass. The other passes use a fraction or a multiple
    /// of this number.
    pub fn new(game: Game, nodes: u64) -> Review {
        let mut positions: Vec<Position> = Vec::new();
        let mut indices = Vec::with_capacity(game.moves().len() + 1);
        // Positions before a capture or pawn move do not occur again.
        let mut since = 0;
        let moves = game.moves().iter().map(Some).chain([None]);
        for (chess, played) in game.positions().zip(moves) {
            let position = Position::from_chess(&chess);
            let known = positions[since..]
                .iter()
                .position(|other| *other == position);
            let index = known.map_or(positions.len(), |known| since + known);
            if index == positions.len() {
                positions.push(position);
            }
            indices.push(index);
            if played.is_some_and(|played| played.is_zeroing()) {
                since = positions.len();
            }
        }
        let (given, found) = (
            vec![None; positions.len()],
            vec![[const { None }; PASSES]; positions.len()],
        );
        let two_lines = vec![[const { None }; MARK_FRACTIONS.len()]; positions.len()];
        let settled = vec![None; game.moves().len()];
        Review {
            game,
            positions,
            indices,
            given,
            found,
            two_lines,
            settled,
            passes: 0,
            nodes,
        }
    }

    /// Adds evaluations of a database or a PGN: `known[0]` is that of the first position, `known[n]` that after move n. Of
    /// several evaluations of a position, the evaluation that [`counts`](KnownEval::counts_over) remains.
    ///
    /// # Errors
    ///
    /// The number of evaluations is not the number of positions, or an evaluation belongs to a different position.
    pub fn give(&mut self, known: &[Option<KnownEval>]) -> Result<(), ReportError> {
        let expected = self.indices.len();
        if known.len() != expected {
            return Err(ReportError::Count {
                expected,
                found: known.len(),
            });
        }
        for (n, (&index, known)) in self.indices.iter().zip(known).enumerate() {
            let Some(known) = known else { continue };
            check(self.positions[index].chess(), known, n)?;
            if self.given[index]
                .as_ref()
                .is_none_or(|given| known.counts_over(given))
            {
                self.given[index] = Some(known.clone());
            }
        }
        Ok(())
    }

    /// Returns the distinct positions of the game, in the order of their first occurrence.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// Returns the searches of the next pass. Returns an empty list after the last pass.
    pub fn next_pass(&mut self) -> Vec<Sequence> {
        while let Some((numerator, denominator)) =
            FRACTIONS.iter().chain(&MARK_FRACTIONS).nth(self.passes)
        {
            let nodes = (self.nodes.saturating_mul(*numerator) / denominator).max(MIN_NODES);
            let settled = self.settle();
            let (wanted, lines) = match self.passes.checked_sub(PASSES) {
                None => (settled, 1),
                Some(pass) => (self.candidates(pass), 2),
            };
            self.passes += 1;
            let sequences = sequences(&wanted, nodes, lines);
            if !sequences.is_empty() {
                return sequences;
            }
        }
        Vec::new()
    }

    /// Returns the number of passes that were requested.
    pub fn passes(&self) -> usize {
        self.passes
    }

    /// Adds the result of a search of the current pass. Scores of the engine of this project are converted to the scale of
    /// Stockfish, on which the thresholds of judgments are defined.
    ///
    /// # Errors
    ///
    /// The best line begins with an illegal move. The error contains the index of the position.
    pub fn answer(&mut self, index: usize, mut found: KnownEval) -> Result<(), ReportError> {
        if found.origin == Origin::Engine {
            found = found.scaled();
        }
        if let (Some(position), Some(pass)) =
            (self.positions.get(index), self.passes.checked_sub(1))
        {
            check(position.chess(), &found, index)?;
            match pass.checked_sub(PASSES) {
                None => self.found[index][pass] = Some(found),
                Some(pass) => self.two_lines[index][pass] = Some(found),
            }
        }
        Ok(())
    }

    /// Returns the report by the evaluations so far.
    pub fn report(&self) -> Report {
        let evidence = self.evidence();
        let values: Vec<Option<Value>> = self
            .indices
            .iter()
            .map(|index| evidence[*index].value)
            .collect();
        let comparisons = self.comparisons(&evidence);
        let known: Vec<Option<&KnownEval>> = self
            .indices
            .iter()
            .map(|index| self.evaluation(*index))
            .collect();
        let marks = self.marks(&comparisons);
        Report::new(&self.game, &values, &comparisons, &known, &marks)
    }

    /// Returns the mark of each move.
    fn marks(&self, comparisons: &[Option<Comparison>]) -> Vec<Option<Mark>> {
        (0..comparisons.len())
            .map(|n| self.mark_of(n, comparisons[n]?))
            .collect()
    }

    /// Marks a move by a deep evaluation with two lines, or by both passes with two lines, which must agree.
    fn mark_of(&self, n: usize, comparison: Comparison) -> Option<Mark> {
        let (index, played) = (self.indices[n], self.game.moves()[n]);
        let position = self.positions[index].chess();
        if !self.is_good(n, comparison) {
            return None;
        }
        let [draft, found] = &self.two_lines[index];
        let by = |known: &KnownEval, excess: f64| {
            mark::mark(position, played, known, comparison.after, excess)
        };
        match found {
            Some(found) => by(draft.as_ref()?, 0.0).and(by(found, mark::MARGIN)),
            None => by(
                self.given[index]
                    .as_ref()
                    .filter(|given| !given.is_shallow())?,
                mark::MARGIN,
            ),
        }
    }

    /// Returns whether a move is settled and not bad, and may have a mark.
    fn is_good(&self, n: usize, comparison: Comparison) -> bool {
        let previous = n.checked_sub(1).map(|before| self.game.moves()[before]);
        comparison.is_settled
            && comparison.judgment.is_none()
            && mark::is_eligible(
                self.positions[self.indices[n]].chess(),
                self.game.moves()[n],
                previous,
            )
    }

    /// Returns the positions of a pass with two lines, in order. Positions with a deep evaluation are not searched.
    fn candidates(&self, pass: usize) -> Vec<usize> {
        let is_candidate = |n: usize| {
            let (index, played) = (self.indices[n], self.game.moves()[n]);
            let position = self.positions[index].chess();
            let is_best = |known: &KnownEval| {
                known
                    .line
                    .first()
                    .and_then(|first| first.to_move(position).ok())
                    == Some(played)
            };
            let comparison = self.settled[n].filter(|comparison| self.is_good(n, *comparison))?;
            let is_wanted = match pass.checked_sub(1) {
                None => {
                    self.given[index].as_ref().is_none_or(KnownEval::is_shallow)
                        && self.evaluation(index).is_some_and(is_best)
                        && mark::has_room(comparison.after, position.turn())
                }
                Some(before) => self.two_lines[index][before].as_ref().is_some_and(|known| {
                    mark::mark(position, played, known, comparison.after, 0.0).is_some()
                }),
            };
            is_wanted.then_some(index)
        };
        self.in_order((0..self.settled.len()).filter_map(is_candidate))
    }

    /// Returns the evaluation that [`counts`](KnownEval::counts_over) for each position of the game: the evaluation that was given,
    /// or the last result of the engine.
    pub fn evaluations(&self) -> Vec<Option<KnownEval>> {
        self.indices
            .iter()
            .map(|index| self.evaluation(*index).cloned())
            .collect()
    }

    fn evaluation(&self, index: usize) -> Option<&KnownEval> {
        let engine = self.found[index].iter().rev().flatten().next();
        let given = self.given[index].as_ref();
        given
            .filter(|given| engine.is_none_or(|engine| !engine.counts_over(given)))
            .or(engine)
    }

    /// Returns the values of each position.
    fn evidence(&self) -> Vec<Evidence> {
        (0..self.positions.len())
            .map(|index| self.evidence_of(index))
            .collect()
    }

    fn evidence_of(&self, index: usize) -> Evidence {
        let position = self.positions[index].chess();
        let searched = |known: &KnownEval| Searched {
            value: Value::evaluated(position, known.score),
            best: known
                .line
                .first()
                .and_then(|first| first.to_move(position).ok()),
        };
        let tables = self.given[index].as_ref().filter(|known| known.is_exact());
        let exact =
            Value::by_the_rules(position).or_else(|| tables.map(|known| searched(known).value));
        let convention = (*position == Chess::default()).then_some(Value::Cp(INITIAL));
        let evaluated = || self.evaluation(index).map(|known| searched(known).value);
        Evidence {
            exact,
            value: exact.or_else(evaluated).or(convention),
            given: self.given[index]
                .as_ref()
                .map(|known| (searched(known), known.origin, known.is_shallow())),
            passes: self.found[index]
                .each_ref()
                .map(|found| found.as_ref().map(searched)),
            convention,
        }
    }

    /// Returns the comparison of each move, if its positions have values.
    fn comparisons(&self, evidence: &[Evidence]) -> Vec<Option<Comparison>> {
        let moves = self
            .game
            .moves()
            .iter()
            .zip(self.indices.windows(2))
            .zip(&self.settled);
        moves
            .map(|((played, pair), settled)| {
                let [before, after] = [pair[0], pair[1]];
                let compared = || {
                    compare(
                        &evidence[before],
                        &evidence[after],
                        *played,
                        self.positions[before].chess().turn(),
                    )
                };
                settled.or_else(compared)
            })
            .collect()
    }

    /// Settles the moves whose figures are final. Returns the positions before and after the other moves, in order.
    fn settle(&mut self) -> Vec<usize> {
        let evidence = self.evidence();
        let comparisons = self.comparisons(&evidence);
        self.settled = comparisons
            .into_iter()
            .map(|found| found.filter(|comparison| comparison.is_settled))
            .collect();
        let open = self.indices.windows(2).zip(&self.settled);
        let open = open.filter(|(_, settled)| settled.is_none());
        let wanted = open.flat_map(|(pair, _)| pair.iter().copied());
        self.in_order(wanted.filter(|index| evidence[*index].exact.is_none()))
    }

    /// Returns the different indices of positions in order. The module does not contain the sorts of the standard library.
    fn in_order(&self, indices: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut is_wanted = vec![false; self.positions.len()];
        indices.for_each(|index| is_wanted[index] = true);
        let all = 0..is_wanted.len();
        all.filter(|index| is_wanted[*index]).collect()
    }
}

/// Reports on a game by the evaluations of its positions: `known[0]` is that of the first position, `known[n]` that after move n.
///
/// A position that is over needs no evaluation, and a given evaluation of it is ignored. The initial position of chess counts as
/// 0.15 if it has no evaluation. The mating move counts in no average. Both are as at Lichess. [`Review`] also uses an engine.
///
/// # Errors
///
/// The number of evaluations is not the number of positions, or an evaluation belongs to a different position.
pub fn report(game: &Game, known: &[Option<KnownEval>]) -> Result<Report, ReportError> {
    let mut review = Review::new(game.clone(), DEFAULT_NODES);
    review.give(known)?;
    Ok(review.report())
}

/// Returns an error if the line of an evaluation is not a line of a position.
fn check(position: &Chess, known: &KnownEval, index: usize) -> Result<(), ReportError> {
    match known.line.first() {
        Some(first) if first.to_move(position).is_err() => Err(ReportError::Line {
            index,
            found: *first,
        }),
        _ => Ok(()),
    }
}

/// Divides positions into sequences of neighbours, each in descending order.
fn sequences(wanted: &[usize], nodes: u64, lines: usize) -> Vec<Sequence> {
    let runs = wanted.chunk_by(|before, after| before + 1 == *after);
    runs.flat_map(|run| run.chunks(MAX_SEQUENCE))
        .map(|chunk| Sequence {
            positions: chunk.iter().rev().copied().collect(),
            nodes,
            lines,
        })
        .collect()
}
