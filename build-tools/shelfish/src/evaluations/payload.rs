//! The payload of a position: its evaluations in the compact form of temporary files.
//!
//! A payload is a sequence of evaluations, each after its length, so that equal evaluations are equal bytes. What a record
//! has no room for is left out at every merge, so that no position grows without bounds. Its amount is in the payload, too:
//! a length of 0, then two numbers. Builds read only payloads that builds wrote, except lines of `shelfish parts partition`, whose
//! numbers [`check`] checks.

use core::ops::RangeInclusive;

use shakmaty::{Chess, Move, Position as _, Role};
use shelfish::eval::{Evaluation, PositionEval, Pv, Score};
use shelfish::leb128;
use shelfish::position::Key;

use crate::build::spool::{
    SpoolError, move_code, move_of, push_bytes, push_measured, take_bytes, take_count, take_number,
};

/// Counts of evaluations of a position that a record has no room for.
///
/// An evaluation of several lines may count several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Surplus {
    /// Number of evaluations.
    pub evaluations: u64,
    /// Number of their PVs.
    pub pvs: u64,
}

impl Surplus {
    /// Adds an evaluation with `pvs` PVs.
    pub fn add(&mut self, pvs: usize) {
        self.evaluations = self.evaluations.saturating_add(1);
        self.pvs = self.pvs.saturating_add(pvs as u64);
    }
}

/// Encodes the evaluations of a position.
pub fn encode(evaluations: &[Evaluation], surplus: Surplus) -> Vec<u8> {
    let mut payload = Vec::new();
    push_surplus(&mut payload, surplus);
    evaluations
        .iter()
        .for_each(|evaluation| push_evaluation(&mut payload, evaluation));
    payload
}

/// Removes the evaluations below `min_depth` from a payload.
pub fn from_depth(payload: &[u8], min_depth: u16) -> Result<Vec<u8>, SpoolError> {
    let (evaluations, surplus) = items(payload)?;
    let mut left = Vec::new();
    push_surplus(&mut left, surplus);
    for evaluation in evaluations {
        if take_number(&mut &*evaluation)? as u16 >= min_depth {
            push_bytes(&mut left, evaluation);
        }
    }
    Ok(left)
}

/// Decodes the payload of a key.
pub fn decode(key: &[u8], payload: &[u8]) -> Result<(PositionEval, Surplus), SpoolError> {
    let position = Key::decode(key).map_err(SpoolError::Key)?;
    let (coded, surplus) = items(payload)?;
    let mut evaluations = Vec::with_capacity(coded.len());
    for mut evaluation in coded {
        evaluations.push(take_evaluation(&mut evaluation, position.chess())?);
    }
    PositionEval::normalise(&mut evaluations);
    Ok((
        PositionEval {
            position,
            evaluations,
        },
        surplus,
    ))
}

/// Splits a payload into its encoded evaluations and the count of evaluations left out.
pub(super) fn items(mut payload: &[u8]) -> Result<(Vec<&[u8]>, Surplus), SpoolError> {
    let mut evaluations = Vec::new();
    let mut surplus = Surplus::default();
    while !payload.is_empty() {
        match take_bytes(&mut payload)? {
            [] => {
                surplus.evaluations = surplus
                    .evaluations
                    .saturating_add(take_number(&mut payload)?);
                surplus.pvs = surplus.pvs.saturating_add(take_number(&mut payload)?);
            }
            evaluation => evaluations.push(evaluation),
        }
    }
    Ok((evaluations, surplus))
}

/// Checks the numbers of a payload of unknown origin. Its moves are checked when it is decoded and when a block is encoded.
pub fn check(payload: &[u8]) -> Result<(), SpoolError> {
    let within = |what, number: usize, range: RangeInclusive<usize>| {
        if range.contains(&number) {
            Ok(())
        } else {
            Err(SpoolError::Number(what))
        }
    };
    let (evaluations, _) = items(payload)?;
    within(
        "a number of evaluations",
        evaluations.len(),
        1..=PositionEval::MAX_EVALUATIONS,
    )?;
    let (mut all_pvs, mut all_plies) = (0, 0);
    for mut bytes in evaluations {
        u16::try_from(take_number(&mut bytes)?).map_err(|_| SpoolError::Number("a depth"))?;
        take_number(&mut bytes)?;
        let pvs = take_count(&mut bytes)?;
        within("a number of PVs", pvs, 1..=PositionEval::MAX_EVALUATION_PVS)?;
        for _ in 0..pvs {
            let code = take_number(&mut &*bytes)?;
            let (score, line) = take_pv(&mut bytes)?;
            if code >> 33 > 0 || !score.is_in_range() {
                return Err(SpoolError::Number("a score"));
            }
            all_plies += line.len();
        }
        within("a length", bytes.len(), 0..=0)?;
        all_pvs += pvs;
    }
    within("a number of PVs", all_pvs, 1..=PositionEval::MAX_PVS)?;
    within("a number of moves", all_plies, 0..=PositionEval::MAX_PLIES)
}

/// The size of an evaluation in a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EvaluationSize {
    /// The depth.
    pub depth: u16,
    /// Number of PVs.
    pub pvs: usize,
    /// Number of moves in these PVs.
    pub plies: usize,
}

/// Returns the sizes of the evaluations in a payload. Counts at most `max_pvs` PVs, and at most `max_plies` moves of each PV.
pub fn evaluation_sizes(
    payload: &[u8],
    max_pvs: usize,
    max_plies: usize,
) -> Result<Vec<EvaluationSize>, SpoolError> {
    items(payload)?
        .0
        .into_iter()
        .map(|evaluation| evaluation_size(evaluation, max_pvs, max_plies))
        .collect()
}

/// Returns the size of an encoded evaluation.
pub(super) fn evaluation_size(
    mut bytes: &[u8],
    max_pvs: usize,
    max_plies: usize,
) -> Result<EvaluationSize, SpoolError> {
    let (depth, _knodes) = (take_number(&mut bytes)? as u16, take_number(&mut bytes)?);
    let pvs = take_count(&mut bytes)?.min(max_pvs);
    let mut plies = 0;
    for _ in 0..pvs {
        plies += take_pv(&mut bytes)?.1.len().min(max_plies);
    }
    Ok(EvaluationSize { depth, pvs, plies })
}

/// Appends the count of evaluations left out, unless it is zero.
pub(super) fn push_surplus(payload: &mut Vec<u8>, surplus: Surplus) {
    if surplus != Surplus::default() {
        push_bytes(payload, &[]);
        leb128::push(payload, surplus.evaluations);
        leb128::push(payload, surplus.pvs);
    }
}

fn push_evaluation(payload: &mut Vec<u8>, evaluation: &Evaluation) {
    push_measured(payload, |bytes| {
        leb128::push(bytes, u64::from(evaluation.depth));
        leb128::push(bytes, evaluation.knodes);
        leb128::push(bytes, evaluation.pvs.len() as u64);
        for pv in &evaluation.pvs {
            let (value, is_mate) = match pv.score {
                Score::Cp(cp) => (cp, 0),
                Score::Mate(moves) => (moves, 1),
            };
            let zigzag = ((value << 1) ^ (value >> 31)) as u32;
            leb128::push(bytes, u64::from(zigzag) << 1 | is_mate);
            leb128::push(bytes, pv.line.len() as u64);
            for &m in &pv.line {
                bytes.extend_from_slice(&move_code(m));
            }
        }
    });
}

/// Removes a PV: its score and the codes of its moves.
pub(super) fn take_pv<'a>(bytes: &mut &'a [u8]) -> Result<(Score, &'a [[u8; 2]]), SpoolError> {
    let score = take_number(bytes)?;
    let zigzag = (score >> 1) as u32;
    let value = (zigzag >> 1) as i32 ^ -((zigzag & 1) as i32);
    let score = match score & 1 {
        0 => Score::Cp(value),
        _ => Score::Mate(value),
    };
    let length = 2 * take_count(bytes)?;
    let (codes, rest) = bytes.split_at_checked(length).ok_or(SpoolError::Short)?;
    *bytes = rest;
    Ok((score, codes.as_chunks().0))
}

fn take_evaluation(bytes: &mut &[u8], chess: &Chess) -> Result<Evaluation, SpoolError> {
    let (depth, knodes) = (take_number(bytes)? as u16, take_number(bytes)?);
    let mut pvs = Vec::new();
    for _ in 0..take_count(bytes)? {
        let (score, codes) = take_pv(bytes)?;
        let (mut line, mut chess) = (Vec::with_capacity(codes.len()), chess.clone());
        for code in codes {
            let m = move_of(*code, chess.board())
                .filter(|m| leaves_kings(&chess, *m))
                .ok_or(SpoolError::Move(*code))?;
            chess.play_unchecked(m);
            line.push(m);
        }
        pvs.push(Pv { score, line });
    }
    Ok(Evaluation { depth, knodes, pvs })
}

/// Returns whether each side keeps its king after a move. Encoding a block checks that the move is legal.
fn leaves_kings(chess: &Chess, m: Move) -> bool {
    let (board, turn) = (chess.board(), chess.turn());
    match m {
        Move::Normal {
            role,
            from,
            capture,
            to,
            promotion,
        } => {
            let is_promotion = |to| role == Role::Pawn && ![Role::Pawn, Role::King].contains(&to);
            board.color_at(from) == Some(turn)
                && board.color_at(to) != Some(turn)
                && capture != Some(Role::King)
                && promotion.is_none_or(is_promotion)
        }
        _ => chess.is_legal(m),
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, Chess, Move, Position as _, Square};
    use shelfish::position::Position;
    use shelfish::table::{Block, Chunk, KeyRange, encode_block};

    use super::super::record::parse;
    use super::*;
    use crate::build::spool::{push_parts, take_parts};

    /// Castling of both kinds, en passant, promotion, mates, an empty line.
    const RECORDS: [&str; 4] = [
        r#"{"fen":"r3k2r/8/8/8/8/8/8/R3K2R w KQkq -","evals":[{"pvs":[{"cp":-5,"line":"e1g1 e8c8 f1f8"},
           {"cp":-2147483647,"line":"e1a1 e8h8"}],"knodes":18446744073709551615,"depth":65535}]}"#,
        r#"{"fen":"4k3/P6p/8/3Pp3/8/8/8/4K3 w - e6","evals":[{"pvs":[{"mate":-32767,"line":"d5e6 h7h5 a7a8n"},
           {"mate":1,"line":"a7a8q e8d7 a8d8"}],"knodes":0,"depth":0},
           {"pvs":[{"cp":2147483647,"line":""}],"knodes":1,"depth":7}]}"#,
        r#"{"fen":"bnrkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BNRKQRNB w FCfc -","evals":[{"pvs":[{"cp":0,"line":
           "g1f3 g8f6 h1f3"}, {"cp":0,"line":"b1c3 g8f6 e2e3 e7e6 g1f3 h7h6 h2h3 a7a6"}],"knodes":3,"depth":7}]}"#,
        r#"{"fen":"1k6/8/8/8/8/8/8/RK2R3 w EA -","evals":[{"pvs":[{"cp":3,"line":"b1e1 b8b7"}],"knodes":1,"depth":9}]}"#,
    ];

    fn eval(text: &str) -> PositionEval {
        let record = parse(text.as_bytes()).expect("usable");
        assert_eq!(record.dropped, 0, "{text}");
        let mut evaluations = record.evaluations;
        PositionEval::normalise(&mut evaluations);
        PositionEval {
            position: record.position,
            evaluations,
        }
    }

    fn take(bytes: &mut &[u8]) -> Result<(PositionEval, Surplus), SpoolError> {
        let (key, payload) = take_parts(bytes)?;
        decode(key, payload)
    }

    #[test]
    fn decoded_records_equal_the_encoded_records() {
        let evals: Vec<PositionEval> = RECORDS.iter().map(|text| eval(text)).collect();
        let mut spooled = Vec::new();
        for eval in &evals {
            push_parts(
                &mut spooled,
                eval.position.key().as_bytes(),
                &encode(&eval.evaluations, Surplus::default()),
            );
        }
        let mut rest = &spooled[..];
        for eval in &evals {
            assert_eq!(take(&mut rest), Ok((eval.clone(), Surplus::default())));
        }
        assert!(rest.is_empty());
        for length in 0..spooled.len() {
            let mut rest = &spooled[..length];
            while take(&mut rest).is_ok() {}
        }
    }

    /// Builds a block of a payload of unknown origin.
    fn built(key: &[u8], payload: &[u8]) -> Option<PositionEval> {
        check(payload).ok()?;
        let (eval, _) = decode(key, payload).ok()?;
        let block = encode_block(std::slice::from_ref(&eval)).ok()?;
        let at = Chunk {
            file: "test".into(),
            range: 0..block.bytes.len() as u64,
            keys: KeyRange::all(),
        };
        let block = Block::open(&block.bytes, &at).expect("a written block is readable");
        assert_eq!(
            block.find(&eval.position),
            Ok(Some(eval.clone())),
            "{payload:02x?}"
        );
        Some(eval)
    }

    #[test]
    fn five_evaluations_of_twenty_lines_with_equal_lines_and_mates_survive() {
        let pv = |(n, m): (usize, &Move)| {
            let (name, line) = (["mate", "cp"][n.min(1)], m.to_uci(CastlingMode::Standard));
            format!(r#"{{"{name}":{},"line":"{line}"}}"#, 30 - n)
        };
        let moves = Chess::default().legal_moves();
        let pvs: Vec<String> = moves.iter().enumerate().map(pv).collect();
        // The second line is the first one again.
        let pvs = [&pvs[..1], &pvs[..19]].concat().join(",");
        let evals: Vec<String> = (20..25)
            .map(|depth| format!(r#"{{"pvs":[{pvs}],"knodes":7,"depth":{depth}}}"#))
            .collect();
        let eval = eval(&format!(
            r#"{{"fen":"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -","evals":[{}]}}"#,
            evals.join(",")
        ));
        let payload = encode(&eval.evaluations, Surplus::default());
        assert_eq!(
            eval.evaluations
                .iter()
                .map(|eval| eval.pvs.len())
                .sum::<usize>(),
            100
        );
        let key = eval.position.key();
        assert_eq!(built(key.as_bytes(), &payload), Some(eval));
    }

    #[test]
    fn malformed_payloads_are_rejected() {
        let kings = "4k3/P6p/8/3Pp3/8/8/8/4K3 w - e6"
            .parse::<Position>()
            .expect("a position");
        let key = kings.key();
        let pv =
            |codes: &[[u8; 2]]| [&[6, 7, 1, 4, codes.len() as u8], codes.as_flattened()].concat();
        let of = |pv: Vec<u8>| [&[pv.len() as u8][..], &pv].concat();
        let square = |name: &str| name.parse::<Square>().expect("a square") as u8;
        let code = |from, to, role: u8| {
            [
                square(from) | (role & 3) << 6,
                square(to) | (role >> 2) << 6,
            ]
        };
        assert!(built(key.as_bytes(), &of(pv(&[code("e1", "d1", 0)]))).is_some());
        for codes in [
            vec![code("e1", "e8", 0)],
            vec![code("e8", "d8", 0)],
            vec![code("e1", "e3", 0)],
            vec![code("d5", "d5", 0)],
            vec![code("d5", "c6", 0)],
            vec![code("a7", "a8", 0)],
            vec![code("a7", "a8", 6)],
            vec![code("a7", "a8", 1)],
            vec![code("e1", "d1", 5)],
            vec![code("e1", "d1", 0), code("d5", "d6", 0)],
        ] {
            assert_eq!(built(key.as_bytes(), &of(pv(&codes))), None, "{codes:02x?}");
        }
        for payload in [
            &[][..],
            &[0, 1, 1],
            &[3, 7, 7, 0],
            &[5, 6, 7, 1, 1, 0],
            &[6, 6, 7, 1, 4, 0, 0],
        ] {
            assert!(check(payload).is_err(), "{payload:02x?}");
        }
        let deep = [&[7, 0xff, 0xff, 7, 7, 1, 4, 0][..], &[5, 7, 7, 1, 4, 0]].concat();
        assert_eq!(check(&deep), Err(SpoolError::Number("a depth")));
        assert_eq!(
            check(&of(pv(&[])).repeat(257)),
            Err(SpoolError::Number("a number of evaluations"))
        );
    }

    #[test]
    fn damaged_payloads_are_rejected_or_are_valid_records() {
        let records: Vec<(Key, Vec<u8>)> = RECORDS
            .iter()
            .map(|text| eval(text))
            .map(|eval| {
                (
                    eval.position.key(),
                    encode(&eval.evaluations, Surplus::default()),
                )
            })
            .collect();
        assert!(
            records
                .iter()
                .all(|(key, payload)| built(key.as_bytes(), payload).is_some())
        );
        let mut random = fastrand::Rng::with_seed(13);
        let mut whole = 0;
        for n in 0..1_000 {
            let (key, mut payload) = records[n % records.len()].clone();
            for _ in 0..random.usize(1..4) {
                let at = random.usize(..payload.len());
                match random.u8(..3) {
                    0 => payload[at] = random.u8(..),
                    1 => payload[at] ^= 1 << random.u8(..8),
                    _ => payload[at] = random.choice([0, 1, 2, 127, 128, 255]).unwrap_or_default(),
                }
            }
            whole += usize::from(built(key.as_bytes(), &payload).is_some());
        }
        assert!(whole > 50, "{whole} of 1,000");
    }
}
