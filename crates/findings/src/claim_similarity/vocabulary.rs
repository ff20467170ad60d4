//! Words as numbers: [`Vocabulary`] numbers all stems, so that claims are compared fast.
//!
//! Reviewers repeat the words of each other, so a run of characters between whitespace is parsed
//! once and looked up from then on.

use std::ops::Range;

use super::{names, words};
use crate::collections::FastMap;

/// The number of a name in code. Names with the same stems have one number.
pub(super) type NameId = u32;

/// The words seen so far, by their spelling in lower case.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    words: FastMap<Box<str>, Word>,
    stems: FastMap<Box<str>, u32>,
    /// The numbers of the runs: texts between whitespace.
    run_numbers: FastMap<Box<str>, u32>,
    runs: Vec<Run>,
    /// The words of all runs.
    run_words: Vec<Word>,
    /// The stems of all runs that carry a meaning.
    run_tokens: Vec<u32>,
    /// The numbers of the words of all runs that begin with a letter, as they are spelt.
    run_spellings: Vec<u32>,
    spelling_numbers: FastMap<Box<str>, u32>,
    spellings: Vec<Spelling>,
    name_numbers: FastMap<Box<[u32]>, NameId>,
    /// The stems of the parts of each name.
    names: Vec<Box<[u32]>>,
}

/// A word, or a part of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) stem: u32,
    pub(super) is_stop_word: bool,
    /// True if the word negates a claim.
    is_negating: bool,
    /// True if a clause with the word may state which name is wrong and which is demanded.
    gives_roles: bool,
    /// The number of a relation word, whose two sides must not be exchanged.
    pub(super) relation: Option<u8>,
    /// True if the word has no meaning by itself: a stop word, a negation, a single letter.
    is_empty: bool,
    is_single: bool,
}

/// Properties of the words of a text that guards check first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Signals {
    /// True if a word may state which name is wrong and which is demanded.
    pub(super) gives_roles: bool,
    /// True if an odd number of words negates the claim.
    pub(super) is_negated: bool,
    /// The relations of the words: a bit for each [`Word::relation`].
    pub(super) relations: u16,
}

impl Signals {
    fn add_word(&mut self, word: Word) {
        self.add(Signals {
            gives_roles: word.gives_roles,
            is_negated: word.is_negating,
            relations: word.relation.map_or(0, |number| 1 << number),
        });
    }

    fn add(&mut self, other: Signals) {
        self.gives_roles |= other.gives_roles;
        self.is_negated ^= other.is_negated;
        self.relations |= other.relations;
    }
}

/// A parsed text between whitespace.
#[derive(Debug, Clone)]
struct Run {
    /// The range in [`Vocabulary::run_words`].
    words: Range<u32>,
    /// The range in [`Vocabulary::run_tokens`].
    tokens: Range<u32>,
    /// The range in [`Vocabulary::run_spellings`].
    spellings: Range<u32>,
    signals: Signals,
}

/// A word that begins with a letter, as it is spelt.
#[derive(Debug)]
struct Spelling {
    text: Box<str>,
    is_identifier: bool,
    /// The name of the word, computed when a text first needs it. A word may have no parts, and
    /// then has no name.
    name: Option<Option<NameId>>,
}

/// A parsed text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TokenizedText {
    /// Runs, tokens and names, one after the other.
    numbers: Box<[u32]>,
    tokens_start: u32,
    names_start: u32,
    pub(super) signals: Signals,
}

impl TokenizedText {
    /// Returns the numbers of the runs, in order.
    fn runs(&self) -> &[u32] {
        &self.numbers[..self.tokens_start as usize]
    }

    /// Returns the stems of the words that carry the meaning, in order.
    pub(super) fn tokens(&self) -> &[u32] {
        &self.numbers[span(&(self.tokens_start..self.names_start))]
    }

    /// Returns the names in code, in order and without repeats.
    pub(super) fn names(&self) -> &[NameId] {
        &self.numbers[self.names_start as usize..]
    }
}

/// Buffers that are filled for each text and retain their memory.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The runs of the text, followed by its tokens.
    numbers: Vec<u32>,
    spellings: Vec<u32>,
    names: Vec<NameId>,
    quoted: Vec<u32>,
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
        let stem = *self.stems.entry(words::stem(lower).into()).or_insert(next);
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
        self.words.insert(lower.into(), word);
        word
    }

    /// Returns the stem of a word in lower case.
    pub(super) fn stem_of(&mut self, lower: &str) -> u32 {
        self.word(lower).stem
    }

    /// Calls `each` with all words of a text, and with true if the word carries a part of the
    /// meaning. The parts of a compound name include stop words.
    fn each_word(&mut self, text: &str, mut each: impl FnMut(Word, bool)) {
        words::each_stretch(text, |stretch, is_compound| {
            words::each_part(stretch, |part| {
                let word = self.word(part);
                each(word, if is_compound { !word.is_single } else { !word.is_empty });
            });
        });
    }

    /// Returns all words of a parsed text, in order.
    pub(super) fn words(&self, reading: &TokenizedText) -> Box<[Word]> {
        let runs = reading.runs().iter().map(|run| &self.runs[*run as usize]);
        runs.flat_map(|run| &self.run_words[span(&run.words)]).copied().collect()
    }

    /// Returns the stems that carry the meaning of a text, in order.
    pub(super) fn tokens(&mut self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        self.each_word(text, |word, counts| tokens.extend(counts.then_some(word.stem)));
        tokens
    }

    /// Parses a text. Its words get their numbers before its names do.
    pub(super) fn read(&mut self, text: &str, scratch: &mut Scratch) -> TokenizedText {
        scratch.numbers.clear();
        for run in runs(text) {
            let known = self.run_numbers.get(run).copied();
            scratch.numbers.push(known.unwrap_or_else(|| self.read_run(run)));
        }
        self.assemble(text, scratch)
    }

    /// Parses the beginning of a text that was parsed already; the beginning ends at whitespace.
    pub(super) fn read_beginning(
        &mut self,
        beginning: &str,
        reading: &TokenizedText,
        scratch: &mut Scratch,
    ) -> TokenizedText {
        let count = runs(beginning).count();
        scratch.numbers.clear();
        scratch.numbers.extend_from_slice(&reading.runs()[..count]);
        self.assemble(beginning, scratch)
    }

    /// Builds the reading of a text from its runs, which are in `scratch`.
    fn assemble(&mut self, text: &str, scratch: &mut Scratch) -> TokenizedText {
        let mut signals = Signals::default();
        let numbers = &mut scratch.numbers;
        let tokens_start = numbers.len();
        scratch.spellings.clear();
        for at in 0..tokens_start {
            let run = &self.runs[numbers[at] as usize];
            numbers.extend_from_slice(&self.run_tokens[span(&run.tokens)]);
            scratch.spellings.extend_from_slice(&self.run_spellings[span(&run.spellings)]);
            signals.add(run.signals);
        }
        let names_start = numbers.len() as u32;
        self.find_names(text, scratch);
        scratch.numbers.extend_from_slice(&scratch.names);
        let numbers = scratch.numbers.as_slice().into();
        TokenizedText { numbers, tokens_start: tokens_start as u32, names_start, signals }
    }

    /// Parses a text between whitespace: neither a word nor a name continues behind whitespace.
    fn read_run(&mut self, text: &str) -> u32 {
        let ends = |this: &Vocabulary| {
            let lengths = [this.run_words.len(), this.run_tokens.len(), this.run_spellings.len()];
            lengths.map(|length| length as u32)
        };
        let [first_word, first_token, first_spelling] = ends(self);
        let mut signals = Signals::default();
        let mut words = std::mem::take(&mut self.run_words);
        let mut tokens = std::mem::take(&mut self.run_tokens);
        self.each_word(text, |word, counts| {
            words.push(word);
            tokens.extend(counts.then_some(word.stem));
            signals.add_word(word);
        });
        (self.run_words, self.run_tokens) = (words, tokens);
        names::each_word(text, |word| {
            let number = self.spelling(word);
            self.run_spellings.push(number);
        });
        let [word_end, token_end, spelling_end] = ends(self);
        let number = self.runs.len() as u32;
        self.runs.push(Run {
            words: first_word..word_end,
            tokens: first_token..token_end,
            spellings: first_spelling..spelling_end,
            signals,
        });
        self.run_numbers.insert(text.into(), number);
        number
    }

    fn spelling(&mut self, word: &str) -> u32 {
        if let Some(known) = self.spelling_numbers.get(word) {
            return *known;
        }
        let next = self.spellings.len() as u32;
        let is_identifier = names::is_identifier(word);
        self.spellings.push(Spelling { text: word.into(), is_identifier, name: None });
        self.spelling_numbers.insert(word.into(), next);
        next
    }

    /// Finds the names among the words of a text, which are in `scratch`.
    fn find_names(&mut self, text: &str, scratch: &mut Scratch) {
        scratch.names.clear();
        scratch.quoted.clear();
        let numbers = &self.spelling_numbers;
        // A quoted word that has no number is none of the words of the text.
        names::each_quoted_word(text, |word| scratch.quoted.extend(numbers.get(word)));
        for &spelling in &scratch.spellings {
            let is_identifier = self.spellings[spelling as usize].is_identifier;
            if is_identifier || scratch.quoted.contains(&spelling) {
                let name = self.name_of(spelling).filter(|name| !scratch.names.contains(name));
                scratch.names.extend(name);
            }
        }
    }

    /// Returns the name of a word; `None` if the word has no parts.
    fn name_of(&mut self, spelling: u32) -> Option<NameId> {
        if let Some(known) = self.spellings[spelling as usize].name {
            return known;
        }
        // The text is needed only once.
        let text = std::mem::take(&mut self.spellings[spelling as usize].text);
        let name = self.name(&text);
        self.spellings[spelling as usize].name = Some(name);
        name
    }

    /// Returns the number of a name by its parts; `None` if it has no parts.
    fn name(&mut self, text: &str) -> Option<NameId> {
        let mut stems = Vec::new();
        words::each_part(text, |part| stems.push(self.stem_of(part)));
        if stems.is_empty() {
            return None;
        }
        let next = self.names.len() as NameId;
        let known = self.name_numbers.get(stems.as_slice()).copied();
        Some(known.unwrap_or_else(|| {
            self.names.push(stems.as_slice().into());
            self.name_numbers.insert(stems.into(), next);
            next
        }))
    }

    /// Returns the names in code of a text, in order and without repeats.
    pub(super) fn names(&mut self, text: &str) -> Vec<NameId> {
        let mut all = Vec::new();
        names::each_name(text, |word, is_identifier| {
            if is_identifier {
                all.extend(self.name(word).filter(|name| !all.contains(name)));
            }
        });
        all
    }

    /// Returns true if both texts have names and no two of the names are the same.
    pub(super) fn share_no_name(&self, a: &[NameId], b: &[NameId]) -> bool {
        let is_same = |a: NameId, b: NameId| {
            let (one, other) = (&self.names[a as usize], &self.names[b as usize]);
            // Of names with the same number of parts, only equal ones are the same.
            a == b || (one.len() != other.len() && names::is_same_name(one, other))
        };
        let shares = || a.iter().any(|a| b.iter().any(|b| is_same(*a, *b)));
        !a.is_empty() && !b.is_empty() && !shares()
    }
}

/// Splits a text at whitespace.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.bytes().position(|byte| byte > b' ')?;
        let length = rest[start..].bytes().position(|byte| byte <= b' ');
        let (run, after) = rest[start..].split_at(length.unwrap_or(rest.len() - start));
        rest = after;
        Some(run)
    })
}

fn span(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn reading_a_text_in_runs_gives_the_same_result_as_reading_it_whole(
            texts in prop::collection::vec("([a-zA-Z0-9_$'\"`’.:/#>()ßé\u{a0} \n-]|n't |find_by|`a b` ){0,24}", 1..6)
        ) {
            let (mut by_runs, mut whole) = (Vocabulary::default(), Vocabulary::default());
            let mut scratch = Scratch::default();
            for text in &texts {
                let reading = by_runs.read(text, &mut scratch);
                let (mut words, mut signals) = (Vec::new(), Signals::default());
                whole.each_word(text, |word, _| words.push(word));
                words.iter().for_each(|word| signals.add_word(*word));
                prop_assert_eq!(by_runs.words(&reading).to_vec(), words);
                prop_assert_eq!(reading.signals, signals);
                prop_assert_eq!(reading.tokens(), whole.tokens(text));
                prop_assert_eq!(reading.names(), whole.names(text));
                prop_assert_eq!(by_runs.len(), whole.len());
                prop_assert_eq!(&by_runs.names, &whole.names);
            }
        }
    }
}
