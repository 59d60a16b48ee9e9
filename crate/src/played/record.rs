//! Played moves as records of a table.

use shakmaty::{Color, Position as _, Square};

use super::block_columns::{BlockColumns, is_step};
#[cfg(feature = "write")]
use super::block_games::BlockGames;
use super::columns::{ARRIVALS, COLUMNS, LAYOUT, LOW_BITS};
use super::layout::Layout;
use super::played_moves::{Played, PlayedMove};
use super::traversal::Traversal;
use crate::moves::MoveOrder;
use crate::position::Position;
#[cfg(feature = "write")]
use crate::table::StoredRecord;
use crate::table::{Coder, ColumnError, Columns, Record, RecordError, Sealed};

impl Sealed for Played {}

impl Record for Played {
    const BLOCK_WEIGHT: usize = 5_000 * 8;
    const KIND: &'static str = "moves";
    const COLUMNS: usize = COLUMNS - ARRIVALS;
    const OPTIONAL_COLUMNS: usize = COLUMNS - LAYOUT;
    const TOTALS: &'static [&'static str] = &["moves"];
    type BlockColumns = BlockColumns;

    fn position(&self) -> &Position {
        &self.position
    }

    #[cfg(feature = "write")]
    fn has_step(&self, from: Square, to: Square) -> bool {
        self.moves.iter().any(|played| is_step(played.m, from, to))
    }

    #[cfg(feature = "write")]
    fn encode(
        records: &[&Played],
        _: &[Option<&StoredRecord<'_, Played>>],
        parents: &[Option<u32>],
        step: &dyn Fn(usize) -> (Square, Square),
        columns: &mut [Vec<u8>],
    ) -> Result<(), ColumnError> {
        let layout = Layout::of(records);
        let games = BlockGames::new(records, layout, parents, step)?;
        layout.write(&mut columns[LAYOUT]);
        let coder = Coder::writer(columns);
        Traversal::new(coder, layout, parents, Some(&games))?.run()?;
        Ok(())
    }

    #[cfg(feature = "write")]
    fn count(&self, totals: &mut [u64]) {
        totals[0] += self.moves.len() as u64;
    }

    fn decode_columns(
        columns: &Columns,
        _: &[Color],
        parents: &[Option<u32>],
    ) -> Result<BlockColumns, ColumnError> {
        let layout = Layout::read(columns, LAYOUT)?;
        let coder = Coder::reader(columns, LOW_BITS);
        Traversal::new(coder, layout, parents, None)?.run()
    }

    fn memory(decoded: &BlockColumns) -> usize {
        decoded.memory()
    }

    #[cfg(feature = "write")]
    fn weights(decoded: &BlockColumns, totals: &mut [u64]) -> Vec<usize> {
        totals[0] += decoded.moves as u64;
        let weight = |n: usize| {
            let steps = decoded.children(n).iter().map(|&child| child as usize);
            let others = decoded.others[n].clone().map(|other| decoded.other(other));
            let moves = steps
                .filter(|&child| decoded.games.count(child) > 0)
                .chain(others);
            let (mut count, mut references) = (0, decoded.games.references(decoded.ended(n)).len());
            for games in moves {
                count += 1;
                references += decoded.games.references(games).len();
            }
            Played::weight(count, decoded.layout.buckets, references)
        };
        (0..decoded.others.len()).map(weight).collect()
    }

    fn decode(
        decoded: &BlockColumns,
        _: &Columns,
        first: usize,
        positions: &[Position],
        step: &dyn Fn(usize) -> (Square, Square),
        records: &mut Vec<Played>,
    ) -> Result<(), RecordError> {
        for (n, position) in (first..).zip(positions) {
            records.push(played(decoded, n, position.clone(), step)?);
        }
        Ok(())
    }
}

/// Reads the record of stored number `n`.
fn played(
    decoded: &BlockColumns,
    n: usize,
    position: Position,
    step: &dyn Fn(usize) -> (Square, Square),
) -> Result<Played, RecordError> {
    let others = decoded
        .others
        .get(n)
        .ok_or(RecordError::Missing { n })?
        .clone();
    let details = |games| decoded.games.details(games, decoded.layout);
    let legal = position.chess().legal_moves();
    let mut moves: Vec<PlayedMove> = Vec::new();
    for &child in decoded.children(n) {
        let (results, details) = details(child as usize);
        if results.games() > 0 {
            let (from, to) = step(child as usize);
            let m = legal.iter().copied().find(|m| is_step(*m, from, to));
            let m = m.ok_or(RecordError::Step { from, to })?;
            moves.push(PlayedMove {
                m,
                results,
                details,
            });
        }
    }
    if !others.is_empty() {
        let ranking = MoveOrder::of(position.chess());
        for other in others {
            let rank = decoded.ranks[other];
            let m = ranking
                .pick(rank)
                .map_err(|legal| RecordError::Rank { rank, legal })?;
            if moves.iter().any(|played| played.m == m) {
                return Err(RecordError::Duplicate { rank });
            }
            let (results, details) = details(decoded.other(other));
            moves.push(PlayedMove {
                m,
                results,
                details,
            });
        }
    }
    Played::sort(&mut moves);
    let (ended, ended_details) = details(decoded.ended(n));
    Ok(Played {
        position,
        ended,
        ended_details,
        moves,
    })
}
