//! The merge of the payloads of a position.

use core::cmp::Reverse;

use shelfish::eval::{PositionEval, Score};

use super::payload::{evaluation_size, items, push_surplus, take_score};
use crate::build::spool::{SpoolError, push_bytes, take_count, take_number};

/// Merges the evaluations of concatenated payloads without duplicates, as far as a record has room.
pub(super) fn merge(payloads: &[u8]) -> Result<Vec<u8>, SpoolError> {
    let (mut evaluations, mut surplus) = items(payloads)?;
    evaluations.sort_unstable();
    evaluations.dedup();
    let fit = fit(&evaluations)?;
    if fit < evaluations.len() {
        let ranks = evaluations
            .iter()
            .map(|evaluation| rank(evaluation))
            .collect::<Result<Vec<_>, _>>()?;
        let mut ranked: Vec<_> = ranks.into_iter().zip(evaluations).collect();
        ranked.sort_unstable();
        evaluations = ranked
            .into_iter()
            .map(|(_, evaluation)| evaluation)
            .collect();
        let fit = self::fit(&evaluations)?;
        for evaluation in evaluations.drain(fit..) {
            surplus.add(evaluation_size(evaluation, usize::MAX, usize::MAX)?.pvs);
        }
    }
    let mut merged = Vec::new();
    push_surplus(&mut merged, surplus);
    evaluations
        .iter()
        .for_each(|evaluation| push_bytes(&mut merged, evaluation));
    Ok(merged)
}

/// Returns the number of evaluations for which a record has room by their sizes. [`PositionEval::fit`] decides in the end.
fn fit(evaluations: &[&[u8]]) -> Result<usize, SpoolError> {
    let (mut pvs, mut plies) = (0, 0);
    for (n, evaluation) in evaluations.iter().enumerate() {
        let size = evaluation_size(evaluation, usize::MAX, usize::MAX)?;
        pvs += size.pvs;
        plies += size.plies;
        if n == PositionEval::MAX_EVALUATIONS
            || pvs > PositionEval::MAX_PVS
            || plies > PositionEval::MAX_PLIES
        {
            return Ok(n);
        }
    }
    Ok(evaluations.len())
}

/// The rank of an encoded evaluation among those of its position, best first, as in [`PositionEval::normalise`].
type Rank = (
    Reverse<u64>,
    Reverse<usize>,
    Reverse<u64>,
    Vec<(Score, Vec<[u8; 3]>)>,
);

fn rank(evaluation: &[u8]) -> Result<Rank, SpoolError> {
    let mut bytes = evaluation;
    let (depth, knodes, count) = (
        take_number(&mut bytes)?,
        take_number(&mut bytes)?,
        take_count(&mut bytes)?,
    );
    let mut pvs = Vec::with_capacity(count);
    for _ in 0..count {
        let score = take_score(&mut bytes)?;
        let moves = take_count(&mut bytes)?;
        let (codes, rest) = bytes.split_at_checked(2 * moves).ok_or(SpoolError::Short)?;
        bytes = rest;
        let parts = |code: &[u8]| {
            [
                code[0] & 63,
                code[1] & 63,
                code[0] >> 6 | (code[1] >> 6) << 2,
            ]
        };
        pvs.push((score, codes.chunks_exact(2).map(parts).collect()));
    }
    Ok((Reverse(depth), Reverse(count), Reverse(knodes), pvs))
}

/// Returns a payload with only the best evaluation of `payload`.
pub fn best(payload: &[u8]) -> Result<Vec<u8>, SpoolError> {
    let (evaluations, _) = items(payload)?;
    let mut best = None;
    for evaluation in evaluations {
        let ranked = (rank(evaluation)?, evaluation);
        best = Some(best.map_or(ranked.clone(), |best| ranked.min(best)));
    }
    let mut payload = Vec::new();
    best.into_iter()
        .for_each(|(_, evaluation)| push_bytes(&mut payload, evaluation));
    Ok(payload)
}
