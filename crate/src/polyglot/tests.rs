use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess};

use super::{Entry, PolyglotBook, PolyglotError, code, decode, key, keys};
use crate::position::Position;

type Test = Result<(), Box<dyn std::error::Error>>;

#[test]
fn hashes_and_move_codes_agree_with_polyglot() -> Test {
    for row in include_str!("../../../tests/data/polyglot.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
    {
        let cells: Vec<&str> = row.split('\t').collect();
        let [why, fen, hash, uci, move_code] = cells[..] else {
            panic!("{row}")
        };
        let chess: Chess = fen.parse::<Fen>()?.into_position(CastlingMode::Chess960)?;
        let m = uci.parse::<UciMove>()?.to_move(&chess)?;
        assert_eq!(format!("{:016x}", key(&chess)), hash, "{why}");
        assert_eq!(format!("{:04x}", code(m)), move_code, "{why}");
        assert_eq!(decode(&chess, code(m)), Some(m), "{why}");
        assert!(
            keys(&Position::from_chess(&chess)).contains(&key(&chess)),
            "{why}"
        );
    }
    Ok(())
}

#[test]
fn castling_is_also_read_as_a_king_move_of_two_squares() -> Test {
    let chess: Chess = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
        .parse::<Fen>()?
        .into_position(CastlingMode::Standard)?;
    for (as_written, expected) in [
        ("e1g1", "e1h1"),
        ("e1c1", "e1a1"),
        ("e1h1", "e1h1"),
        ("e1f1", "e1f1"),
    ] {
        let m = decode(&chess, code(expected.parse::<UciMove>()?.to_move(&chess)?));
        let UciMove::Normal { from, to, .. } = as_written.parse()? else {
            panic!("{as_written}")
        };
        assert_eq!(
            decode(&chess, to as u16 | (from as u16) << 6),
            m,
            "{as_written}"
        );
    }
    for illegal in [0, 0x8107, 0x1107, 0xffff] {
        assert_eq!(decode(&chess, illegal), None, "{illegal:04x}");
    }
    Ok(())
}

#[test]
fn errors_of_invalid_books_contain_the_reason() {
    let entry = |key| {
        Entry {
            key,
            ..Entry::default()
        }
        .to_bytes()
    };
    assert_eq!(PolyglotBook::open(&[]).err(), Some(PolyglotError::Empty));
    for bytes in [1, 15, 17, 31] {
        assert_eq!(
            PolyglotBook::open(&vec![0; bytes]).err(),
            Some(PolyglotError::Length { bytes })
        );
    }
    let mixed = [entry(3), entry(3), entry(9), entry(4)].concat();
    let error = PolyglotBook::open(&mixed).err();
    assert_eq!(
        error,
        Some(PolyglotError::Order {
            entry: 4,
            key: 4,
            before: 9
        })
    );
    assert!(error.is_some_and(|error| error.to_string().contains("bytes 48-63")));
}
