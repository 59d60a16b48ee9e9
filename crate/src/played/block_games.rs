//! The games of the records that a writer encodes.

use super::block_columns::BlockColumns;
use super::results::Bucket;

/// The games of the records of a block.
pub struct BlockGames {
    pub(super) columns: BlockColumns,
    /// The games of each position by bucket.
    pub(super) totals: Vec<Bucket>,
}

#[cfg(feature = "write")]
mod write {
    use shakmaty::Square;

    use super::super::block_columns::{BlockColumns, is_step};
    use super::super::columns::{ARRIVALS, LAYOUT, RANK};
    use super::super::layout::Layout;
    use super::super::played_moves::{Details, Played, PlayedMove};
    use super::super::results::{Bucket, Ratings, Results};
    use super::BlockGames;
    use crate::moves::MoveOrder;
    use crate::table::{ColumnError, out_of_range};

    impl Layout {
        /// Returns the smallest layout that can store the details of all records.
        pub fn of(records: &[&Played]) -> Layout {
            let mut layout = Layout::default();
            for played in records {
                for details in played
                    .moves
                    .iter()
                    .map(|played| &played.details)
                    .chain([&played.ended_details])
                {
                    layout.buckets = layout.buckets.max(details.buckets.len());
                    layout.references = layout.references.max(details.games.len());
                    layout.ratings |= details
                        .buckets
                        .iter()
                        .any(|bucket| bucket.ratings.games > 0);
                }
            }
            layout
        }
    }

    /// Returns games by bucket.
    fn buckets(
        layout: Layout,
        results: Results,
        details: &Details,
    ) -> Result<Vec<Bucket>, ColumnError> {
        if layout.buckets == 0 {
            return Ok(vec![Bucket {
                results,
                ratings: Ratings::default(),
            }]);
        }
        let misfit = || out_of_range(LAYOUT, details.buckets.len() as u64);
        if details.buckets.len() != layout.buckets
            || !details.buckets.iter().all(Bucket::is_consistent)
        {
            return Err(misfit());
        }
        let mut sum = Results::default();
        for bucket in &details.buckets {
            sum = sum.checked_add(bucket.results).ok_or_else(misfit)?;
        }
        if sum == results {
            Ok(details.buckets.clone())
        } else {
            Err(misfit())
        }
    }

    impl BlockGames {
        /// Collects the games of records in stored order.
        pub fn new(
            records: &[&Played],
            layout: Layout,
            parents: &[Option<u32>],
            step: &dyn Fn(usize) -> (Square, Square),
        ) -> Result<BlockGames, ColumnError> {
            if layout.buckets > Bucket::MAX_COUNT || layout.references > Details::MAX_REFERENCES {
                let found = layout.buckets.max(layout.references) as u64;
                return Err(out_of_range(LAYOUT, found));
            }
            let mut block = BlockGames {
                columns: BlockColumns::new(layout, parents),
                totals: Vec::new(),
            };
            for (n, record) in records.iter().enumerate() {
                block.add_totals(n, record)?;
            }
            for (n, record) in records.iter().enumerate() {
                block.add_moves(n, record, step)?;
            }
            Ok(block)
        }

        /// Adds the games that end in position `n`, and the total of its games.
        fn add_totals(&mut self, n: usize, record: &Played) -> Result<(), ColumnError> {
            let columns = &mut self.columns;
            if record.results().is_none_or(|results| results.games() == 0) {
                return Err(out_of_range(ARRIVALS, 0));
            }
            let mut total = buckets(columns.layout, record.ended, &record.ended_details)?;
            let ended = columns.ended(n);
            columns.games.buckets_mut(ended).copy_from_slice(&total);
            columns
                .games
                .set_references(ended, &record.ended_details.games);
            for played in &record.moves {
                for (sum, bucket) in
                    total
                        .iter_mut()
                        .zip(buckets(columns.layout, played.results, &played.details)?)
                {
                    *sum = sum
                        .checked_add(bucket)
                        .ok_or(out_of_range(ARRIVALS, bucket.games()))?;
                }
            }
            self.totals.extend(total);
            Ok(())
        }

        /// Adds the moves of position `n`: its steps, then its other moves by rank.
        fn add_moves(
            &mut self,
            n: usize,
            record: &Played,
            step: &dyn Fn(usize) -> (Square, Square),
        ) -> Result<(), ColumnError> {
            let columns = &mut self.columns;
            let layout = columns.layout;
            let mut moves: Vec<&PlayedMove> = record.moves.iter().collect();
            for index in columns.steps.of(n) {
                let child = columns.steps.children[index] as usize;
                let (from, to) = step(child);
                let Some(at) = moves.iter().position(|played| is_step(played.m, from, to)) else {
                    continue;
                };
                let games = buckets(layout, moves[at].results, &moves[at].details)?;
                // A double push that can be captured en passant leads to another position than the step of the same
                // squares. So more games may have played it than reached the position after the step.
                let total = &self.totals[child * games.len()..];
                if total
                    .iter()
                    .zip(&games)
                    .all(|(total, games)| total.checked_sub(*games).is_some())
                {
                    columns.games.buckets_mut(child).copy_from_slice(&games);
                    columns
                        .games
                        .set_references(child, &moves.swap_remove(at).details.games);
                }
            }
            let start = columns.ranks.len();
            if !moves.is_empty() {
                let ranking = MoveOrder::of(record.position.chess());
                let mut ranked = Vec::new();
                for played in moves {
                    let rank = ranking
                        .rank(played.m)
                        .filter(|_| played.results.games() > 0);
                    ranked.push((rank.ok_or(out_of_range(RANK, u64::MAX))?, played));
                }
                ranked.sort_unstable_by_key(|(rank, _)| *rank);
                for (rank, played) in ranked {
                    columns.ranks.push(rank as u32);
                    let games = columns.games.push();
                    columns.games.buckets_mut(games).copy_from_slice(&buckets(
                        layout,
                        played.results,
                        &played.details,
                    )?);
                    columns.games.set_references(games, &played.details.games);
                }
            }
            columns.others[n] = start..columns.ranks.len();
            Ok(())
        }
    }
}
