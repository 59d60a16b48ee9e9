//! The header of a table, and the places of its parts.
//!
//! A table begins with its header: the pieces, and for each of its one to eight parts the Huffman code of its values. Tables with
//! pawns have a part for each file of the leading pawn, and tables of results have a part for each side to move. Tables of
//! distances also have lists of distances. The sparse indexes, the block lengths and the compressed blocks of all parts
//! follow. The last 16 bytes are a checksum.

use shakmaty::{Chess, Color, Piece, Position as _, Role};

use crate::error::{DISTANCE, TableError};
use crate::name::{Material, Metric, TableName};
use crate::pairs::{Pairs, Read, Steps, Stop};
use crate::probe::Outcome;
use crate::resolve::Distance;
use crate::squares::{Numbering, leading_file, piece};

/// Bytes of the checksum at the end of a table.
const CHECKSUM: u64 = 16;
/// The data of a part begins at a multiple of these bytes.
const ALIGNMENT: u64 = 64;
/// Maximum length of a header in bytes. Eight parts with 4,095 symbols each take 99 kB.
pub(crate) const MAX_HEADER: u64 = 256 << 10;
/// Bit of a table whose sides have different pieces.
const SPLIT: u8 = 1;
/// Bit of a table with pawns.
const HAS_PAWNS: u8 = 2;

/// Bit of a part with the distances of Black to move.
const BLACK: u8 = 1;
/// Bit of a part whose distances are numbers in a list.
const MAPPED: u8 = 2;
/// Bit of a part whose distances for wins are plies. Other distances are pairs of plies.
const WIN_PLIES: u8 = 4;
/// Bit of a part whose distances for losses are plies.
const LOSS_PLIES: u8 = 8;
/// Bit of a part whose list has numbers of 16 bits.
const WIDE: u8 = 16;
/// Bit of a part whose values are all equal.
const SINGLE_VALUE: u8 = 128;

/// Lengths of the parts of a table, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Length of the file.
    pub length: u64,
    /// Length of the header. The sparse index begins after the header.
    pub header: u64,
    /// Length of the header, the sparse index and the block lengths. The data begins after them.
    pub index: u64,
}

/// Bytes of a header that are read in order.
#[derive(Clone, Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    /// Next byte.
    pub(crate) at: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Fields<'a> {
        Fields { bytes, at: 0 }
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8], TableError> {
        let bytes = self.bytes.get(self.at..self.at + length);
        self.at += length;
        bytes.ok_or(TableError::HEADER)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, TableError> {
        Ok(self.take(1)?[0])
    }

    /// Reads a little-endian number of at most eight bytes.
    pub(crate) fn number(&mut self, bytes: usize) -> Result<u64, TableError> {
        let push = |number, byte: &u8| number << 8 | u64::from(*byte);
        Ok(self.take(bytes)?.iter().rev().fold(0, push))
    }

    /// Skips a byte if the next byte has an odd number.
    pub(crate) fn align(&mut self) {
        self.at += self.at & 1;
    }

    /// Reads a little-endian number from `min` to `max`.
    pub(crate) fn limited(
        &mut self,
        field: &'static str,
        bytes: usize,
        min: u64,
        max: u64,
    ) -> Result<u64, TableError> {
        let byte = self.at as u64;
        let found = self.number(bytes)?;
        limited(byte, field, min, max, found)
    }
}

/// Checks that a number is in its range.
pub(crate) fn limited(
    byte: u64,
    field: &'static str,
    min: u64,
    max: u64,
    found: u64,
) -> Result<u64, TableError> {
    if (min..=max).contains(&found) {
        return Ok(found);
    }
    Err(TableError::Field {
        byte,
        field,
        min,
        max,
        found,
    })
}

/// A part of a table: the positions of a file of the leading pawn and of a side to move.
#[derive(Clone, Debug)]
struct Part {
    numbering: Numbering,
    flags: u8,
    /// Values of the positions. `None` if all positions have the value `single`.
    pairs: Option<Pairs>,
    single: u16,
    /// Distances by their numbers, for the results of [`list_of`].
    lists: Option<[Vec<u16>; 4]>,
    /// Byte of the description.
    byte: u64,
}

/// The header of a table.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) layout: Layout,
    metric: Metric,
    /// Pieces of the sides that the table calls White and Black.
    material: Material,
    /// Parts of all files, with the parts of both sides of a file one after the other.
    parts: Vec<Part>,
    /// Number of parts of each file.
    sides: usize,
}

/// Returns the half of a byte for a side: the lower half is White's.
fn half(byte: u8, side: usize) -> u8 {
    if side == 0 { byte & 0xf } else { byte >> 4 }
}

/// Returns the number of the list of distances for a result. `None` for a draw.
fn list_of(outcome: Outcome) -> Option<usize> {
    match outcome {
        Outcome::Win => Some(0),
        Outcome::Loss => Some(1),
        Outcome::CursedWin => Some(2),
        Outcome::BlessedLoss => Some(3),
        _ => None,
    }
}

/// Where the value of a position is.
pub(crate) struct Place<'a> {
    part: &'a Part,
    number: u64,
    /// Whether the part has the side to move. Tables of distances have one side to move.
    pub(crate) has_side: bool,
}

impl Header {
    /// Reads the header of a table of a length from its first bytes.
    ///
    /// # Errors
    ///
    /// Returns [`TableError::HEADER`] if the bytes end within the header, and other errors if they are not a header.
    pub(crate) fn parse(name: &TableName, length: u64, bytes: &[u8]) -> Result<Header, TableError> {
        let bytes = bytes.get(..MAX_HEADER as usize).unwrap_or(bytes);
        let mut fields = Fields::new(bytes);
        let (is_wdl, named) = (name.metric == Metric::Wdl, name.material);
        let expected = if is_wdl { 0x71e8_235d } else { 0xd766_0ca5 };
        let found = (fields.number(4)? as u32).swap_bytes();
        if found != expected {
            return Err(TableError::Header(format!(
                "expected the first bytes {expected:08x}, found {found:08x}: the file is not a Syzygy table"
            )));
        }
        Header::check_length(length)?;
        let found = fields.byte()? & (SPLIT | HAS_PAWNS);
        let split = if named.is_symmetric() { 0 } else { SPLIT };
        let expected = split | if named.has_pawns() { HAS_PAWNS } else { 0 };
        if found != expected {
            return Err(TableError::Header(format!(
                "byte 4: expected the flags {expected}, found {found}"
            )));
        }
        let files = if named.has_pawns() { 4 } else { 1 };
        let sides = if is_wdl && !named.is_symmetric() {
            2
        } else {
            1
        };
        let (material, numberings) = numberings(&mut fields, named, files, sides)?;
        fields.align();
        let mut parts = Vec::new();
        for numbering in numberings {
            parts.push(Part::parse(&mut fields, is_wdl, numbering)?);
        }
        if !is_wdl {
            for part in parts.iter_mut().filter(|part| part.flags & MAPPED != 0) {
                part.lists = Some(lists(&mut fields, part.flags & WIDE != 0)?);
            }
            fields.align();
        }
        let header = fields.at as u64;
        let mut pairs: Vec<&mut Pairs> = parts
            .iter_mut()
            .filter_map(|part| part.pairs.as_mut())
            .collect();
        let (mut at, mut index) = (header, header);
        for kind in 0..3 {
            for pairs in &mut pairs {
                if kind == 2 {
                    at = at.next_multiple_of(ALIGNMENT);
                }
                pairs.places[kind] = at;
                at += pairs.part_lengths()[kind];
            }
            if kind == 1 {
                index = at.next_multiple_of(ALIGNMENT);
            }
        }
        let expected = at.next_multiple_of(ALIGNMENT) + CHECKSUM;
        if expected != length || header > length {
            return Err(TableError::Data {
                expected,
                found: length,
            });
        }
        Ok(Header {
            layout: Layout {
                length,
                header,
                index,
            },
            metric: name.metric,
            material,
            parts,
            sides,
        })
    }

    /// Checks that a file can have a length.
    pub(crate) fn check_length(length: u64) -> Result<(), TableError> {
        if length % ALIGNMENT == CHECKSUM {
            Ok(())
        } else {
            Err(TableError::Header(format!(
                "expected a length of 16 bytes more than a multiple of 64, found {length} bytes: the file is incomplete"
            )))
        }
    }

    /// Returns where the value of a position is.
    ///
    /// # Errors
    ///
    /// Returns an error if the table does not have the position's pieces.
    pub(crate) fn place(&self, chess: &Chess) -> Result<Place<'_>, TableError> {
        let board = chess.board();
        let is_black = chess.turn().is_black();
        // Tables of equal sides have White to move.
        let is_flipped = Material::of_board(board) != self.material
            || (self.material.is_symmetric() && is_black);
        let is_black = is_black != is_flipped;
        let leading = self.parts[0].numbering.first();
        let file = match leading.role {
            Role::Pawn => leading_file(board.by_piece(flipped(leading, is_flipped)), is_flipped),
            _ => 0,
        };
        let part = &self.parts[file * self.sides + usize::from(is_black && self.sides == 2)];
        let has_both = self.metric == Metric::Wdl
            || (self.material.is_symmetric() && !self.material.has_pawns());
        let has_side = has_both || (part.flags & BLACK != 0) == is_black;
        let number = part
            .numbering
            .number(board, is_flipped)
            .ok_or_else(|| TableError::pieces(part.byte))?;
        Ok(Place {
            part,
            number,
            has_side,
        })
    }
}

/// Reads the orders of pieces of all parts. Returns the pieces of the sides that the table calls White and Black, too.
fn numberings(
    fields: &mut Fields<'_>,
    named: Material,
    files: usize,
    sides: usize,
) -> Result<(Material, Vec<Numbering>), TableError> {
    let (mut numberings, mut first) = (Vec::new(), None);
    for file in 0..files {
        let leading = fields.byte()?;
        let second = match named.both_have_pawns() {
            true => fields.byte()?,
            false => u8::MAX,
        };
        let byte = fields.at as u64;
        let list = fields.take(named.pieces())?;
        for side in 0..sides {
            let mut numbering = || {
                let pieces = list.iter().map(|pieces| piece(half(*pieces, side)));
                let pieces: Vec<Piece> = pieces.collect::<Option<_>>()?;
                let material = Material::of_pieces(&pieces);
                let king = |color| Piece {
                    color,
                    role: Role::King,
                };
                // The name has any colour as White.
                let is_named = [named, named.swapped()].contains(&material)
                    && Color::ALL
                        .into_iter()
                        .all(|color| pieces.contains(&king(color)));
                let (expected, lead) = *first.get_or_insert((material, pieces[0]));
                let is_same = expected == material && (!named.has_pawns() || lead == pieces[0]);
                let orders = [leading, second].map(|order| half(order, side));
                (is_named && is_same).then(|| Numbering::new(&pieces, orders, file))?
            };
            numberings.push(numbering().ok_or_else(|| TableError::pieces(byte))?);
        }
    }
    Ok((first.map_or(named, |(material, _)| material), numberings))
}

/// Returns the piece, or with `is_flipped` the same piece of the other side.
pub(crate) fn flipped(piece: Piece, is_flipped: bool) -> Piece {
    let color = if is_flipped {
        !piece.color
    } else {
        piece.color
    };
    Piece { color, ..piece }
}

/// Reads four lists of distances.
fn lists(fields: &mut Fields<'_>, is_wide: bool) -> Result<[Vec<u16>; 4], TableError> {
    if is_wide {
        fields.align();
    }
    let width = if is_wide { 2 } else { 1 };
    let mut lists = [const { Vec::new() }; 4];
    for list in &mut lists {
        for _ in 0..fields.number(width)? {
            list.push(fields.number(width)? as u16);
        }
    }
    Ok(lists)
}

impl Part {
    fn parse(
        fields: &mut Fields<'_>,
        is_wdl: bool,
        numbering: Numbering,
    ) -> Result<Part, TableError> {
        let byte = fields.at as u64;
        let flags = fields.clone().byte()?;
        let (mut pairs, mut single) = (None, 0);
        if flags & SINGLE_VALUE == 0 {
            pairs = Some(Pairs::parse(fields, numbering.size)?);
        } else {
            // The distance of a table with a single distance is not in the file.
            let value = fields.take(2)?[1];
            single = if is_wdl { value.into() } else { 0 };
        }
        Ok(Part {
            numbering,
            flags,
            pairs,
            single,
            lists: None,
            byte,
        })
    }
}

impl Place<'_> {
    fn value(&self, steps: &Steps, read: Read<'_>) -> Result<u16, Stop> {
        match &self.part.pairs {
            None => Ok(self.part.single),
            Some(pairs) => pairs.value(self.number, steps, read),
        }
    }

    /// Returns the result in a table of results.
    pub(crate) fn outcome(&self, steps: &Steps, read: Read<'_>) -> Result<Outcome, Stop> {
        let (found, max) = (self.value(steps, read)?, OUTCOMES.len() as u64 - 1);
        let found = limited(
            self.part.byte,
            "the value of a position",
            0,
            max,
            found.into(),
        )?;
        Ok(OUTCOMES[found as usize])
    }

    /// Returns a result that is frequent in the part of the table.
    pub(crate) fn usual_outcome(&self) -> Outcome {
        let value = self
            .part
            .pairs
            .as_ref()
            .map_or(self.part.single, |pairs| pairs.usual);
        let outcome = OUTCOMES.get(usize::from(value));
        outcome.copied().unwrap_or(Outcome::Draw)
    }

    /// Returns the distance of a position with a result in a table of distances: plies before the ply of the capture or pawn move.
    pub(crate) fn plies(
        &self,
        outcome: Outcome,
        steps: &Steps,
        read: Read<'_>,
    ) -> Result<Distance, Stop> {
        let value = self.value(steps, read)?;
        let list = list_of(outcome).ok_or(TableError::DISTANCES)?;
        let distance = match &self.part.lists {
            None => value,
            Some(lists) => {
                let list = &lists[list];
                // An empty list has no number.
                let max = (list.len() as u64).saturating_sub(1);
                let at = limited(self.part.byte, DISTANCE, 0, max, value.into())?;
                *list.get(at as usize).ok_or(TableError::DISTANCES)?
            }
        };
        let has_plies = match outcome {
            Outcome::Win => self.part.flags & WIN_PLIES != 0,
            Outcome::Loss => self.part.flags & LOSS_PLIES != 0,
            _ => false,
        };
        let factor = if has_plies { 1 } else { 2 };
        Ok(Distance {
            plies: factor * i32::from(distance),
            is_rounded: !has_plies,
        })
    }
}

/// Results by their values in a table.
const OUTCOMES: [Outcome; 5] = [
    Outcome::Loss,
    Outcome::BlessedLoss,
    Outcome::Draw,
    Outcome::CursedWin,
    Outcome::Win,
];
