//! Played moves as columns of a block.
//!
//! Games flow along the steps of a block: of a position it is known how many came from its parent, so that only those that
//! came by other ways are told, and its own games divide among its steps, the moves that lead out of the block and the
//! games that end there. Where a position was reached once, its move is the step to the next one and its result the
//! parent's. One walk over the positions reads and writes all numbers.

use core::ops::Range;

use shakmaty::{Color, Position as _, Square};

use super::{Played, PlayedMove, Results};
use crate::moves::Ranking;
use crate::position::Position;
use crate::table::{Bits, ColumnError, Columns, MAX_TOTAL, Octaves, Record, Values};

/// All numbers: most are small, any may be large.
const NUMBER: Octaves = Octaves { direct: 4, leading: 2 };

const ARRIVALS: usize = 0;
const ARRIVALS_MORE: usize = 1;
const ARRIVED_WHITE: usize = 2;
const ARRIVED_DRAWS: usize = 3;
const NEXT: usize = 4;
const LAST: usize = 5;
const SHARE_STEP: usize = 6;
const SHARE_OTHER: usize = 7;
const RANK: usize = 8;
const WHITE: usize = 9;
const DRAWS: usize = 10;
const BITS: usize = 11;

/// The highest rank that is read: more than any position has legal moves.
const MAX_RANK: u64 = 510;

/// How games divide: the columns of White's wins and of draws.
const ARRIVED: [usize; 2] = [ARRIVED_WHITE, ARRIVED_DRAWS];
const SHARED: [usize; 2] = [WHITE, DRAWS];

/// What the numbers of a record tell.
#[derive(Clone, Debug, Default)]
struct Entry {
    /// Games that come from the parent.
    by_step: Results,
    /// All games.
    total: Results,
    ended: Results,
    /// Moves that are no step of the block, among those of all records.
    others: Range<usize>,
}

/// A move by its rank among the legal moves.
#[derive(Copy, Clone, Debug, Default)]
struct Other {
    rank: u32,
    results: Results,
}

/// The numbers of all records of a block.
#[derive(Debug, Default)]
pub struct Decoder {
    steps: Steps,
    entries: Vec<Entry>,
    others: Vec<Other>,
    moves: usize,
}

/// The positions one step from each position.
#[derive(Debug, Default)]
struct Steps {
    /// Where those of each position begin among `children`, and where those of the last end.
    starts: Vec<u32>,
    children: Vec<u32>,
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

    fn of(&self, n: usize) -> Range<usize> {
        self.starts[n] as usize..self.starts[n + 1] as usize
    }
}

/// Reads numbers, or writes what it is given.
trait Numbers {
    /// The next number of a column, which is at most `most`; `value` is what a writer writes.
    fn number(&mut self, column: usize, most: u64, value: u64) -> Result<u64, ColumnError>;
}

struct Reader<'a> {
    columns: [Values<'a>; BITS],
    bits: Bits<'a>,
}

impl Numbers for Reader<'_> {
    fn number(&mut self, column: usize, most: u64, _: u64) -> Result<u64, ColumnError> {
        let number = NUMBER.join(self.columns[column].byte()?, &mut self.bits)?;
        if number > most { Err(self.columns[column].out_of_range(number)) } else { Ok(number) }
    }
}

#[cfg(feature = "write")]
struct Writer<'a> {
    columns: &'a mut [Vec<u8>],
    bits: crate::table::BitWriter,
}

#[cfg(feature = "write")]
impl Numbers for Writer<'_> {
    fn number(&mut self, column: usize, _: u64, value: u64) -> Result<u64, ColumnError> {
        let (symbol, low) = NUMBER.split(value);
        self.columns[column].push(symbol);
        self.bits.push(value, low);
        Ok(value)
    }
}

/// Divides off `games` of `from`, or of any games if there is no `from`.
fn divide(
    numbers: &mut impl Numbers,
    columns: [usize; 2],
    games: u64,
    from: Option<Results>,
    value: Results,
) -> Result<Results, ColumnError> {
    let from = from.unwrap_or(Results { white: games, draws: games, black: games });
    let mut part = |column, has: u64, games: u64, others: u64, value: u64| {
        let least = games.saturating_sub(others);
        let most = has.min(games);
        if least == most {
            Ok(least)
        } else {
            Ok(least + numbers.number(column, most - least, value.wrapping_sub(least))?)
        }
    };
    let white = part(columns[0], from.white, games, from.draws + from.black, value.white)?;
    let draws = part(columns[1], from.draws, games - white, from.black, value.draws)?;
    Ok(Results { white, draws, black: games - white - draws })
}

/// The walk through all numbers, in stored order.
struct Walk<'a, N> {
    numbers: N,
    /// The number of the first column of records, for errors.
    first: usize,
    /// What a writer writes.
    told: Option<&'a Decoder>,
    all: Decoder,
}

impl<'a, N: Numbers> Walk<'a, N> {
    fn new(numbers: N, first: usize, parents: &[Option<u32>], told: Option<&'a Decoder>) -> Walk<'a, N> {
        let entries = vec![Entry::default(); parents.len()];
        let all = Decoder { steps: Steps::new(parents), entries, others: Vec::new(), moves: 0 };
        Walk { numbers, first, told, all }
    }

    fn run(&mut self) -> Result<(), ColumnError> {
        for n in 0..self.all.entries.len() {
            let arrived = self.arrivals(n)?;
            let entry = &mut self.all.entries[n];
            let total = entry.by_step.checked_add(arrived);
            entry.total = total.ok_or(ColumnError::Value { column: self.first + ARRIVALS, found: arrived.games() })?;
            let start = self.all.others.len();
            self.all.entries[n].others = start..start;
            if self.all.entries[n].total.games() == 1 {
                self.way_of_one(n)?
            } else {
                self.ways(n)?
            }
            self.all.entries[n].others = start..self.all.others.len();
            if self.all.moves > MAX_TOTAL {
                return Err(ColumnError::Value { column: self.first + RANK, found: self.all.moves as u64 });
            }
        }
        Ok(())
    }

    fn told(&self, n: usize) -> Option<&'a Entry> {
        self.told.map(|told| &told.entries[n])
    }

    /// The games that reach a position by other ways than from its parent.
    fn arrivals(&mut self, n: usize) -> Result<Results, ColumnError> {
        let by_step = self.all.entries[n].by_step.games();
        // A position was reached at least once.
        let (column, least) = if by_step == 0 { (ARRIVALS, 1) } else { (ARRIVALS_MORE, 0) };
        let told = self.told(n).and_then(|told| told.total.checked_sub(told.by_step)).unwrap_or_default();
        let most = Results::MAX_GAMES - by_step - least;
        let games = least + self.numbers.number(column, most, told.games().wrapping_sub(least))?;
        divide(&mut self.numbers, ARRIVED, games, None, told)
    }

    /// How the only game goes on that reached a position.
    fn way_of_one(&mut self, n: usize) -> Result<(), ColumnError> {
        let steps = self.all.steps.of(n);
        let count = steps.len() as u64;
        let column = if count > 0 { NEXT } else { LAST };
        let told = self.told.map_or(0, |told| {
            let step =
                steps.clone().position(|step| told.entries[told.steps.children[step] as usize].by_step.games() > 0);
            match (step, told.others.get(told.entries[n].others.clone()).and_then(<[Other]>::first)) {
                (Some(step), _) => step as u64,
                (None, None) => count,
                (None, Some(other)) => count + 1 + u64::from(other.rank),
            }
        });
        let way = self.numbers.number(column, count + 1 + MAX_RANK, told)?;
        let results = self.all.entries[n].total;
        match way.checked_sub(count) {
            None => self.all.go(steps.start + way as usize, results),
            Some(0) => self.all.entries[n].ended = results,
            Some(rank) => self.all.leave(rank as u32 - 1, results),
        }
        Ok(())
    }

    /// How the games of a position divide: among its steps, those that end, and other moves by rank.
    fn ways(&mut self, n: usize) -> Result<(), ColumnError> {
        let mut rest = self.all.entries[n].total;
        for step in self.all.steps.of(n) {
            let told =
                self.told.map_or(Results::default(), |told| told.entries[told.steps.children[step] as usize].by_step);
            let results = self.share(SHARE_STEP, 0, &mut rest, told)?;
            self.all.go(step, results);
        }
        let told = self.told(n).map_or(Results::default(), |told| told.ended);
        self.all.entries[n].ended = self.share(SHARE_OTHER, 0, &mut rest, told)?;
        let mut others = self.told(n).map_or(0..0, |told| told.others.clone());
        let mut least = 0;
        while rest.games() > 0 {
            let told = self.told.and_then(|told| Some(told.others[others.next()?])).unwrap_or_default();
            let most =
                MAX_RANK.checked_sub(least).ok_or(ColumnError::Value { column: self.first + RANK, found: least })?;
            let rank = least + self.numbers.number(RANK, most, u64::from(told.rank).wrapping_sub(least))?;
            let results = self.share(SHARE_OTHER, 1, &mut rest, told.results)?;
            self.all.leave(rank as u32, results);
            least = rank + 1;
        }
        Ok(())
    }

    /// Takes a share of at least `least` games off those that are left.
    fn share(&mut self, column: usize, least: u64, rest: &mut Results, told: Results) -> Result<Results, ColumnError> {
        let most = rest.games();
        let games = match most.checked_sub(least) {
            None | Some(0) => most,
            Some(more) => least + self.numbers.number(column, more, told.games().wrapping_sub(least))?,
        };
        let share = divide(&mut self.numbers, SHARED, games, Some(*rest), told)?;
        *rest = rest.checked_sub(share).unwrap_or_default();
        Ok(share)
    }
}

impl Decoder {
    /// Games go the step of this number.
    fn go(&mut self, step: usize, results: Results) {
        self.moves += usize::from(results.games() > 0);
        self.entries[self.steps.children[step] as usize].by_step = results;
    }

    /// Games go a way out of the block.
    fn leave(&mut self, rank: u32, results: Results) {
        self.moves += 1;
        self.others.push(Other { rank, results });
    }
}

impl Record for Played {
    const KIND: &'static str = "moves";
    const COLUMNS: &'static [&'static str] = &[
        "arrivals",
        "more arrivals",
        "arrived, White's wins",
        "arrived, draws",
        "next of one game",
        "last of one game",
        "shares of steps",
        "other shares",
        "ranks",
        "White's wins",
        "draws",
        "low bits",
    ];
    const TOTALS: &'static [&'static str] = &["moves"];
    type Decoder = Decoder;

    fn position(&self) -> &Position {
        &self.position
    }

    #[cfg(feature = "write")]
    fn goes(&self, from: Square, to: Square) -> bool {
        self.moves.iter().any(|played| is_step(played, from, to))
    }

    #[cfg(feature = "write")]
    fn encode(
        records: &[&Played],
        parents: &[Option<u32>],
        step: &dyn Fn(usize) -> (Square, Square),
        columns: &mut [Vec<u8>],
    ) -> Result<(), ColumnError> {
        let first = crate::table::Block::<Played>::FIRST;
        let mut told = Decoder { steps: Steps::new(parents), ..Decoder::default() };
        told.entries.resize(records.len(), Entry::default());
        for (n, record) in records.iter().enumerate() {
            let total = record.results().filter(|total| total.games() > 0);
            told.entries[n].total = total.ok_or(ColumnError::Value { column: first + ARRIVALS, found: 0 })?;
            told.entries[n].ended = record.ended;
        }
        for (n, record) in records.iter().enumerate() {
            let mut moves = record.moves.clone();
            for at in told.steps.of(n) {
                let child = told.steps.children[at] as usize;
                let (from, to) = step(child);
                // A double push that can be taken en passant leads to another position than the step of the same squares, so
                // that more games may have played it than reached the step's.
                let total = told.entries[child].total;
                let goes =
                    |played: &PlayedMove| is_step(played, from, to) && total.checked_sub(played.results).is_some();
                if let Some(played) = moves.iter().position(goes) {
                    told.entries[child].by_step = moves.swap_remove(played).results;
                }
            }
            let start = told.others.len();
            if !moves.is_empty() {
                let ranking = Ranking::new(record.position.chess());
                for played in moves {
                    let rank = ranking.rank(played.m).filter(|_| played.results.games() > 0);
                    let rank = rank.ok_or(ColumnError::Value { column: first + RANK, found: u64::MAX })?;
                    told.others.push(Other { rank: rank as u32, results: played.results });
                }
                told.others[start..].sort_unstable_by_key(|other| other.rank);
            }
            told.entries[n].others = start..told.others.len();
        }
        let writer = Writer { columns, bits: crate::table::BitWriter::default() };
        let mut walk = Walk::new(writer, first, parents, Some(&told));
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
        let numbers = Reader {
            columns: core::array::from_fn(|column| columns.values(first + column)),
            bits: Bits::new(columns, first + BITS),
        };
        let mut walk = Walk::new(numbers, first, parents, None);
        walk.run()?;
        walk.numbers.columns.iter().try_for_each(Values::finish)?;
        walk.numbers.bits.finish()?;
        Ok(walk.all)
    }

    fn memory(decoder: &Decoder) -> usize {
        decoder.entries.len() * (size_of::<Entry>() + 2 * size_of::<u32>()) + decoder.others.len() * size_of::<Other>()
    }

    #[cfg(feature = "write")]
    fn weights(decoder: &Decoder, _: &Columns, _: usize, totals: &mut [u64]) -> Result<Vec<usize>, ColumnError> {
        totals[0] += decoder.moves as u64;
        let children = |n: usize| decoder.steps.children[decoder.steps.of(n)].iter();
        let weight = |n: usize| {
            let by_step = children(n).filter(|&&child| decoder.entries[child as usize].by_step.games() > 0).count();
            Played::weight(by_step + decoder.entries[n].others.len())
        };
        Ok((0..decoder.entries.len()).map(weight).collect())
    }

    fn decode(
        decoder: &Decoder,
        _: &Columns,
        _: usize,
        n: usize,
        position: Position,
        step: &dyn Fn(usize) -> (Square, Square),
    ) -> Result<Played, String> {
        let entry = decoder.entries.get(n).ok_or("no such record")?;
        let legal = position.chess().legal_moves();
        let mut moves: Vec<PlayedMove> = Vec::new();
        for &child in &decoder.steps.children[decoder.steps.of(n)] {
            let results = decoder.entries[child as usize].by_step;
            if results.games() > 0 {
                let (from, to) = step(child as usize);
                let found = legal.iter().map(|&m| PlayedMove { m, results }).find(|played| is_step(played, from, to));
                moves.push(found.ok_or_else(|| format!("the step from {from} to {to} is not a legal move"))?);
            }
        }
        if !entry.others.is_empty() {
            let ranking = Ranking::new(position.chess());
            for other in &decoder.others[entry.others.clone()] {
                let m = ranking.pick(other.rank as usize);
                let m = m.map_err(|count| format!("rank {} of {count} legal moves", other.rank))?;
                if moves.iter().any(|played| played.m == m) {
                    return Err(format!("the move of rank {} is told twice", other.rank));
                }
                moves.push(PlayedMove { m, results: other.results });
            }
        }
        Played::sort(&mut moves);
        Ok(Played { position, ended: entry.ended, moves })
    }
}

/// Whether a move is the step between these squares; that of a castling king goes to the rook's.
fn is_step(played: &PlayedMove, from: Square, to: Square) -> bool {
    played.m.from() == Some(from) && played.m.to() == to && played.m.promotion().is_none() && !played.m.is_en_passant()
}
