//! Cache of answers, because decoding the lines of a position takes most of the time of an answer.

use std::collections::HashMap;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// Approximate size of an entry without its texts, in bytes.
const ENTRY: usize = 128;

/// Answers by question, in bounded memory.
pub(super) struct Answers {
    max: usize,
    generations: Mutex<Generations>,
}

/// Two generations of answers. An answer that is not requested during a whole generation is dropped.
#[derive(Default)]
struct Generations {
    new: HashMap<Box<str>, Bytes>,
    old: HashMap<Box<str>, Bytes>,
    /// Size of the new generation, in bytes.
    bytes: usize,
    /// Number of replacements of the manifest, up to the manifest of these answers.
    replacements: u64,
}

impl Answers {
    /// Creates a cache of at most `max` bytes. With 0, the cache stays empty.
    pub(super) fn new(max: usize) -> Answers {
        Answers {
            max,
            generations: Mutex::default(),
        }
    }

    /// Returns the answers of the manifest after so many replacements, and drops the answers of an older manifest;
    /// `None` if the manifest has been replaced in the meantime.
    fn of(&self, replacements: u64) -> Option<MutexGuard<'_, Generations>> {
        // The maps are valid even after a panic.
        let mut generations = self
            .generations
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if generations.replacements < replacements {
            *generations = Generations {
                replacements,
                ..Generations::default()
            };
        }
        (generations.replacements == replacements).then_some(generations)
    }

    /// Returns the answer to a question. `replacements` is the number of replacements of the manifest so far.
    pub(super) fn get(&self, question: &str, replacements: u64) -> Option<Bytes> {
        let mut generations = self.of(replacements)?;
        if let Some(body) = generations.new.get(question) {
            return Some(body.clone());
        }
        let (question, body) = generations.old.remove_entry(question)?;
        self.insert(&mut generations, question, body.clone());
        Some(body)
    }

    /// Adds an answer. `replacements` is the number of replacements of the manifest before the lookup. Ignores the answer
    /// if the manifest has been replaced since then.
    pub(super) fn keep(&self, question: &str, replacements: u64, body: Bytes) {
        if let Some(mut generations) = self.of(replacements) {
            self.insert(&mut generations, question.into(), body);
        }
    }

    fn insert(&self, generations: &mut Generations, question: Box<str>, body: Bytes) {
        let bytes = question.len() + body.len() + ENTRY;
        if bytes > self.max / 2 {
            return;
        }
        if generations.bytes + bytes > self.max / 2 {
            generations.old = take(&mut generations.new);
            generations.bytes = 0;
        }
        generations.bytes += bytes;
        generations.new.insert(question, body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_answers_stay_and_memory_is_bounded() {
        let answers = Answers::new(10 * (ENTRY + 10));
        let body = |n: usize| Bytes::from(format!("{n:05}"));
        for n in 0..1000 {
            answers.keep(&format!("q{n:04}"), 0, body(n));
            assert_eq!(
                answers.get("q0000", 0),
                Some(body(0)),
                "requested all the time, after {n}"
            );
            let entries = answers
                .of(0)
                .map(|generations| generations.new.len() + generations.old.len());
            assert!(entries.is_some_and(|entries| entries <= 10), "{entries:?}");
        }
        assert_eq!(answers.get("q0500", 0), None);
        assert_eq!(answers.get("q0999", 0), Some(body(999)));
    }

    #[test]
    fn too_large_answers_are_not_kept() {
        for max in [0, 2 * ENTRY] {
            let answers = Answers::new(max);
            answers.keep("question", 0, Bytes::from_static(b"answer"));
            assert_eq!(answers.get("question", 0), None);
        }
    }

    #[test]
    fn a_new_manifest_drops_all_answers_including_late_answers() {
        let answers = Answers::new(10 * ENTRY);
        answers.keep("a", 0, Bytes::from_static(b"old"));
        assert_eq!(answers.get("a", 1), None);
        answers.keep("a", 1, Bytes::from_static(b"new"));
        answers.keep("a", 0, Bytes::from_static(b"late"));
        assert_eq!(answers.get("a", 1), Some(Bytes::from_static(b"new")));
        assert_eq!(answers.get("a", 0), None);
    }
}
