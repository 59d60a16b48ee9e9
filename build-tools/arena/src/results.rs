//! File of results, so that a long measurement can be interrupted. Each pair is written after it was played, and a
//! later run plays the missing pairs.
//!
//! A line has five columns, separated by tabs: the key of the match, the opponent (for people), the number of the pair,
//! and the results of its two games as in PGN. Another engine or other conditions have another key.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use shelfish_uci::Setup;

use crate::{contest::Pair, error::ArenaError, game::Outcome, stats::Pairs};

/// Returns the key of the results of a match: a hash of the engines, their options and the conditions. An engine counts by
/// its signature, or by the bytes of its program if it has no signature.
pub fn key(engines: [(&Setup, Option<&str>); 2], conditions: &str) -> Result<String, ArenaError> {
    let mut hash = Sha256::new();
    for (setup, signature) in engines {
        match (signature, setup.command.first()) {
            (Some(signature), _) => hash.update(signature),
            (None, Some(program)) => {
                hash.update(fs::read(program).map_err(ArenaError::file(program.as_ref()))?)
            }
            (None, None) => {}
        }
        hash.update(format!("{:?}{:?}", setup.command.get(1..), setup.options));
    }
    hash.update(conditions);
    Ok(hash
        .finalize()
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// A file of results.
pub struct Results {
    path: PathBuf,
    file: File,
    /// Results by key and number of the pair.
    pairs: BTreeMap<(String, usize), [Outcome; 2]>,
}

impl Results {
    /// Opens or creates a file. Ignores invalid lines, because the last line may be incomplete.
    pub fn open(path: &Path) -> Result<Results, ArenaError> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(ArenaError::file(path))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(ArenaError::file(path))?;
        let mut text = String::new();
        file.read_to_string(&mut text)
            .map_err(ArenaError::file(path))?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.seek(SeekFrom::End(0))
                .and_then(|_| file.write_all(b"\n"))
                .map_err(ArenaError::file(path))?;
        }
        Ok(Results {
            path: path.to_owned(),
            file,
            pairs: text.lines().filter_map(read).collect(),
        })
    }

    /// Counts the results of a match among the first `max` pairs.
    pub fn pairs(&self, key: &str, max: usize) -> Pairs {
        let mut pairs = Pairs::default();
        let range = (key.to_owned(), 0)..(key.to_owned(), max);
        self.pairs
            .range(range)
            .for_each(|(_, outcomes)| pairs.count(outcomes[0], outcomes[1]));
        pairs
    }

    /// Lists the missing pairs among the first `max` pairs of a match.
    pub fn missing(&self, key: &str, max: usize) -> impl Iterator<Item = usize> {
        (0..max).filter(|&number| !self.pairs.contains_key(&(key.to_owned(), number)))
    }

    /// Adds a pair and appends it to the file.
    pub fn add(&mut self, key: &str, opponent: &str, pair: &Pair) -> Result<(), ArenaError> {
        let [white, black] = pair.outcomes;
        let line = format!(
            "{key}\t{opponent}\t{}\t{}\t{}\n",
            pair.number,
            white.as_str(),
            black.as_str()
        );
        self.file
            .write_all(line.as_bytes())
            .map_err(ArenaError::file(&self.path))?;
        self.pairs
            .insert((key.to_owned(), pair.number), pair.outcomes);
        Ok(())
    }
}

fn read(line: &str) -> Option<((String, usize), [Outcome; 2])> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [key, _, number, white, black] = fields[..] else {
        return None;
    };
    Some((
        (key.to_owned(), number.parse().ok()?),
        [Outcome::parse(white)?, Outcome::parse(black)?],
    ))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn file(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("arena-{name}-{}.tsv", std::process::id()));
        let _ = fs::remove_file(&path);
        path
    }

    fn pair(number: usize, outcomes: [Outcome; 2]) -> Pair {
        Pair {
            number,
            outcomes,
            ..Pair::default()
        }
    }

    #[test]
    fn a_later_run_counts_earlier_pairs_and_lists_missing_pairs() {
        let path = file("later");
        let mut results = Results::open(&path).unwrap();
        results
            .add("one", "x", &pair(0, [Outcome::White, Outcome::Black]))
            .unwrap();
        results
            .add("one", "x", &pair(2, [Outcome::Draw, Outcome::White]))
            .unwrap();
        results
            .add("other", "x", &pair(1, [Outcome::Draw; 2]))
            .unwrap();
        let results = Results::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(results.pairs("one", 10), Pairs([0, 1, 0, 0, 1]));
        assert_eq!(results.pairs("one", 2), Pairs([0, 0, 0, 0, 1]));
        assert_eq!(results.missing("one", 4).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn an_incomplete_line_is_ignored_and_does_not_affect_the_next_line() {
        let path = file("broken");
        fs::write(&path, "one\tx\t0\t1-0\t0-1\none\tx\t1\t1-").unwrap();
        Results::open(&path)
            .unwrap()
            .add("one", "x", &pair(1, [Outcome::Draw; 2]))
            .unwrap();
        let results = Results::open(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(results.pairs("one", 10), Pairs([0, 0, 1, 0, 1]));
    }

    #[test]
    fn another_engine_or_condition_has_another_key() {
        let path = file("key");
        fs::write(&path, "an engine").unwrap();
        let setup = |text: &str| Setup::parse(text).unwrap();
        let engine = setup(&format!("{} engine", path.display()));
        let key_of = |options: &str, conditions| {
            let second = setup(&format!("{} engine {options}", path.display()));
            key([(&engine, None), (&second, None)], conditions).unwrap()
        };
        let signed =
            |signature| key([(&engine, Some(signature)), (&engine, None)], "nodes 5").unwrap();
        let first = key_of("", "nodes 5");
        assert_eq!(first, key_of("", "nodes 5"));
        assert_ne!(first, key_of("Hash=32", "nodes 5"));
        assert_ne!(first, key_of("", "nodes 6"));
        assert_eq!(signed("one"), signed("one"));
        assert_ne!(signed("one"), signed("other"));
        fs::write(&path, "another engine").unwrap();
        assert_ne!(first, key_of("", "nodes 5"));
        fs::remove_file(&path).unwrap();
    }
}
