//! The header of a table, and the places of its parts.
//!
//! A table begins with its header: the pieces, and for each of its one to eight parts the Huffman code of its values. Tables with
//! pawns have a part for each file of the leading pawn, and tables of results have a part for each side to move. Tables of
//! distances also have lists of distances. The sparse indexes, the block lengths and the compressed blocks of all parts
//! follow. The last 16 bytes are a checksum.

use shakmaty::{Chess, Color, Piece, Position as _, Role};

use crate::fields::Fields;
use crate::layout::Layout;
use crate::material::Material;
use crate::name::{Metric, TableName};
use crate::outcome::Outcome;
use crate::pairs::{Pairs, Steps, Stop};
use crate::squares::{Numbering, leading_file, piece};
use crate::table_error::{Field, TableError};

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

impl Layout {
    /// Reads the layout of a whole table.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a complete table.
    pub fn of_table(name: &TableName, bytes: &[u8]) -> Result<Layout, TableError> {
        Ok(Header::parse(name, bytes.len() as u64, bytes)?.layout)
    }
}

/// Values of a part.
#[derive(Clone, Debug)]
enum Values {
    /// All positions have this value.
    Single(u16),
    Pairs(Pairs),
}

/// A part of a table: the positions of a file of the leading pawn and of a side to move.
#[derive(Clone, Debug)]
struct Part {
    numbering: Numbering,
    flags: u8,
    values: Values,
    /// Distances by their numbers, for the results of [`list_of`].
    lists: Option<[Vec<u16>; 4]>,
    /// Byte of the description.
    byte: u64,
}

/// A distance in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plies {
    /// Plies before the ply of the capture or pawn move.
    pub(crate) count: u32,
    /// Whether the distance may be one ply more.
    pub(crate) is_rounded: bool,
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

/// Returns the first bytes of tables of a metric.
fn magic(metric: Metric) -> [u8; 4] {
    match metric {
        Metric::Wdl => [0x71, 0xe8, 0x23, 0x5d],
        Metric::Dtz => [0xd7, 0x66, 0x0c, 0xa5],
    }
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
    /// Returns [`TableError::Header`] if the bytes end within the header, and other errors if they are not a header.
    pub(crate) fn parse(name: &TableName, length: u64, bytes: &[u8]) -> Result<Header, TableError> {
        let bytes = bytes.get(..MAX_HEADER as usize).unwrap_or(bytes);
        let expected = magic(name.metric());
        let found = *bytes.first_chunk().ok_or(TableError::Header)?;
        if found != expected {
            return Err(TableError::Magic { expected, found });
        }
        Header::check_length(length)?;
        let named = Material::of_name(name.material());
        let mut fields = Fields::new(bytes);
        fields.take(found.len())?;
        let flags = fields.byte()?;
        let split = if named.is_symmetric() { 0 } else { SPLIT };
        let expected = split | if named.has_pawns() { HAS_PAWNS } else { 0 };
        if flags & (SPLIT | HAS_PAWNS) != expected {
            return Err(TableError::Flags {
                expected,
                found: flags & (SPLIT | HAS_PAWNS),
            });
        }
        let files = if named.has_pawns() { 4 } else { 1 };
        let sides = if name.metric() == Metric::Wdl && !named.is_symmetric() {
            2
        } else {
            1
        };
        let numberings = numberings(&mut fields, named, files, sides)?;
        let material = Material::of_pieces(&numberings[0].1);
        fields.align();
        let part = |(numbering, _)| Part::parse(&mut fields, name.metric(), numbering);
        let mut parts = numberings
            .into_iter()
            .map(part)
            .collect::<Result<Vec<Part>, TableError>>()?;
        if name.metric() == Metric::Dtz {
            for part in parts.iter_mut().filter(|part| part.flags & MAPPED != 0) {
                part.lists = Some(lists(&mut fields, part.flags & WIDE != 0)?);
            }
            fields.align();
        }
        let header = fields.at as u64;
        let mut pairs: Vec<&mut Pairs> = parts.iter_mut().filter_map(Part::pairs).collect();
        let mut at = header;
        for pairs in &mut pairs {
            at = pairs.place_sparse_index(at);
        }
        for pairs in &mut pairs {
            at = pairs.place_lengths(at);
        }
        let index = at.next_multiple_of(ALIGNMENT);
        for pairs in &mut pairs {
            at = pairs.place_data(at.next_multiple_of(ALIGNMENT));
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
            metric: name.metric(),
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
            Err(TableError::Length { found: length })
        }
    }

    /// Memory in bytes, approximately.
    pub(crate) fn memory(&self) -> usize {
        size_of::<Header>() + self.parts.iter().map(Part::memory).sum::<usize>()
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
            Role::Pawn => {
                let color = if is_flipped {
                    !leading.color
                } else {
                    leading.color
                };
                leading_file(
                    board.by_piece(Piece {
                        color,
                        role: Role::Pawn,
                    }),
                    is_flipped,
                )
            }
            _ => 0,
        };
        let part = &self.parts[file * self.sides + usize::from(is_black && self.sides == 2)];
        let has_both = self.metric == Metric::Wdl
            || (self.material.is_symmetric() && !self.material.has_pawns());
        let has_side = has_both || (part.flags & BLACK != 0) == is_black;
        let number = part
            .numbering
            .number(board, is_flipped)
            .ok_or(TableError::Pieces { byte: part.byte })?;
        Ok(Place {
            part,
            number,
            has_side,
        })
    }
}

/// Reads the orders of pieces of all parts.
fn numberings(
    fields: &mut Fields<'_>,
    named: Material,
    files: usize,
    sides: usize,
) -> Result<Vec<(Numbering, Vec<Piece>)>, TableError> {
    let mut numberings: Vec<(Numbering, Vec<Piece>)> = Vec::new();
    for file in 0..files {
        let leading = fields.byte()?;
        let second = if named.both_have_pawns() {
            fields.byte()?
        } else {
            u8::MAX
        };
        let byte = fields.at as u64;
        let list = fields.take(named.pieces())?;
        for side in 0..sides {
            let pieces: Option<Vec<Piece>> = list
                .iter()
                .map(|pieces| piece(half(*pieces, side)))
                .collect();
            let pieces = pieces
                .filter(|pieces| is_material(pieces, named))
                .filter(|pieces| match numberings.first() {
                    Some((_, first)) => {
                        Material::of_pieces(first) == Material::of_pieces(pieces)
                            && (!named.has_pawns() || first[0] == pieces[0])
                    }
                    None => true,
                });
            let numbered = pieces.and_then(|pieces| {
                let numbering = Numbering::new(
                    &pieces,
                    [leading, second].map(|order| half(order, side)),
                    file,
                )?;
                Some((numbering, pieces))
            });
            numberings.push(numbered.ok_or(TableError::Pieces { byte })?);
        }
    }
    Ok(numberings)
}

/// Whether pieces are those of the name, with any colour as White.
fn is_material(pieces: &[Piece], named: Material) -> bool {
    let material = Material::of_pieces(pieces);
    let has_king = |color| {
        pieces.contains(&Piece {
            color,
            role: Role::King,
        })
    };
    [named, named.swapped()].contains(&material) && Color::ALL.into_iter().all(has_king)
}

/// Reads four lists of distances.
fn lists(fields: &mut Fields<'_>, is_wide: bool) -> Result<[Vec<u16>; 4], TableError> {
    if is_wide {
        fields.align();
    }
    let mut lists = [const { Vec::new() }; 4];
    for list in &mut lists {
        let number = |fields: &mut Fields<'_>| {
            if is_wide {
                fields.short()
            } else {
                fields.byte().map(u16::from)
            }
        };
        let count = number(fields)?;
        *list = (0..count)
            .map(|_| number(fields))
            .collect::<Result<Vec<u16>, TableError>>()?;
    }
    Ok(lists)
}

impl Part {
    fn parse(
        fields: &mut Fields<'_>,
        metric: Metric,
        numbering: Numbering,
    ) -> Result<Part, TableError> {
        let byte = fields.at as u64;
        let flags = fields.clone().byte()?;
        let values = if flags & SINGLE_VALUE != 0 {
            let value = fields.take(2)?[1].into();
            // The distance of a table with a single distance is not in the file.
            Values::Single(if metric == Metric::Wdl { value } else { 0 })
        } else {
            Values::Pairs(Pairs::parse(fields, numbering.size)?)
        };
        Ok(Part {
            numbering,
            flags,
            values,
            lists: None,
            byte,
        })
    }

    fn pairs(&mut self) -> Option<&mut Pairs> {
        match &mut self.values {
            Values::Single(_) => None,
            Values::Pairs(pairs) => Some(pairs),
        }
    }

    fn memory(&self) -> usize {
        let values = match &self.values {
            Values::Single(_) => 0,
            Values::Pairs(pairs) => pairs.memory(),
        };
        size_of::<Part>()
            + values
            + self
                .lists
                .iter()
                .flatten()
                .map(|list| 2 * list.len())
                .sum::<usize>()
    }
}

impl Place<'_> {
    fn value<E>(
        &self,
        steps: &Steps,
        read: impl FnMut(u64, &mut [u8]) -> Result<(), Stop<E>>,
    ) -> Result<u16, Stop<E>> {
        match &self.part.values {
            Values::Single(value) => Ok(*value),
            Values::Pairs(pairs) => pairs.value(self.number, steps, read),
        }
    }

    /// Returns the result in a table of results.
    pub(crate) fn outcome<E>(
        &self,
        steps: &Steps,
        read: impl FnMut(u64, &mut [u8]) -> Result<(), Stop<E>>,
    ) -> Result<Outcome, Stop<E>> {
        let found = self.value(steps, read)?;
        let (byte, field, max) = (self.part.byte, Field::Outcome, OUTCOMES.len() as u64 - 1);
        let outcome = OUTCOMES.get(usize::from(found)).copied();
        outcome.ok_or(
            TableError::Field {
                byte,
                field,
                min: 0,
                max,
                found: found.into(),
            }
            .into(),
        )
    }

    /// Returns a result that is frequent in the part of the table.
    pub(crate) fn usual_outcome(&self) -> Outcome {
        let value = match &self.part.values {
            Values::Single(value) => *value,
            Values::Pairs(pairs) => pairs.usual(),
        };
        OUTCOMES
            .get(usize::from(value))
            .copied()
            .unwrap_or(Outcome::Draw)
    }

    /// Returns the distance of a position with a result in a table of distances.
    pub(crate) fn plies<E>(
        &self,
        outcome: Outcome,
        steps: &Steps,
        read: impl FnMut(u64, &mut [u8]) -> Result<(), Stop<E>>,
    ) -> Result<Plies, Stop<E>> {
        let value = self.value(steps, read)?;
        let list = list_of(outcome).ok_or(TableError::Distances)?;
        let distance = match &self.part.lists {
            None => value,
            Some(lists) => {
                let (byte, field, max) = (
                    self.part.byte,
                    Field::Distance,
                    (lists[list].len() as u64).saturating_sub(1),
                );
                let error = TableError::Field {
                    byte,
                    field,
                    min: 0,
                    max,
                    found: value.into(),
                };
                *lists[list].get(usize::from(value)).ok_or(error)?
            }
        };
        let has_plies = match outcome {
            Outcome::Win => self.part.flags & WIN_PLIES != 0,
            Outcome::Loss => self.part.flags & LOSS_PLIES != 0,
            _ => false,
        };
        let factor = if has_plies { 1 } else { 2 };
        Ok(Plies {
            count: factor * u32::from(distance),
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
