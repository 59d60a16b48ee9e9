//! What a writer tells of records.

use shakmaty::Square;

use super::codec::{Decoder, Told, is_step};
use super::division::{ARRIVALS, LAYOUT, RANK};
use super::shares::Layout;
use super::{Bucket, Details, Played, PlayedMove, Ratings, Results};
use crate::moves::Ranking;

/// What records tell of games beside their results.
pub fn layout(records: &[&Played]) -> Layout {
    let mut layout = Layout::default();
    for played in records {
        for details in played.moves.iter().map(|played| &played.details).chain([&played.ended_details]) {
            layout.buckets = layout.buckets.max(details.buckets.len());
            layout.references = layout.references.max(details.games.len());
            layout.ratings |= details.buckets.iter().any(|bucket| bucket.ratings.games > 0);
        }
    }
    layout
}

/// The games of moves by bucket.
fn buckets(layout: Layout, results: Results, details: &Details) -> Result<Vec<Bucket>, Unfit> {
    if layout.buckets == 0 {
        return Ok(vec![Bucket { results, ratings: Ratings::default() }]);
    }
    let unfit = (LAYOUT, details.buckets.len() as u64);
    if details.buckets.len() != layout.buckets || !details.buckets.iter().all(Bucket::makes_sense) {
        return Err(unfit);
    }
    let mut sum = Results::default();
    for bucket in &details.buckets {
        sum = sum.checked_add(bucket.results).ok_or(unfit)?;
    }
    if sum == results { Ok(details.buckets.clone()) } else { Err(unfit) }
}

/// The number of a column and a value that it cannot hold.
type Unfit = (usize, u64);

impl Told {
    /// Of records in stored order.
    pub fn new(
        records: &[&Played],
        layout: Layout,
        parents: &[Option<u32>],
        step: &dyn Fn(usize) -> (Square, Square),
    ) -> Result<Told, Unfit> {
        if layout.buckets > Bucket::MAX_COUNT || layout.references > Details::MAX_REFERENCES {
            return Err((LAYOUT, layout.buckets.max(layout.references) as u64));
        }
        let mut told = Told { all: Decoder::new(layout, parents), totals: Vec::new() };
        let all = &mut told.all;
        for (n, record) in records.iter().enumerate() {
            if record.results().is_none_or(|results| results.games() == 0) {
                return Err((ARRIVALS, 0));
            }
            let mut total = buckets(layout, record.ended, &record.ended_details)?;
            let ended = all.ended(n);
            all.shares.buckets_mut(ended).copy_from_slice(&total);
            all.shares.refer(ended, &record.ended_details.games);
            for played in &record.moves {
                for (sum, bucket) in total.iter_mut().zip(buckets(layout, played.results, &played.details)?) {
                    *sum = sum.checked_add(bucket).ok_or((ARRIVALS, bucket.games()))?;
                }
            }
            told.totals.extend(total);
        }
        for (n, record) in records.iter().enumerate() {
            let mut moves: Vec<&PlayedMove> = record.moves.iter().collect();
            for at in all.steps.of(n) {
                let child = all.steps.children[at] as usize;
                let (from, to) = step(child);
                let Some(at) = moves.iter().position(|played| is_step(played.m, from, to)) else { continue };
                let games = buckets(layout, moves[at].results, &moves[at].details)?;
                // A double push that can be taken en passant leads to another position than the step of the same
                // squares, so that more games may have played it than reached the step's.
                let total = &told.totals[child * games.len()..];
                if total.iter().zip(&games).all(|(total, games)| total.checked_sub(*games).is_some()) {
                    all.shares.buckets_mut(child).copy_from_slice(&games);
                    all.shares.refer(child, &moves.swap_remove(at).details.games);
                }
            }
            let start = all.ranks.len();
            if !moves.is_empty() {
                let ranking = Ranking::new(record.position.chess());
                let mut ranked = Vec::new();
                for played in moves {
                    let rank = ranking.rank(played.m).filter(|_| played.results.games() > 0);
                    ranked.push((rank.ok_or((RANK, u64::MAX))?, played));
                }
                ranked.sort_unstable_by_key(|(rank, _)| *rank);
                for (rank, played) in ranked {
                    all.ranks.push(rank as u32);
                    let share = all.shares.push();
                    let games = buckets(layout, played.results, &played.details)?;
                    all.shares.buckets_mut(share).copy_from_slice(&games);
                    all.shares.refer(share, &played.details.games);
                }
            }
            all.others[n] = start..all.ranks.len();
        }
        Ok(told)
    }
}
