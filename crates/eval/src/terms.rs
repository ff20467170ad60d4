//! Similarity of two texts by their rare words: [`Corpus`].

use std::collections::{BTreeMap, BTreeSet};

/// Document frequencies of the words of a set's comments and labels.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    documents: usize,
    frequency: BTreeMap<String, usize>,
}

/// The weights of the words of one text, with a Euclidean length of one.
#[derive(Debug, Clone, PartialEq)]
pub struct TermVector(BTreeMap<String, f64>);

impl Corpus {
    /// Returns the corpus of some texts.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Corpus {
        let mut corpus = Corpus::default();
        for text in texts {
            corpus.documents += 1;
            for word in words(text).into_iter().collect::<BTreeSet<String>>() {
                *corpus.frequency.entry(word).or_default() += 1;
            }
        }
        corpus
    }

    /// Returns the weights of a text's words: term frequency times smoothed inverse document
    /// frequency. A word that the corpus does not know weighs as much as one that one text has.
    pub fn vector(&self, text: &str) -> TermVector {
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        for word in words(text) {
            *weights.entry(word).or_default() += 1.0;
        }
        for (word, weight) in &mut weights {
            let known = self.frequency.get(word).copied().unwrap_or(1) as f64;
            *weight *= ((1.0 + self.documents as f64) / (1.0 + known)).ln() + 1.0;
        }
        let length = weights.values().map(|weight| weight * weight).sum::<f64>().sqrt();
        if length > 0.0 {
            weights.values_mut().for_each(|weight| *weight /= length);
        }
        TermVector(weights)
    }
}

impl TermVector {
    /// Returns the cosine of the angle between two texts: 1 for the same words, 0 for none in common.
    pub fn cosine(&self, other: &TermVector) -> f64 {
        let (small, large) = match self.0.len() <= other.0.len() {
            true => (self, other),
            false => (other, self),
        };
        small.0.iter().filter_map(|(word, weight)| Some(weight * large.0.get(word)?)).sum()
    }
}

/// Words that most comments share.
const STOP_WORDS: [&str; 63] = [
    "a", "an", "the", "and", "or", "but", "if", "then", "else", "of", "in", "on", "at", "to",
    "for", "from", "by", "with", "as", "is", "are", "was", "were", "be", "been", "being", "it",
    "its", "this", "that", "these", "those", "there", "has", "have", "had", "does", "do", "did",
    "can", "could", "should", "would", "may", "might", "will", "into", "when", "where", "which",
    "while", "so", "than", "not", "no", "also", "because", "instead", "using", "use", "used",
    "via", "e",
];

/// Returns the words of a text: lower case, names split into their parts, stemmed, without stop words.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for run in text.split(|c: char| !c.is_alphanumeric()) {
        for part in name_parts(run) {
            let lower = part.to_lowercase();
            if !STOP_WORDS.contains(&lower.as_str()) {
                found.push(stem(&lower).to_owned());
            }
        }
    }
    found
}

/// Returns the parts of a name in camel case: `findByName2` has `find`, `By`, `Name2`; `HTTPServer`
/// has `HTTP`, `Server`.
fn name_parts(name: &str) -> Vec<&str> {
    let chars: Vec<(usize, char)> = name.char_indices().collect();
    let mut starts = vec![0];
    for at in 1..chars.len() {
        let (before, here) = (chars[at - 1].1, chars[at].1);
        let after = chars.get(at + 1).map(|(_, c)| *c);
        let rises = before.is_lowercase() && here.is_uppercase();
        let ends_capitals =
            before.is_uppercase() && here.is_uppercase() && after.is_some_and(char::is_lowercase);
        if rises || ends_capitals {
            starts.push(chars[at].0);
        }
    }
    let ends = starts.iter().skip(1).copied().chain([name.len()]);
    let parts = starts.iter().zip(ends).map(|(start, end)| &name[*start..end]);
    parts.filter(|part| !part.is_empty()).collect()
}

/// Returns a stem that the common forms of an English word share.
fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let mut stem = word;
    for suffix in ["ations", "ation", "ings", "ing", "ions", "ion", "ies", "ed", "es", "ly", "s"] {
        let Some(short) = stem.strip_suffix(suffix) else { continue };
        if short.len() >= 3 && !(suffix == "s" && short.ends_with(['s', 'u', 'i'])) {
            stem = short;
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(short) if short.len() >= 3 => short,
        Some(_) | None => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_by_their_parts() {
        assert_eq!(words("TopicUser.find_by"), ["topic", "user", "find"]);
        assert_eq!(words("parseHTTPHeader"), ["pars", "http", "header"]);
    }

    #[test]
    fn forms_of_one_word_are_one_word() {
        assert_eq!(words("validated validates validation"), ["validat", "validat", "valid"]);
        assert_eq!(words("caches cached caching"), ["cach", "cach", "cach"]);
    }

    #[test]
    fn a_text_is_as_similar_to_itself_as_can_be() {
        let corpus = Corpus::of(["a null pointer", "a lost update"]);
        let text = corpus.vector("null pointer in parse");
        assert!((text.cosine(&text) - 1.0).abs() < 1e-9);
        assert_eq!(text.cosine(&corpus.vector("lost update")), 0.0);
        assert_eq!(corpus.vector("the of").cosine(&text), 0.0);
    }
}
