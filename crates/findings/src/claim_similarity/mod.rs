//! The similarity of reviewers' claims: [`Claims`].
//!
//! Claims are compared by their words, of which rare ones count more than frequent ones. The claims
//! of one review alone decide which words are rare. Guards ([`Difference`]) separate claims whose
//! words agree and whose meaning differs.

mod guards;
mod names;
mod place_index;
mod vocabulary;
mod words;

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::ops::Range;

use self::guards::{GuardedText, TextDetails};
use self::vocabulary::{Scratch, TokenizedText, Vocabulary};
use crate::collections::{FastMap, FastSet};

pub(crate) use self::guards::Difference;
pub(crate) use self::place_index::{IndexedLine, PlaceIndex};

/// The factor for the similarity of two claims that both name code and no name in common.
const NO_COMMON_NAME_FACTOR: f64 = 0.6;

/// The claims of a review, one for each vote.
#[derive(Debug)]
pub(crate) struct Claims<'a> {
    vocabulary: RefCell<Vocabulary>,
    scratch: RefCell<Scratch>,
    claims: Vec<Claim<'a>>,
    /// The index of each vote's claim in `claims`.
    of_vote: Vec<u32>,
    /// The vectors of all claims, one after the other.
    vectors: Vec<(u32, f64)>,
}

/// A claim that one or more votes make in the same words.
#[derive(Debug)]
struct Claim<'a> {
    whole: Text<'a>,
    /// The title, if it is not the whole claim.
    title: Option<Title<'a>>,
    /// The range in [`Claims::vectors`] of the stems with their weights, by the number of the stem.
    /// The weights have unit length.
    vector: Range<usize>,
}

/// A title, parsed when a guard first needs it.
#[derive(Debug)]
struct Title<'a> {
    text: &'a str,
    read: OnceCell<Box<Text<'a>>>,
}

/// A text without line references.
#[derive(Debug)]
struct Text<'a> {
    text: Cow<'a, str>,
    reading: TokenizedText,
    details: OnceCell<Box<TextDetails>>,
}

/// Removes all whitespace from a line, so that formatting makes no difference.
pub fn squeeze(line: &str) -> String {
    line.split_whitespace().collect()
}

impl<'a> Claims<'a> {
    /// Reads claims, each a title and a description. The caller passes them in an order that does
    /// not depend on the order of arrival.
    pub(crate) fn of(votes: impl Iterator<Item = (&'a str, &'a str)>) -> Claims<'a> {
        let (mut vocabulary, mut scratch) = (Vocabulary::default(), Scratch::default());
        let count = votes.size_hint().0;
        let (mut claims, mut of_vote) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let mut known: FastMap<(&str, &str), u32> = FastMap::default();
        for (title, description) in votes {
            let claim = *known.entry((title, description)).or_insert_with(|| {
                claims.push(Claim::of(title, description, &mut vocabulary, &mut scratch));
                claims.len() as u32 - 1
            });
            of_vote.push(claim);
        }
        let vectors = set_weights(&mut claims, vocabulary.len());
        let (vocabulary, scratch) = (RefCell::new(vocabulary), RefCell::new(scratch));
        Claims { vocabulary, scratch, claims, of_vote, vectors }
    }

    fn claim(&self, vote: usize) -> &Claim<'a> {
        &self.claims[self.of_vote[vote] as usize]
    }

    /// Returns the stems of a vote's claim with their weights.
    pub(crate) fn vector(&self, vote: usize) -> &[(u32, f64)] {
        &self.vectors[self.claim(vote).vector.clone()]
    }

    /// Returns the number of different stems.
    pub(crate) fn stems(&self) -> usize {
        self.vocabulary.borrow().len()
    }

    /// Returns true if two votes make their claim in the same words.
    pub(crate) fn are_equal(&self, a: usize, b: usize) -> bool {
        self.of_vote[a] == self.of_vote[b]
    }

    /// Returns the similarity of two votes' claims, from 0 to 1.
    pub(crate) fn similarity(&self, a: usize, b: usize) -> f64 {
        self.similarity_from_cosine(a, b, dot(self.vector(a), self.vector(b)))
    }

    /// Returns the similarity of two votes' claims, by the cosine of the angle between their
    /// vectors.
    pub(crate) fn similarity_from_cosine(&self, a: usize, b: usize, cosine: f64) -> f64 {
        if self.are_equal(a, b) {
            return 1.0;
        }
        let (a, b) = (self.claim(a), self.claim(b));
        let share_no_name = || {
            let (a, b) = (a.whole.reading.names(), b.whole.reading.names());
            self.vocabulary.borrow().share_no_name(a, b)
        };
        let is_elsewhere = cosine > 0.0 && share_no_name();
        (if is_elsewhere { cosine * NO_COMMON_NAME_FACTOR } else { cosine }).min(1.0)
    }

    /// Returns the reason why two votes make different claims, whatever their words: a guard
    /// separates their claims or their titles.
    pub(crate) fn difference(&self, a: usize, b: usize) -> Option<Difference> {
        if self.are_equal(a, b) {
            return None;
        }
        let (a, b) = (self.claim(a), self.claim(b));
        let compare = |a: &Text<'_>, b: &Text<'_>| {
            guards::difference(a.as_guarded(&self.vocabulary), b.as_guarded(&self.vocabulary))
        };
        let has_title = a.title.is_some() || b.title.is_some();
        let compare_titles = || compare(self.title(a), self.title(b));
        compare(&a.whole, &b.whole).or_else(|| has_title.then(compare_titles).flatten())
    }

    fn title<'c>(&self, claim: &'c Claim<'a>) -> &'c Text<'a> {
        let Some(title) = &claim.title else { return &claim.whole };
        title.read.get_or_init(|| {
            let (mut vocabulary, mut scratch) =
                (self.vocabulary.borrow_mut(), self.scratch.borrow_mut());
            let text = names::without_line_references(title.text);
            let rest = claim.whole.text.strip_prefix(&*text);
            // Most descriptions begin with their title.
            let reading = match rest.and_then(|rest| rest.bytes().next()) {
                Some(..=b' ') => {
                    vocabulary.read_beginning(&text, &claim.whole.reading, &mut scratch)
                }
                _ => vocabulary.read(&text, &mut scratch),
            };
            Box::new(Text { text, reading, details: OnceCell::new() })
        })
    }
}

impl<'a> Claim<'a> {
    fn of(
        title: &'a str,
        description: &'a str,
        vocabulary: &mut Vocabulary,
        scratch: &mut Scratch,
    ) -> Claim<'a> {
        let whole = crate::finding::issue_text(title, description);
        let is_all = whole == title;
        Claim {
            whole: Text::of(whole, vocabulary, scratch),
            title: (!is_all).then(|| Title { text: title, read: OnceCell::new() }),
            vector: 0..0,
        }
    }
}

impl<'a> Text<'a> {
    fn of(text: Cow<'a, str>, vocabulary: &mut Vocabulary, scratch: &mut Scratch) -> Text<'a> {
        let text = match names::without_line_references(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(shorter) => Cow::Owned(shorter),
        };
        let reading = vocabulary.read(&text, scratch);
        Text { text, reading, details: OnceCell::new() }
    }

    fn as_guarded<'t>(&'t self, vocabulary: &'t RefCell<Vocabulary>) -> GuardedText<'t> {
        let details = self.details.get_or_init(|| Box::new(TextDetails::of(self.reading.tokens())));
        GuardedText { text: &self.text, reading: &self.reading, details, vocabulary }
    }
}

/// Sets the vector of each claim, and returns all vectors: the weight of a stem grows with its
/// frequency in the claim, and falls with the number of different claims that contain it.
fn set_weights(claims: &mut [Claim<'_>], stems: usize) -> Vec<(u32, f64)> {
    let mut vectors =
        Vec::with_capacity(claims.iter().map(|c| c.whole.reading.tokens().len()).sum());
    let mut sorted = Vec::new();
    for claim in claims.iter_mut() {
        let start = vectors.len();
        sorted.clear();
        sorted.extend_from_slice(claim.whole.reading.tokens());
        sorted.sort_unstable();
        vectors.extend(sorted.chunk_by(|a, b| a == b).map(|run| (run[0], frequency(run.len()))));
        claim.vector = start..vectors.len();
    }
    let mut claims_with = vec![0u32; stems];
    let mut seen: FastSet<&[u32]> = FastSet::default();
    let mut distinct = 0u32;
    for claim in claims.iter() {
        if seen.insert(claim.whole.reading.tokens()) {
            distinct += 1;
            let stems = &vectors[claim.vector.clone()];
            stems.iter().for_each(|(stem, _)| claims_with[*stem as usize] += 1);
        }
    }
    let rarity: Vec<f64> = claims_with
        .iter()
        .map(|count| (f64::from(distinct + 1) / f64::from(count + 1)).ln() + 1.0)
        .collect();
    for claim in claims {
        let vector = &mut vectors[claim.vector.clone()];
        vector.iter_mut().for_each(|(stem, weight)| *weight *= rarity[*stem as usize]);
        let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|(_, weight)| *weight /= length);
    }
    vectors
}

/// Returns the weight of a stem that occurs `count` times in a claim.
fn frequency(count: usize) -> f64 {
    if count == 1 { 1.0 } else { 1.0 + (count as f64).ln() }
}

fn dot(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        match a[i].0.cmp(&b[j].0) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => {
                sum += a[i].1 * b[j].1;
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    sum
}

/// Texts that are compared by their words. Words that few of the texts contain count more.
#[derive(Debug)]
pub struct ComparedTexts<'a>(Claims<'a>);

impl<'a> ComparedTexts<'a> {
    /// Reads texts, which are then named by their index.
    pub fn of(texts: impl Iterator<Item = &'a str>) -> ComparedTexts<'a> {
        ComparedTexts(Claims::of(texts.map(|text| (text, ""))))
    }

    /// Returns the cosine of the angle between two texts: 1 for the same words, 0 for no common
    /// word.
    pub fn cosine(&self, a: usize, b: usize) -> f64 {
        dot(self.0.vector(a), self.0.vector(b)).min(1.0)
    }
}

#[cfg(test)]
mod tests;
