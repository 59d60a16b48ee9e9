//! Targets of the crates `shelfish` and `shelfish-analysis`.

use shelfish::eval::PositionEval;
use shelfish::polyglot::{PolyglotBook, code, keys};
use shelfish::position::{Key, Position};
use shelfish::shakmaty::{Chess, Position as _};
use shelfish::source::http::{Head, Requested, base};
use shelfish::source::integrity::Integrity;
use shelfish::source::redaction::redacted;
use shelfish::table::{
    Block, Chunk, KeyRange, Manifest, Page, Record, TableError, encode_block, seal,
};
use shelfish_analysis::pgn::{GameTexts, read, read_main_line};
use shelfish_analysis::{KnownEval, annotate};
use twox_hash::XxHash64;

/// Returns the place of a chunk that fills a file from a byte on.
fn whole(start: u64, bytes: &[u8]) -> Chunk {
    Chunk {
        file: "fuzz".into(),
        range: start..start + bytes.len() as u64,
        keys: KeyRange::all(),
    }
}

/// Reads the records of a block.
fn records<R: Record>(bytes: &[u8]) -> Result<Vec<R>, TableError> {
    Block::open(bytes, &whole(0, bytes))?.records().collect()
}

/// Writes records, unless they exceed a block, and reads them again.
pub fn assert_kept<R: Record + PartialEq + std::fmt::Debug>(written: &[R]) {
    if let Ok(block) = encode_block(written) {
        assert_eq!(records::<R>(&block.bytes).as_deref(), Ok(written));
    }
}

/// Any frame with a valid checksum is a block or an error.
pub fn block<R: Record + PartialEq + std::fmt::Debug>(frame: &[u8]) {
    let mut bytes = frame.to_vec();
    seal(&mut bytes);
    if let Ok(records) = records::<R>(&bytes) {
        assert_kept(&records);
    }
}

/// Any text is a position or an error. The FEN and the key of a position decode to the same position.
pub fn fen(text: &str) {
    if let Ok(position) = text.parse::<Position>() {
        assert_eq!(position.to_string().parse(), Ok(position.clone()));
        assert_eq!(Key::decode(position.key().as_bytes()), Ok(position));
    }
}

/// Any bytes are the key of one position or an error.
pub fn key(bytes: &[u8]) {
    if let Ok(position) = Key::decode(bytes) {
        assert_eq!(position.key().as_bytes(), bytes);
    }
}

/// Any text with a valid checksum is a manifest or an error. A written manifest is read and written again without a change.
pub fn manifest(body: &str) {
    let sum = XxHash64::oneshot(0, body.as_bytes());
    let text = format!("{body},\"checksum\":\"{sum:016x}\"}}\n");
    if let Ok(manifest) = Manifest::parse::<PositionEval>(text.as_bytes()) {
        let written = manifest
            .to_bytes::<PositionEval>()
            .expect("a manifest is JSON");
        let again =
            Manifest::parse::<PositionEval>(&written).expect("what was written can be read");
        assert_eq!(
            again
                .to_bytes::<PositionEval>()
                .expect("a manifest is JSON"),
            written
        );
        assert!(again.pages().eq(manifest.pages()));
    }
}

/// Any frame with a valid checksum is a page or an error.
pub fn page(frame: &[u8]) {
    let mut bytes = frame.to_vec();
    seal(&mut bytes);
    let at = whole(1 << 30, &bytes);
    if let Ok(page) = Page::parse(&bytes, &at) {
        let blocks: Vec<Chunk> = page.blocks().collect();
        assert!(
            blocks.is_sorted_by(|a, b| a.keys.from < b.keys.from && a.range.end <= b.range.start)
        );
    }
}

/// Any bytes are a Polyglot book or an error. Its moves are legal.
pub fn polyglot(bytes: &[u8]) {
    let Ok(book) = PolyglotBook::open(bytes) else {
        return;
    };
    let start = Position::from_chess(&Chess::default());
    for key in keys(&start) {
        assert!(book.find(key).iter().all(|entry| entry.key == key));
    }
    for (m, _) in book.moves(start.chess()) {
        assert!(start.chess().is_legal(m));
        let _ = code(m);
    }
}

/// Any answer of a host is the requested bytes or an error: its status and headers, and the body in two pieces. Any text is redacted.
///
/// The input is the status, the beginning and the length of the range, and lines: three headers, the requested URL and the found URL,
/// and the rest, which is the body.
pub fn http(data: &[u8]) {
    let Some((&[status, start, length], rest)) = data.split_first_chunk() else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let mut lines = text.splitn(6, '\n');
    let mut next = || lines.next().unwrap_or_default();
    let [range, size, coding, requested, found, body] = std::array::from_fn(|_| next());
    let [range, size, coding] =
        [range, size, coding].map(|value| Some(value).filter(|value| !value.is_empty()));
    let status = [200, 206, 304, 404, 416, 503][usize::from(status) % 6];
    let head = Head {
        status,
        content_range: range,
        content_length: size,
        content_encoding: coding,
    };
    let asked = u64::from(start)..u64::from(start) + u64::from(length) + 1;
    for request in [
        Requested::Range(asked.clone()),
        Requested::Whole { cap: 500 },
    ] {
        let Ok(mut answer) = request.check(&head) else {
            continue;
        };
        let (first, second) = body.as_bytes().split_at(body.len() / 2);
        if answer
            .push(first)
            .and_then(|()| answer.push(second))
            .is_err()
        {
            continue;
        }
        let Ok(bytes) = answer.finish() else { continue };
        match request {
            Requested::Range(range)
                if status == 206 || body.len() as u64 == range.end - range.start =>
            {
                assert_eq!(bytes, body.as_bytes())
            }
            Requested::Range(range) => assert_eq!(
                bytes,
                &body.as_bytes()[range.start as usize..range.end as usize]
            ),
            Requested::Whole { cap } => {
                assert!(bytes == body.as_bytes() && bytes.len() as u64 <= cap)
            }
        }
    }
    let (folder, query) = base(requested, found);
    let is_part = |url: &&str| url.contains(folder) && url.contains(query);
    assert!([requested, found].iter().any(is_part));
    if let Ok(integrity) = requested.parse::<Integrity>() {
        assert_eq!(integrity.to_string().parse(), Ok(integrity));
    }
    let once = redacted(&text);
    assert_eq!(redacted(&once), once);
}

/// Any file is games up to an error. A game stays the same when it is written and read again, and annotation loses nothing.
pub fn pgn(file: &[u8]) {
    for text in GameTexts::new(file) {
        let text = text.expect("memory is read").text;
        let (line, mut game) = (read_main_line(&text, 1), read(&text, 1));
        assert_eq!(
            (line.tags, line.game, line.result),
            (game.tags.clone(), game.game.clone(), game.result)
        );
        if game.error.is_some() {
            continue;
        }
        let again = read(&game.to_string(), 1);
        assert_eq!(
            (&again.tags, &again.line, &again.game),
            (&game.tags, &game.line, &game.game)
        );
        let score = |n: usize| KnownEval::cp((n as i32 * 7919) % 1500 - 750, 20);
        let known: Vec<_> = (0..=game.game.moves().len())
            .map(|n| Some(score(n)))
            .collect();
        annotate(&mut game, &known).expect("as many as positions");
        assert_eq!(read(&game.to_string(), 1).game, again.game);
    }
}
