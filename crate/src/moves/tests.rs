use proptest::prelude::*;
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{Bitboard, CastlingMode, Chess, Move, Position as _, Square, attacks};

use super::board::sliders;
use super::history::History;
use super::order::MoveOrder;
use super::prefix::LinePrefix;
use super::{COLUMNS, Cursors, LineColumns, LineError, MOVES, RangeReader, Stream, Unit, encode};

type Columns = [Vec<u8>; COLUMNS];
type Lines = Vec<Vec<Move>>;
type Record = (Chess, Lines);

// shakmaty's error holds the position.
#[allow(clippy::result_large_err)]
fn position(fen: &str) -> Chess {
    fen.parse::<Fen>()
        .expect("FEN")
        .into_position(CastlingMode::Chess960)
        .or_else(|error| error.ignore_too_much_material())
        .or_else(|error| error.ignore_impossible_check())
        .unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn line(position: &Chess, words: &str) -> Vec<Move> {
    let mut position = position.clone();
    let mut line = Vec::new();
    for word in words.split_whitespace() {
        let m = word
            .parse::<UciMove>()
            .expect("UCI")
            .to_move(&position)
            .expect("legal");
        position.play_unchecked(m);
        line.push(m);
    }
    line
}

fn encoded(records: &[Record]) -> Columns {
    let mut out = LineColumns::default();
    for (position, lines) in records {
        let lines: Vec<_> = lines.iter().map(Vec::as_slice).collect();
        encode(position, &lines, &mut out).expect("no more than a record holds");
    }
    out.finish()
}

/// Decodes records stream by stream. The columns must end with them.
fn decoded(records: &[Record], columns: &Columns) -> Result<Vec<Lines>, LineError> {
    let headers = core::array::from_fn(|column| columns[column].as_slice());
    let mut cursors = Cursors::new(headers);
    let (mut next, mut unit, mut first, mut start) = (cursors, Unit::default(), 0, 0);
    let mut decoded = Vec::new();
    for (n, record) in records.iter().enumerate() {
        let (_, coded) = next.skip(record.1.len())?;
        if unit.add(coded) || n + 1 == records.len() {
            let end = start + next.size(unit)?.min(1 << 20);
            let reader = RangeReader::new(&columns[MOVES], start..end);
            let mut stream = Stream {
                reader,
                records: Vec::new(),
            };
            for record in &records[first..=n] {
                cursors.decode(&record.0, record.1.len(), &mut stream)?;
            }
            decoded.extend(stream.records.into_iter().map(|(_, lines)| lines));
            (cursors, unit, first, start) = (next, Unit::default(), n + 1, end);
        }
    }
    if cursors.left() != [0; MOVES] || columns[MOVES].len() != start.div_ceil(2) {
        return Err(LineError::Ended { column: MOVES });
    }
    Ok(decoded)
}

/// Castling both ways and from odd squares, promotions, en passant, pins, checks, crowds.
const STARTS: [&str; 10] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "1rk3r1/pppppppp/8/8/8/8/PPPPPPPP/1RK3R1 w BGbg - 0 1",
    "rk5r/8/8/8/8/8/8/RK5R b AHah - 0 1",
    "8/PPPPPPPk/8/8/8/8/Kppppppp/8 w - - 0 1",
    "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "kqqqqqqq/q6q/q6q/q6q/q6q/q6q/br5q/Kbqqqqqq b - - 0 1",
    "kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1",
    "3k4/8/8/8/8/8/qqqqqqqq/K7 w - - 0 1",
];

/// Generates random lines from one position. Some lines begin like earlier lines.
fn record() -> impl Strategy<Value = Record> {
    let line = (
        any::<u8>(),
        0..8usize,
        prop::collection::vec(any::<u16>(), 0..24),
    );
    (
        0..STARTS.len(),
        prop::collection::vec(any::<u16>(), 0..12),
        prop::collection::vec(line, 0..6),
    )
        .prop_map(|(start, replay, lines)| {
            let mut position = position(STARTS[start]);
            playout(&mut position, &replay);
            let mut out = Lines::new();
            for (i, (source, shared, further)) in lines.into_iter().enumerate() {
                let mut line = Vec::new();
                let mut at = position.clone();
                if i > 0 {
                    for m in out[usize::from(source) % i].iter().take(shared) {
                        at.play_unchecked(*m);
                        line.push(*m);
                    }
                }
                line.extend(playout(&mut at, &further));
                out.push(line);
            }
            (position, out)
        })
}

fn playout(position: &mut Chess, choices: &[u16]) -> Vec<Move> {
    let mut line = Vec::new();
    for choice in choices {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        let m = legal[usize::from(*choice) % legal.len()];
        position.play_unchecked(m);
        line.push(m);
    }
    line
}

fn all_lines(records: &[Record]) -> Vec<Lines> {
    records.iter().map(|(_, lines)| lines.clone()).collect()
}

proptest! {
    #[test]
    fn lines_survive_a_round_trip(records in prop::collection::vec(record(), 1..9)) {
        prop_assert_eq!(decoded(&records, &encoded(&records)), Ok(all_lines(&records)));
    }

    #[test]
    fn damaged_columns_are_lines_or_an_error(
        records in prop::collection::vec(record(), 1..9),
        flips in prop::collection::vec((0..COLUMNS, any::<u16>(), any::<u8>()), 1..9),
    ) {
        let mut columns = encoded(&records);
        for (column, index, value) in flips {
            let column = &mut columns[column];
            if !column.is_empty() {
                let index = usize::from(index) % column.len();
                column[index] = value;
            }
        }
        if let Ok(lines) = decoded(&records, &columns) {
            let pairs = records.into_iter().zip(lines);
            let damaged: Vec<Record> = pairs
                .map(|(record, lines)| (record.0, lines))
                .collect();
            prop_assert_eq!(decoded(&damaged, &encoded(&damaged)), Ok(all_lines(&damaged)));
        }
    }
}

#[test]
fn very_long_lines_and_positions_with_many_queens_survive_a_round_trip() {
    let start = position(STARTS[0]);
    let shuffle = line(&start, &"g1f3 g8f6 f3g1 f6g8 ".repeat(250));
    let mut longer = shuffle.clone();
    longer.extend(line(&start, "e2e4 c7c5"));
    let long = (start, vec![shuffle, longer]);
    let crowd = position(STARTS[8]);
    let every = crowd.legal_moves().iter().map(|m| vec![*m]).collect();
    let records = [long, (crowd, every)];
    assert_eq!(
        decoded(&records, &encoded(&records)),
        Ok(all_lines(&records))
    );
}

/// The expected bytes were written by the first release: another order of moves would be another format.
#[test]
fn the_order_of_moves_is_frozen() {
    let start = position(STARTS[1]);
    let lines = [
        "e2a6 b4c3 d2c3 h3g2 f3g2 e6d5 e1a1 e8h8",
        "d5e6 e7e6 e2a6 e6e5 e1a1 e8h8",
        "e2a6 b4c3 d2c3 e6d5 e5g4 h3g2",
    ];
    let lines = lines.iter().map(|words| line(&start, words)).collect();
    let columns = encoded(&[(start, lines)]);
    assert_eq!(
        columns.each_ref().map(Vec::as_slice),
        [
            &[0, 3, 0][..],
            &[8, 6, 6],
            &[1],
            &[0, 204, 229, 208, 32, 192]
        ]
    );
    let orders = STARTS.map(|fen| {
        let position = position(fen);
        let order = MoveOrder::new(&position, &LinePrefix::default(), &History::default(), &[]);
        (0..position.legal_moves().len()).fold(0_u32, |sum, rank| {
            let m = order.pick(rank as u32).expect("a legal move");
            let code = (m.from().map_or(0, u32::from) << 6 | u32::from(m.to())) << 3;
            sum.wrapping_mul(31)
                .wrapping_add(code | m.promotion().map_or(0, u32::from))
        })
    });
    assert_eq!(
        orders,
        [
            2054113088, 1063050008, 815438264, 290601992, 2055174692, 2963774024, 3431701512,
            3075248512, 230381824, 0
        ]
    );
}

#[test]
fn slider_attacks_equal_the_attacks_of_magic_bitboards() {
    let mut occupied = 1_u64;
    for _ in 0..1000 {
        occupied = occupied
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        let crowd = Bitboard(occupied & occupied.rotate_left(23));
        for square in Square::ALL {
            assert_eq!(
                sliders::bishop_attacks(square, crowd),
                attacks::bishop_attacks(square, crowd)
            );
            assert_eq!(
                sliders::rook_attacks(square, crowd),
                attacks::rook_attacks(square, crowd)
            );
        }
    }
}
