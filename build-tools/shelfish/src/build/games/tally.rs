//! Played moves as a kind of record that is built: results by move wait on disk to be added up.
//!
//! A payload is a sequence of moves by their codes, each with White's wins, draws and Black's wins. The code of no move
//! stands for the games that end. Nothing outside this build reads it.

use shakmaty::Position as _;
use shelfish::leb128;
use shelfish::played::{Played, PlayedMove, Results};
use shelfish::position::Key;

use super::super::kind::Kind;
use super::super::sort::Merging;
use super::super::spool::{SpoolError, Surplus, move_code, move_of};

/// The code of games that end: no move goes from a1 to a1.
pub const END: [u8; 2] = [0, 0];

/// Played moves.
#[derive(Clone, Copy, Debug)]
pub struct Book {
    /// Positions of fewer games are left out.
    pub min_games: u64,
}

/// Results by move.
#[derive(Debug, Default)]
pub struct Tally(Vec<([u8; 2], Results)>);

impl Tally {
    fn add(&mut self, code: [u8; 2], results: Results) {
        match self.0.iter_mut().find(|(other, _)| *other == code) {
            // More games than a record may have are refused when it is written.
            Some((_, sum)) => *sum = add(*sum, results),
            None => self.0.push((code, results)),
        }
    }
}

fn add(a: Results, b: Results) -> Results {
    Results {
        white: a.white.saturating_add(b.white),
        draws: a.draws.saturating_add(b.draws),
        black: a.black.saturating_add(b.black),
    }
}

impl Merging for Tally {
    fn push(&mut self, payload: &[u8]) -> Result<(), SpoolError> {
        for entry in entries(payload) {
            let (code, results) = entry?;
            self.add(code, results);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>, SpoolError> {
        self.0.sort_unstable_by_key(|(code, _)| *code);
        let mut payload = Vec::new();
        self.0.iter().for_each(|(code, results)| push(&mut payload, *code, *results));
        Ok(payload)
    }
}

/// Appends a move and its results.
pub fn push(payload: &mut Vec<u8>, code: [u8; 2], results: Results) {
    payload.extend_from_slice(&code);
    for count in [results.white, results.draws, results.black] {
        leb128::push(payload, count);
    }
}

/// The moves of a payload.
fn entries(mut payload: &[u8]) -> impl Iterator<Item = Result<([u8; 2], Results), SpoolError>> + '_ {
    let mut next = move || -> Result<Option<([u8; 2], Results)>, SpoolError> {
        if payload.is_empty() {
            return Ok(None);
        }
        let (&code, rest) = payload.split_first_chunk().ok_or(SpoolError::Short)?;
        payload = rest;
        let mut number = || leb128::take(&mut payload).ok_or(SpoolError::Short);
        Ok(Some((code, Results { white: number()?, draws: number()?, black: number()? })))
    };
    let mut has_failed = false;
    core::iter::from_fn(move || {
        let entry = if has_failed { None } else { next().transpose() };
        has_failed = matches!(entry, Some(Err(_)));
        entry
    })
}

impl Kind for Book {
    type Record = Played;
    type Merging = Tally;
    const BLOCK_WEIGHT: usize = Played::BLOCK_WEIGHT;

    fn payload(played: &Played) -> Vec<u8> {
        let mut payload = Vec::new();
        if played.ended != Results::default() {
            push(&mut payload, END, played.ended);
        }
        played.moves.iter().for_each(|played| push(&mut payload, move_code(played.m), played.results));
        payload
    }

    fn weight(&self, payload: &[u8]) -> Result<Option<usize>, SpoolError> {
        let (mut moves, mut games) = (0, 0u64);
        for entry in entries(payload) {
            let (code, results) = entry?;
            moves += usize::from(code != END);
            games = games.saturating_add(results.games());
        }
        Ok((games >= self.min_games).then(|| Played::weight(moves)))
    }

    fn decode(key: &[u8], payload: &[u8]) -> Result<(Played, Surplus), SpoolError> {
        let position = Key::decode(key).map_err(SpoolError::Key)?;
        let mut played = Played { position, ended: Results::default(), moves: Vec::new() };
        for entry in entries(payload) {
            match entry? {
                (END, results) => played.ended = add(played.ended, results),
                (code, results) => {
                    let m = move_of(code, played.position.chess().board()).ok_or(SpoolError::Move(code))?;
                    played.moves.push(PlayedMove { m, results });
                }
            }
        }
        Played::sort(&mut played.moves);
        Ok((played, Surplus::default()))
    }
}
