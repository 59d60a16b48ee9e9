//! `attack measure` prints the cost of each hostile block and manifest for a native reader. `attack write DIR` writes them as
//! databases, for readers in WebAssembly. `attack seeds DIR` writes a first corpus for fuzz targets.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use peak_alloc::PeakAlloc;
use shelfish::eval::PositionEval;
use shelfish::played::Played;
use shelfish::position::Position;
use shelfish::table::{Block, Chunk, ContentHash, KeyRange, Manifest};
use shelfish_attack::{
    Attack, blocks, books, manifests, write_book, write_database, write_forged_book, write_forgery,
};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Number of runs of each measurement. The fastest run counts, because other work of the machine slows runs down.
const RUNS: usize = 5;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["measure"] => {
            measure();
            Ok(())
        }
        ["write", dir] => write(Path::new(dir)),
        ["seeds", dir] => seeds(Path::new(dir)),
        _ => {
            eprintln!("usage: attack measure | attack write DIR | attack seeds DIR");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("attack: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the milliseconds, and the maximum memory in bytes.
fn cost(mut work: impl FnMut()) -> (f64, usize) {
    let mut least = f64::INFINITY;
    let mut most = 0;
    for _ in 0..RUNS {
        let before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let started = Instant::now();
        work();
        least = least.min(started.elapsed().as_secs_f64() * 1e3);
        most = MEMORY.peak_usage().saturating_sub(before);
    }
    (least, most)
}

fn measure() {
    println!("| natively | bytes | ms | memory, MB | outcome |\n|---|---:|---:|---:|---|");
    for Attack {
        name, fen, block, ..
    } in blocks()
    {
        let at = Chunk {
            file: "attack".into(),
            range: 0..block.len() as u64,
            keys: KeyRange::all(),
        };
        let Ok(position) = fen.parse::<Position>() else {
            continue;
        };
        let mut outcome = String::new();
        let (ms, memory) = cost(|| {
            let found =
                Block::<PositionEval>::open(&block, &at).and_then(|block| block.find(&position));
            outcome.clear();
            let _ = match found {
                Ok(Some(eval)) => write!(outcome, "{} evaluations", eval.evaluations.len()),
                Ok(None) => write!(outcome, "not found"),
                Err(error) => write!(outcome, "{error}"),
            };
        });
        row(
            name,
            block.len(),
            ms,
            memory,
            outcome.rsplit(": ").next().unwrap_or_default(),
        );
    }
    for Attack {
        name, fen, block, ..
    } in books()
    {
        let at = Chunk {
            file: "attack".into(),
            range: 0..block.len() as u64,
            keys: KeyRange::all(),
        };
        let Ok(position) = fen.parse::<Position>() else {
            continue;
        };
        let mut outcome = String::new();
        let (ms, memory) = cost(|| {
            let found = Block::<Played>::open(&block, &at).and_then(|block| block.find(&position));
            outcome = match found {
                Ok(Some(played)) => format!("{} moves", played.moves.len()),
                Ok(None) => "not found".to_owned(),
                Err(error) => error.to_string(),
            };
        });
        let outcome = outcome.rsplit(": ").next().unwrap_or_default();
        row(&format!("moves: {name}"), block.len(), ms, memory, outcome);
    }
    for (name, bytes) in manifests() {
        let mut outcome = String::new();
        let (ms, memory) = cost(|| {
            outcome = match Manifest::parse::<PositionEval>(&bytes) {
                Ok(manifest) => format!("{} pages", manifest.pages().len()),
                Err(error) => error.to_string(),
            };
        });
        row(
            &format!("manifest: {name}"),
            bytes.len(),
            ms,
            memory,
            outcome.rsplit(": ").next().unwrap_or_default(),
        );
    }
}

fn row(name: &str, bytes: usize, ms: f64, memory: usize, outcome: &str) {
    println!(
        "| {name} | {bytes} | {ms:.1} | {:.1} | {outcome} |",
        memory as f64 / 1e6
    );
}

/// Writes a folder of files for each fuzz target.
fn seeds(dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    /// Length of the seal, which the target appends itself.
    const SEAL: usize = 8;
    let put = |target: &str, n: usize, bytes: &[u8]| {
        let folder = dir.join(target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(n.to_string()), bytes)
    };
    // Without the first bytes and the checksum, which the target adds.
    let index = include_bytes!("../../../static-shards/endgames/endgames.index");
    put("endgames", 0, &index[9..index.len() - 8])?;
    // The number of the table's name, and the table without the first bytes and the checksum.
    let tables: [&[u8]; 3] = [
        include_bytes!("../../../static-shards/endgames/KQvK.rtbw"),
        include_bytes!("../../../static-shards/endgames/KPvK.rtbw"),
        include_bytes!("../../../static-shards/endgames/KPvK.rtbz"),
    ];
    for (n, table) in tables.into_iter().enumerate() {
        put(
            "table",
            n,
            &[&[n as u8], &table[4..table.len() - 16]].concat(),
        )?;
    }
    for (n, Attack { fen, block, .. }) in blocks()
        .into_iter()
        .enumerate()
        .filter(|(_, attack)| attack.block.len() < 10_000)
    {
        let position: Position = fen.parse()?;
        put("fen", n, fen.as_bytes())?;
        let game = format!(
            "[FEN \"{fen} 0 1\"]\n\n1. e4 {{[%eval 0.17,20]}} ( 1. d4 $1 ) 1... O-O ; x\n 2. Nf3?! *\n"
        );
        put("pgn", n, game.as_bytes())?;
        put("key", n, position.key().as_bytes())?;
        // Limits of nodes, depth and lines, and some moves.
        put(
            "search",
            n,
            &[fen.as_bytes(), b"\n\x40\x00\x03", &[7; 40][..n % 40]].concat(),
        )?;
        put("block", n, &block[..block.len() - SEAL])?;
        // A key, and a payload of one evaluation of one PV.
        let key = position.key();
        let length = [key.as_bytes().len() as u8];
        put(
            "part",
            n,
            &[&length[..], key.as_bytes(), &[7, 20, 9, 1, 4, 1, 12, 28]].concat(),
        )?;
        let database = dir.join("database");
        let manifest = write_database(&database, fen, block)?;
        let text = fs::read_to_string(database.join(Manifest::FILE))?;
        put(
            "manifest",
            n,
            text.split(",\"checksum\"")
                .next()
                .unwrap_or_default()
                .as_bytes(),
        )?;
        put(
            "plan",
            n,
            &plan_and_part(&manifest, &database, position.key().as_bytes())?,
        )?;
        for (page, shard) in manifest.pages().zip(manifest.shards()) {
            let bytes = fs::read(database.join(&shard.file))?;
            let page = page.within(&bytes, 0);
            put("page", n, &page[..page.len() - SEAL])?;
        }
        fs::remove_dir_all(database)?;
    }
    // A part of the network, because the target repeats its input.
    let network = include_bytes!("../../../crate/engine/network.bin");
    for (n, part) in network.chunks(8_000).enumerate() {
        put("network", n, part)?;
    }
    for (n, line) in sample()?.lines().step_by(50).enumerate() {
        put("dump", n, line.as_bytes())?;
    }
    let position = "position startpos moves e2e4 e7e5";
    let commands = [
        "uci\nisready\nucinewgame\nsetoption name Hash value 64\nsetoption name MultiPV value 3\ngo depth 9\nstop\nquit",
        "setoption name UCI_LimitStrength value true\nsetoption name UCI_Elo value 1500\nsetoption name Clear Hash",
        &format!(
            "{position}\ngo wtime 1000 btime 900 winc 10 binc 10 movestogo 3 ponder\nponderhit"
        ),
        "position fen 8/8/8/4k3/8/4K3/4P3/8 w - - 0 1 moves e3d3\ngo nodes 500 mate 2 searchmoves e2e3 e2e4 infinite",
    ];
    for (n, command) in commands.into_iter().enumerate() {
        put("uci", n, command.as_bytes())?;
    }
    let shard = shelfish::table::shard_name(&[7; 32]);
    let uploads = format!(
        "<Upload><Key>db/{shard}</Key><UploadId>7</UploadId><Initiated>2026-01-31</Initiated></Upload>"
    );
    let sums = format!(
        "{}  lichess_db_eval.jsonl.zst\n",
        "0123456789abcdef".repeat(4)
    );
    for (n, (bytes, lines)) in [
        (
            [1, 10, 3],
            "bytes 10-13/100\n4\nidentity\nhttps://x/a/m.json\nhttps://y/b/m.json?X-Amz-Signature=1\nbody".to_owned(),
        ),
        ([0, 2, 3], format!("\n\n\ndb/\nhttps://u:p@x/\n{uploads}")),
        (
            [0, 0, 0],
            format!("\n\n\nsha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\nlichess_db_eval.jsonl.zst\n{sums}"),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        put("http", n, &[&bytes[..], lines.as_bytes()].concat())?;
    }
    for (n, Attack { block, .. }) in books()
        .into_iter()
        .enumerate()
        .filter(|(_, attack)| attack.block.len() < 10_000)
    {
        put("played", n, &block[..block.len() - SEAL])?;
    }
    Ok(())
}

/// Returns the lines of a dump.
fn sample() -> Result<String, Box<dyn std::error::Error>> {
    let dump = zstd::decode_all(&include_bytes!("../../../tests/data/evaluations.jsonl.zst")[..])?;
    Ok(String::from_utf8(dump)?)
}

/// Returns a plan of two parts and the fragment of the first part, as `shelfish parts encode` writes it for all shards of a database.
fn plan_and_part(
    manifest: &Manifest,
    database: &Path,
    boundary: &[u8],
) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
    let boundary: String = boundary.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut shards = Vec::new();
    for (page, shard) in manifest.pages().zip(manifest.shards()) {
        let bytes = fs::read(database.join(&shard.file))?;
        let inline = page.within(&bytes, 0);
        shards.push(format!(
            r#"{{"file":"{}","bytes":{},"positions":{},"pages":[{{"separator":{:?},"bytes":{},"hash":{:?}}}],"inline_pages":{inline:?}}}"#,
            shard.file,
            shard.bytes,
            shard.positions,
            page.keys.from,
            inline.len(),
            ContentHash::of(inline).to_bytes()
        ));
    }
    let totals: Vec<u64> = manifest.totals.iter().map(|(_, total)| *total).collect();
    let positions = manifest.positions;
    let plan = format!(
        r#"{{"format":"shelfish-plan-1","positions":{positions},"selection":{{"min_depth":0,"max_pvs":2,"max_plies":null,"best_only":false}},"shard_bytes":4194304,"inline_page_bytes":26000,"boundaries":["{boundary}"]}}"#
    );
    let part = format!(
        r#"{{"positions":{positions},"totals":{totals:?},"shards":[{}]}}"#,
        shards.join(",")
    );
    Ok([plan, part].join("\0").into_bytes())
}

fn write(dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let mut list = String::from("name\tfen\toutcome\n");
    for (
        n,
        Attack {
            name,
            fen,
            block,
            outcome,
        },
    ) in blocks().into_iter().enumerate()
    {
        write_database(&dir.join(format!("block-{n}")), fen, block)?;
        writeln!(list, "{name}\t{fen}\t{outcome:?}")?;
    }
    fs::write(dir.join("blocks.tsv"), list)?;
    let mut list = String::from("name\tfen\toutcome\n");
    for (
        n,
        Attack {
            name,
            fen,
            block,
            outcome,
        },
    ) in books().into_iter().enumerate()
    {
        write_book(&dir.join(format!("book-{n}")), fen, block)?;
        writeln!(list, "{name}\t{fen}\t{outcome:?}")?;
    }
    fs::write(dir.join("books.tsv"), list)?;
    let mut list = String::from("name\n");
    for (n, (name, bytes)) in manifests().into_iter().enumerate() {
        let folder = dir.join(format!("manifest-{n}"));
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(Manifest::FILE), bytes)?;
        writeln!(list, "{name}")?;
    }
    fs::write(dir.join("manifests.tsv"), list)?;
    write_forgery(&dir.join("honest"), &dir.join("forged"))?;
    write_forged_book(&dir.join("honest-book"), &dir.join("forged-book"))?;
    Ok(())
}
