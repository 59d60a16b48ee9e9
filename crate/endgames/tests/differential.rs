//! Results of the crate shakmaty-syzygy, another decoder of tables, with and without half-move clocks.

mod support;

use std::error::Error;

use shakmaty::{CastlingMode, Chess, EnPassantMode, FromSetup as _, Position as _};
use shakmaty_syzygy::{AmbiguousWdl, SyzygyError, Tablebase, Wdl};
use shelfish_endgames::{Outcome, Tables};
use support::{Numbers, every, random, root};

/// Random positions of each table.
const RANDOM: usize = 600;

/// Returns a position with another half-move clock.
fn with_clock(chess: &Chess, halfmoves: u32) -> Option<Chess> {
    let mut setup = chess.to_setup(EnPassantMode::Legal);
    setup.halfmoves = halfmoves;
    Chess::from_setup(setup, CastlingMode::Standard).ok()
}

fn outcome(wdl: AmbiguousWdl) -> Outcome {
    match wdl {
        AmbiguousWdl::Loss => Outcome::Loss,
        AmbiguousWdl::MaybeLoss => Outcome::MaybeLoss,
        AmbiguousWdl::BlessedLoss => Outcome::BlessedLoss,
        AmbiguousWdl::Draw => Outcome::Draw,
        AmbiguousWdl::CursedWin => Outcome::CursedWin,
        AmbiguousWdl::MaybeWin => Outcome::MaybeWin,
        AmbiguousWdl::Win => Outcome::Win,
    }
}

/// Outcome, distance and whether the distance is rounded.
type Facts = (Outcome, i32, bool);

fn expected(tables: &Tablebase<Chess>, chess: &Chess) -> Result<Facts, SyzygyError> {
    let dtz = tables.probe_dtz(chess)?;
    let wdl = AmbiguousWdl::from_dtz_and_halfmoves(dtz, chess.halfmoves());
    Ok((
        outcome(wdl),
        dtz.ignore_rounding().0,
        dtz.precise().is_none(),
    ))
}

#[test]
fn all_tables_have_the_results_of_another_decoder() -> Result<(), Box<dyn Error>> {
    let folder = root().join("static-shards/endgames");
    let tables = Tables::open(&folder)?;
    let mut other = Tablebase::new();
    assert_eq!(other.add_directory(&folder)?, tables.count());
    let mut clocks = Numbers(7);
    let (mut positions, mut ambiguous) = (0, 0);
    let mut compare = |chess: Chess| {
        // A position without a winner by its pieces has a result without any table.
        if chess.is_insufficient_material() {
            return;
        }
        let (fresh, fen) = (
            expected(&other, &chess),
            shakmaty::fen::Fen::from_position(&chess, EnPassantMode::Legal),
        );
        let (fresh_outcome, dtz, _) = fresh.expect("another decoder knows the position");
        // The clocks at which a win becomes a draw are tried most.
        let near = 100_u32.saturating_sub(dtz.unsigned_abs()) as u64;
        for halfmoves in [0, near, near.saturating_sub(1), clocks.below(120)] {
            let Some(late) = with_clock(&chess, halfmoves as u32) else {
                continue;
            };
            let verdict = tables.verdict(&late).expect("the position is in a table");
            let expected = expected(&other, &late).expect("another decoder knows the position");
            assert_eq!(
                (verdict.outcome, verdict.dtz, verdict.is_rounded),
                expected,
                "{fen}, clock {halfmoves}"
            );
            ambiguous += usize::from([Outcome::MaybeLoss, Outcome::MaybeWin].contains(&expected.0));
        }
        assert_eq!(
            tables.outcome(&chess).expect("the position is in a table"),
            fresh_outcome
        );
        let wdl: Wdl = other
            .probe_wdl_after_zeroing(&chess)
            .expect("another decoder knows the position");
        assert_eq!(outcome(wdl.into()), fresh_outcome);
        positions += 1;
    };
    let mut names: Vec<String> = std::fs::read_dir(&folder)?
        .filter_map(|entry| {
            Some(
                entry
                    .ok()?
                    .path()
                    .file_name()?
                    .to_str()?
                    .strip_suffix(".rtbw")?
                    .to_string(),
            )
        })
        .collect();
    names.sort_unstable();
    assert_eq!(names.len(), 35);
    for (seed, name) in (0..).zip(&names) {
        random(name, 4000 + seed, RANDOM, &mut compare);
    }
    for small in ["KRvK", "KPvK"] {
        every(small, &mut compare);
    }
    println!("{positions} positions, {ambiguous} results that rounded distances do not decide");
    assert!(
        positions > 300_000 && ambiguous > 1000,
        "{positions} positions, {ambiguous} ambiguous results"
    );
    Ok(())
}
