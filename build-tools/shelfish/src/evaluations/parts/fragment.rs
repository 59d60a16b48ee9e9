//! Fragment of a manifest, which `shelfish parts encode` writes for a part.

use std::fmt::Display;

use serde::{Deserialize, Serialize};
use shelfish::table::Part;
use twox_hash::XxHash64;

use super::Plan;

/// Format of fragments.
const FORMAT: &str = "shelfish-fragment-1";

/// Fragment of a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fragment {
    format: String,
    /// Id of the plan.
    plan: String,
    /// Number of the part.
    part: usize,
    /// Shards of the part.
    pub table: Part,
}

/// Fragment with the checksum of its text.
#[derive(Serialize, Deserialize)]
struct Sealed {
    fragment: Box<serde_json::value::RawValue>,
    checksum: String,
}

impl Fragment {
    /// Creates the fragment of a part.
    pub fn new(plan: &Plan, part: usize, table: Part) -> Fragment {
        Fragment {
            format: FORMAT.to_owned(),
            plan: plan.id().to_owned(),
            part,
            table,
        }
    }

    /// Encodes the fragment with its checksum.
    pub fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let fragment = serde_json::value::to_raw_value(self)?;
        let checksum = checksum(fragment.get());
        serde_json::to_vec(&Sealed { fragment, checksum })
    }

    /// Decodes and checks the fragment of a part. An error says why it cannot be merged into the manifest.
    pub fn parse(bytes: &[u8], plan: &Plan, part: usize) -> Result<Fragment, String> {
        let wrong = |why: String| format!("{why}: encode this part again");
        let damaged = |why: &dyn Display| wrong(format!("the fragment is damaged ({why})"));
        let json = |error| damaged(&error);
        let Sealed {
            fragment,
            checksum: expected,
        } = serde_json::from_slice(bytes).map_err(json)?;
        let found = checksum(fragment.get());
        if found != expected {
            return Err(damaged(&format!(
                "wrong checksum {found}, expected {expected}"
            )));
        }
        let fragment: Fragment = serde_json::from_str(fragment.get()).map_err(json)?;
        let found = &fragment.format;
        if found != FORMAT {
            return Err(damaged(&format!(
                "expected format {FORMAT:?}, found {found:?}"
            )));
        }
        if fragment.plan != plan.id() {
            let found = &fragment.plan;
            return Err(format!(
                "the fragment belongs to plan {found}: encode this part again with this plan"
            ));
        }
        if fragment.part != part {
            let found = fragment.part;
            return Err(wrong(format!("the fragment belongs to part {found}")));
        }
        let keys = plan.keys_of(part);
        let pages = fragment.table.shards.iter().flat_map(|shard| &shard.pages);
        let separators: Vec<_> = pages.map(|page| &page.separator).collect();
        if separators.first().is_some_and(|first| **first != keys.from)
            || !separators.iter().all(|separator| keys.contains(separator))
            || !separators.is_sorted_by(|a, b| a < b)
        {
            return Err(wrong(
                "pages are outside of the keys of the part".to_owned(),
            ));
        }
        Ok(fragment)
    }
}

fn checksum(text: &str) -> String {
    format!("{:016x}", XxHash64::oneshot(0, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;
    use shelfish::digits::hex;
    use shelfish::table::{ListedPage, Shard, WriterOptions};

    use super::*;
    use crate::evaluations::Selection;

    fn page(separator: &[u8], bytes: u64) -> ListedPage {
        let text = serde_json::json!([hex(separator), bytes, "AAAAAAAAAAAAAAAAAAAAAA"]);
        serde_json::from_value(text).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_fragment_is_accepted_only_for_its_part_and_plan_and_with_pages_of_its_part(
            boundaries in btree_set(vec(0..4u8, 1..4), 1..8), pages in btree_set(vec(0..4u8, 0..4), 0..8), part in 0..9usize
        ) {
            let plan = |boundaries: Vec<Vec<u8>>| Plan::new(boundaries, 7, Selection::default(), &WriterOptions::default());
            let other = plan(boundaries.iter().skip(1).cloned().collect());
            let plan = plan(boundaries.into_iter().collect());
            let (part, next) = (part % plan.parts(), (part + 1) % plan.parts());
            let keys = plan.keys_of(part);
            let is_right = pages.first().is_none_or(|first| *first == keys.from) && pages.iter().all(|page| keys.contains(page));
            let pages = serde_json::to_string(&pages.iter().map(|key| page(key, 7)).collect::<Vec<_>>())?;
            let table = format!(r#"{{"shards":[{{"file":"a.silo","bytes":77,"positions":9,"pages":{pages}}}],
                "positions":9,"totals":[9,9]}}"#);
            let fragment = Fragment::new(&plan, part, serde_json::from_str(&table)?);
            let bytes = fragment.to_bytes()?;
            match Fragment::parse(&bytes, &plan, part) {
                Ok(found) => prop_assert_eq!(is_right.then_some(fragment), Some(found)),
                Err(error) => {
                    let is_keys = error.contains("outside of the keys");
                    prop_assert!(is_keys && !is_right, "{}", error);
                }
            }
            let of_next = Fragment::parse(&bytes, &plan, next);
            let is_found = of_next.is_err_and(|error| error.contains(&format!("belongs to part {part}:")));
            prop_assert!(is_found);
            let of_other = Fragment::parse(&bytes, &other, part);
            let is_found = of_other.is_err_and(|error| error.contains(&format!("belongs to plan {}:", plan.id())));
            prop_assert!(is_found);
        }
    }

    #[test]
    fn modified_fragments_and_forged_pages_are_rejected() {
        let plan = Plan::new(
            vec![b"b".to_vec(), b"d".to_vec()],
            7,
            Selection::default(),
            &WriterOptions::default(),
        );
        let file = "0123456789abcdef0123456789abcdef.silo".to_owned();
        let pages = vec![page(b"b", 70), page(b"c", 7)];
        let shard = Shard {
            file,
            bytes: 77,
            positions: 9,
            live: None,
            pages,
        };
        let table = Part {
            shards: vec![shard],
            positions: 9,
            totals: vec![9, 9],
        };
        let fragment = Fragment::new(&plan, 1, table);
        let bytes = fragment.to_bytes().unwrap_or_default();
        assert_eq!(
            Fragment::parse(&bytes, &plan, 1).ok().as_ref(),
            Some(&fragment)
        );
        let mut random = fastrand::Rng::with_seed(12);
        for _ in 0..1_000 {
            let mut changed = bytes.clone();
            changed[random.usize(..bytes.len())] = random.u8(..);
            let found = Fragment::parse(&changed, &plan, 1);
            assert!(
                found.map_or(true, |found| found == fragment),
                "{}",
                String::from_utf8_lossy(&changed)
            );
        }
        for pages in [&[b"a"][..], &[b"c"], &[b"b", b"d"], &[b"b", b"b"]] {
            let mut forged = fragment.clone();
            forged.table.shards[0].pages = pages.iter().map(|key| page(&key[..], 7)).collect();
            let bytes = forged.to_bytes().unwrap_or_default();
            assert!(
                Fragment::parse(&bytes, &plan, 1)
                    .is_err_and(|error| error.contains("outside of the keys")),
                "{pages:?}"
            );
        }
    }
}
