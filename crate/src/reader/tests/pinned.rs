//! Readers of a pinned manifest, and hosts and caches that forge.

use super::*;
use crate::table::{Block, ContentHash, Page};

/// A block whose host changes a score. All checksums are valid.
struct Forgery {
    /// What the host changed.
    what: &'static str,
    file: String,
    /// The forged file.
    bytes: Vec<u8>,
    /// A record of the block, and the lie.
    honest: PositionEval,
    lie: PositionEval,
}

/// Returns forgeries of a block of each page: of the block alone, also of its hash in the list, also of the hash of the list in
/// the page.
fn forgeries(files: &HashMap<String, Vec<u8>>) -> Vec<Forgery> {
    let manifest = Manifest::parse::<PositionEval>(&files[Manifest::FILE]).unwrap();
    let mut forgeries = Vec::new();
    for page_at in manifest.pages() {
        let shard = &files[&page_at.file];
        let page = Page::parse(page_at.within(shard, 0), &page_at).unwrap();
        let place = |range: &Range<u64>| range.start as usize..range.end as usize;
        for (n, at) in page.blocks().enumerate() {
            let honest: Vec<PositionEval> = Block::open(at.within(shard, 0), &at)
                .unwrap()
                .records()
                .map(Result::unwrap)
                .collect();
            let changed = |by: i32| {
                let mut records = honest.clone();
                if let Score::Cp(cp) = &mut records[0].evaluations[0].pvs[0].score {
                    *cp += by;
                }
                records
            };
            let encoded =
                |records: Vec<PositionEval>| (encode_block(&records).unwrap().bytes, records);
            let Some((block, lies)) = (1..300)
                .map(changed)
                .map(encoded)
                .find(|(bytes, _)| bytes.len() == at.len())
            else {
                continue;
            };
            let mut bytes = shard.clone();
            let mut add = |what, bytes: &[u8]| {
                forgeries.push(Forgery {
                    what,
                    file: at.file.clone(),
                    bytes: bytes.to_vec(),
                    honest: honest[0].clone(),
                    lie: lies[0].clone(),
                });
            };
            bytes[place(&at.range)].copy_from_slice(&block);
            add("block", &bytes);
            let list = place(&page.hashes().at.range);
            bytes[list.clone()][16 * n..16 * (n + 1)]
                .copy_from_slice(&ContentHash::of(&block).to_bytes());
            add("list", &bytes);
            let [old, new] =
                [page.hashes().hash, ContentHash::of(&bytes[list])].map(ContentHash::to_bytes);
            let page = &mut bytes[place(&page_at.range)];
            let hash = page
                .windows(old.len())
                .position(|bytes| bytes == old)
                .unwrap();
            page[hash..hash + old.len()].copy_from_slice(&new);
            let end = page.len() - 8;
            let seal = twox_hash::XxHash64::oneshot(0, &page[..end]).to_le_bytes();
            page[end..].copy_from_slice(&seal);
            add("page", &bytes);
            break;
        }
    }
    forgeries
}

#[test]
fn a_pinned_reader_refuses_forged_blocks_lists_and_pages() {
    let is_forged = |answer: &Result<Option<PositionEval>, ReadError>| {
        let kind = match answer {
            Err(ReadError::Table {
                error: TableError::Chunk { kind, .. },
                ..
            }) => kind,
            _ => return false,
        };
        matches!(kind, ChunkErrorKind::Hash { .. })
    };
    for inline in [0, 1 << 20] {
        let database = Database::with_inline_pages("forged", &records(6), inline);
        let files = database.files();
        let pin: Pin = Integrity::of(&files[Manifest::FILE])
            .to_string()
            .parse()
            .unwrap();
        let forgeries = forgeries(&files);
        assert!(forgeries.len() > 9, "{} forgeries", forgeries.len());
        for Forgery {
            what,
            file,
            bytes,
            honest,
            lie,
        } in forgeries
        {
            let host = Host::new(&database);
            host.files().insert(file, bytes);
            let cache = Kept::default();
            let open = |host: &Host, cache: &Kept, pin: Option<&Pin>| {
                let builder = Reader::builder(host.clone())
                    .cache(Some(Arc::new(cache.clone())))
                    .pin(pin.cloned());
                block_on(builder.open::<PositionEval>()).unwrap()
            };
            // The forger computed the checksums.
            let trusting = open(&host, &cache, None);
            assert_eq!(
                block_on(trusting.lookup(&honest.position)),
                Ok(Some(lie)),
                "{what}"
            );

            let pinned = open(&host, &Kept::default(), Some(&pin));
            for _ in 0..2 {
                let answer = block_on(pinned.lookup(&honest.position));
                assert!(is_forged(&answer), "{what}: {answer:?}");
            }
            // Forged bytes in a cache are removed. The honest host is asked again.
            let host = Host::new(&database);
            let pinned = open(&host, &cache, Some(&pin));
            assert_eq!(
                block_on(pinned.lookup(&honest.position)),
                Ok(Some(honest.clone())),
                "{what}"
            );
            let offline = open(&host, &cache, Some(&pin));
            host.fail(Some(SourceErrorKind::Network("offline".into())));
            assert_eq!(
                block_on(offline.lookup(&honest.position)),
                Ok(Some(honest)),
                "{what}: the cache has the list"
            );
        }
    }
}

#[test]
fn a_pinned_reader_requests_each_list_once_and_other_readers_request_no_list() {
    let records = records(6);
    let database = Database::new("lists", &records);
    let host = Host::new(&database);
    let positions: Vec<Position> = records
        .iter()
        .map(|record| record.position.clone())
        .collect();
    let asked = |pin: Option<Pin>| {
        host.asked().clear();
        let reader = block_on(
            Reader::builder(host.clone())
                .pin(pin)
                .open::<PositionEval>(),
        )
        .unwrap();
        let answers = block_on(reader.lookup_many(&positions));
        assert!(
            answers
                .iter()
                .zip(&records)
                .all(|(answer, record)| *answer == Ok(Some(record.clone())))
        );
        assert_eq!(reader.stats().requests, host.requests() as u64);
        (reader.manifest(), std::mem::take(&mut *host.asked()))
    };
    let (_, unpinned) = asked(None);
    let pin = Integrity::of(&host.files()[Manifest::FILE])
        .to_string()
        .parse()
        .unwrap();
    let (manifest, pinned) = asked(Some(pin));
    let files = database.files();
    // Lists that follow one another are one request.
    let mut lists: Vec<(String, Range<u64>)> = Vec::new();
    for at in manifest.pages() {
        let Range { start, end } = Page::parse(at.within(&files[&at.file], 0), &at)
            .unwrap()
            .hashes()
            .at
            .range;
        match lists.last_mut() {
            Some((file, last)) if *file == at.file && last.end == start => last.end = end,
            _ => lists.push((at.file, start..end)),
        }
    }
    assert_eq!(lists.len(), manifest.shards().len());
    let order = |(file, range): &(String, Range<u64>)| (file.clone(), range.start, range.end);
    let [mut expected, mut found] = [[unpinned, lists].concat(), pinned];
    expected.sort_by_key(order);
    found.sort_by_key(order);
    assert_eq!(found, expected);
}
