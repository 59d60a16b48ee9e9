use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Move, Position as _, Square};

use super::{Key, KeyError, Position, order, uci};

/// Returns the rows of a data file without comments. The last cell may contain tabs.
fn rows(text: &'static str) -> impl Iterator<Item = [&'static str; 3]> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| {
            let mut cells = line.splitn(3, '\t');
            core::array::from_fn(|_| cells.next().expect("three cells in a row"))
        })
}

#[test]
fn the_error_of_a_malformed_fen_contains_the_field_and_the_reason() {
    for [what, names, fen] in rows(include_str!("../../../tests/data/fen-bad.tsv")) {
        let error = fen.parse::<Position>().expect_err(what).to_string();
        assert!(
            error.contains(names),
            "{what}: {error:?} should name {names:?}"
        );
    }
}

#[test]
fn castling_has_the_requested_notation_only_from_standard_squares() {
    for (king, rook, standard, chess960) in [
        (Square::E1, Square::H1, "e1g1", "e1h1"),
        (Square::E8, Square::A8, "e8c8", "e8a8"),
        (Square::E1, Square::G1, "e1g1", "e1g1"),
        (Square::D1, Square::H1, "d1h1", "d1h1"),
    ] {
        let written = |mode| uci(Move::Castle { king, rook }, mode).to_string();
        assert_eq!(
            [CastlingMode::Standard, CastlingMode::Chess960].map(written),
            [standard, chess960]
        );
    }
}

#[test]
fn the_error_of_a_long_text_contains_only_the_length() {
    let error = "k"
        .repeat(10_000)
        .parse::<Position>()
        .expect_err("10 kB of text")
        .to_string();
    assert_eq!(error, "FEN of 10000 bytes, expected at most 256");
}

#[test]
fn all_spellings_of_a_position_have_the_same_key() {
    for [why, canonical, others] in rows(include_str!("../../../tests/data/fen-canonical.tsv")) {
        let position: Position = canonical.parse().expect(why);
        assert_eq!(position.to_string(), canonical, "{why}");
        for other in others.split('|') {
            let other: Position = other.parse().expect(why);
            assert_eq!(other, position, "{why}");
            assert_eq!(other.key(), position.key(), "{why}");
        }
    }
}

#[test]
fn keys_agree_with_the_frozen_format() {
    for [what, fen, hex] in rows(include_str!("../../../tests/data/keys.tsv")) {
        let position: Position = fen.parse().expect(what);
        let key: String = position
            .key()
            .as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(key, hex, "{what}: {fen}");
        assert_eq!(
            Key::decode(position.key().as_bytes()),
            Ok(position),
            "{what}"
        );
    }
}

#[test]
fn the_tree_of_the_order_ends_with_its_last_leaf_and_asks_known_questions() {
    let tree = include_bytes!("order.bin");
    let leaves = tree.iter().filter(|byte| **byte == order::LEAF).count();
    assert_eq!(tree.len(), 2 * leaves - 1);
    assert!(leaves <= usize::from(u16::MAX));
    for question in tree.iter().filter(|byte| **byte != order::LEAF) {
        assert!(*question < order::QUESTIONS, "question {question}");
    }
}

#[test]
fn invalid_keys_are_errors() {
    let key = Position::from_chess(&Chess::default()).key();
    let bytes = key.as_bytes();
    for length in 0..bytes.len() {
        let error = Key::decode(&bytes[..length]).expect_err("a beginning of a key");
        assert!(
            matches!(error, KeyError::Length { found, .. } if found == length),
            "{error}"
        );
    }
    let mut other = bytes.to_vec();
    *other.last_mut().expect("not empty") = 4;
    assert_eq!(Key::decode(&other), Err(KeyError::NotCanonical));
}

/// Returns the positions of a game of random legal moves.
fn playout() -> impl Strategy<Value = Vec<Chess>> {
    proptest::collection::vec(any::<prop::sample::Index>(), 0..150).prop_map(|choices| {
        let mut game = vec![Chess::default()];
        for choice in choices {
            let position = game[game.len() - 1].clone();
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            game.push(
                position
                    .play(moves[choice.index(moves.len())])
                    .expect("a legal move"),
            );
        }
        game
    })
}

proptest! {
    #[test]
    fn a_position_survives_a_round_trip_as_a_key_and_as_a_fen(game in playout()) {
        for chess in game {
            let position = Position::from_chess(&chess);
            prop_assert_eq!(Key::decode(position.key().as_bytes()), Ok(position.clone()));
            prop_assert_eq!(position.to_string().parse(), Ok(position));
        }
    }

    #[test]
    fn a_key_with_a_flipped_bit_is_an_error_or_another_position(game in playout(), at in any::<prop::sample::Index>(), bit in 0..8) {
        let position = Position::from_chess(&game[game.len() - 1]);
        let mut bytes = position.key().as_bytes().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        if let Ok(other) = Key::decode(&bytes) {
            prop_assert_ne!(&other, &position);
            let key = other.key();
            prop_assert_eq!(key.as_bytes(), &bytes[..]);
        }
    }
}
