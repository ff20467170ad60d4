//! Words as numbers: [`Vocabulary`] gives every stem a number, so that claims are compared fast.

use std::collections::HashMap;

use super::{names, words};

/// A name in code, as the stems of its parts.
pub(super) type Name = Vec<u32>;

/// The words seen so far, by their spelling in lower case.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    words: HashMap<String, Word>,
    stems: HashMap<String, u32>,
}

#[derive(Debug, Clone, Copy)]
struct Word {
    stem: u32,
    /// Whether the word says nothing by itself: a stop word, a negation, a single letter.
    is_empty: bool,
    is_single: bool,
}

impl Vocabulary {
    /// Returns the number of stems.
    pub(super) fn len(&self) -> usize {
        self.stems.len()
    }

    fn word(&mut self, lower: &str) -> Word {
        if let Some(known) = self.words.get(lower) {
            return *known;
        }
        let next = self.stems.len() as u32;
        let stem = *self.stems.entry(words::stem(lower).into_owned()).or_insert(next);
        let is_single = lower.chars().nth(1).is_none();
        let is_empty = words::is_stop_word(lower)
            || words::is_negation(lower)
            || (is_single && lower.is_ascii());
        let word = Word { stem, is_empty, is_single };
        self.words.insert(lower.to_owned(), word);
        word
    }

    /// Returns the stem of a word in lower case.
    pub(super) fn stem_of(&mut self, lower: &str) -> u32 {
        self.word(lower).stem
    }

    /// Returns the stems that carry the meaning of a text, in order. The parts of a compound name
    /// keep their stop words.
    pub(super) fn tokens(&mut self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        words::each_stretch(text, |stretch, is_compound| {
            words::each_part(stretch, |part| {
                let word = self.word(part);
                let counts = if is_compound { !word.is_single } else { !word.is_empty };
                tokens.extend(counts.then_some(word.stem));
            });
        });
        tokens
    }

    /// Returns the names in code of a text, in order and without repeats.
    pub(super) fn names(&mut self, text: &str) -> Vec<Name> {
        let mut all: Vec<Name> = Vec::new();
        names::each_name(text, |word, is_identifier| {
            if !is_identifier {
                return;
            }
            let mut name = Name::new();
            words::each_part(word, |part| name.push(self.stem_of(part)));
            if !name.is_empty() && !all.contains(&name) {
                all.push(name);
            }
        });
        all
    }
}
