//! One traversal of the positions of a block that reads or writes all numbers.
//!
//! Games flow along the steps of a block. The number of games that reached a position from its parent is known, so only
//! the games that reached it by other moves are stored. The games of the position are divided into those of its steps, those that
//! end there, and those of other moves. If only one game reached a position, its next move alone is stored. The same holds
//! for buckets, ratings and references.

use super::block_columns::BlockColumns;
use super::block_games::BlockGames;
use super::columns::{
    ARRIVALS, ARRIVALS_MORE, COLUMNS, LAST, LAYOUT, LOW_BITS, MISSING, NEXT, RANK, REFERENCE,
    REFERENCE_LOW, SHARE_OTHER, SHARE_STEP, number, reference,
};
use super::division::{ARRIVED, SHARED, divide};
use super::game_ref::GameRef;
use super::layout::Layout;
use super::move_games::count;
use super::results::{Bucket, Results};
use crate::table::{Coder, ColumnError, MAX_TOTAL, out_of_range};

/// The highest rank that can be read. No position has so many legal moves.
const MAX_RANK: u64 = 510;

/// Maximum number of buckets of all moves and positions of a block.
const MAX_BUCKETS: usize = 1 << 18;

/// A traversal of the positions in stored order.
pub struct Traversal<'a> {
    coder: Coder<'a>,
    /// The games to write; `None` for a reader.
    input: Option<&'a BlockGames>,
    /// The games read or written so far.
    output: BlockColumns,
    /// The games of the current position that are not divided yet, by bucket.
    remaining: Vec<Bucket>,
    /// The part that is divided off next, by bucket.
    part: Vec<Bucket>,
    /// References of the games from the parent that no move has yet.
    inherited: Vec<GameRef>,
}

impl<'a> Traversal<'a> {
    pub fn new(
        coder: Coder<'a>,
        layout: Layout,
        parents: &[Option<u32>],
        input: Option<&'a BlockGames>,
    ) -> Result<Traversal<'a>, ColumnError> {
        let buckets = 2 * parents.len() * layout.stride();
        if buckets > MAX_BUCKETS {
            return Err(out_of_range(LAYOUT, buckets as u64));
        }
        let output = BlockColumns::new(layout, parents);
        let empty = vec![Bucket::default(); layout.stride()];
        Ok(Traversal {
            coder,
            input,
            output,
            remaining: empty.clone(),
            part: empty,
            inherited: Vec::new(),
        })
    }

    /// Returns the games to write.
    fn input(&self) -> Option<&'a BlockGames> {
        self.input.filter(|_| cfg!(feature = "write"))
    }

    /// Reads or writes the numbers of all positions.
    pub fn run(mut self) -> Result<BlockColumns, ColumnError> {
        for n in 0..self.output.others.len() {
            self.code_arrivals(n)?;
            self.inherited.clear();
            self.inherited
                .extend_from_slice(self.output.games.references(n));
            let start = self.output.ranks.len();
            if count(&self.remaining) == 1 {
                self.code_single_game(n)?
            } else {
                self.code_moves(n)?
            }
            self.output.others[n] = start..self.output.ranks.len();
        }
        let columns = (ARRIVALS..COLUMNS).filter(|column| *column != LAYOUT);
        self.coder.finish(columns, LOW_BITS)?;
        Ok(self.output)
    }

    /// Codes the games that reach a position by other moves than from its parent.
    fn code_arrivals(&mut self, n: usize) -> Result<(), ColumnError> {
        let stride = self.remaining.len();
        self.remaining.copy_from_slice(self.output.games.buckets(n));
        match self.input() {
            Some(input) => {
                let totals = &input.totals[n * stride..(n + 1) * stride];
                for ((part, total), by_step) in
                    self.part.iter_mut().zip(totals).zip(&self.remaining)
                {
                    *part = total.checked_sub(*by_step).unwrap_or_default();
                }
            }
            None => self.part.fill(Bucket::default()),
        }
        let by_step = count(&self.remaining);
        // At least one game reached the position.
        let (column, min) = if by_step == 0 {
            (ARRIVALS, 1)
        } else {
            (ARRIVALS_MORE, 0)
        };
        let value = count(&self.part).wrapping_sub(min);
        let arrived = min
            + number(
                &mut self.coder,
                column,
                Results::MAX_GAMES - by_step - min,
                value,
            )?;
        divide(
            &mut self.coder,
            ARRIVED,
            self.output.layout.ratings,
            arrived,
            None,
            &mut self.part,
        )?;
        for (remaining, arrived) in self.remaining.iter_mut().zip(&self.part) {
            let sum = remaining.checked_add(*arrived);
            *remaining = sum.ok_or_else(|| out_of_range(ARRIVALS, arrived.games()))?;
        }
        Ok(())
    }

    /// Codes the next move of the only game that reached a position.
    fn code_single_game(&mut self, n: usize) -> Result<(), ColumnError> {
        let steps = self.output.children(n).len() as u64;
        let column = if steps > 0 { NEXT } else { LAST };
        // The index of a step, then the end of the game, then the ranks of other moves.
        let value = self.input().map_or(0, |BlockGames { columns, .. }| {
            let step = columns
                .children(n)
                .iter()
                .position(|&child| columns.games.count(child as usize) > 0);
            match (
                step,
                columns
                    .ranks
                    .get(columns.others[n].clone())
                    .and_then(<[u32]>::first),
            ) {
                (Some(step), _) => step as u64,
                (None, None) => steps,
                (None, Some(rank)) => steps + 1 + u64::from(*rank),
            }
        });
        let next = number(&mut self.coder, column, steps + 1 + MAX_RANK, value)?;
        self.part.copy_from_slice(&self.remaining);
        let games = match next.checked_sub(steps) {
            None => self.output.children(n)[next as usize] as usize,
            Some(0) => self.output.ended(n),
            Some(rank) => self.push_other_move(rank as u32 - 1)?,
        };
        self.output.moves += usize::from(next < steps);
        self.assign_part(games)
    }

    /// Codes how the games of a position are divided into steps, ended games, and other moves by rank.
    fn code_moves(&mut self, n: usize) -> Result<(), ColumnError> {
        for step in self.output.steps.of(n) {
            let child = self.output.steps.children[step] as usize;
            self.divide_part(SHARE_STEP, 0, Some(child))?;
            self.output.moves += usize::from(count(&self.part) > 0);
            self.assign_part(child)?;
        }
        let ended = self.output.ended(n);
        self.divide_part(SHARE_OTHER, 0, Some(ended))?;
        self.assign_part(ended)?;
        let mut others = self
            .input()
            .map_or(0..0, |input| input.columns.others[n].clone());
        let mut min = 0;
        while count(&self.remaining) > 0 {
            let next = self.input().zip(others.next());
            let max = MAX_RANK
                .checked_sub(min)
                .ok_or_else(|| out_of_range(RANK, min))?;
            let value = next.map_or(0, |(input, other)| u64::from(input.columns.ranks[other]));
            let rank = min + number(&mut self.coder, RANK, max, value.wrapping_sub(min))?;
            self.divide_part(
                SHARE_OTHER,
                1,
                next.map(|(input, other)| input.columns.other(other)),
            )?;
            let games = self.push_other_move(rank as u32)?;
            self.assign_part(games)?;
            min = rank + 1;
        }
        Ok(())
    }

    /// Divides the next part off the remaining games, at least `min` of them. `input` is the index of the part to
    /// write.
    fn divide_part(
        &mut self,
        column: usize,
        min: u64,
        input: Option<usize>,
    ) -> Result<(), ColumnError> {
        match (self.input(), input) {
            (Some(games), Some(n)) => self.part.copy_from_slice(games.columns.games.buckets(n)),
            _ => self.part.fill(Bucket::default()),
        }
        let max = count(&self.remaining);
        let games = match max.checked_sub(min) {
            None | Some(0) => max,
            Some(more) => {
                min + number(
                    &mut self.coder,
                    column,
                    more,
                    count(&self.part).wrapping_sub(min),
                )?
            }
        };
        let has_ratings = self.output.layout.ratings;
        divide(
            &mut self.coder,
            SHARED,
            has_ratings,
            games,
            Some(&self.remaining),
            &mut self.part,
        )?;
        for (remaining, part) in self.remaining.iter_mut().zip(&self.part) {
            *remaining = remaining.checked_sub(*part).unwrap_or_default();
        }
        Ok(())
    }

    /// Adds an other move and returns the index of its games.
    fn push_other_move(&mut self, rank: u32) -> Result<usize, ColumnError> {
        let output = &mut self.output;
        output.moves += 1;
        output.ranks.push(rank);
        let games = output.games.push();
        let buckets = (games + 1) * output.layout.stride();
        if output.moves > MAX_TOTAL || buckets > MAX_BUCKETS {
            return Err(out_of_range(RANK, output.moves as u64));
        }
        Ok(games)
    }

    /// Assigns the current part to a move, and codes the references of the move.
    fn assign_part(&mut self, games: usize) -> Result<(), ColumnError> {
        self.output
            .games
            .buckets_mut(games)
            .copy_from_slice(&self.part);
        let max = count(&self.part).min(self.output.layout.references as u64);
        if max == 0 {
            return Ok(());
        }
        let input = self
            .input()
            .map_or(&[][..], |input| input.columns.games.references(games));
        let missing = number(
            &mut self.coder,
            MISSING,
            max,
            max.wrapping_sub(input.len() as u64),
        )?;
        let mut references: Vec<GameRef> = Vec::new();
        for n in 0..(max - missing) as usize {
            let input = input.get(n).copied();
            let index = input.and_then(|input| {
                self.inherited
                    .iter()
                    .position(|inherited| *inherited == input)
            });
            // 0 for a reference in full, otherwise the index of an inherited one plus 1.
            let code = match self.inherited.len() {
                0 => 0,
                max => number(
                    &mut self.coder,
                    REFERENCE,
                    max as u64,
                    index.map_or(0, |n| n as u64 + 1),
                )?,
            };
            let game = match code.checked_sub(1) {
                Some(n) => self.inherited.remove(n as usize),
                None => reference(&mut self.coder, input)?,
            };
            if references.last().is_some_and(|last| *last <= game) {
                return Err(out_of_range(REFERENCE_LOW, game.to_bits()));
            }
            references.push(game);
        }
        self.output.games.set_references(games, &references);
        match self.output.games.reference_count() {
            ..=MAX_TOTAL => Ok(()),
            found => Err(out_of_range(REFERENCE, found as u64)),
        }
    }
}
