//! How much two claims of reviewers say the same: [`Claims`].
//!
//! Claims are compared by their words, of which rare ones count more than frequent ones; what is
//! rare is decided by the claims of one review alone. Guards ([`Apart`]) keep claims apart whose
//! words agree and whose meaning does not.

mod guards;
mod names;
mod placing;
mod vocabulary;
mod words;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

use self::guards::{Details, Guarded};
use self::vocabulary::{Name, Vocabulary, Word};

pub(crate) use self::guards::Apart;
pub(crate) use self::placing::{IndexedLine, PlaceIndex};

/// The share that is left of the likeness of two claims that both name code and no name in common.
const NO_NAME_IN_COMMON: f64 = 0.6;

/// The claims of a review, one for each vote.
#[derive(Debug)]
pub(crate) struct Claims {
    vocabulary: RefCell<Vocabulary>,
    claims: Vec<Claim>,
    /// The claim of each vote.
    of_vote: Vec<u32>,
}

/// A claim that one or more votes make in the same words.
#[derive(Debug)]
struct Claim {
    whole: Text,
    /// The title, where it does not say all of the claim.
    title: Option<Title>,
    /// Stems with their weights, by the number of the stem. The weights have unit length.
    vector: Vec<(u32, f64)>,
}

/// A title, taken apart once a guard asks for it.
#[derive(Debug)]
struct Title {
    text: String,
    read: OnceCell<Text>,
}

/// A text without line references.
#[derive(Debug)]
struct Text {
    text: String,
    /// All words, in order.
    words: Vec<Word>,
    /// The stems of the words that carry the meaning, in order.
    tokens: Vec<u32>,
    names: Vec<Name>,
    details: OnceCell<Details>,
}

impl Claims {
    /// Reads claims, each a title and a description, in an order that does not depend on that of
    /// their arrival.
    pub(crate) fn of<'a>(votes: impl Iterator<Item = (&'a str, &'a str)>) -> Claims {
        let mut vocabulary = Vocabulary::default();
        let (mut claims, mut of_vote) = (Vec::new(), Vec::new());
        let mut known: HashMap<(&str, &str), u32> = HashMap::new();
        for (title, description) in votes {
            let claim = *known.entry((title, description)).or_insert_with(|| {
                claims.push(Claim::of(title, description, &mut vocabulary));
                claims.len() as u32 - 1
            });
            of_vote.push(claim);
        }
        weigh(&mut claims, vocabulary.len());
        Claims { vocabulary: RefCell::new(vocabulary), claims, of_vote }
    }

    fn claim(&self, vote: usize) -> &Claim {
        &self.claims[self.of_vote[vote] as usize]
    }

    /// Returns the stems of a vote's claim with their weights.
    pub(crate) fn vector(&self, vote: usize) -> &[(u32, f64)] {
        &self.claim(vote).vector
    }

    /// Returns the number of different stems.
    pub(crate) fn stems(&self) -> usize {
        self.vocabulary.borrow().len()
    }

    /// Returns true if two votes make their claim in the same words.
    pub(crate) fn are_equal(&self, a: usize, b: usize) -> bool {
        self.of_vote[a] == self.of_vote[b]
    }

    /// Returns how much two votes claim the same, from 0 to 1.
    pub(crate) fn likeness(&self, a: usize, b: usize) -> f64 {
        self.likeness_by(a, b, dot(self.vector(a), self.vector(b)))
    }

    /// Returns how much two votes claim the same, by the cosine of the angle between their vectors.
    pub(crate) fn likeness_by(&self, a: usize, b: usize, cosine: f64) -> f64 {
        if self.are_equal(a, b) {
            return 1.0;
        }
        let (a, b) = (self.claim(a), self.claim(b));
        let is_elsewhere = cosine > 0.0 && guards::share_no_name(&a.whole.names, &b.whole.names);
        (if is_elsewhere { cosine * NO_NAME_IN_COMMON } else { cosine }).min(1.0)
    }

    /// Returns the reason why two votes do not claim the same, whatever their words: their claims
    /// or their titles are apart.
    pub(crate) fn apart(&self, a: usize, b: usize) -> Option<Apart> {
        if self.are_equal(a, b) {
            return None;
        }
        let (a, b) = (self.claim(a), self.claim(b));
        let compare = |a: &Text, b: &Text| {
            guards::apart(a.guarded(&self.vocabulary), b.guarded(&self.vocabulary))
        };
        let has_title = a.title.is_some() || b.title.is_some();
        let compare_titles = || compare(a.title(&self.vocabulary), b.title(&self.vocabulary));
        compare(&a.whole, &b.whole).or_else(|| has_title.then(compare_titles).flatten())
    }
}

impl Claim {
    fn of(title: &str, description: &str, vocabulary: &mut Vocabulary) -> Claim {
        let whole = crate::finding::issue(title, description);
        let is_all = whole == title;
        Claim {
            whole: Text::of(&whole, vocabulary),
            title: (!is_all).then(|| Title { text: title.to_owned(), read: OnceCell::new() }),
            vector: Vec::new(),
        }
    }

    fn title(&self, vocabulary: &RefCell<Vocabulary>) -> &Text {
        let Some(title) = &self.title else { return &self.whole };
        title.read.get_or_init(|| Text::of(&title.text, &mut vocabulary.borrow_mut()))
    }
}

impl Text {
    fn of(text: &str, vocabulary: &mut Vocabulary) -> Text {
        let text = names::without_line_references(text).into_owned();
        let (words, tokens) = vocabulary.read(&text);
        let names = vocabulary.names(&text);
        Text { text, words, tokens, names, details: OnceCell::new() }
    }

    fn guarded<'t>(&'t self, vocabulary: &'t RefCell<Vocabulary>) -> Guarded<'t> {
        let details = self.details.get_or_init(|| Details::of(&self.tokens));
        Guarded { text: &self.text, words: &self.words, names: &self.names, details, vocabulary }
    }
}

/// Gives each claim its vector: a stem counts by how often the claim has it and by how few of the
/// different claims do.
fn weigh(claims: &mut [Claim], stems: usize) {
    let mut claims_with = vec![0u32; stems];
    let mut seen: HashSet<&[u32]> = HashSet::new();
    let mut distinct = 0u32;
    let runs: Vec<Vec<(u32, f64)>> = claims.iter().map(|c| runs(&c.whole.tokens)).collect();
    for (claim, runs) in claims.iter().zip(&runs) {
        if seen.insert(&claim.whole.tokens) {
            distinct += 1;
            runs.iter().for_each(|(stem, _)| claims_with[*stem as usize] += 1);
        }
    }
    let rarity: Vec<f64> = claims_with
        .iter()
        .map(|count| (f64::from(distinct + 1) / f64::from(count + 1)).ln() + 1.0)
        .collect();
    for (claim, runs) in claims.iter_mut().zip(runs) {
        claim.vector = vector(runs, &rarity);
    }
}

/// Returns the different stems, sorted, each with a weight that grows with how often it is there.
fn runs(tokens: &[u32]) -> Vec<(u32, f64)> {
    let mut sorted = tokens.to_vec();
    sorted.sort_unstable();
    let weight = |count: usize| if count == 1 { 1.0 } else { 1.0 + (count as f64).ln() };
    sorted.chunk_by(|a, b| a == b).map(|run| (run[0], weight(run.len()))).collect()
}

fn vector(mut runs: Vec<(u32, f64)>, rarity: &[f64]) -> Vec<(u32, f64)> {
    runs.iter_mut().for_each(|(stem, weight)| *weight *= rarity[*stem as usize]);
    let length = runs.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    runs.iter_mut().for_each(|(_, weight)| *weight /= length);
    runs
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

/// Texts that are compared by their words, of which those count more that few of the texts have.
#[derive(Debug)]
pub struct ComparedTexts(Claims);

impl ComparedTexts {
    /// Reads texts, which are named by their numbers from then on.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> ComparedTexts {
        ComparedTexts(Claims::of(texts.map(|text| (text, ""))))
    }

    /// Returns the cosine of the angle between two texts: 1 for the same words, 0 for none in common.
    pub fn cosine(&self, a: usize, b: usize) -> f64 {
        dot(self.0.vector(a), self.0.vector(b)).min(1.0)
    }
}

#[cfg(test)]
mod tests;
