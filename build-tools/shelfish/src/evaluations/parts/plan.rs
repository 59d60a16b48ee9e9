//! Plan of a build in parts.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use shelfish::table::{KeyRange, WriterOptions, page_blocks};

use crate::evaluations::Selection;
use shelfish::digits::hex;

/// Maximum number of parts of a plan.
pub const MAX_PARTS: usize = 100_000;
/// Maximum size of the file of a plan, in bytes.
const MAX_BYTES: u64 = 64 << 20;
/// Format of plans.
const FORMAT: &str = "shelfish-plan-1";

/// Boundaries of the parts of a database, and the selection of its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    format: String,
    /// Estimated number of positions of the sources.
    pub positions: u64,
    /// Selection of evaluations and moves.
    pub selection: Selection,
    /// Approximate size of a shard, in bytes.
    pub shard_bytes: u64,
    /// Maximum total size of inline pages in the manifest, in bytes.
    pub inline_page_bytes: usize,
    /// Lower bounds of all parts except for the first part.
    #[serde(with = "hexadecimals")]
    boundaries: Vec<Vec<u8>>,
    /// Identifier of the plan: 32 hexadecimal digits of the SHA-256 of the JSON of the other fields.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
}

impl Plan {
    /// Creates a plan whose parts begin at the given keys.
    pub fn new(
        boundaries: Vec<Vec<u8>>,
        positions: u64,
        selection: Selection,
        options: &WriterOptions,
    ) -> Plan {
        let mut plan = Plan {
            format: FORMAT.to_owned(),
            positions,
            selection,
            shard_bytes: options.shard_bytes,
            inline_page_bytes: options.inline_page_bytes,
            boundaries,
            id: String::new(),
        };
        plan.id = plan.id_of_contents();
        plan
    }

    /// Reads a plan from a file.
    pub fn read(path: &Path) -> Result<Plan, String> {
        let read = || -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| error.to_string());
        let plan = bytes.and_then(|bytes| Plan::parse(&bytes));
        plan.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Parses a plan.
    pub fn parse(bytes: &[u8]) -> Result<Plan, String> {
        let plan: Plan = serde_json::from_slice(bytes)
            .map_err(|error| format!("expected a plan from `shelfish parts plan`: {error}"))?;
        let (format, parts) = (&plan.format, plan.parts());
        if format != FORMAT {
            return Err(format!(
                "expected format {FORMAT:?}, found {format:?}: make the plan with `shelfish parts plan` of this version"
            ));
        }
        if parts > MAX_PARTS {
            return Err(format!("expected at most {MAX_PARTS} parts, found {parts}"));
        }
        let is_above = |n: usize| {
            if n == 0 {
                !plan.boundaries[0].is_empty()
            } else {
                plan.boundaries[n - 1] < plan.boundaries[n]
            }
        };
        if let Some(n) = (0..plan.boundaries.len()).find(|n| !is_above(*n)) {
            let n = n + 1;
            return Err(format!(
                "boundary {n} is not above the previous boundary: make the plan again"
            ));
        }
        let expected = plan.id_of_contents();
        if plan.id == expected {
            Ok(plan)
        } else {
            let found = plan.id;
            Err(format!(
                "the plan is damaged or was edited: its contents have the id {expected}, but the file says {found:.80}: make the \
                 plan again"
            ))
        }
    }

    /// Returns the identifier of the plan, which depends on its contents.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn id_of_contents(&self) -> String {
        let contents = Plan {
            id: String::new(),
            ..self.clone()
        };
        let json = serde_json::to_vec(&contents).unwrap_or_default();
        hex(&Sha256::digest(json)[..16])
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> usize {
        self.boundaries.len() + 1
    }

    /// Returns the lower bounds of all parts except for the first part.
    pub fn boundaries(&self) -> &[Vec<u8>] {
        &self.boundaries
    }

    /// Returns the part of a key.
    pub fn part_of(&self, key: &[u8]) -> usize {
        self.boundaries
            .partition_point(|boundary| &boundary[..] <= key)
    }

    /// Returns the keys of a part.
    pub fn keys_of(&self, part: usize) -> KeyRange {
        let from = part
            .checked_sub(1)
            .map_or_else(Vec::new, |before| self.boundaries[before].clone());
        KeyRange {
            from,
            until: self.boundaries.get(part).cloned(),
        }
    }

    /// Returns the options for the writer of the tables.
    pub fn writer_options(&self) -> WriterOptions {
        WriterOptions {
            shard_bytes: self.shard_bytes,
            page_blocks: page_blocks(self.positions),
            inline_page_bytes: self.inline_page_bytes,
            info: self.selection.describe(),
            kept: Vec::new(),
        }
    }

    /// Returns the name of the folder with the fragments, next to the shards.
    pub fn folder(&self) -> String {
        format!("parts-{}", &self.id()[..16])
    }

    /// Returns the name of the fragment of a part.
    pub fn fragment_name(&self, part: usize) -> String {
        format!("{}/{part:05}.json", self.folder())
    }
}

/// Serialization of byte strings as hexadecimal digits. A file of a plan is bounded, so its texts are, too.
mod hexadecimals {
    use serde::de::{Deserialize, Deserializer, Error};
    use serde::{Serialize, Serializer};

    use shelfish::digits::{from_hex, hex};

    pub fn serialize<S: Serializer>(keys: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
        let texts: Vec<String> = keys.iter().map(|key| hex(key)).collect();
        texts.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<Vec<u8>>, D::Error> {
        let key = |text: String| {
            let key = from_hex(text.as_bytes());
            let key = key.filter(|key| key.len() <= usize::from(u8::MAX));
            key.ok_or_else(|| {
                D::Error::custom(format!(
                    "expected hexadecimal digits of a boundary, found {text:.80}"
                ))
            })
        };
        let texts = Vec::<String>::deserialize(deserializer)?;
        texts.into_iter().map(key).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    /// Generates byte strings that often begin with each other.
    fn keys() -> impl Strategy<Value = BTreeSet<Vec<u8>>> {
        btree_set(vec(prop_oneof![0..3u8, 253..=255u8], 1..5), 0..40)
    }

    fn selections() -> impl Strategy<Value = Selection> {
        any::<(u16, Option<usize>, Option<usize>, bool)>().prop_map(
            |(min_depth, max_pvs, max_plies, best_only)| Selection {
                min_depth,
                share: None,
                max_pvs,
                max_plies,
                best_only,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn each_key_has_one_part_and_parts_have_the_order_of_keys(
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
        Plan::new(
            boundaries,
            7,
            Selection {
                max_pvs: Some(2),
                ..Selection::default()
            },
            &WriterOptions::default(),
        )
    }

    #[test]
    fn a_plan_determines_the_size_of_pages_by_its_number_of_positions() {
        let blocks = |positions| {
            let plan = Plan::new(
                vec![b"b".to_vec()],
                positions,
                Selection::default(),
                &WriterOptions::default(),
            );
            plan.writer_options().page_blocks
        };
        assert_eq!(
            [400_000_000, 1_600_000_000, 64_000_000_000].map(blocks),
            [1_024, 2_048, 4_096]
        );
    }

    #[test]
    fn a_damaged_plan_is_rejected_or_has_the_same_contents() {
        let whole = serde_json::to_vec(&plan(&[b"b", b"bc", b"d"])).unwrap_or_default();
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..1_000 {
            let mut text = whole.clone();
            let at = random.usize(..text.len());
            text[at] = if random.bool() {
                random.u8(..)
            } else {
                random.choice(*b"\"0a{}[],:").unwrap_or(b'f')
            };
            let Ok(plan) = Plan::parse(&text) else {
                continue;
            };
            assert_eq!(
                serde_json::to_vec(&plan).ok(),
                Some(whole.clone()),
                "{}",
                String::from_utf8_lossy(&text)
            );
        }
    }

    #[test]
    fn other_files_are_rejected() -> Result<(), Box<dyn std::error::Error>> {
        let text = serde_json::to_string(&plan(&[b"b", b"c"]))?;
        let wrong = [
            ("shelfish-plan-1", "shelfish-plan-2"),
            ("\"62\"", "\"63\""),
            ("\"62\"", "\"\""),
            ("\"62\"", "\"6\""),
            ("\"62\"", "\"é\""),
            ("positions", "position"),
            ("\"positions\":7", "\"positions\":8"),
            ("\"max_pvs\":2", "\"max_pvs\":3"),
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
