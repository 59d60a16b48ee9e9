//! Played moves as columns of a block.
//!
//! Games flow along the steps of a block: of a position it is known how many came from its parent, so that only those that
//! came by other ways are told, and its own games divide among its steps, the moves that lead out of the block and the
//! games that end there. Where a position was reached once, its move is the step to the next one and its result the
//! parent's. So do their buckets, ratings and references. One walk over the positions reads and writes all numbers.

use core::ops::Range;

use shakmaty::{Color, Move, Position as _, Square};

use super::division::{
    ARRIVALS, ARRIVALS_MORE, ARRIVED, BITS, LAST, LAYOUT, MISSING, NAMES, NEXT, Numbers, RANK, REFERENCE,
    REFERENCE_HIGH, REFERENCE_LOW, SHARE_OTHER, SHARE_STEP, SHARED, divide,
};
use super::shares::{Layout, Shares, games};
use super::{Bucket, GameRef, Played, PlayedMove, Results};
use crate::moves::Ranking;
use crate::position::Position;
use crate::table::{Bits, ColumnError, Columns, MAX_TOTAL, Octaves, Record, Values};

/// All numbers: most are small, any may be large.
const NUMBER: Octaves = Octaves { direct: 4, leading: 2 };

/// The highest rank that is read: more than any position has legal moves.
const MAX_RANK: u64 = 510;

/// The most buckets of all moves and positions of a block.
const MAX_BUCKETS: usize = 1 << 18;

/// The numbers of all records of a block. Games are numbered: those that come to each position from its parent, those that end
/// in each, those of moves that are no step of the block.
#[derive(Debug, Default)]
pub struct Decoder {
    layout: Layout,
    pub(super) steps: Steps,
    pub(super) shares: Shares,
    /// Moves that are no step, of each position, among those of all.
    pub(super) others: Vec<Range<usize>>,
    /// Their ranks among the legal moves.
    pub(super) ranks: Vec<u32>,
    moves: usize,
}

/// What a writer tells.
pub(super) struct Told {
    pub(super) all: Decoder,
    /// The games of each position, by bucket.
    pub(super) totals: Vec<Bucket>,
}

/// The positions one step from each position.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// Where those of each position begin among `children`, and where those of the last end.
    starts: Vec<u32>,
    pub(super) children: Vec<u32>,
}

impl Steps {
    fn new(parents: &[Option<u32>]) -> Steps {
        let mut starts = vec![0; parents.len() + 1];
        for parent in parents.iter().flatten() {
            starts[*parent as usize + 1] += 1;
        }
        for n in 1..starts.len() {
            starts[n] += starts[n - 1];
        }
        let mut next = starts.clone();
        let mut children = vec![0; parents.iter().flatten().count()];
        for (n, parent) in parents.iter().enumerate() {
            if let Some(parent) = parent {
                let at = &mut next[*parent as usize];
                children[*at as usize] = n as u32;
                *at += 1;
            }
        }
        Steps { starts, children }
    }

    pub(super) fn of(&self, n: usize) -> Range<usize> {
        self.starts[n] as usize..self.starts[n + 1] as usize
    }
}

struct Reader<'a> {
    columns: [Values<'a>; NAMES.len()],
    bits: Bits<'a>,
}

impl Numbers for Reader<'_> {
    fn number(&mut self, column: usize, most: u64, _: u64) -> Result<u64, ColumnError> {
        let number = NUMBER.join(self.columns[column].byte()?, &mut self.bits)?;
        if number > most { Err(self.out_of_range(column, number)) } else { Ok(number) }
    }

    fn reference(&mut self, _: Option<GameRef>) -> Result<GameRef, ColumnError> {
        let mut bytes = [0; 8];
        bytes[7] = self.columns[REFERENCE_HIGH].byte()?;
        bytes[6] = self.columns[REFERENCE_HIGH + 1].byte()?;
        bytes[..6].copy_from_slice(self.columns[REFERENCE_LOW].take(6)?);
        let bits = u64::from_le_bytes(bytes);
        GameRef::from_bits(bits).ok_or_else(|| self.out_of_range(REFERENCE_LOW, bits))
    }

    fn out_of_range(&self, column: usize, found: u64) -> ColumnError {
        self.columns[column].out_of_range(found)
    }
}

#[cfg(feature = "write")]
struct Writer<'a> {
    columns: &'a mut [Vec<u8>],
    bits: crate::table::BitWriter,
    /// The number of the first of them, for errors.
    first: usize,
}

#[cfg(feature = "write")]
impl Numbers for Writer<'_> {
    fn number(&mut self, column: usize, most: u64, value: u64) -> Result<u64, ColumnError> {
        if value > most {
            return Err(self.out_of_range(column, value));
        }
        let (symbol, low) = NUMBER.split(value);
        self.columns[column].push(symbol);
        self.bits.push(value, low);
        Ok(value)
    }

    fn reference(&mut self, value: Option<GameRef>) -> Result<GameRef, ColumnError> {
        let game = value.ok_or_else(|| self.out_of_range(REFERENCE, 0))?;
        let [low @ .., middle, high] = game.to_bits().to_le_bytes();
        self.columns[REFERENCE_HIGH].push(high);
        self.columns[REFERENCE_HIGH + 1].push(middle);
        self.columns[REFERENCE_LOW].extend_from_slice(&low);
        Ok(game)
    }

    fn out_of_range(&self, column: usize, found: u64) -> ColumnError {
        ColumnError::Value { column: self.first + column, found }
    }
}

/// The walk through all numbers, in stored order.
struct Walk<'a, N> {
    numbers: N,
    /// What a writer writes.
    told: Option<&'a Told>,
    all: Decoder,
    /// The games of the position that are not told yet, by bucket.
    rest: Vec<Bucket>,
    /// A part of them.
    part: Vec<Bucket>,
    /// References to games that came from the parent and are not told yet.
    known: Vec<GameRef>,
}

impl<'a, N: Numbers> Walk<'a, N> {
    fn new(
        numbers: N,
        layout: Layout,
        parents: &[Option<u32>],
        told: Option<&'a Told>,
    ) -> Result<Walk<'a, N>, ColumnError> {
        let all = Decoder::new(layout, parents);
        let buckets = vec![Bucket::default(); layout.stride()];
        let walk = Walk { numbers, told, all, rest: buckets.clone(), part: buckets, known: Vec::new() };
        match 2 * parents.len() * layout.stride() {
            ..=MAX_BUCKETS => Ok(walk),
            found => Err(walk.numbers.out_of_range(LAYOUT, found as u64)),
        }
    }

    fn run(&mut self) -> Result<(), ColumnError> {
        for n in 0..self.all.others.len() {
            self.arrivals(n)?;
            self.known.clear();
            self.known.extend_from_slice(self.all.shares.references(n));
            let start = self.all.ranks.len();
            if games(&self.rest) == 1 {
                self.way_of_one(n)?
            } else {
                self.ways(n)?
            }
            self.all.others[n] = start..self.all.ranks.len();
        }
        Ok(())
    }

    /// What a writer tells of games by their number.
    fn told_part(&mut self, share: Option<usize>) {
        match (self.told, share) {
            (Some(told), Some(share)) => self.part.copy_from_slice(told.all.shares.buckets(share)),
            _ => self.part.fill(Bucket::default()),
        }
    }

    /// The games that reach a position by other ways than from its parent; with those from there they are all.
    fn arrivals(&mut self, n: usize) -> Result<(), ColumnError> {
        let stride = self.rest.len();
        self.rest.copy_from_slice(self.all.shares.buckets(n));
        match self.told {
            Some(told) => {
                let totals = &told.totals[n * stride..(n + 1) * stride];
                for ((part, total), by_step) in self.part.iter_mut().zip(totals).zip(&self.rest) {
                    *part = total.checked_sub(*by_step).unwrap_or_default();
                }
            }
            None => self.part.fill(Bucket::default()),
        }
        let by_step = games(&self.rest);
        // A position was reached at least once.
        let (column, least) = if by_step == 0 { (ARRIVALS, 1) } else { (ARRIVALS_MORE, 0) };
        let told = games(&self.part).wrapping_sub(least);
        let count = least + self.numbers.number(column, Results::MAX_GAMES - by_step - least, told)?;
        divide(&mut self.numbers, ARRIVED, self.all.layout.ratings, count, None, &mut self.part)?;
        for (rest, arrived) in self.rest.iter_mut().zip(&self.part) {
            let sum = rest.checked_add(*arrived);
            *rest = sum.ok_or_else(|| self.numbers.out_of_range(ARRIVALS, arrived.games()))?;
        }
        Ok(())
    }

    /// How the only game goes on that reached a position.
    fn way_of_one(&mut self, n: usize) -> Result<(), ColumnError> {
        let steps = self.all.steps.of(n);
        let count = steps.len() as u64;
        let column = if count > 0 { NEXT } else { LAST };
        let told = self.told.map_or(0, |Told { all, .. }| {
            let step = steps.clone().position(|step| all.shares.games(all.steps.children[step] as usize) > 0);
            match (step, all.ranks.get(all.others[n].clone()).and_then(<[u32]>::first)) {
                (Some(step), _) => step as u64,
                (None, None) => count,
                (None, Some(rank)) => count + 1 + u64::from(*rank),
            }
        });
        let way = self.numbers.number(column, count + 1 + MAX_RANK, told)?;
        self.part.copy_from_slice(&self.rest);
        let share = match way.checked_sub(count) {
            None => self.all.steps.children[steps.start + way as usize] as usize,
            Some(0) => self.all.ended(n),
            Some(rank) => self.leave(rank as u32 - 1)?,
        };
        self.all.moves += usize::from(way < count);
        self.go(share)
    }

    /// How the games of a position divide: among its steps, those that end, and other moves by rank.
    fn ways(&mut self, n: usize) -> Result<(), ColumnError> {
        for step in self.all.steps.of(n) {
            let child = self.all.steps.children[step] as usize;
            self.share(SHARE_STEP, 0, Some(child))?;
            self.all.moves += usize::from(games(&self.part) > 0);
            self.go(child)?;
        }
        let ended = self.all.ended(n);
        self.share(SHARE_OTHER, 0, Some(ended))?;
        self.go(ended)?;
        let mut others = self.told.map_or(0..0, |told| told.all.others[n].clone());
        let mut least = 0;
        while games(&self.rest) > 0 {
            let told = self.told.zip(others.next());
            let most = MAX_RANK.checked_sub(least).ok_or_else(|| self.numbers.out_of_range(RANK, least))?;
            let value = told.map_or(0, |(told, other)| u64::from(told.all.ranks[other]));
            let rank = least + self.numbers.number(RANK, most, value.wrapping_sub(least))?;
            self.share(SHARE_OTHER, 1, told.map(|(told, other)| told.all.other(other)))?;
            let share = self.leave(rank as u32)?;
            self.go(share)?;
            least = rank + 1;
        }
        Ok(())
    }

    /// Divides off the next part of the games that are left, at least `least` of them; `told` is the number of the part that
    /// a writer writes.
    fn share(&mut self, column: usize, least: u64, told: Option<usize>) -> Result<(), ColumnError> {
        self.told_part(told);
        let most = games(&self.rest);
        let count = match most.checked_sub(least) {
            None | Some(0) => most,
            Some(more) => least + self.numbers.number(column, more, games(&self.part).wrapping_sub(least))?,
        };
        divide(&mut self.numbers, SHARED, self.all.layout.ratings, count, Some(&self.rest), &mut self.part)?;
        for (rest, part) in self.rest.iter_mut().zip(&self.part) {
            *rest = rest.checked_sub(*part).unwrap_or_default();
        }
        Ok(())
    }

    /// One more move that is no step of the block; the number of its games.
    fn leave(&mut self, rank: u32) -> Result<usize, ColumnError> {
        self.all.moves += 1;
        self.all.ranks.push(rank);
        let share = self.all.shares.push();
        let buckets = (share + 1) * self.all.layout.stride();
        if self.all.moves > MAX_TOTAL || buckets > MAX_BUCKETS {
            return Err(self.numbers.out_of_range(RANK, self.all.moves as u64));
        }
        Ok(share)
    }

    /// Part of the games go a way; some of them are referred to.
    fn go(&mut self, share: usize) -> Result<(), ColumnError> {
        self.all.shares.buckets_mut(share).copy_from_slice(&self.part);
        let most = games(&self.part).min(self.all.layout.references as u64);
        if most == 0 {
            return Ok(());
        }
        let told = self.told.map_or(&[][..], |told| told.all.shares.references(share));
        let missing = self.numbers.number(MISSING, most, most.wrapping_sub(told.len() as u64))?;
        let mut references: Vec<GameRef> = Vec::new();
        for n in 0..(most - missing) as usize {
            let told = told.get(n).copied();
            let known = told.and_then(|told| self.known.iter().position(|known| *known == told));
            let known = match self.known.len() {
                0 => 0,
                most => self.numbers.number(REFERENCE, most as u64, known.map_or(0, |n| n as u64 + 1))?,
            };
            let game = match known.checked_sub(1) {
                Some(n) => self.known.remove(n as usize),
                None => self.numbers.reference(told)?,
            };
            if references.last().is_some_and(|last| *last <= game) {
                return Err(self.numbers.out_of_range(REFERENCE_LOW, game.to_bits()));
            }
            references.push(game);
        }
        self.all.shares.refer(share, &references);
        match self.all.shares.reference_count() {
            ..=MAX_TOTAL => Ok(()),
            found => Err(self.numbers.out_of_range(REFERENCE, found as u64)),
        }
    }
}

impl Decoder {
    pub(super) fn new(layout: Layout, parents: &[Option<u32>]) -> Decoder {
        let shares = Shares::new(layout, 2 * parents.len());
        let others = vec![0..0; parents.len()];
        Decoder { layout, steps: Steps::new(parents), shares, others, ranks: Vec::new(), moves: 0 }
    }

    /// The number of the games that end in a position.
    pub(super) fn ended(&self, n: usize) -> usize {
        self.others.len() + n
    }

    /// The number of the games of a move that is no step.
    fn other(&self, n: usize) -> usize {
        2 * self.others.len() + n
    }
}

impl Record for Played {
    const KIND: &'static str = "moves";
    const COLUMNS: &'static [&'static str] = NAMES;
    const OPTIONAL_COLUMNS: usize = NAMES.len() - LAYOUT;
    const TOTALS: &'static [&'static str] = &["moves"];
    type Decoder = Decoder;

    fn position(&self) -> &Position {
        &self.position
    }

    #[cfg(feature = "write")]
    fn goes(&self, from: Square, to: Square) -> bool {
        self.moves.iter().any(|played| is_step(played.m, from, to))
    }

    #[cfg(feature = "write")]
    fn encode(
        records: &[&Played],
        parents: &[Option<u32>],
        step: &dyn Fn(usize) -> (Square, Square),
        columns: &mut [Vec<u8>],
    ) -> Result<(), ColumnError> {
        let first = crate::table::Block::<Played>::FIRST;
        let layout = super::telling::layout(records);
        let told = Told::new(records, layout, parents, step)
            .map_err(|(column, found)| ColumnError::Value { column: first + column, found })?;
        layout.write(&mut columns[LAYOUT]);
        let writer = Writer { columns, bits: crate::table::BitWriter::default(), first };
        let mut walk = Walk::new(writer, layout, parents, Some(&told))?;
        walk.run()?;
        let bits = core::mem::take(&mut walk.numbers.bits.bytes);
        walk.numbers.columns[BITS] = bits;
        Ok(())
    }

    #[cfg(feature = "write")]
    fn count(&self, totals: &mut [u64]) {
        totals[0] += self.moves.len() as u64;
    }

    fn decoder(columns: &Columns, first: usize, _: &[Color], parents: &[Option<u32>]) -> Result<Decoder, ColumnError> {
        let layout = Layout::read(columns, first + LAYOUT)?;
        let numbers = Reader {
            columns: core::array::from_fn(|column| columns.values(first + column)),
            bits: Bits::new(columns, first + BITS),
        };
        let mut walk = Walk::new(numbers, layout, parents, None)?;
        walk.run()?;
        let read_here = |column: &usize| ![BITS, LAYOUT].contains(column);
        (0..NAMES.len()).filter(read_here).try_for_each(|column| walk.numbers.columns[column].finish())?;
        walk.numbers.bits.finish()?;
        Ok(walk.all)
    }

    fn memory(decoder: &Decoder) -> usize {
        decoder.shares.memory()
            + decoder.others.len() * (size_of::<Range<usize>>() + 2 * size_of::<u32>())
            + decoder.ranks.len() * size_of::<u32>()
    }

    #[cfg(feature = "write")]
    fn weights(decoder: &Decoder, _: &Columns, _: usize, totals: &mut [u64]) -> Result<Vec<usize>, ColumnError> {
        totals[0] += decoder.moves as u64;
        let weight = |n: usize| {
            let steps = decoder.steps.children[decoder.steps.of(n)].iter().map(|&child| child as usize);
            let others = decoder.others[n].clone().map(|other| decoder.other(other));
            let moves = steps.filter(|&child| decoder.shares.games(child) > 0).chain(others);
            let (mut count, mut references) = (0, decoder.shares.references(decoder.ended(n)).len());
            for share in moves {
                count += 1;
                references += decoder.shares.references(share).len();
            }
            Played::weight(count, decoder.layout.buckets, references)
        };
        Ok((0..decoder.others.len()).map(weight).collect())
    }

    fn decode(
        decoder: &Decoder,
        _: &Columns,
        _: usize,
        n: usize,
        position: Position,
        step: &dyn Fn(usize) -> (Square, Square),
    ) -> Result<Played, String> {
        let others = decoder.others.get(n).ok_or("no such record")?.clone();
        let told = |share| decoder.shares.told(share, decoder.layout);
        let legal = position.chess().legal_moves();
        let mut moves: Vec<PlayedMove> = Vec::new();
        for &child in &decoder.steps.children[decoder.steps.of(n)] {
            let (results, details) = told(child as usize);
            if results.games() > 0 {
                let (from, to) = step(child as usize);
                let m = legal.iter().copied().find(|m| is_step(*m, from, to));
                let m = m.ok_or_else(|| format!("the step from {from} to {to} is not a legal move"))?;
                moves.push(PlayedMove { m, results, details });
            }
        }
        if !others.is_empty() {
            let ranking = Ranking::new(position.chess());
            for other in others {
                let rank = decoder.ranks[other];
                let m = ranking.pick(rank as usize).map_err(|count| format!("rank {rank} of {count} legal moves"))?;
                if moves.iter().any(|played| played.m == m) {
                    return Err(format!("the move of rank {rank} is told twice"));
                }
                let (results, details) = told(decoder.other(other));
                moves.push(PlayedMove { m, results, details });
            }
        }
        Played::sort(&mut moves);
        let (ended, ended_details) = told(decoder.ended(n));
        Ok(Played { position, ended, ended_details, moves })
    }
}

/// Whether a move is the step between these squares; that of a castling king goes to the rook's.
pub(super) fn is_step(m: Move, from: Square, to: Square) -> bool {
    m.from() == Some(from) && m.to() == to && m.promotion().is_none() && !m.is_en_passant()
}
