//! Builds blocks column by column, as `FORMAT.md` describes them, with any content.

use shakmaty::{Chess, Color, File, Piece, Position as _, Rank, Role, Square};
use shelfish::leb128;
use shelfish::table::seal;

/// Number of columns of a block of evaluations, and of a block of moves.
const COLUMNS: usize = 16;
const MOVES_COLUMNS: usize = 17;
const DETAILED_COLUMNS: usize = 29;

/// Numbers of columns, as in `FORMAT.md`.
pub mod column {
    #![allow(missing_docs)]
    pub const LINKS: usize = 0;
    pub const STEP_TARGETS: usize = 1;
    pub const ROOT_BITS: usize = 2;
    pub const ROOT_VALUES: usize = 3;
    pub const SQUARES: usize = 4;
    pub const PVS: usize = 5;
    pub const DEPTH_BEST: usize = 6;
    pub const DEPTH_OTHER: usize = 7;
    pub const KNODES: usize = 8;
    pub const SCORE_FIRST_PV: usize = 9;
    pub const SCORE_NEXT_PV: usize = 10;
    pub const LOW_BITS: usize = 11;
    pub const SHARED: usize = 12;
    pub const LENGTH: usize = 13;
    pub const SIZE: usize = 14;
    // Columns of blocks of moves.
    pub const ARRIVALS: usize = 5;
    pub const MORE_ARRIVALS: usize = 6;
    pub const ARRIVED_WHITE: usize = 7;
    pub const ARRIVED_DRAWS: usize = 8;
    pub const NEXT: usize = 9;
    pub const LAST: usize = 10;
    pub const STEP_SHARES: usize = 11;
    pub const OTHER_SHARES: usize = 12;
    pub const MOVE_RANKS: usize = 13;
    pub const MOVES_LOW_BITS: usize = 16;
    pub const LAYOUT: usize = 17;
    pub const BUCKET_OF_ONE: usize = 18;
    pub const ARRIVED_BUCKETS: usize = 19;
    pub const UNRATED: usize = 21;
    pub const ARRIVED_RATINGS: usize = 22;
    pub const MISSING_REFERENCES: usize = 24;
    pub const KNOWN_REFERENCES: usize = 25;
    pub const REFERENCES: usize = 26;
}

/// Builds a block column by column, with any content.
#[derive(Clone, Debug)]
pub struct BlockBuilder {
    /// The columns.
    pub columns: Vec<Vec<u8>>,
    bits: usize,
    /// Records and coded moves of the stream.
    sum: u64,
}

impl BlockBuilder {
    /// Returns a block of one root without evaluations: the initial position, or a position without castling rights and en-passant
    /// square.
    pub fn of(chess: &Chess) -> BlockBuilder {
        use Role::{Bishop, King, Knight, Queen, Rook};
        let (board, turn) = (chess.board(), chess.turn());
        let mut builder = BlockBuilder {
            columns: vec![Vec::new(); COLUMNS],
            bits: 0,
            sum: 0,
        };
        let mut push = |column: usize, byte: usize| builder.columns[column].push(byte as u8);
        push(column::LINKS, 0);
        let corners = [
            (2, Square::A1),
            (4, Square::H1),
            (8, Square::A8),
            (16, Square::H8),
        ];
        let rights = corners
            .iter()
            .filter(|(_, corner)| chess.castles().castling_rights().contains(*corner));
        push(
            column::ROOT_BITS,
            usize::from(turn.is_black()) + rights.map(|(flag, _)| flag).sum::<usize>(),
        );
        push(column::ROOT_BITS, 0xff);
        for file in [
            File::D,
            File::E,
            File::C,
            File::F,
            File::B,
            File::G,
            File::A,
            File::H,
        ] {
            let digit = |rank: Rank| match board.piece_at(Square::from_coords(file, rank)) {
                Some(Piece {
                    role: Role::Pawn,
                    color,
                }) => color.fold_wb(1, 2),
                _ => 0,
            };
            let code = Rank::ALL[1..7]
                .iter()
                .fold(0, |code, rank| 3 * code + digit(*rank));
            [81, 9, 1]
                .into_iter()
                .for_each(|scale| push(column::ROOT_VALUES, code / scale % 9));
        }
        push(column::ROOT_BITS, 0xff);
        for role in [Queen, Rook, Bishop, Knight] {
            Color::ALL.iter().for_each(|color| {
                push(column::ROOT_VALUES, board.by_piece(role.of(*color)).count())
            });
        }
        for role in [King, Queen, Rook, Bishop, Knight] {
            for color in Color::ALL {
                for square in board.by_piece(role.of(color)) {
                    push(
                        column::SQUARES,
                        usize::from(color.fold_wb(square, square.flip_vertical())) + 1,
                    );
                }
            }
        }
        builder
    }

    /// Returns a block of one root without games.
    pub fn of_moves(chess: &Chess) -> BlockBuilder {
        let mut builder = BlockBuilder::of(chess);
        builder.columns.resize(MOVES_COLUMNS, Vec::new());
        builder
    }

    /// Adds columns for buckets, ratings and references, with these numbers in the layout.
    pub fn detail(mut self, layout: [u8; 3]) -> BlockBuilder {
        self.columns.resize(DETAILED_COLUMNS, Vec::new());
        self.with(&[(column::LAYOUT, &layout)])
    }

    /// Appends bytes to columns.
    pub fn with(mut self, columns: &[(usize, &[u8])]) -> BlockBuilder {
        for (column, bytes) in columns {
            self.columns[*column].extend(*bytes);
        }
        self
    }

    /// Appends a reference of eight bytes.
    pub fn reference(&mut self, bits: u64) {
        let [low @ .., middle, high] = bits.to_le_bytes();
        self.columns[column::REFERENCES].push(high);
        self.columns[column::REFERENCES + 1].push(middle);
        self.columns[column::REFERENCES + 2].extend(low);
    }

    /// Appends a number in octaves of the parameters `direct` and `leading`.
    fn octave(&mut self, column: usize, direct: u32, leading: u32, value: u64) -> u8 {
        if value >> direct == 0 {
            self.columns[column].push(value as u8);
            return value as u8;
        }
        let octave = value.ilog2();
        let low = octave - leading;
        let symbol =
            (1 << direct) + ((octave - direct) << leading) + (value >> low) as u32 - (1 << leading);
        let symbol = u8::try_from(symbol).expect("the symbol fits a byte");
        self.columns[column].push(symbol);
        for n in 0..low {
            if self.bits.is_multiple_of(8) {
                self.columns[column::LOW_BITS].push(0);
            }
            if let Some(last) = self.columns[column::LOW_BITS].last_mut() {
                *last |= ((value >> n & 1) as u8) << (self.bits % 8);
            }
            self.bits += 1;
        }
        symbol
    }

    /// Appends a count or depth.
    pub fn count(&mut self, column: usize, value: u64) {
        self.octave(column, 6, 3, value);
    }

    /// Appends by how much a score is worse.
    pub fn score(&mut self, column: usize, value: i64) {
        let symbol = self.octave(column, 2, 1, value.unsigned_abs());
        if let Some(last) = self.columns[column].last_mut() {
            *last = symbol << 1 | u8::from(value < 0);
        }
    }

    /// Appends line `n` of a record, which shares moves with the line before.
    pub fn line(&mut self, n: u64, shared: u64, length: u64) {
        if n > 0 {
            leb128::push(&mut self.columns[column::SHARED], shared);
        }
        if n > 1 && shared > 0 {
            leb128::push(&mut self.columns[column::SHARED], n - 1);
        }
        leb128::push(&mut self.columns[column::LENGTH], length);
        self.sum += length - shared;
    }

    /// Ends a record, and the stream if it is long enough, or at the last record. A stream without nibbles has the most probable
    /// moves.
    pub fn end_record(&mut self, is_last: bool) {
        self.sum += 1;
        if is_last || self.sum >= 28 {
            let usual = self.sum * 3 / 4;
            leb128::push(
                &mut self.columns[column::SIZE],
                (2 * usual).saturating_sub(1),
            );
            self.sum = 0;
        }
    }

    /// Appends the numbers of a record: evaluations of depth 20, with the given number of PVs each.
    pub fn numbers(&mut self, evaluations: u64, pvs: u64) {
        for evaluation in 0..evaluations {
            let follows = u64::from(evaluation + 1 < evaluations);
            self.count(column::PVS, 2 * (pvs - 1) + follows);
            match evaluation {
                0 => self.count(column::DEPTH_BEST, 20),
                _ => self.count(column::DEPTH_OTHER, 0),
            }
            self.octave(column::KNODES, 4, 2, 1);
            self.score(column::SCORE_FIRST_PV, 0);
            (1..pvs).for_each(|_| self.score(column::SCORE_NEXT_PV, 0));
        }
    }

    /// Returns the content: the number of columns, their lengths, the columns.
    pub fn content(&self) -> Vec<u8> {
        let mut content = Vec::new();
        leb128::push(&mut content, self.columns.len() as u64);
        self.columns
            .iter()
            .for_each(|column| leb128::push(&mut content, column.len() as u64));
        content.extend(self.columns.concat());
        content
    }

    /// Returns the block: a zstd frame and its seal.
    pub fn build(&self) -> Vec<u8> {
        sealed(&self.content())
    }
}

/// Returns a zstd frame of a content, with its seal.
pub fn sealed(content: &[u8]) -> Vec<u8> {
    // Writing to memory does not fail.
    let mut bytes = zstd::bulk::compress(content, 3).unwrap_or_default();
    seal(&mut bytes);
    bytes
}

/// Returns a handmade zstd frame with its seal: a content size, and the given blocks, headers included.
pub fn sealed_frame(size: u32, zstd_blocks: &[u8]) -> Vec<u8> {
    // Magic number; single segment, a content size of four bytes.
    let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    bytes.extend_from_slice(&size.to_le_bytes());
    bytes.extend_from_slice(zstd_blocks);
    seal(&mut bytes);
    bytes
}

/// Returns the header of a zstd block. Kinds are 0 raw, 1 a repeated byte, 2 compressed.
pub fn zstd_block_header(is_last: bool, kind: u32, size: u32) -> [u8; 3] {
    let [low, middle, high, _] = (u32::from(is_last) | kind << 1 | size << 3).to_le_bytes();
    [low, middle, high]
}
