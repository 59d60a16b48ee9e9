//! Results of python-chess for all tables of three and four pieces.

mod support;

use std::error::Error;

use sha2::{Digest as _, Sha256};
use shakmaty::Chess;
use shelfish_endgames::{Outcome, Tables};
use support::{every, random, root};

/// Positions of a random set.
const RANDOM: usize = 3000;

/// Returns the result as python-chess encodes it: without the half-move clock.
fn bytes(tables: &Tables, chess: &Chess) -> Result<[u8; 3], Box<dyn Error>> {
    let verdict = tables.verdict(chess)?;
    let wdl = match verdict.outcome {
        Outcome::Loss => 0,
        Outcome::BlessedLoss => 1,
        Outcome::Draw => 2,
        Outcome::CursedWin => 3,
        Outcome::Win => 4,
        outcome => return Err(format!("{outcome} without a half-move clock").into()),
    };
    let [low, high] = i16::try_from(verdict.dtz)?.to_le_bytes();
    Ok([wdl, low, high])
}

#[test]
fn all_tables_have_the_results_of_python_chess() -> Result<(), Box<dyn Error>> {
    let tables = Tables::open(root().join("static-shards/endgames"))?;
    let reference = std::fs::read_to_string(root().join("tests/data/endgames/reference.tsv"))?;
    let (mut positions, mut seed) = (0, 0);
    for line in reference.lines() {
        let [material, set, count, digest] = line.split('\t').collect::<Vec<_>>()[..] else {
            return Err(line.into());
        };
        let (mut found, mut hash, mut error) = (0, Sha256::new(), None);
        let with = |chess: Chess| {
            found += 1;
            match bytes(&tables, &chess) {
                Ok(bytes) => hash.update(bytes),
                Err(failed) => error = Some(failed),
            }
        };
        if set == "all" {
            every(material, with);
        } else {
            random(material, seed, RANDOM, with);
            seed += 1;
        }
        if let Some(error) = error {
            return Err(format!("{material}: {error}").into());
        }
        assert_eq!(found.to_string(), count, "{material}: number of positions");
        let hash: String = hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hash, digest, "{material}: digest of {count} positions");
        positions += found;
    }
    assert!(
        seed == 35 && positions > 1_000_000,
        "{seed} tables and {positions} positions"
    );
    Ok(())
}
