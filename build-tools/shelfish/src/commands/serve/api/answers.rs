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
}

impl Answers {
    /// Creates a cache of at most `max` bytes. With 0, the cache stays empty.
    pub(super) fn new(max: usize) -> Answers {
        Answers { max, generations: Mutex::default() }
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        // The maps are valid even after a panic.
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to a question.
    pub(super) fn get(&self, question: &str) -> Option<Bytes> {
        let mut generations = self.generations();
        if let Some(body) = generations.new.get(question) {
            return Some(body.clone());
        }
        let (question, body) = generations.old.remove_entry(question)?;
        self.insert(&mut generations, question, body.clone());
        Some(body)
    }

    /// Adds an answer.
    pub(super) fn keep(&self, question: &str, body: Bytes) {
        self.insert(&mut self.generations(), question.into(), body);
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
            answers.keep(&format!("q{n:04}"), body(n));
            assert_eq!(answers.get("q0000"), Some(body(0)), "requested all the time, after {n}");
            let generations = answers.generations();
            assert!(generations.new.len() + generations.old.len() <= 10);
        }
        assert_eq!(answers.get("q0500"), None);
        assert_eq!(answers.get("q0999"), Some(body(999)));
    }

    #[test]
    fn too_large_answers_are_not_kept() {
        for max in [0, 2 * ENTRY] {
            let answers = Answers::new(max);
            answers.keep("question", Bytes::from_static(b"answer"));
            assert_eq!(answers.get("question"), None);
        }
    }
}
