//! Tests with complete data sets, which are slow. `cargo xtask test --only data` runs them: `cargo test --release -p
//! shelfish-cli --test program -- --ignored --skip spark::`.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Stdio;

use crate::common::*;
use shakmaty::{EnPassantMode, Position as _};
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::position::Position;
use shelfish::reader::{Options, Reader};
use shelfish::source::file::Directory;
use shelfish::table::{Block, Manifest, Page};
use shelfish_analysis::pgn::{GameTexts, read_main_line};
use shelfish_cli::database::wait;
use shelfish_cli::lichess;

/// Returns sorted hashes of lines, which are equal for equal sets of records. Evaluations of a record with equal depth,
/// PVs and nodes have no defined order, so they are compared as a set.
fn hashes(reader: impl Read) -> Vec<u64> {
    let mut hashes: Vec<u64> = BufReader::new(reader)
        .lines()
        .map(|line| {
            let line = line.unwrap();
            let mut parts: Vec<&str> = line
                .split(r#"{"pvs":"#)
                .map(|part| part.trim_end_matches([',', ']', '}']))
                .collect();
            parts.sort_unstable();
            let mut hasher = DefaultHasher::new();
            parts.hash(&mut hasher);
            hasher.finish()
        })
        .collect();
    hashes.sort_unstable();
    hashes
}

fn round_trip(name: &str) {
    let Some(path) = data(name) else { return };
    let fixture = Fixture::new();
    println!(
        "{}",
        fixture.build(&[&path], &["--threads", "2"]).succeeds()
    );
    let db = fixture.path("db");
    let mut child = command()
        .args(["export".as_ref(), "-d".as_ref(), db.as_os_str()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let found = hashes(child.stdout.take().unwrap());
    assert!(child.wait().unwrap().success());
    let source = File::open(&path).unwrap();
    let given = if name.ends_with(".zst") {
        hashes(zstd::Decoder::new(source).unwrap())
    } else {
        hashes(source)
    };
    assert!(
        found == given,
        "{} records given, {} found",
        given.len(),
        found.len()
    );
    println!("{}", fixture.verify("db").succeeds());
    let dump = fixture.path("dump.jsonl");
    shelfish([
        "export".as_ref(),
        "-d".as_ref(),
        db.as_os_str(),
        "-o".as_ref(),
        dump.as_os_str(),
    ])
    .succeeds();
    check_stored_and_absent_positions(&db, &dump);
}

/// Looks up each position of a dump and the same number of missing positions, but at most 100,000.
fn check_stored_and_absent_positions(db: &Path, dump: &Path) {
    let reader = wait(Reader::<_, PositionEval>::open(
        Directory::new(db),
        Options::default(),
    ))
    .unwrap()
    .unwrap();
    let lines: Vec<String> = BufReader::new(File::open(dump).unwrap())
        .lines()
        .map(Result::unwrap)
        .collect();
    let fen = |line: &str| line.split('"').nth(3).unwrap().to_owned();
    let there: HashSet<String> = lines.iter().map(|line| fen(line)).collect();
    let (mut found, mut absent) = (0, 0);
    for lines in lines.chunks(10_000) {
        let positions: Vec<Position> = lines
            .iter()
            .map(|line| fen(line).parse().unwrap())
            .collect();
        let answers = wait(reader.lookup_many(&positions)).unwrap();
        for (line, answer) in lines.iter().zip(answers) {
            let mut answered = Vec::new();
            lichess::push_line(&mut answered, &answer.unwrap().unwrap());
            assert_eq!(answered.trim_ascii_end(), line.as_bytes());
            found += 1;
        }
        // The same boards with the other side to move.
        let others: Vec<Position> = positions
            .iter()
            .filter_map(|position| {
                let mut setup = position.chess().to_setup(EnPassantMode::Legal);
                setup.swap_turn();
                Position::from_setup(setup)
                    .ok()
                    .filter(|other| !there.contains(&other.to_string()))
            })
            .take(100_000 - absent)
            .collect();
        absent += others.len();
        assert!(
            wait(reader.lookup_many(&others))
                .unwrap()
                .iter()
                .all(|answer| matches!(answer, Ok(None)))
        );
    }
    println!("{found} positions found, {absent} absent ones not");
}

#[test]
#[ignore = "heavy"]
fn evals_sf_survives_a_round_trip() {
    round_trip("evals-sf.jsonl.zst");
}

#[test]
#[ignore = "heavy"]
fn evals_lichess_seed_survives_a_round_trip() {
    round_trip("evals-lichess-seed.jsonl");
}

#[test]
#[ignore = "heavy"]
fn evals_tcec_survives_a_round_trip() {
    round_trip("evals-tcec.jsonl.zst");
}

#[test]
#[ignore = "heavy"]
fn threads_and_memory_change_no_byte() {
    let Some(path) = data("evals-sf.jsonl.zst") else {
        return;
    };
    let fixture = Fixture::new();
    fixture
        .build(&[&path], &["--threads", "1", "--max-memory", "64MiB"])
        .succeeds();
    let expected = fixture.files("db");
    fs::remove_dir_all(fixture.path("db")).unwrap();
    fixture
        .build(&[&path], &["--threads", "3", "--max-memory", "1GiB"])
        .succeeds();
    assert!(fixture.files("db") == expected);
}

/// Location of each block by the checksum of its bytes.
struct Layout {
    shards: HashMap<String, u64>,
    blocks: Vec<(Location, u64)>,
}

/// File, start and end, which identify a block in the cache of a browser.
type Location = (String, u64, u64);

fn layout(dir: &Path) -> Layout {
    let bytes = fs::read(dir.join(Manifest::FILE)).unwrap();
    let manifest = Manifest::parse::<PositionEval>(&bytes).unwrap();
    let mut blocks = Vec::new();
    let shards: HashMap<&str, Vec<u8>> = manifest
        .shards()
        .iter()
        .map(|shard| (&*shard.file, fs::read(dir.join(&shard.file)).unwrap()))
        .collect();
    for page in manifest.pages() {
        let shard = &shards[&*page.file];
        for block in Page::parse(page.within(shard, 0), &page).unwrap().blocks() {
            // A block ends with its checksum.
            let checksum = u64::from_le_bytes(*block.within(shard, 0).last_chunk().unwrap());
            blocks.push((
                (block.file.to_string(), block.range.start, block.range.end),
                checksum,
            ));
        }
    }
    Layout {
        shards: manifest
            .shards()
            .iter()
            .map(|shard| (shard.file.clone(), shard.bytes))
            .collect(),
        blocks,
    }
}

/// Prints the bytes that a site uploads after `old`, and that its visitors fetch again.
fn print_change(what: &str, old: &Layout, new: &Layout) {
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let uploaded: u64 = new
        .shards
        .iter()
        .filter(|(file, _)| !old.shards.contains_key(*file))
        .map(|(_, n)| n)
        .sum();
    let places: HashSet<&Location> = old.blocks.iter().map(|(place, _)| place).collect();
    let contents: HashSet<u64> = old.blocks.iter().map(|(_, checksum)| *checksum).collect();
    let blocks = new.blocks.len() as u64;
    let moved = new
        .blocks
        .iter()
        .filter(|(place, _)| !places.contains(place))
        .count() as u64;
    let changed = new
        .blocks
        .iter()
        .filter(|(_, checksum)| !contents.contains(checksum))
        .count() as u64;
    println!(
        "{what}: uploads {:.1} % of the bytes; of {blocks} blocks {:.1} % are fetched again as the cache names them, \
         {:.1} % have other content",
        percent(uploaded, new.shards.values().sum()),
        percent(moved, blocks),
        percent(changed, blocks)
    );
}

/// Prints the share of a database that changes with 5 % of its positions.
#[test]
#[ignore = "heavy"]
fn a_change_of_positions_is_local() {
    let Some(path) = data("evals-tcec.jsonl.zst") else {
        return;
    };
    let fixture = Fixture::new();
    let reader = || {
        BufReader::new(zstd::Decoder::new(File::open(&path).unwrap()).unwrap())
            .lines()
            .map(Result::unwrap)
    };
    // King's Indian with a closed centre.
    let is_opening = |line: &str| {
        let ranks: Vec<&str> = line[8..].split(['/', ' ']).take(8).collect();
        let square = |rank: usize, file: u32| {
            let mut at = 0;
            ranks[8 - rank].chars().find(|c| {
                at += c.to_digit(10).unwrap_or(1);
                at > file
            })
        };
        [(5, 3, 'P'), (4, 4, 'P'), (6, 3, 'p'), (5, 4, 'p')]
            .iter()
            .all(|&(rank, file, p)| square(rank, file) == Some(p))
    };
    type Pick<'a> = &'a dyn Fn(usize, &str) -> bool;
    let picks: [(&str, Pick); 2] = [
        ("spread evenly", &|n, _| n % 20 == 7),
        ("in one opening", &|_, line| is_opening(line)),
    ];
    // A hundred million positions would have as many shards.
    let size = ["--shard-size", "1MiB"];
    fixture.build_to("whole", &[&path], &size).succeeds();
    let whole = layout(&fixture.path("whole"));
    for (what, is_new) in picks {
        let (old, new) = (fixture.path("old"), fixture.path("new"));
        let [mut old_file, mut new_file] =
            [&old, &new].map(|path| std::io::BufWriter::new(File::create(path).unwrap()));
        let (mut count, mut all) = (0, 0);
        for (n, line) in reader().enumerate() {
            let is_new = is_new(n, &line);
            writeln!(if is_new { &mut new_file } else { &mut old_file }, "{line}").unwrap();
            count += usize::from(is_new);
            all += 1;
        }
        [old_file, new_file]
            .iter_mut()
            .for_each(|file| file.flush().unwrap());
        fixture.build_to("base", &[&old], &size).succeeds();
        let base = fixture.path("base");
        let summary = fixture
            .build_to(
                "next",
                &[&new],
                &[&size[..], &["--base", base.to_str().unwrap()]].concat(),
            )
            .succeeds();
        assert!(fixture.files("next") == fixture.files("whole"));
        let what = format!("{count} of {all} positions, {what}");
        print_change(&what, &layout(&base), &whole);
        let kept = summary
            .lines()
            .filter(|line| line.starts_with("blocks") || line.starts_with("positions"));
        kept.for_each(|line| println!("  {line}"));
    }
}

/// Counts games with a hash map: the results of the moves of each position, by hashes of both.
#[derive(Default)]
struct Plain {
    counts: HashMap<u64, [u32; 3]>,
    games: u64,
}

struct PlainGame {
    chess: shakmaty::Chess,
    path: Vec<(shelfish::position::Key, String)>,
    result: Option<usize>,
    /// Result of the tag, for games whose moves end without a result that pgn-reader knows.
    tag: Option<usize>,
}

fn plain_hash(key: &shelfish::position::Key, m: &str) -> u64 {
    twox_hash::XxHash64::oneshot(0, &[key.as_bytes(), m.as_bytes()].concat())
}

impl pgn_reader::Visitor for Plain {
    type Tags = Option<usize>;
    type Movetext = PlainGame;
    type Output = ();

    fn begin_tags(&mut self) -> std::ops::ControlFlow<(), Option<usize>> {
        std::ops::ControlFlow::Continue(None)
    }

    fn tag(
        &mut self,
        tag: &mut Option<usize>,
        name: &[u8],
        value: pgn_reader::RawTag<'_>,
    ) -> std::ops::ControlFlow<()> {
        if name == b"Result" {
            *tag = ["1-0", "1/2", "0-1"]
                .iter()
                .position(|result| value.as_bytes().starts_with(result.as_bytes()));
        }
        std::ops::ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tag: Option<usize>) -> std::ops::ControlFlow<(), PlainGame> {
        let (chess, path) = (shakmaty::Chess::default(), Vec::new());
        std::ops::ControlFlow::Continue(PlainGame {
            chess,
            path,
            result: None,
            tag,
        })
    }

    fn begin_variation(
        &mut self,
        _: &mut PlainGame,
    ) -> std::ops::ControlFlow<(), pgn_reader::Skip> {
        std::ops::ControlFlow::Continue(pgn_reader::Skip(true))
    }

    fn san(&mut self, game: &mut PlainGame, san: pgn_reader::SanPlus) -> std::ops::ControlFlow<()> {
        match san.san.to_move(&game.chess) {
            Ok(m) => {
                let key = Position::from_chess(&game.chess).key();
                game.path
                    .push((key, m.to_uci(shakmaty::CastlingMode::Chess960).to_string()));
                game.chess.play_unchecked(m);
                std::ops::ControlFlow::Continue(())
            }
            // The moves before an error are used.
            Err(_) => std::ops::ControlFlow::Break(()),
        }
    }

    fn outcome(
        &mut self,
        game: &mut PlainGame,
        outcome: pgn_reader::Outcome,
    ) -> std::ops::ControlFlow<()> {
        game.result = match outcome {
            pgn_reader::Outcome::Known(shakmaty::KnownOutcome::Decisive { winner }) => {
                Some(winner.fold_wb(0, 2))
            }
            pgn_reader::Outcome::Known(shakmaty::KnownOutcome::Draw) => Some(1),
            pgn_reader::Outcome::Unknown => None,
        };
        std::ops::ControlFlow::Continue(())
    }

    fn end_game(&mut self, mut game: PlainGame) {
        let Some(result) = game.result.or(game.tag) else {
            return;
        };
        self.games += 1;
        game.path
            .push((Position::from_chess(&game.chess).key(), "end".to_owned()));
        let last: std::collections::BTreeMap<_, _> = game.path.into_iter().collect();
        for (key, m) in last {
            self.counts.entry(plain_hash(&key, &m)).or_default()[result] += 1;
        }
    }
}

/// Copies the games that both readers accept, and returns the number of other games.
fn sound(from: &Path, to: &Path) -> usize {
    let mut out = std::io::BufWriter::new(File::create(to).unwrap());
    let mut errors = 0;
    for game in GameTexts::new(zstd::Decoder::new(File::open(from).unwrap()).unwrap()) {
        let text = game.unwrap().text;
        let game = read_main_line(&text, 1);
        if game.error.is_some() || game.skipped != Default::default() {
            errors += 1;
            continue;
        }
        // pgn-reader skips moves with two check marks.
        out.write_all(text.replace("++", "+").as_bytes()).unwrap();
    }
    out.flush().unwrap();
    errors
}

#[test]
#[ignore = "takes minutes, and the data"]
fn a_book_of_all_games_counts_like_a_hash_map() {
    let Some(path) = data("games.pgn.zst") else {
        return;
    };
    let fixture = Fixture::new();
    let games = fixture.path("games.pgn");
    println!(
        "{} games with an error are left out: the two readers understand them differently",
        sound(&path, &games)
    );
    let mut plain = Plain::default();
    let mut reader = pgn_reader::Reader::new(BufReader::with_capacity(
        1 << 20,
        File::open(&games).unwrap(),
    ));
    while reader.read_game(&mut plain).unwrap().is_some() {}

    let mut of_five = 0;
    for least in ["1", "5"] {
        let options = [
            "--max-plies",
            "1000",
            "--threads",
            "2",
            "--min-games",
            least,
        ];
        println!("{}", fixture.book_build(&[&games], &options).succeeds());
        let (mut positions, mut found, mut wrong) = (0, 0, Vec::new());
        for record in book(&fixture.path("db")) {
            let key = record.position.key();
            let uci = |m: shakmaty::Move| m.to_uci(shakmaty::CastlingMode::Chess960).to_string();
            let moves = record
                .moves
                .iter()
                .map(|played| (uci(played.m), played.results));
            for (m, results) in moves.chain([("end".to_owned(), record.ended)]) {
                let counts =
                    [results.white, results.draws, results.black].map(|count| count as u32);
                if counts != [0; 3] {
                    found += 1;
                    let expected = plain.counts.get(&plain_hash(&key, &m));
                    if expected != Some(&counts) {
                        wrong.push(format!(
                            "{} {m}: {expected:?} by the map, {counts:?}",
                            record.position
                        ));
                    }
                }
            }
            positions += usize::from(record.results().unwrap().games() >= 5);
            assert!(
                least == "1" || record.results().unwrap().games() >= 5,
                "{}",
                record.position
            );
        }
        assert!(
            wrong.is_empty(),
            "{} are wrong:\n{}",
            wrong.len(),
            wrong.join("\n")
        );
        if least == "1" {
            assert_eq!(found, plain.counts.len());
            of_five = positions;
        }
        assert_eq!(positions, of_five);
        println!(
            "{found} moves and ends of {} games are as they should be",
            plain.games
        );
    }
}

/// Reads all records of a book.
fn book(db: &Path) -> impl Iterator<Item = Played> {
    let place = shelfish_cli::database::Args::of(db.to_str().unwrap())
        .source()
        .unwrap();
    let manifest = wait(shelfish_cli::database::manifest::<Played>(&place))
        .unwrap()
        .unwrap();
    shelfish_cli::database::scan::Scan::new(place, manifest.into())
        .unwrap()
        .flat_map(|block| {
            let shelfish_cli::database::scan::RawBlock { at, bytes } = block.unwrap();
            let block = Block::<Played>::open(&bytes, &at).unwrap();
            block.records().map(Result::unwrap).collect::<Vec<_>>()
        })
}
