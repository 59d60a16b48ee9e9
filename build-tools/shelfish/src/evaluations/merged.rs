//! The merge of the payloads of a position.

use core::cmp::Reverse;

use shelfish::eval::{PositionEval, Score};

use super::payload::{evaluation_size, items, push_surplus, take_pv};
use crate::build::spool::{SpoolError, push_bytes, take_count, take_number};

/// Merges the evaluations of concatenated payloads without duplicates, as far as a record has room.
pub(super) fn merge(payloads: &[u8]) -> Result<Vec<u8>, SpoolError> {
    let (mut evaluations, mut surplus) = items(payloads)?;
    evaluations.sort_unstable();
    evaluations.dedup();
    if fit(&evaluations)? < evaluations.len() {
        let mut ranked = evaluations
            .into_iter()
            .map(|evaluation| Ok((rank(evaluation)?, evaluation)))
            .collect::<Result<Vec<_>, SpoolError>>()?;
        ranked.sort_unstable();
        evaluations = ranked
            .into_iter()
            .map(|(_, evaluation)| evaluation)
            .collect();
        let fit = fit(&evaluations)?;
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
    let (depth, knodes) = (take_number(&mut bytes)?, take_number(&mut bytes)?);
    let count = take_count(&mut bytes)?;
    let parts = |[low, high]: &[u8; 2]| [low & 63, high & 63, low >> 6 | (high >> 6) << 2];
    let pvs = (0..count).map(|_| {
        let (score, codes) = take_pv(&mut bytes)?;
        Ok((score, codes.iter().map(parts).collect()))
    });
    let pvs = pvs.collect::<Result<_, SpoolError>>()?;
    Ok((Reverse(depth), Reverse(count), Reverse(knodes), pvs))
}

/// Returns a payload with only the best evaluation of `payload`.
pub fn best(payload: &[u8]) -> Result<Vec<u8>, SpoolError> {
    let (evaluations, _) = items(payload)?;
    let ranked = evaluations
        .into_iter()
        .map(|evaluation| Ok((rank(evaluation)?, evaluation)));
    let best = ranked
        .collect::<Result<Vec<_>, SpoolError>>()?
        .into_iter()
        .min();
    let mut payload = Vec::new();
    best.into_iter()
        .for_each(|(_, evaluation)| push_bytes(&mut payload, evaluation));
    Ok(payload)
}
