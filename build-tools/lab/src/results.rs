//! File of results, so that a long measurement can be interrupted. Each pair is written after it was played, and a
//! later run plays the missing pairs.
//!
//! A line has five columns, separated by tabs: the key of the match, the opponent (for people), the number of the pair,
//! and the results of its two games as in PGN. Another engine or other conditions have another key.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    ops::Range,
    path::Path,
};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use shakmaty::KnownOutcome;
use shelfish::digits::hex;
use shelfish_cli::uci::Setup;

use crate::{matches::Pair, statistics::Pairs};

/// Returns the key of the results of a match: a hash of the engines, their options and the conditions. An engine counts by
/// its signature, or by the bytes of its program if it has no signature.
pub fn key(engines: [(&Setup, Option<&str>); 2], conditions: &str) -> Result<String> {
    let mut hash = Sha256::new();
    for (setup, signature) in engines {
        match (signature, setup.command.first()) {
            (Some(signature), _) => hash.update(signature),
            (None, Some(program)) => hash.update(fs::read(program).context(program.clone())?),
            (None, None) => {}
        }
        hash.update(format!("{:?}{:?}", setup.command.get(1..), setup.options));
    }
    hash.update(conditions);
    Ok(short(hash))
}

/// Returns the first 12 hexadecimal digits of a hash.
pub fn short(hash: Sha256) -> String {
    hex(&hash.finalize()[..6])
}

/// Opens or creates a file of lines. Returns the file and its text, and ends the last line, which may be incomplete.
pub fn open_to_append(path: &Path) -> Result<(File, String)> {
    let open = || {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n")?;
        }
        Ok::<_, std::io::Error>((file, text))
    };
    open().with_context(|| path.display().to_string())
}

/// A file of results.
pub struct Results {
    file: File,
    /// Results by key and number of the pair.
    pairs: BTreeMap<(String, usize), [KnownOutcome; 2]>,
}

impl Results {
    /// Opens or creates a file. Ignores invalid lines.
    pub fn open(path: &Path) -> Result<Results> {
        let (file, text) = open_to_append(path)?;
        let pairs = text.lines().filter_map(read).collect();
        Ok(Results { file, pairs })
    }

    /// Counts the results of a match among the first `max` pairs.
    pub fn pairs(&self, key: &str, max: usize) -> Pairs {
        let mut pairs = Pairs::default();
        for (_, outcomes) in self.pairs.range((key.to_owned(), 0)..(key.to_owned(), max)) {
            pairs.count(*outcomes);
        }
        pairs
    }

    /// Lists the missing pairs of a match among some numbers.
    pub fn missing(&self, key: &str, numbers: Range<usize>) -> Vec<usize> {
        numbers
            .filter(|&number| !self.pairs.contains_key(&(key.to_owned(), number)))
            .collect()
    }

    /// Adds a pair and appends it to the file.
    pub fn add(&mut self, key: &str, opponent: &str, pair: &Pair) -> Result<()> {
        let Pair { number, outcomes } = pair;
        let [white, black] = outcomes.map(KnownOutcome::as_str);
        writeln!(self.file, "{key}\t{opponent}\t{number}\t{white}\t{black}")?;
        self.pairs.insert((key.to_owned(), *number), *outcomes);
        Ok(())
    }
}

fn read(line: &str) -> Option<((String, usize), [KnownOutcome; 2])> {
    let [key, _, number, white, black] = line.split('\t').collect::<Vec<_>>()[..] else {
        return None;
    };
    let outcomes = [white.parse().ok()?, black.parse().ok()?];
    Some(((key.to_owned(), number.parse().ok()?), outcomes))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_later_run_counts_earlier_pairs_lists_missing_pairs_and_ignores_an_incomplete_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.tsv");
        fs::write(&path, "one\tx\t0\t1-0\t0-1\none\tx\t1\t1-").unwrap();
        let mut results = Results::open(&path).unwrap();
        let mut add =
            |key, number, outcomes| results.add(key, "x", &Pair { number, outcomes }).unwrap();
        let white = KnownOutcome::from_winner(Some(shakmaty::Color::White));
        add("one", 2, [KnownOutcome::Draw, white]);
        add("other", 1, [KnownOutcome::Draw; 2]);
        let results = Results::open(&path).unwrap();
        assert_eq!(results.pairs("one", 10), Pairs([0, 1, 0, 0, 1]));
        assert_eq!(results.pairs("one", 2), Pairs([0, 0, 0, 0, 1]));
        assert_eq!(results.missing("one", 0..4), [1, 3]);
    }

    #[test]
    fn another_engine_or_condition_has_another_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine");
        fs::write(&path, "an engine").unwrap();
        let key_of = |signature, options: &str, conditions| {
            let setup = Setup::parse(&format!("{} engine {options}", path.display())).unwrap();
            key([(&setup, signature), (&setup, None)], conditions).unwrap()
        };
        let first = key_of(Some("one"), "", "nodes 5");
        assert_eq!(first, key_of(Some("one"), "", "nodes 5"));
        assert_ne!(first, key_of(Some("other"), "", "nodes 5"));
        assert_ne!(first, key_of(Some("one"), "Hash=32", "nodes 5"));
        assert_ne!(first, key_of(Some("one"), "", "nodes 6"));
        fs::write(&path, "another engine").unwrap();
        assert_ne!(first, key_of(Some("one"), "", "nodes 5"));
    }
}
