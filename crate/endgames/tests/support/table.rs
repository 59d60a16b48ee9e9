//! Tables that are made for tests: with the layout and the size of real tables, but few different values.

use shakmaty::Role;

/// The compressed values of each part of a table.
#[derive(Clone, Debug)]
pub struct Coding {
    /// Length of blocks, as a power of two.
    pub block_bits: u8,
    /// Values between two entries of the sparse index, as a power of two.
    pub span_bits: u8,
    /// Length of the longest and of the shortest codes.
    pub code: [u8; 2],
    /// Symbols of the smallest code of each length.
    pub lowest: Vec<u16>,
    /// The two symbols of each pair. The second symbol of a value is 4095.
    pub pairs: Vec<[u16; 2]>,
    /// Values of a block.
    pub values: u64,
    /// Place in a block of all entries of the sparse index. `None` for the true places.
    pub place: Option<u16>,
    /// Announced number of values of all blocks, less one. `None` for the true number.
    pub length: Option<u16>,
}

/// Second symbol of a value.
pub const VALUE: u16 = 0xfff;

impl Coding {
    /// Returns blocks of 64 codes of eight bits. Each code stands for `2^doublings` equal values.
    pub fn of_equal(value: u16, doublings: u16) -> Coding {
        let first = 255 - doublings;
        let pairs = (0..255).map(|symbol: u16| [first.max(symbol) + 1; 2]);
        // The symbols before the first chain are equal to it.
        let pairs = pairs.chain([[value, VALUE]]).collect();
        Coding {
            block_bits: 6,
            span_bits: 6 + doublings as u8,
            code: [8, 8],
            lowest: vec![0],
            pairs,
            values: 64 << doublings,
            place: None,
            length: None,
        }
    }

    fn description(&self, blocks: u32) -> Vec<u8> {
        let mut bytes = vec![0, self.block_bits, self.span_bits, 0];
        bytes.extend(blocks.to_le_bytes());
        bytes.extend(self.code);
        bytes.extend(self.lowest.iter().flat_map(|symbol| symbol.to_le_bytes()));
        bytes.extend((self.pairs.len() as u16).to_le_bytes());
        for [first, second] in &self.pairs {
            bytes.extend([
                *first as u8,
                (first >> 8) as u8 | (second << 4) as u8,
                (second >> 4) as u8,
            ]);
        }
        bytes.resize(bytes.len().next_multiple_of(2), 0);
        bytes
    }
}

fn binomial(n: u64, k: u64) -> u64 {
    (0..k).fold(1, |product, chosen| {
        product * n.saturating_sub(chosen) / (chosen + 1)
    })
}

/// Numbers of the positions of each file of the leading pawn. Only White may have pawns, and all other pieces differ.
fn sizes(pieces: &[u8], pawns: u64) -> Vec<u64> {
    if pawns == 0 {
        return vec![
            (0..pieces.len() as u64 - 3)
                .map(|n| 61 - n)
                .product::<u64>()
                * 31_332,
        ];
    }
    let others: u64 = (0..pieces.len() as u64 - pawns)
        .map(|n| 64 - pawns - n)
        .product();
    let leading = |file: u64| {
        (0..6)
            .map(|rank| binomial(47 - 12 * file - 2 * rank, pawns - 1))
            .sum::<u64>()
    };
    (0..4).map(|file| leading(file) * others).collect()
}

/// Returns a table of a name like `KRPvKR.rtbw`, with the coding of each side to move.
pub fn table(name: &str, codings: &[Coding]) -> Vec<u8> {
    let (material, ending) = name.split_once('.').expect("a name has an ending");
    let is_wdl = ending == "rtbw";
    let split = material.find('v').expect("a name has two sides");
    let letters = material
        .chars()
        .enumerate()
        .filter(|(_, letter)| *letter != 'v');
    let code = |(at, letter)| {
        Role::from_char(letter).expect("a name has pieces") as u8 | if at > split { 8 } else { 0 }
    };
    let mut pieces: Vec<u8> = letters.map(code).collect();
    // Pawns first, then kings.
    pieces.sort_by_key(|piece| (*piece != Role::Pawn as u8, piece & 7 != Role::King as u8));
    let pawns = pieces
        .iter()
        .filter(|piece| **piece == Role::Pawn as u8)
        .count();
    let mut bytes = if is_wdl {
        vec![0x71, 0xe8, 0x23, 0x5d]
    } else {
        vec![0xd7, 0x66, 0x0c, 0xa5]
    };
    bytes.push(1 | if pawns > 0 { 2 } else { 0 });
    let sizes = sizes(&pieces, pawns as u64);
    for _ in &sizes {
        bytes.push(0);
        bytes.extend(pieces.iter().map(|piece| piece | piece << 4));
    }
    bytes.resize(bytes.len().next_multiple_of(2), 0);
    let sides = if is_wdl { 2 } else { 1 };
    let parts: Vec<(&Coding, u64, u64)> = sizes
        .iter()
        .flat_map(|size| {
            codings
                .iter()
                .cycle()
                .take(sides)
                .map(|coding| (coding, *size, size.div_ceil(coding.values)))
        })
        .collect();
    for (coding, _, blocks) in &parts {
        bytes.extend(coding.description(*blocks as u32));
    }
    for (coding, size, _) in &parts {
        let span = 1 << coding.span_bits;
        for middle in (0..size.div_ceil(span)).map(|entry| entry * span + span / 2) {
            bytes.extend(((middle / coding.values) as u32).to_le_bytes());
            bytes.extend(
                coding
                    .place
                    .unwrap_or((middle % coding.values) as u16)
                    .to_le_bytes(),
            );
        }
    }
    for (coding, _, blocks) in &parts {
        for _ in 0..*blocks {
            bytes.extend(
                coding
                    .length
                    .unwrap_or((coding.values - 1) as u16)
                    .to_le_bytes(),
            );
        }
    }
    for (coding, _, blocks) in &parts {
        bytes.resize(
            bytes.len().next_multiple_of(64) + (*blocks << coding.block_bits) as usize,
            0,
        );
    }
    bytes.resize(bytes.len().next_multiple_of(64) + 16, 0);
    bytes
}
