//! `attack write DIR` writes the hostile blocks and manifests as databases, for readers in WebAssembly. `attack seeds DIR` writes a
//! first corpus for fuzz targets.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use shelfish::position::Position;
use shelfish::table::Manifest;
use shelfish_attack::{
    Attack, blocks, books, manifests, write_book, write_database, write_forged_book, write_forgery,
};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["write", dir] => write(Path::new(dir)),
        ["seeds", dir] => seeds(Path::new(dir)),
        _ => Err("usage: attack write DIR | attack seeds DIR".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("attack: {error}");
            ExitCode::FAILURE
        }
    }
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
        let table = &table[4..table.len() - 16];
        put("table", n, &[&[n as u8], table].concat())?;
    }
    // A part of the network, because the target repeats its input.
    let network = include_bytes!("../../../crate/engine/network.bin");
    for (n, part) in network.chunks(8_000).enumerate() {
        put("network", n, part)?;
    }
    let dump = zstd::decode_all(&include_bytes!("../../../tests/data/evaluations.jsonl.zst")[..])?;
    for (n, line) in dump.split(|byte| *byte == b'\n').step_by(50).enumerate() {
        put("dump", n, line)?;
    }
    let games = include_str!("../../../static-shards/famous.pgn");
    for (n, game) in games.split("\n\n[Event ").enumerate() {
        let line = ["1600-2200", "2000-", "2013", "2013-01-31"][n % 4];
        put("pgn", n, format!("[Event {game}").as_bytes())?;
        put(
            "games",
            n,
            format!("{line}\n[WhiteElo \"2000\"]\n[WhiteTitle \"BOT\"]\n[Event {game}").as_bytes(),
        )?;
    }
    let table = include_bytes!("../../../tests/data/parquet/pyarrow-snappy.parquet");
    put("parquet", 0, table)?;
    let small = |attacks: Vec<Attack>| {
        let small = |attack: &Attack| attack.block.len() < 10_000;
        attacks.into_iter().filter(small).enumerate()
    };
    for (n, Attack { fen, block, .. }) in small(blocks()) {
        let position: Position = fen.parse()?;
        put("fen", n, fen.as_bytes())?;
        put("key", n, position.key().as_bytes())?;
        // Limits of nodes, depth and lines, and some moves.
        let limits = [fen.as_bytes(), b"\n\x40\x00\x03", &[7; 40][..n % 40]];
        put("search", n, &limits.concat())?;
        put("block", n, &block[..block.len() - SEAL])?;
        let database = dir.join("database");
        let manifest = write_database(&database, fen, block)?;
        let text = fs::read_to_string(database.join(Manifest::FILE))?;
        let body = text.split(",\"checksum\"").next().unwrap_or_default();
        put("manifest", n, body.as_bytes())?;
        for (page, shard) in manifest.pages().zip(manifest.shards()) {
            let bytes = fs::read(database.join(&shard.file))?;
            let page = page.within(&bytes, 0);
            put("page", n, &page[..page.len() - SEAL])?;
        }
        fs::remove_dir_all(database)?;
    }
    for (n, Attack { block, .. }) in small(books()) {
        put("played", n, &block[..block.len() - SEAL])?;
    }
    Ok(())
}

fn write(dir: &Path) -> Result<(), Box<dyn std::error::Error>> {
    for (kind, attacks) in [("block", blocks()), ("book", books())] {
        let mut list = String::from("name\tfen\toutcome\n");
        for (n, attack) in attacks.into_iter().enumerate() {
            let Attack {
                name,
                fen,
                block,
                outcome,
            } = attack;
            let folder = dir.join(format!("{kind}-{n}"));
            match kind {
                "book" => write_book(&folder, fen, block)?,
                _ => write_database(&folder, fen, block)?,
            };
            writeln!(list, "{name}\t{fen}\t{outcome:?}")?;
        }
        fs::write(dir.join(format!("{kind}s.tsv")), list)?;
    }
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
