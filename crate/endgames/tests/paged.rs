//! Tables that are read by pages from a source.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use core::ops::Range;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;
use std::error::Error;

use futures_executor::block_on;
use proptest::prelude::*;
use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen};
use shelfish::source::memory::Memory;
use shelfish::source::{Source, SourceError};
use shelfish_endgames::{
    EndgameError, Endgames, INDEX_FILE, Index, IndexBuilder, Outcome, Probe, Tables, Uncovered,
    line,
};
use support::{random, root};
use tempfile::TempDir;

type Files = BTreeMap<String, Vec<u8>>;

/// Returns the tables of the repository, and their index.
fn files() -> Files {
    let mut files = Files::new();
    let mut builder = IndexBuilder::default();
    for entry in std::fs::read_dir(root().join("static-shards/endgames")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_string();
        if let Ok(table) = name.parse() {
            let bytes = std::fs::read(&path).unwrap();
            builder.add(&table, &bytes).unwrap();
            files.insert(name, bytes);
        }
    }
    assert_eq!(files.len(), 70);
    let (index, sums) = builder.finish();
    assert_eq!(sums, None);
    files.insert(INDEX_FILE.to_string(), index.encode());
    files
}

/// Writes files to a folder.
fn folder(files: &Files) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

/// Counts requests and bytes.
struct Counted(Memory, AtomicU64, AtomicU64);

impl Counted {
    fn new(files: Files) -> Counted {
        Counted(Memory::new(files), AtomicU64::new(0), AtomicU64::new(0))
    }

    fn counted(&self, bytes: Vec<u8>) -> Vec<u8> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.2.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        bytes
    }

    fn taken(&self) -> (u64, u64) {
        let take = |count: &AtomicU64| count.swap(0, Ordering::Relaxed);
        (take(&self.1), take(&self.2))
    }
}

impl Source for Counted {
    async fn range(&self, file: &str, range: Range<u64>) -> Result<Vec<u8>, SourceError> {
        self.0
            .range(file, range)
            .await
            .map(|bytes| self.counted(bytes))
    }

    async fn whole(&self, file: &str, cap: u64) -> Result<Vec<u8>, SourceError> {
        self.0
            .whole(file, cap)
            .await
            .map(|bytes| self.counted(bytes))
    }

    fn locate(&self, file: &str) -> String {
        self.0.locate(file)
    }
}

fn chess(fen: &str) -> Chess {
    fen.parse::<Fen>()
        .unwrap()
        .into_position(CastlingMode::Standard)
        .unwrap()
}

#[test]
fn paged_tables_have_the_results_of_complete_files() -> Result<(), Box<dyn Error>> {
    let tables = Tables::open(root().join("static-shards/endgames"))?;
    let files = files();
    let mut costs = Vec::new();
    let mut next_costs = Vec::new();
    for (seed, name) in files
        .keys()
        .filter(|name| name.ends_with("rtbw"))
        .enumerate()
    {
        let material = name.trim_end_matches(".rtbw");
        let mut positions = Vec::new();
        random(material, 1000 + seed as u64, 8, |chess| {
            positions.push(chess)
        });
        for chess in positions {
            let endgames = block_on(Endgames::open(Counted::new(files.clone())))?;
            let found = block_on(endgames.probe(&chess))?;
            assert_eq!(found, tables.probe(&chess)?);
            costs.push(endgames.source().taken());
            let mut next = chess.clone();
            next.play_unchecked(found.moves[0].m);
            if let Some(reply) = next.legal_moves().first() {
                let found: Probe = block_on(endgames.probe(&next))?;
                assert_eq!(found, tables.probe(&next)?);
                next.play_unchecked(*reply);
                endgames.source().taken();
                block_on(endgames.probe(&next))?;
                next_costs.push(endgames.source().taken());
            }
        }
    }
    for (title, costs) in [("cold", costs), ("next move", next_costs)] {
        let (mut requests, mut bytes): (Vec<u64>, Vec<u64>) = costs.into_iter().unzip();
        for (kind, counts) in [("requests", &mut requests), ("bytes", &mut bytes)] {
            counts.sort_unstable();
            let at = |share: f64| counts[((counts.len() - 1) as f64 * share) as usize];
            println!(
                "{title}: {kind} median {}, 90 % {}, most {}",
                at(0.5),
                at(0.9),
                at(1.0)
            );
        }
    }
    Ok(())
}

#[test]
fn positions_without_a_table_are_errors_with_a_reason() -> Result<(), Box<dyn Error>> {
    let mut files = files();
    let endgames = block_on(Endgames::open(Counted::new(files.clone())))?;
    endgames.source().taken();
    let uncovered = |fen: &str| match block_on(endgames.probe(&chess(fen))) {
        Err(EndgameError::Uncovered(uncovered)) => uncovered,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        uncovered("8/8/8/4k3/8/8/8/4K2R w K - 0 1"),
        Uncovered::Castling
    );
    assert_eq!(
        uncovered("8/8/8/4k3/8/2P5/2P5/1RR1K3 w - - 0 1"),
        Uncovered::TooManyPieces { max: 4, found: 6 }
    );
    assert_eq!(endgames.source().taken(), (0, 0));

    let mut builder = IndexBuilder::default();
    files.remove("KQvK.rtbz");
    for (name, bytes) in files.iter().filter(|(name, _)| name.contains('v')) {
        builder.add(&name.parse()?, bytes)?;
    }
    files.insert(INDEX_FILE.to_string(), builder.finish().0.encode());
    let endgames = block_on(Endgames::open(Memory::new(files)))?;
    match block_on(endgames.probe(&chess("8/8/8/4k3/8/8/8/1Q2K3 w - - 0 1"))) {
        Err(EndgameError::Uncovered(Uncovered::MissingTable { table })) => {
            assert_eq!(table.to_string(), "KQvK.rtbz")
        }
        other => panic!("{other:?}"),
    }
    Ok(())
}

#[test]
fn the_half_move_clock_decides_between_a_win_and_a_draw() -> Result<(), Box<dyn Error>> {
    let tables = Tables::open(root().join("static-shards/endgames"))?;
    // Distance to mate is at most 66 plies with bishop and knight.
    let fresh = tables.verdict(&chess("8/8/8/4k3/8/8/8/2B1KN2 w - - 0 1"))?;
    assert_eq!(fresh.outcome, Outcome::Win);
    let late = chess("8/8/8/4k3/8/8/8/2B1KN2 w - - 60 1");
    let verdict = tables.verdict(&late)?;
    assert_eq!(
        (verdict.outcome, verdict.dtz),
        (Outcome::CursedWin, fresh.dtz)
    );
    assert_eq!(tables.outcome(&late)?, Outcome::Win);
    for (fen, outcome) in [
        ("8/8/8/8/8/1k6/8/K1q5 w - - 0 1", Outcome::Loss),
        ("k7/2K5/1Q6/8/8/8/8/8 b - - 0 1", Outcome::Draw),
    ] {
        assert_eq!(tables.outcome(&chess(fen))?, outcome, "{fen}");
    }
    random("KPvKP", 2000, 20, |chess| {
        let verdict = tables.verdict(&chess).unwrap();
        assert_eq!(tables.outcome(&chess).unwrap(), verdict.outcome);
    });
    Ok(())
}

#[test]
fn a_line_ends_with_the_next_capture_or_pawn_move() -> Result<(), Box<dyn Error>> {
    let endgames = block_on(Endgames::open(Memory::new(files())))?;
    let start = chess("8/8/8/8/3k4/8/4P3/4K3 w - - 0 1");
    let probe = block_on(endgames.probe(&start))?;
    let found = block_on(line(&start, async |chess| endgames.probe(&chess).await))?;
    match probe.verdict.outcome {
        Outcome::Draw => assert_eq!(found, []),
        _ => assert_eq!(found.len(), probe.verdict.dtz.unsigned_abs() as usize),
    }
    let start = chess("8/8/8/4k3/8/8/8/1Q2K3 w - - 0 1");
    let found = block_on(line(&start, async |chess| endgames.probe(&chess).await))?;
    assert!(
        found.last().is_some_and(|last| last.is_checkmate),
        "{found:?}"
    );
    Ok(())
}

#[test]
fn large_folders_have_their_checksums_in_a_file() -> Result<(), Box<dyn Error>> {
    let mut files = files();
    let index = Index::decode(&files[INDEX_FILE])?;
    assert!(index.encode().len() < 8 << 10, "{}", index.encode().len());
    let mut builder = IndexBuilder::default();
    for (name, bytes) in files.iter().filter(|(name, _)| name.contains('v')) {
        builder.add(&name.parse()?, bytes)?;
    }
    builder.max_inline = Some(0);
    let (index, sums) = builder.finish();
    files.insert(INDEX_FILE.to_string(), index.encode());
    files.insert(
        "endgames.sums".to_string(),
        sums.ok_or("no file of checksums")?,
    );
    let endgames = block_on(Endgames::open(Memory::new(files.clone())))?;
    let hosted = folder(&files);
    let checked = Tables::open(&hosted)?;
    let tables = Tables::open(root().join("static-shards/endgames"))?;
    random("KRvKP", 5, 20, |chess| {
        let expected = tables.probe(&chess).unwrap();
        assert_eq!(block_on(endgames.probe(&chess)).unwrap(), expected);
        assert_eq!(checked.probe(&chess).unwrap(), expected);
    });

    // A changed checksum is an error, not an answer.
    let sums = files.get_mut("endgames.sums").ok_or("no file")?;
    sums.iter_mut().for_each(|byte| *byte ^= 1);
    let checked = folder(&files);
    let tables = Tables::open(&checked)?;
    let endgames = block_on(Endgames::open(Memory::new(files)))?;
    random("KRvKP", 5, 3, |chess| {
        for found in [block_on(endgames.probe(&chess)), tables.probe(&chess)] {
            let error = found.unwrap_err();
            assert!(matches!(error, EndgameError::Damaged { .. }), "{error}");
        }
    });
    std::fs::remove_file(checked.path().join("endgames.sums"))?;
    assert!(Tables::open(&checked).is_err());
    Ok(())
}

#[test]
fn a_folder_that_contradicts_its_index_is_an_error() -> Result<(), Box<dyn Error>> {
    let mut files = files();
    let mut builder = IndexBuilder::default().with_ending(".silo")?;
    builder.add(&"KQvK.rtbw".parse()?, &files["KQvK.rtbw"])?;
    let index = builder.finish().0.encode();
    files.retain(|name, _| name == "KQvK.rtbw");
    let error = |files: &Files, reasons: [&str; 2]| {
        let copies = folder(files);
        let found = Tables::open(&copies).unwrap_err().to_string();
        for reason in reasons {
            assert!(found.contains(reason), "{found}");
        }
    };
    let mut with = |name: &str, bytes: &[u8]| {
        files.insert(name.to_string(), bytes.to_vec());
        files.clone()
    };
    // Copies of the tables have the ending of the index.
    let both = with(INDEX_FILE, &index);
    let silo = [
        ("KQvK.rtbw.silo".to_string(), both["KQvK.rtbw"].clone()),
        (INDEX_FILE.to_string(), index.clone()),
    ];
    for files in [both, silo.into()] {
        let copies = folder(&files);
        let tables = Tables::open(&copies)?;
        assert_eq!((tables.count(), tables.max_pieces()), (1, 3));
    }
    let other = [0; 80];
    error(
        &with("KRvK.rtbw", &other),
        ["KRvK.rtbw", "not in endgames.index"],
    );
    let mut changed = index.clone();
    changed[20] ^= 1;
    error(&with(INDEX_FILE, &changed), [INDEX_FILE, "checksum"]);
    error(&with(INDEX_FILE, b""), [INDEX_FILE, "version 1"]);
    let mut short = with(INDEX_FILE, &index);
    short.remove("KRvK.rtbw");
    short.insert("KQvK.rtbw".to_string(), other.to_vec());
    error(&short, ["KQvK.rtbw", "found 80"]);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_damaged_index_is_an_error(cut in 0_usize..6000, flip in 0_usize..6000, bit in 0_u8..8) {
        let index = files().remove(INDEX_FILE).unwrap();
        prop_assert!(Index::decode(&index[..cut.min(index.len() - 1)]).is_err());
        let mut flipped = index.clone();
        let at = flip % flipped.len();
        flipped[at] ^= 1 << bit;
        prop_assert!(Index::decode(&flipped).is_err());
    }

    #[test]
    fn a_changed_bit_of_a_table_gives_the_right_result_or_an_error(seed: u64, file in 0_usize..4, at: prop::sample::Index, bit in 0_u8..8) {
        let mut files = files();
        let name = ["KRvKP.rtbw", "KRvKP.rtbz", "KRvK.rtbw", "KQvKR.rtbw"][file];
        let bytes = files.get_mut(name).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let tables = Tables::open(root().join("static-shards/endgames")).unwrap();
        let folder = folder(&files);
        let changed = Tables::open(&folder).unwrap();
        let endgames = block_on(Endgames::open(Memory::new(files))).unwrap();
        random("KRvKP", seed, 1, |chess| for found in [block_on(endgames.probe(&chess)), changed.probe(&chess)] {
            match found {
                Ok(probe) => assert_eq!(probe, tables.probe(&chess).unwrap()),
                Err(error) => assert!(matches!(error, EndgameError::Damaged { .. }), "{error}"),
            }
        });
    }
}
