use proptest::prelude::*;
use proptest::sample::Index;
use shakmaty::{Chess, Move, Position as _, fen::Fen};

use super::*;
use crate::eval::{Evaluation, PositionEval, Pv, Score};
use crate::position::Position;

/// Games begin in the initial position, in a Chess960 one, in endgames, and among queens.
const STARTS: [&str; 5] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR w HEhe - 0 1",
    "8/5pk1/4p1p1/3pP2p/3P1P1P/6P1/5K2/8 w - - 0 1",
    "4k3/P6P/8/8/8/8/p6p/4K3 w - - 0 1",
    "qqqqqqqk/qqqqqqqq/8/8/8/8/QQQQQQQQ/QQQQQQQK w - - 0 1",
];

fn play(position: &Chess, choices: &[Index]) -> (Vec<Chess>, Vec<Move>) {
    let mut positions = vec![position.clone()];
    let mut line = Vec::new();
    for choice in choices {
        let position = &positions[positions.len() - 1];
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        let m = moves[choice.index(moves.len())];
        line.push(m);
        positions.push(position.clone().play(m).expect("a legal move"));
    }
    (positions, line)
}

fn score() -> impl Strategy<Value = Score> {
    prop_oneof![
        8 => (-1000..1000i32).prop_map(Score::Cp),
        1 => (-i32::MAX..=i32::MAX).prop_map(Score::Cp),
        1 => (1..=Score::MAX_MATE).prop_flat_map(|n| prop_oneof![Just(Score::Mate(n)), Just(Score::Mate(-n))]),
    ]
}

prop_compose! {
    fn evaluation()(
        depth in prop_oneof![9 => 1..60u16, 1 => any::<u16>()],
        knodes in prop_oneof![9 => 0..100_000_000u64, 1 => any::<u64>()],
        pvs in proptest::collection::vec((score(), proptest::collection::vec(any::<Index>(), 0..12)), 1..5),
    ) -> (u16, u64, Vec<(Score, Vec<Index>)>) {
        (depth, knodes, pvs)
    }
}

/// Returns an evaluation that may be invalid: its score may be out of range, and its moves may belong to another
/// position.
fn any_evaluation() -> impl Strategy<Value = Evaluation> {
    let number = || {
        prop_oneof![
            -2..=2,
            Just(Score::MAX_MATE),
            Just(Score::MAX_MATE + 1),
            Just(i32::MIN),
            any::<i32>()
        ]
    };
    let score = prop_oneof![number().prop_map(Score::Cp), number().prop_map(Score::Mate)];
    let pv = (score, proptest::collection::vec(any::<Index>(), 0..3));
    let pv = pv.prop_map(|(score, choices)| Pv {
        score,
        line: play(&Chess::default(), &choices).1,
    });
    let pvs = prop_oneof![9 => proptest::collection::vec(pv, 1..3), 1 => Just(Vec::new())];
    (0..3u16, any::<u64>(), pvs).prop_map(|(depth, knodes, pvs)| Evaluation { depth, knodes, pvs })
}

#[test]
fn invalid_evaluations_are_errors_with_column_and_value() {
    let error = |evaluations: &[(u16, &[Score])]| {
        let pvs = |scores: &[Score]| {
            scores
                .iter()
                .map(|&score| Pv {
                    score,
                    line: Vec::new(),
                })
                .collect()
        };
        let evaluations = evaluations.iter().map(|(depth, scores)| Evaluation {
            depth: *depth,
            knodes: 1,
            pvs: pvs(scores),
        });
        let record = PositionEval {
            position: Position::from_chess(&Chess::default()),
            evaluations: evaluations.collect(),
        };
        match encode_block(&[record]).expect_err("no record") {
            WriteError::Block {
                error: ColumnError::Value { column, found },
                ..
            } => (column, found),
            error => panic!("{error}"),
        }
    };
    for no_pvs in [&[][..], &[(9, &[][..])]] {
        assert_eq!(error(no_pvs).0, 5);
    }
    for (evaluations, column) in [
        (&[(9, &[Score::Cp(1)][..]), (10, &[Score::Cp(1)])][..], 7),
        (&[(9, &[Score::Mate(0)])], 9),
        (&[(9, &[Score::Cp(1), Score::Mate(40_000)])], 10),
        (&[(9, &[Score::Cp(i32::MIN)])], 9),
    ] {
        assert_eq!(error(evaluations).0, column);
    }
}

/// Records of the positions of some games, each once, ascending.
fn records() -> impl Strategy<Value = Vec<PositionEval>> {
    let game = (
        0..STARTS.len(),
        proptest::collection::vec(any::<Index>(), 0..40),
    );
    let games = proptest::collection::vec(game, 1..6);
    let evaluations =
        proptest::collection::vec(proptest::collection::vec(evaluation(), 1..4), 1..30);
    (games, evaluations).prop_map(|(games, all)| {
        let positions = games.into_iter().flat_map(|(start, choices)| {
            let fen: Fen = STARTS[start].parse().expect("a FEN");
            let start = Position::from_setup(fen.into_setup()).expect("a position");
            play(start.chess(), &choices).0
        });
        let mut records: Vec<PositionEval> = positions
            .zip(all.iter().cycle())
            .map(|(chess, evaluations)| {
                let mut evaluations = evaluations
                    .iter()
                    .map(|(depth, knodes, pvs)| Evaluation {
                        depth: *depth,
                        knodes: *knodes,
                        pvs: pvs
                            .iter()
                            .map(|(score, choices)| Pv {
                                score: *score,
                                line: play(&chess, choices).1,
                            })
                            .collect(),
                    })
                    .collect();
                PositionEval::normalise(&mut evaluations);
                PositionEval {
                    position: Position::from_chess(&chess),
                    evaluations,
                }
            })
            .collect();
        records.sort_by_cached_key(|record| record.position.key());
        records.dedup_by(|a, b| a.position == b.position);
        records
    })
}

/// Returns a chunk of all keys.
fn chunk_of(start: u64, bytes: &[u8]) -> Chunk {
    Chunk {
        file: "test".into(),
        range: start..start + bytes.len() as u64,
        keys: KeyRange::all(),
    }
}

fn encoded(records: &[PositionEval]) -> (EncodedBlock, Chunk) {
    let block = encode_block(records).expect("records in order");
    let chunk = chunk_of(0, &block.bytes);
    (block, chunk)
}

/// Reads a frame with a valid checksum and invalid content. The result may be anything but a panic.
fn read_without_panic(frame: &[u8]) {
    let mut bytes = frame.to_vec();
    chunk::seal(&mut bytes);
    if let Ok(block) = Block::<PositionEval>::open(&bytes, &chunk_of(0, &bytes)) {
        block.records().for_each(drop);
    }
    let _ = Page::parse(&bytes, &chunk_of(1 << 30, &bytes));
    let _ = Manifest::parse::<PositionEval>(frame);
}

/// Returns the frame of a chunk that is whole.
fn frame_of(bytes: &[u8]) -> &[u8] {
    chunk_of(0, bytes).unseal(bytes).expect("a whole chunk")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_decoded_block_contains_its_records(records in records()) {
        let (encoded, at) = encoded(&records);
        let block = Block::<PositionEval>::open(&encoded.bytes, &at).expect("a whole block");
        prop_assert_eq!(block.records().collect::<Result<Vec<_>, _>>(), Ok(records.clone()));
        for record in &records {
            prop_assert_eq!(block.find(&record.position), Ok(Some(record.clone())));
        }
    }

    #[test]
    fn records_copied_from_a_block_have_the_bytes_of_new_records(
        records in records(),
        chosen in proptest::collection::vec((any::<bool>(), 0..3u8), 1..20),
        is_best_only in any::<bool>(),
    ) {
        let (encoded, at) = encoded(&records);
        let block = Block::<PositionEval>::open(&encoded.bytes, &at).expect("a whole block");
        let stored = block.record_weights().expect("whole columns");
        let (mut kept, mut codes) = (Vec::new(), Vec::new());
        for (record, (is_new, choice)) in stored.iter().zip(chosen.iter().cycle()) {
            let mut eval = block.get(record.n).expect("a whole record");
            if is_best_only {
                eval.evaluations.truncate(1);
                eval.evaluations[0].pvs.truncate(2);
                eval.evaluations[0].pvs.iter_mut().for_each(|pv| pv.line.truncate(9));
            }
            if *choice > 0 {
                kept.push(eval);
                codes.push((!is_new).then(|| block.stored(record.n)));
            }
        }
        prop_assume!(!kept.is_empty());
        let keys: Vec<_> = kept.iter().map(|eval| eval.position.key()).collect();
        let copied = encode_block_of(&kept, &keys, &codes).expect("records in order");
        prop_assert_eq!(copied.bytes, encode_block(&kept).expect("records in order").bytes);
    }

    #[test]
    fn any_record_is_an_error_or_survives_a_round_trip(
        evaluations in proptest::collection::vec(any_evaluation(), 0..4),
        choices in proptest::collection::vec(any::<Index>(), 0..3),
    ) {
        let (positions, _) = play(&Chess::default(), &choices);
        let position = Position::from_chess(&positions[positions.len() - 1]);
        let records = [PositionEval { position, evaluations }];
        if let Ok(block) = encode_block(&records) {
            let opened = Block::<PositionEval>::open(&block.bytes, &chunk_of(0, &block.bytes)).expect("what was written");
            prop_assert_eq!(opened.records().collect::<Result<Vec<_>, _>>(), Ok(records.to_vec()));
        }
    }

    #[test]
    fn a_position_that_is_not_in_a_block_is_not_found(records in records(), at in any::<Index>()) {
        let mut records = records;
        let absent = records.remove(at.index(records.len()));
        if !records.is_empty() {
            let (encoded, at) = encoded(&records);
            let block = Block::<PositionEval>::open(&encoded.bytes, &at).expect("a whole block");
            prop_assert_eq!(block.find(&absent.position), Ok(None));
        }
    }

    #[test]
    fn a_truncated_block_and_a_block_with_a_flipped_bit_are_errors(
        records in records(),
        at in any::<Index>(),
        bit in 0..8u32,
    ) {
        let (encoded, whole) = encoded(&records);
        let mut bytes = encoded.bytes;
        let error = Block::<PositionEval>::open(&bytes[..at.index(bytes.len())], &whole).expect_err("a short block");
        prop_assert!(matches!(error, TableError::Chunk { kind: ChunkErrorKind::Length { .. }, .. }), "{}", error);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let error = Block::<PositionEval>::open(&bytes, &whole).expect_err("a changed block");
        prop_assert!(matches!(error, TableError::Chunk { kind: ChunkErrorKind::Checksum { .. }, .. }), "{}", error);
        read_without_panic(&bytes);
    }

    #[test]
    fn flipped_bits_with_a_valid_checksum_do_not_panic(
        records in records(),
        flips in proptest::collection::vec((any::<Index>(), 0..8u32), 1..4),
    ) {
        let (encoded, _) = encoded(&records);
        let columns = Columns::open(frame_of(&encoded.bytes), Block::<PositionEval>::FIRST + PositionEval::COLUMNS, 0).expect("a whole block");
        let mut columns: Vec<Vec<u8>> =
            (0..Block::<PositionEval>::FIRST + PositionEval::COLUMNS).map(|column| columns.bytes(column).to_vec()).collect();
        for (at, bit) in flips {
            let total: usize = columns.iter().map(Vec::len).sum();
            let mut at = at.index(total);
            for column in &mut columns {
                match column.get_mut(at) {
                    Some(byte) => {
                        *byte ^= 1 << bit;
                        break;
                    }
                    None => at -= column.len(),
                }
            }
        }
        read_without_panic(frame_of(&columns::compress(&columns, 1).expect("columns")));
    }

    #[test]
    fn an_insertion_changes_few_cuts(
        keys in proptest::collection::btree_set(any::<[u8; 12]>(), 2000),
        more in any::<[u8; 12]>(),
    ) {
        let cut = |keys: &mut dyn Iterator<Item = [u8; 12]>| {
            let mut cutter = Cutter::new(20);
            let mut groups: Vec<Vec<[u8; 12]>> = keys.filter_map(|key| cutter.push(&key, 1, key)).collect();
            groups.extend(cutter.finish());
            groups
        };
        let before = cut(&mut keys.iter().copied());
        let mut changed = keys.clone();
        changed.insert(more);
        let after = cut(&mut changed.iter().copied());
        prop_assert_eq!(after.concat(), changed.into_iter().collect::<Vec<_>>());
        let most = 28;
        prop_assert!(before.iter().all(|group| group.len() <= most));
        let same = after.iter().filter(|group| before.contains(group)).count();
        prop_assert!(same * 10 >= before.len() * 7, "{} of {} groups stay", same, before.len());
    }
}

/// Writes a database of some thousand positions, in shards of several pages.
fn database(dir: &std::path::Path, inline_page_bytes: usize) -> (Manifest, Vec<PositionEval>) {
    let (writer, all) = written(dir, inline_page_bytes);
    (writer.finish().expect("a database"), all)
}

/// Returns a database before it is finished.
fn written(
    dir: &std::path::Path,
    inline_page_bytes: usize,
) -> (TableWriter<PositionEval>, Vec<PositionEval>) {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let mut all: Vec<PositionEval> = Vec::new();
    for _ in 0..40 {
        all.extend(records().new_tree(&mut runner).expect("records").current());
    }
    all.sort_by_cached_key(|record| record.position.key());
    all.dedup_by(|a, b| a.position == b.position);
    let scratch = dir.join("scratch");
    std::fs::create_dir_all(&scratch).expect("a folder");
    let options = WriterOptions {
        shard_bytes: 20_000,
        page_blocks: 5,
        inline_page_bytes,
        ..WriterOptions::default()
    };
    let mut writer = TableWriter::<PositionEval>::create(dir, &scratch, options);
    let mut cutter = Cutter::new(30);
    let mut blocks: Vec<Vec<PositionEval>> = all
        .iter()
        .filter_map(|eval| cutter.push(eval.position.key().as_bytes(), 1, eval.clone()))
        .collect();
    blocks.extend(cutter.finish());
    for block in blocks {
        writer
            .append(&encode_block(&block).expect("a block"))
            .expect("room on the disk");
    }
    (writer, all)
}

fn temp_dir(name: &str) -> std::path::PathBuf {
    let dir = std::env::temp_dir().join(format!("shelfish-table-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a folder");
    dir
}

#[test]
fn readers_accept_a_page_of_the_largest_table_whose_blocks_are_in_many_files() {
    // The largest group of a cutter, with separators that share little, and a run for each block.
    let count = 7 * page_blocks(u64::MAX).div_ceil(5);
    let mut ends = [0u64; 50];
    let blocks: Vec<page::PlacedBlock> = (0..count)
        .map(|n| {
            let noise = ContentHash::of(&n.to_le_bytes()).to_bytes();
            let separator = [&(n as u32).to_be_bytes()[..], &noise].concat();
            let file = n % ends.len();
            let (start, length) = (
                ends[file] + 3 * n as u64,
                16 * (7 + u64::from(noise[0]) * 6),
            );
            ends[file] = start + length;
            let hash = ContentHash::of(&separator);
            page::PlacedBlock {
                separator,
                file: (file > 0).then_some([file as u8; 16]),
                start,
                length,
                hash,
            }
        })
        .collect();
    let list = ends[0];
    let (bytes, hashes) = page::encode(list, &blocks, 1).expect("a page");
    let start = list + hashes.len() as u64;
    let keys = KeyRange {
        from: blocks[0].separator.clone(),
        until: None,
    };
    let at = Chunk {
        file: shard_name(&[7; 16]),
        range: start..start + bytes.len() as u64,
        keys,
    };
    let read = Page::parse(&bytes, &at).expect("a page");
    assert_eq!(read.blocks().len(), count);
    assert!(
        read.blocks()
            .zip(&blocks)
            .all(|(read, block)| read.range == (block.start..block.start + block.length))
    );
}

#[test]
fn an_update_refers_to_kept_blocks_in_ascending_order_and_writes_the_others() {
    let dir = temp_dir("kept");
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut all: Vec<PositionEval> = Vec::new();
    while all.len() < 12 {
        all.extend(proptest::strategy::ValueTree::current(
            &proptest::strategy::Strategy::new_tree(&records(), &mut runner).expect("records"),
        ));
        all.sort_by_cached_key(|record| record.position.key());
        all.dedup_by(|a, b| a.position == b.position);
    }
    all.truncate(12);
    let scratch = dir.join("scratch");
    std::fs::create_dir_all(&scratch).expect("a folder");
    let file = "0123456789abcdef0123456789abcdef.silo".to_string();
    let kept = KeptShard {
        file: file.clone(),
        bytes: 10_000,
    };
    let options = WriterOptions {
        kept: vec![kept],
        inline_page_bytes: 0,
        ..WriterOptions::default()
    };
    let mut writer = TableWriter::<PositionEval>::create(&dir, &scratch, options);
    // The third block is before the second block in the file, as in a hostile base.
    let starts = [Some(500), Some(5_000), Some(100), None];
    let blocks: Vec<EncodedBlock> = all
        .chunks(3)
        .map(|block| encode_block(block).expect("a block"))
        .collect();
    for (block, start) in blocks.iter().zip(starts) {
        let origin = start.map(|start| BlockOrigin {
            file: file.clone(),
            start,
        });
        writer
            .append(&EncodedBlock {
                origin,
                ..block.clone()
            })
            .expect("room on the disk");
    }
    let manifest = writer.finish().expect("room on the disk");
    let lengths: Vec<u64> = blocks
        .iter()
        .map(|block| block.bytes.len() as u64)
        .collect();
    let live: Vec<Option<u64>> = manifest.shards().iter().map(|shard| shard.live).collect();
    assert_eq!(live, [Some(lengths[0] + lengths[1]), None]);
    let positions: Vec<u64> = manifest
        .shards()
        .iter()
        .map(|shard| shard.positions)
        .collect();
    assert_eq!(positions, [6, 6]);
    let at = manifest.pages().next().expect("a page");
    let shard = std::fs::read(dir.join(&*at.file)).expect("a shard");
    let page = Page::parse(at.within(&shard, 0), &at).expect("a page");
    let found: Vec<(bool, u64)> = page
        .blocks()
        .map(|block| (block.file == file, block.range.start))
        .collect();
    assert_eq!(
        found,
        [(true, 500), (true, 5_000), (false, 0), (false, lengths[2])]
    );
    let list = &page.hashes().at;
    assert!(page.hashes().check(list.within(&shard, 0)).is_ok());
    for (n, block) in blocks.iter().enumerate() {
        assert_eq!(
            ContentHash::nth(list.within(&shard, 0), n),
            Some(ContentHash::of(&block.bytes))
        );
    }
    std::fs::remove_dir_all(dir).expect("the folder is ours");
}

#[test]
fn a_small_database_has_its_pages_in_the_manifest() {
    let dir = temp_dir("inline");
    let (_, all) = database(&dir, 1 << 20);
    let bytes = std::fs::read(dir.join(Manifest::FILE)).expect("a manifest");
    let manifest = Manifest::parse::<PositionEval>(&bytes).expect("a manifest");
    for page in manifest.pages() {
        let inline = manifest.inline_page(&page).expect("an inline page");
        let file = std::fs::read(dir.join(&*page.file)).expect("a shard");
        assert_eq!(inline, page.within(&file, 0));
        assert!(Page::parse(inline, &page).is_ok());
    }
    assert_eq!(manifest.positions, all.len() as u64);
    std::fs::remove_dir_all(dir).expect("the folder is ours");
}

#[test]
fn a_large_database_has_the_pages_around_the_initial_position_in_the_manifest() {
    let dir = temp_dir("around");
    let inline = |limit| {
        let (manifest, _) = database(&dir, limit);
        let start = Position::from(&Chess::default()).key();
        let (start, _) = manifest.page_of(&start).expect("a page");
        let pages: Vec<Chunk> = manifest.pages().collect();
        let start = pages.iter().position(|page| *page == start);
        let is_inline = |page: &Chunk| manifest.inline_page(page).is_some();
        let inline: Vec<usize> = (0..pages.len()).filter(|n| is_inline(&pages[*n])).collect();
        let bytes = |n: &usize| pages[*n].range.end - pages[*n].range.start;
        (inline.clone(), start, inline.iter().map(bytes).sum::<u64>())
    };
    let (none, start, _) = inline(0);
    let start = start.expect("a page");
    assert!(none.is_empty());
    let mut sizes = Vec::new();
    for limit in (300..1_600).step_by(100) {
        let (pages, _, bytes) = inline(limit);
        assert!(bytes <= limit as u64 / 5, "{bytes} bytes within {limit}");
        let is_run = pages.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        assert!(
            is_run && (pages.is_empty() || pages.contains(&start)),
            "{pages:?} around {start}"
        );
        sizes.push(pages.len());
    }
    assert!(
        sizes.is_sorted() && sizes[0] < sizes[sizes.len() - 1],
        "{sizes:?}"
    );
    std::fs::remove_dir_all(dir).expect("the folder is ours");
}

#[test]
fn a_swapped_page_or_block_is_an_error() {
    let dir = temp_dir("another");
    let (manifest, _) = database(&dir, 0);
    let read = |chunk: &Chunk| {
        let file = std::fs::read(dir.join(&*chunk.file)).expect("a shard");
        chunk.within(&file, 0).to_vec()
    };
    let blocks = |page: &Chunk| {
        Page::parse(&read(page), page)
            .expect("a page")
            .blocks()
            .collect::<Vec<_>>()
    };
    let pages: Vec<Chunk> = manifest.pages().collect();
    let all: Vec<Chunk> = pages.iter().flat_map(blocks).collect();
    // As if a host took one range for another, its length included.
    let posing = |at: &Chunk, other: &Chunk| {
        let start = at.range.end - other.len() as u64;
        Chunk {
            range: start..at.range.end,
            ..at.clone()
        }
    };
    for pair in pages.windows(2) {
        for (at, other) in [(&pair[1], &pair[0]), (&pair[0], &pair[1])] {
            let error = Page::parse(&read(other), &posing(at, other)).expect_err("another page");
            assert!(
                matches!(
                    error,
                    TableError::Chunk {
                        kind: ChunkErrorKind::Other,
                        ..
                    }
                ),
                "{error}"
            );
        }
    }
    let late = all
        .iter()
        .position(|chunk| chunk.range.start > 1 << 14)
        .expect("a block far from the start");
    for (at, other) in all[late..].iter().zip(&all[late + 1..]) {
        for (at, other) in [(at, other), (other, at)]
            .iter()
            .filter(|(at, other)| at.range.end > other.len() as u64)
        {
            let error = Block::<PositionEval>::open(&read(other), &posing(at, other))
                .expect_err("another block");
            assert!(
                matches!(
                    error,
                    TableError::Chunk {
                        kind: ChunkErrorKind::Other,
                        ..
                    }
                ),
                "{error}"
            );
        }
    }
    std::fs::remove_dir_all(dir).expect("the folder is ours");
}

#[test]
fn a_manifest_with_a_flipped_bit_and_a_truncated_manifest_are_errors() {
    let dir = temp_dir("manifest");
    database(&dir, 500);
    let bytes = std::fs::read(dir.join(Manifest::FILE)).expect("a manifest");
    for at in 0..bytes.len() {
        assert!(
            Manifest::parse::<PositionEval>(&bytes[..at]).is_err(),
            "cut to {at} bytes"
        );
        for bit in 0..8 {
            let mut bytes = bytes.clone();
            bytes[at] ^= 1 << bit;
            assert!(
                Manifest::parse::<PositionEval>(&bytes).is_err(),
                "bit {bit} of byte {at}"
            );
        }
    }
    std::fs::remove_dir_all(dir).expect("the folder is ours");
}

#[test]
fn errors_of_invalid_manifests_contain_the_reason() {
    let message = |text: &str| {
        Manifest::parse::<PositionEval>(text.as_bytes())
            .expect_err(text)
            .to_string()
    };
    assert_eq!(
        message(""),
        "manifest.json is not a manifest: the file is empty"
    );
    assert_eq!(
        message("{\"format\":4,\"whatever\":[]}"),
        "manifest.json is of format 4, this reader knows format 3: use a newer shelfish"
    );
    assert_eq!(
        message("{\"format\":2,\"whatever\":[]}"),
        "manifest.json is of format 2, this reader knows format 3: build it again from its dump"
    );
    assert!(message("<!doctype html>").starts_with("manifest.json is not a manifest: "));
    assert!(message("{\"format\":3}").ends_with("it has no checksum"));
}

#[test]
fn a_shard_name_that_contains_a_path_is_an_error() {
    let shard = Shard {
        file: "../../etc/passwd".into(),
        bytes: 10,
        pages: vec![ListedPage {
            separator: Vec::new(),
            bytes: 5,
            content: Vec::new(),
            hash: ContentHash::of(b""),
            start: 0,
        }],
        ..Shard::default()
    };
    let error = Manifest::new(1, Default::default(), Default::default(), vec![shard])
        .expect_err("not a shard's name");
    assert_eq!(
        error.to_string(),
        "\"../../etc/passwd\" is not the name of a shard"
    );
}
