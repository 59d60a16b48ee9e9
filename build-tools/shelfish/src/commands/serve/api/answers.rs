//! Answers that were given, to be given again: decoding the lines of a position takes most of the time of an answer.

use std::collections::HashMap;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

/// What an answer takes beside its texts.
const ENTRY: usize = 128;

/// Bodies by question, in bounded memory.
pub(super) struct Answers {
    most: usize,
    generations: Mutex<Generations>,
}

/// What was not asked for in the time of one generation goes with it.
#[derive(Default)]
struct Generations {
    new: HashMap<Box<str>, Bytes>,
    old: HashMap<Box<str>, Bytes>,
    /// Bytes of the new ones.
    bytes: usize,
}

impl Answers {
    /// At most so many bytes; 0 keeps nothing.
    pub(super) fn new(most: usize) -> Answers {
        Answers { most, generations: Mutex::default() }
    }

    fn generations(&self) -> MutexGuard<'_, Generations> {
        // Whoever panicked left a map that is whole.
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to a question, if it is kept.
    pub(super) fn get(&self, question: &str) -> Option<Bytes> {
        let mut generations = self.generations();
        if let Some(body) = generations.new.get(question) {
            return Some(body.clone());
        }
        let (question, body) = generations.old.remove_entry(question)?;
        self.insert(&mut generations, question, body.clone());
        Some(body)
    }

    /// Keeps an answer.
    pub(super) fn keep(&self, question: &str, body: Bytes) {
        self.insert(&mut self.generations(), question.into(), body);
    }

    fn insert(&self, generations: &mut Generations, question: Box<str>, body: Bytes) {
        let bytes = question.len() + body.len() + ENTRY;
        if bytes > self.most / 2 {
            return;
        }
        if generations.bytes + bytes > self.most / 2 {
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
    fn what_is_asked_for_stays_and_memory_is_bounded() {
        let answers = Answers::new(10 * (ENTRY + 10));
        let body = |n: usize| Bytes::from(format!("{n:05}"));
        for n in 0..1000 {
            answers.keep(&format!("q{n:04}"), body(n));
            assert_eq!(answers.get("q0000"), Some(body(0)), "asked for all the time, after {n}");
            let generations = answers.generations();
            assert!(generations.new.len() + generations.old.len() <= 10);
        }
        assert_eq!(answers.get("q0500"), None);
        assert_eq!(answers.get("q0999"), Some(body(999)));
    }

    #[test]
    fn what_is_too_large_is_not_kept() {
        for most in [0, 2 * ENTRY] {
            let answers = Answers::new(most);
            answers.keep("question", Bytes::from_static(b"answer"));
            assert_eq!(answers.get("question"), None);
        }
    }
}
