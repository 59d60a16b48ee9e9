//! The file of a plan: where a database is cut into parts, and what goes into it.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shelfish::table::{KeyRange, WriterOptions};

use crate::evaluations::Selection;
use crate::terminal::shown::hexadecimal;

/// The most parts of a plan.
pub const MAX_PARTS: usize = 100_000;
/// The longest file of a plan.
const MAX_BYTES: u64 = 64 << 20;
/// What a file of a plan says of itself.
const FORMAT: &str = "shelfish-plan-1";

/// Where a database is cut into parts, and what goes into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    format: String,
    /// Positions of the sources, about: an estimate of the sample.
    pub positions: u64,
    /// What is left out.
    pub selection: Selection,
    /// Bytes of a shard, about.
    pub shard_bytes: u64,
    /// The most bytes of inline pages in the manifest.
    pub inline_page_bytes: usize,
    /// Where each part but the first begins.
    #[serde(with = "hexadecimals")]
    boundaries: Vec<Vec<u8>>,
}

/// Why a file is no plan.
#[derive(Debug)]
pub struct PlanError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub fault: PlanFault,
}

/// What is wrong with a file that should be a plan.
#[derive(Debug)]
pub enum PlanFault {
    /// It cannot be read.
    Io(io::Error),
    /// It is not JSON, or lacks a field.
    Json(serde_json::Error),
    /// It is of another format.
    Format(String),
    /// A boundary is not above the one before.
    Order(usize),
    /// There are too many parts.
    Parts(usize),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.fault {
            PlanFault::Io(error) => error.fmt(f),
            PlanFault::Json(error) => write!(f, "it is no plan of `shelfish plan`: {error}"),
            PlanFault::Format(found) => {
                write!(
                    f,
                    "its format is {found:?}, expected {FORMAT:?}: make it by the `shelfish plan` of this version"
                )
            }
            PlanFault::Order(n) => write!(f, "boundary {n} is not above the one before: make the plan again"),
            PlanFault::Parts(found) => write!(f, "it has {found} parts, expected at most {MAX_PARTS}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// A plan with parts that begin at these keys.
    pub fn new(boundaries: Vec<Vec<u8>>, positions: u64, selection: Selection, options: &WriterOptions) -> Plan {
        Plan {
            format: FORMAT.to_owned(),
            positions,
            selection,
            shard_bytes: options.shard_bytes,
            inline_page_bytes: options.inline_page_bytes,
            boundaries,
        }
    }

    /// Reads the file of a plan.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a plan that this program knows.
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        let read = || {
            let mut bytes = Vec::new();
            File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes).map(|_| bytes)
        };
        let plan = read().map_err(PlanFault::Io).and_then(|bytes| Plan::parse(&bytes));
        plan.map_err(|fault| PlanError { path: path.to_owned(), fault })
    }

    /// Reads a plan.
    ///
    /// # Errors
    ///
    /// The bytes are not a plan that this program knows.
    pub fn parse(bytes: &[u8]) -> Result<Plan, PlanFault> {
        let plan: Plan = serde_json::from_slice(bytes).map_err(PlanFault::Json)?;
        if plan.format != FORMAT {
            return Err(PlanFault::Format(plan.format));
        }
        if plan.parts() > MAX_PARTS {
            return Err(PlanFault::Parts(plan.parts()));
        }
        let is_above = |n: usize| {
            if n == 0 { !plan.boundaries[0].is_empty() } else { plan.boundaries[n - 1] < plan.boundaries[n] }
        };
        match (0..plan.boundaries.len()).find(|n| !is_above(*n)) {
            Some(n) => Err(PlanFault::Order(n + 1)),
            None => Ok(plan),
        }
    }

    /// What tells it from others: 32 hexadecimal digits of the SHA-256 of all that it says.
    pub fn id(&self) -> String {
        let json = serde_json::to_vec(self).unwrap_or_default();
        hexadecimal(&Sha256::digest(json)[..16])
    }

    /// Number of parts.
    pub fn parts(&self) -> usize {
        self.boundaries.len() + 1
    }

    /// Where each part but the first begins.
    pub fn boundaries(&self) -> &[Vec<u8>] {
        &self.boundaries
    }

    /// The part of a key.
    pub fn part_of(&self, key: &[u8]) -> usize {
        self.boundaries.partition_point(|boundary| &boundary[..] <= key)
    }

    /// The keys of a part.
    pub fn keys_of(&self, part: usize) -> KeyRange {
        let from = part.checked_sub(1).map_or_else(Vec::new, |before| self.boundaries[before].clone());
        KeyRange { from, until: self.boundaries.get(part).cloned() }
    }

    /// How its tables are written.
    pub fn writer_options(&self) -> WriterOptions {
        WriterOptions {
            shard_bytes: self.shard_bytes,
            inline_page_bytes: self.inline_page_bytes,
            info: self.selection.describe(),
            ..WriterOptions::default()
        }
    }

    /// The folder, beside the shards, of the fragments of its manifest.
    pub fn folder(&self) -> String {
        format!("parts-{}", &self.id()[..16])
    }

    /// The name of the fragment of a part.
    pub fn fragment_name(&self, part: usize) -> String {
        format!("{}/{part:05}.json", self.folder())
    }
}

/// Byte strings as hexadecimal digits.
mod hexadecimals {
    use std::fmt;

    use serde::de::{Deserializer, Error, SeqAccess, Visitor};
    use serde::{Serialize, Serializer};

    use super::MAX_PARTS;
    use crate::evaluations::parts::lines::from_hexadecimal;
    use crate::terminal::shown::hexadecimal;

    pub fn serialize<S: Serializer>(keys: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        keys.iter().map(|key| hexadecimal(key)).collect::<Vec<_>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<u8>>, D::Error> {
        deserializer.deserialize_seq(Keys)
    }

    /// Takes one after the other, so that many short ones do not take many times their bytes.
    struct Keys;

    impl<'de> Visitor<'de> for Keys {
        type Value = Vec<Vec<u8>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "at most {MAX_PARTS} beginnings of keys")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut texts: A) -> Result<Vec<Vec<u8>>, A::Error> {
            let mut keys = Vec::new();
            while let Some(text) = texts.next_element::<String>()? {
                if keys.len() == MAX_PARTS {
                    return Err(A::Error::invalid_length(keys.len() + 1, &self));
                }
                let key = from_hexadecimal(text.as_bytes()).filter(|key| key.len() <= usize::from(u8::MAX));
                let wrong = || A::Error::custom(format!("a boundary is not the beginning of a key: {text:.80}"));
                keys.push(key.ok_or_else(wrong)?);
            }
            Ok(keys)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    /// Byte strings of which many begin with others.
    fn keys() -> impl Strategy<Value = BTreeSet<Vec<u8>>> {
        btree_set(vec(prop_oneof![0..3u8, 253..=255u8], 1..5), 0..40)
    }

    fn selections() -> impl Strategy<Value = Selection> {
        any::<(u16, Option<usize>, Option<usize>, bool)>().prop_map(|(min_depth, max_pvs, max_plies, best_only)| {
            Selection { min_depth, max_pvs, max_plies, best_only }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_boundaries_give_each_key_one_part_and_parts_the_order_of_keys(
            boundaries in keys(), selection in selections(), positions: u64, shard_bytes: u64, asked in keys()
        ) {
            let options = WriterOptions { shard_bytes, ..WriterOptions::default() };
            let plan = Plan::new(boundaries.iter().cloned().collect(), positions, selection, &options);
            let text = serde_json::to_vec(&plan)?;
            let again = Plan::parse(&text);
            prop_assert!(again.is_ok_and(|again| again == plan && again.id() == plan.id()));
            let mut last = 0;
            for key in asked.union(&boundaries) {
                let part = plan.part_of(key);
                prop_assert_eq!(part, boundaries.range::<Vec<u8>, _>(..=key).count());
                prop_assert!(last <= part && (0..plan.parts()).all(|n| plan.keys_of(n).contains(key) == (n == part)));
                last = part;
            }
        }
    }

    fn plan(boundaries: &[&[u8]]) -> Plan {
        let boundaries = boundaries.iter().map(|key| key.to_vec()).collect();
        Plan::new(boundaries, 7, Selection { max_pvs: Some(2), ..Selection::default() }, &WriterOptions::default())
    }

    #[test]
    fn keys_fall_into_parts_by_the_boundaries() {
        let plan = plan(&[b"b", b"bc", b"d"]);
        for (key, part) in [("", 0), ("a", 0), ("b", 1), ("bb", 1), ("bc", 2), ("c", 2), ("d", 3), ("zz", 3)] {
            assert_eq!(plan.part_of(key.as_bytes()), part, "{key}");
            assert!((0..4).all(|n| plan.keys_of(n).contains(key.as_bytes()) == (n == part)), "{key}");
        }
    }

    #[test]
    fn a_plan_comes_back_from_its_file_and_is_known_by_what_it_says() -> Result<(), Box<dyn std::error::Error>> {
        let one = plan(&[b"b", b"\xff\x00"]);
        let text = serde_json::to_string_pretty(&one)?;
        let again = Plan::parse(text.as_bytes()).map_err(|fault| format!("{fault:?}"))?;
        assert_eq!((&again, again.id()), (&one, one.id()));
        assert_ne!(plan(&[b"b", b"c"]).id(), one.id());
        Ok(())
    }

    #[test]
    fn a_damaged_plan_is_refused_or_a_plan() {
        let whole = serde_json::to_vec(&plan(&[b"b", b"bc", b"d"])).unwrap_or_default();
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..1_000 {
            let mut text = whole.clone();
            let at = random.usize(..text.len());
            text[at] = if random.bool() { random.u8(..) } else { random.choice(*b"\"0a{}[],:").unwrap_or(b'f') };
            let Ok(plan) = Plan::parse(&text) else { continue };
            assert!(plan.boundaries().is_sorted() && plan.parts() <= MAX_PARTS);
            let again = serde_json::to_vec(&plan).map(|text| Plan::parse(&text).map(|plan| plan.id()));
            assert_eq!(again.ok().and_then(Result::ok), Some(plan.id()), "{}", String::from_utf8_lossy(&text));
        }
    }

    #[test]
    fn more_boundaries_than_parts_are_not_kept() {
        let text = format!("[{}]", vec!["\"\""; MAX_PARTS + 1].join(","));
        let keys = hexadecimals::deserialize(&mut serde_json::Deserializer::from_str(&text));
        assert!(keys.is_err_and(|error| error.to_string().contains("100001")));
    }

    #[test]
    fn what_is_no_plan_is_refused() -> Result<(), Box<dyn std::error::Error>> {
        let text = serde_json::to_string(&plan(&[b"b", b"c"]))?;
        let wrong = [
            ("shelfish-plan-1", "shelfish-plan-2"),
            ("\"62\"", "\"63\""),
            ("\"62\"", "\"\""),
            ("\"62\"", "\"6\""),
            ("\"62\"", "\"é\""),
            ("positions", "position"),
            ("{", "["),
        ];
        for (from, to) in wrong {
            assert!(
                text.contains(from) && Plan::parse(text.replacen(from, to, 1).as_bytes()).is_err(),
                "{from} to {to}"
            );
        }
        Ok(())
    }
}
