//! A place for a claim that names none: [`PlaceIndex`], over the changed lines.
//!
//! Every line is scored by the claim's words on it and near it, plus the score of its file. About
//! one in six places is in the wrong file, so a place found here is marked and separates no votes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::names;
use super::vocabulary::Vocabulary;
use super::words;

/// The greatest distance in lines at which words count for a line, and the factor for each line of
/// distance.
const MAX_WINDOW_LINES: usize = 2;
const DECAY_PER_LINE: f64 = 0.6;

/// The weight of a plain word relative to an identifier, and of a line around the change relative
/// to a changed line.
const PLAIN_WORD_WEIGHT: f64 = 0.5;
const CONTEXT_WEIGHT: f64 = 0.5;

/// The scores of a file whose name, or the stem of whose name, is in a claim.
const FILE_NAME_SCORE: f64 = 30.0;
const FILE_STEM_SCORE: f64 = 9.0;

/// The minimum length of a stem of a file name, in bytes; a shorter stem may be any word.
const MIN_STEM_BYTES: usize = 6;

/// A line in or near a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexedLine<'t> {
    /// The index of the file.
    pub(crate) file: usize,
    /// The index of the hunk.
    pub(crate) hunk: usize,
    /// The number of the line in its file, from 1.
    pub(crate) line: u32,
    /// True if the change touched the line.
    pub(crate) is_changed: bool,
    pub(crate) text: &'t str,
}

/// The lines of a change, indexed by their words.
#[derive(Debug, Default)]
pub(crate) struct PlaceIndex {
    vocabulary: Vocabulary,
    /// The file, hunk, number and weight of each line.
    lines: Vec<(usize, usize, u32, f64)>,
    by_word: HashMap<u32, Vec<usize>>,
    /// The names of the files in lower case.
    files: Vec<String>,
}

impl PlaceIndex {
    /// Indexes the lines of a change, in order, and the paths of its files.
    pub(crate) fn of<'t>(
        files: impl Iterator<Item = &'t str>,
        lines: impl Iterator<Item = IndexedLine<'t>>,
    ) -> PlaceIndex {
        let mut index = PlaceIndex::default();
        let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_lowercase();
        index.files = files.map(name).collect();
        for line in lines {
            let at = index.lines.len();
            let weight = if line.is_changed { 1.0 } else { CONTEXT_WEIGHT };
            index.lines.push((line.file, line.hunk, line.line, weight));
            let mut words: BTreeSet<u32> = index.vocabulary.tokens(line.text).into_iter().collect();
            names::each_name(line.text, |name, _| {
                each_identifier(name, |lower| {
                    words.insert(index.vocabulary.stem_of(&format!("={lower}")));
                });
            });
            for word in words {
                index.by_word.entry(word).or_default().push(at);
            }
        }
        index
    }

    /// Returns the index of the file and the line that a claim is most likely about; `None` if the
    /// claim has no word in common with the change and names none of its files.
    pub(crate) fn place(&mut self, claim: &str) -> Option<(usize, Option<u32>)> {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        let mut files = vec![0.0; self.files.len()];
        for (word, weight) in self.words_of(claim) {
            let Some(lines) = self.by_word.get(&word) else { continue };
            let weight = weight * (1.0 + self.lines.len() as f64 / lines.len() as f64).ln();
            let mut best: BTreeMap<usize, f64> = BTreeMap::new();
            let mut of_file: BTreeMap<usize, f64> = BTreeMap::new();
            for &at in lines {
                let (file, hunk, _, kind) = self.lines[at];
                let most = of_file.entry(file).or_default();
                *most = most.max(weight * kind);
                let last = (at + MAX_WINDOW_LINES).min(self.lines.len() - 1);
                for near in at.saturating_sub(MAX_WINDOW_LINES)..=last {
                    if self.lines[near].1 == hunk {
                        let decay = DECAY_PER_LINE.powi(near.abs_diff(at) as i32);
                        let most = best.entry(near).or_default();
                        *most = most.max(weight * kind * decay);
                    }
                }
            }
            best.into_iter().for_each(|(at, score)| *scores.entry(at).or_default() += score);
            of_file.into_iter().for_each(|(file, score)| files[file] += score);
        }
        let named = self.add_named_files(claim, &mut files);
        let score = |at: usize, own: f64| own + files[self.lines[at].0];
        let better = |a: &(usize, f64), b: &(usize, f64)| {
            let is_changed = |at: usize| self.lines[at].3 >= 1.0;
            score(a.0, a.1)
                .total_cmp(&score(b.0, b.1))
                .then(is_changed(a.0).cmp(&is_changed(b.0)))
                .then(b.0.cmp(&a.0))
        };
        match scores.into_iter().max_by(better) {
            Some((at, _)) => Some((self.lines[at].0, Some(self.lines[at].2))),
            None => named.map(|file| (file, None)),
        }
    }

    fn words_of(&mut self, claim: &str) -> BTreeMap<u32, f64> {
        let claim = names::without_line_references(claim);
        let mut words: BTreeMap<u32, f64> = BTreeMap::new();
        for token in self.vocabulary.tokens(&claim) {
            words.insert(token, PLAIN_WORD_WEIGHT);
        }
        names::each_name(&claim, |name, is_identifier| {
            if is_identifier {
                each_identifier(name, |lower| {
                    words.insert(self.vocabulary.stem_of(&format!("={lower}")), 1.0);
                });
            }
        });
        words
    }

    /// Adds the scores of the files that a claim names, and returns the first of them.
    fn add_named_files(&self, claim: &str, scores: &mut [f64]) -> Option<usize> {
        let lower = claim.to_lowercase();
        let mut first = None;
        for (at, name) in self.files.iter().enumerate() {
            let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
            if lower.contains(name.as_str()) {
                scores[at] += FILE_NAME_SCORE;
                first = first.or(Some(at));
            } else if stem.len() >= MIN_STEM_BYTES && has_word(&lower, stem) {
                scores[at] += FILE_STEM_SCORE;
            }
        }
        first
    }
}

/// Calls `each` with the single identifiers of a name, in lower case.
fn each_identifier(name: &str, mut each: impl FnMut(&str)) {
    let is_end = |c: char| !words::is_word(c) && c != '$';
    name.split(is_end).filter(|part| !part.is_empty()).for_each(|part| each(&part.to_lowercase()));
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(words::is_word)
            && !text[at + word.len()..].starts_with(words::is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(claim: &str) -> Option<(usize, Option<u32>)> {
        let files = ["src/orders.py", "src/billing.py"];
        let text = [
            (0, 10, "def load_order(order_id):"),
            (0, 11, "    row = find_by(order_id)"),
            (0, 12, "    return row.total"),
            (1, 40, "def charge(card, amount):"),
            (1, 41, "    gateway.submit(card, amount)"),
            (1, 42, "    audit.record(amount)"),
        ];
        let lines = text.map(|(file, line, text)| IndexedLine {
            file,
            hunk: file,
            line,
            is_changed: true,
            text,
        });
        PlaceIndex::of(files.into_iter(), lines.into_iter()).place(claim)
    }

    #[test]
    fn a_claim_is_placed_by_its_names() {
        assert_eq!(placed("`find_by` may return nothing"), Some((0, Some(11))));
        assert_eq!(placed("gateway.submit is retried without a key"), Some((1, Some(41))));
    }

    #[test]
    fn a_file_named_in_the_claim_takes_precedence() {
        assert_eq!(placed("billing.py: amount and order are not checked").map(|p| p.0), Some(1));
        assert_eq!(placed("billing.py lacks zebras"), Some((1, None)));
    }

    #[test]
    fn a_claim_without_a_common_word_has_no_place() {
        assert_eq!(placed("zebras everywhere"), None);
    }
}
