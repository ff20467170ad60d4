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

/// A word, or a part of a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) stem: u32,
    pub(super) is_stop_word: bool,
    /// Whether the word turns a claim into its opposite.
    pub(super) is_negating: bool,
    /// Whether a clause with the word may say which name is wrong and which is wanted.
    pub(super) gives_roles: bool,
    /// The number of a word whose two sides must not be exchanged.
    pub(super) relation: Option<u8>,
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
        let (is_stop_word, is_negation) = (words::is_stop_word(lower), words::is_negation(lower));
        let word = Word {
            stem,
            is_stop_word,
            is_negating: is_negation || matches!(lower, "fails" | "unable"),
            gives_roles: matches!(lower, "instead" | "rather" | "should" | "must"),
            relation: words::relation(lower),
            is_empty: is_stop_word || is_negation || (is_single && lower.is_ascii()),
            is_single,
        };
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
        self.read(text).1
    }

    /// Returns all words of a text, and the stems that carry its meaning.
    pub(super) fn read(&mut self, text: &str) -> (Vec<Word>, Vec<u32>) {
        let (mut all, mut tokens) = (Vec::with_capacity(32), Vec::with_capacity(32));
        words::each_stretch(text, |stretch, is_compound| {
            words::each_part(stretch, |part| {
                let word = self.word(part);
                let counts = if is_compound { !word.is_single } else { !word.is_empty };
                tokens.extend(counts.then_some(word.stem));
                all.push(word);
            });
        });
        (all, tokens)
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
