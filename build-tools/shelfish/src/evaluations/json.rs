//! Lines of dumps, as JSON.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use shelfish::eval::PositionEval;

use super::record::Reject;

#[derive(Deserialize)]
pub(super) struct RawRecord<'a> {
    #[serde(borrow)]
    pub fen: Cow<'a, str>,
    #[serde(borrow)]
    pub evals: AtMost<RawEvaluation<'a>, { PositionEval::MAX_EVALUATIONS }>,
}

#[derive(Deserialize)]
pub(super) struct RawEvaluation<'a> {
    #[serde(borrow)]
    pub pvs: AtMost<RawPv<'a>, { PositionEval::MAX_EVALUATION_PVS }>,
    pub knodes: Int,
    pub depth: Int,
}

#[derive(Deserialize)]
pub(super) struct RawPv<'a> {
    pub cp: Option<Int>,
    pub mate: Option<Int>,
    #[serde(borrow)]
    pub line: Cow<'a, str>,
}

/// Array that keeps at most `N` items.
pub(super) struct AtMost<T, const N: usize> {
    pub items: Vec<T>,
    /// Number of items, including those that were not kept.
    pub found: usize,
}

impl<T, const N: usize> AtMost<T, N> {
    /// Returns the items if all items were kept. `items` is their name in the plural.
    pub fn all(&self, items: &str) -> Result<&[T], Reject> {
        match self.found {
            found if found > N => Err(Reject::too_much(items, found, N)),
            _ => Ok(&self.items),
        }
    }
}

impl<T, const N: usize> FromIterator<T> for AtMost<T, N> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> AtMost<T, N> {
        let mut all = items.into_iter();
        let items: Vec<T> = all.by_ref().take(N).collect();
        let found = items.len() + all.count();
        AtMost { items, found }
    }
}

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for AtMost<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<AtMost<T, N>, D::Error> {
        struct Items<T, const N: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for Items<T, N> {
            type Value = AtMost<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<AtMost<T, N>, A::Error> {
                let mut most = AtMost {
                    items: Vec::new(),
                    found: 0,
                };
                // Excess items are still parsed, because they must be valid.
                while let Some(item) = items.next_element()? {
                    most.found += 1;
                    if most.found <= N {
                        most.items.push(item);
                    }
                }
                Ok(most)
            }
        }

        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// Integer in any JSON notation. Beyond 64 bits, the value saturates, which is outside of every valid range.
#[derive(Clone, Copy, Deserialize)]
#[serde(try_from = "serde_json::Number")]
pub(super) struct Int(pub i128);

impl TryFrom<serde_json::Number> for Int {
    type Error = String;

    fn try_from(number: serde_json::Number) -> Result<Int, String> {
        let whole = || number.as_f64().filter(|value| value.fract() == 0.0);
        let value = number.as_i128().or_else(|| Some(whole()? as i128));
        value
            .map(Int)
            .ok_or_else(|| format!("{number} is not whole"))
    }
}
