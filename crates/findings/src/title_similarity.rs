//! The similarity of titles: [`compare`] decides whether two titles name one defect, and
//! [`TitleIndex`] finds the candidates without comparing all pairs.
//!
//! Recurring issues, findings in the prose of a report and `assay findings same` share this
//! measure. Merging has a measure of its own, and shares `fold_title` alone.

use std::cmp::Ordering;
use std::collections::HashMap;

/// The score from which two titles count as alike.
pub const THRESHOLD: f64 = 0.8;

/// The number of subjects at one place from which candidates are looked up by their words; fewer
/// subjects are compared directly.
const MIN_INDEXED: usize = 24;

/// The greatest distance of two lines that count as one place.
const MAX_LINE_DISTANCE: u32 = 10;

/// A title with its place, to be compared with others.
#[derive(Debug, Clone, Copy)]
pub struct ComparedTitle<'a> {
    /// The title.
    pub title: &'a str,
    /// The file; `None` if the title names none.
    pub file: Option<&'a str>,
    /// The line, from 1; `None` if the title names none.
    pub line: Option<u32>,
}

/// The similarity of two subjects, with the reason for its score.
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    /// The score, from 0 to 1.
    pub score: f64,
    /// The rule that decided the score, in a few words.
    pub why: &'static str,
}

impl Similarity {
    /// Returns true if the subjects count as the same.
    pub fn is_same(&self) -> bool {
        self.score >= THRESHOLD
    }
}

/// Compares two subjects.
pub fn compare(a: ComparedTitle<'_>, b: ComparedTitle<'_>) -> Similarity {
    if a.file != b.file {
        return Similarity { score: 0.0, why: "different files" };
    }
    let near = are_near(a.line, b.line);
    similarity(&TitleSignature::of(a.title), &TitleSignature::of(b.title), near)
}

fn are_near(a: Option<u32>, b: Option<u32>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a.abs_diff(b) <= MAX_LINE_DISTANCE)
}

/// The words of a title that carry its meaning, each kind sorted and without repeats.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct TitleSignature {
    tokens: Vec<String>,
    identifiers: Vec<String>,
    numbers: Vec<String>,
    folded: String,
}

fn similarity(a: &TitleSignature, b: &TitleSignature, near: bool) -> Similarity {
    if a.tokens.is_empty() || b.tokens.is_empty() {
        let same = !a.folded.is_empty() && a.folded == b.folded;
        return Similarity { score: f64::from(u8::from(same)), why: "no words to compare" };
    }
    let both_name = !a.identifiers.is_empty() && !b.identifiers.is_empty();
    if both_name && count_shared(&a.identifiers, &b.identifiers) == 0 {
        return Similarity { score: 0.0, why: "no identifier in common" };
    }
    if !a.numbers.is_empty() && !b.numbers.is_empty() && a.numbers != b.numbers {
        return Similarity { score: 0.0, why: "different numbers" };
    }
    let both = count_shared(&a.tokens, &b.tokens) as f64;
    let smaller = a.tokens.len().min(b.tokens.len());
    if near && smaller >= 2 {
        return Similarity { score: both / smaller as f64, why: "overlap of words at one place" };
    }
    let total = (a.tokens.len() + b.tokens.len()) as f64;
    Similarity { score: 2.0 * both / total, why: "words in common" }
}

fn count_shared(a: &[String], b: &[String]) -> usize {
    let (mut i, mut j, mut count) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => {
                count += 1;
                i += 1;
                j += 1;
            }
        }
    }
    count
}

/// Folds a title: case, whitespace, end marks and prefixes such as `Bug:` make no difference.
pub fn fold_title(title: &str) -> String {
    let mut folded = collapse_blanks(title);
    match folded.is_ascii() {
        true => folded.make_ascii_lowercase(),
        false => folded = folded.to_lowercase(),
    }
    for prefix in ["error:", "issue:", "bug:", "fix:"] {
        if let Some(rest) = folded.strip_prefix(prefix) {
            folded = rest.trim_start().to_owned();
        }
    }
    folded.truncate(folded.trim_end_matches(['.', '!', ' ', ':']).len());
    folded
}

/// Returns a text with one space between its words, and none around them.
fn collapse_blanks(text: &str) -> String {
    let bytes = text.as_bytes();
    // Both folds visit all bytes without branches, so that many bytes are compared at once.
    let is_plain = bytes.iter().fold(true, |all, byte| all & (b' '..0x7f).contains(byte));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let has_two = pairs.fold(false, |any, (a, b)| any | ((*a == b' ') & (*b == b' ')));
    // Most titles have single spaces already.
    if is_plain && !has_two {
        return text.trim_matches(' ').to_owned();
    }
    let mut single = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !single.is_empty() {
            single.push(' ');
        }
        single.push_str(word);
    }
    single
}

impl TitleSignature {
    /// Splits a title into its words, identifiers and numbers.
    pub fn of(title: &str) -> TitleSignature {
        let mut signature =
            TitleSignature { folded: fold_title(title), ..TitleSignature::default() };
        let mut outside = String::with_capacity(title.len());
        for (at, part) in title.split('`').enumerate() {
            // Every second part is between back-ticks.
            if at % 2 == 1 && !part.trim().is_empty() {
                let name = part.split_whitespace().collect::<String>();
                signature.add_identifier(name.trim_end_matches("()"));
                outside.push(' ');
            } else {
                outside.push_str(part);
            }
        }
        for word in outside.split(|c: char| !is_word_char(c)) {
            signature.add_word(word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'));
        }
        for list in [&mut signature.tokens, &mut signature.identifiers, &mut signature.numbers] {
            list.sort_unstable();
            list.dedup();
        }
        signature
    }

    fn add_word(&mut self, word: &str) {
        let lower = word.to_lowercase();
        if word.is_empty() || is_stop_word(&lower) {
            return;
        }
        if word.bytes().all(|b| b.is_ascii_digit()) {
            self.numbers.push(lower.clone());
            self.tokens.push(lower);
        } else if is_identifier(word) {
            self.add_identifier(word);
        } else {
            for part in lower.split(['-', ':', '\'', '’']) {
                if !part.is_empty() && !is_stop_word(part) {
                    self.tokens.push(stem(part).to_owned());
                }
            }
        }
    }

    fn add_identifier(&mut self, name: &str) {
        let lower = name.to_lowercase();
        self.identifiers.push(lower.clone());
        self.tokens.push(lower);
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '/' | '-' | '\'' | '’')
}

/// Returns true if a word is a name in code rather than a word of the language.
fn is_identifier(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let letter_beside_digit = chars.windows(2).any(|pair| {
        (pair[0].is_ascii_digit() && pair[1].is_alphabetic())
            || (pair[0].is_alphabetic() && pair[1].is_ascii_digit())
    });
    let inner_capital = chars.windows(2).any(|p| p[0].is_lowercase() && p[1].is_uppercase());
    let letters = chars.iter().filter(|c| c.is_alphabetic()).count();
    let all_capitals = letters >= 2 && chars.iter().all(|c| !c.is_lowercase());
    word.contains(['_', '.', '/'])
        || word.contains("::")
        || letter_beside_digit
        || inner_capital
        || all_capitals
}

/// Returns true for words that do not tell one defect from another. Words of absence are among
/// them: "missing error handling" and "no error handling" are one defect.
fn is_stop_word(word: &str) -> bool {
    matches!(
        word,
        "a" | "an"
            | "the"
            | "and"
            | "or"
            | "but"
            | "of"
            | "in"
            | "on"
            | "at"
            | "to"
            | "for"
            | "from"
            | "by"
            | "with"
            | "as"
            | "is"
            | "are"
            | "was"
            | "were"
            | "be"
            | "been"
            | "being"
            | "it"
            | "its"
            | "this"
            | "that"
            | "these"
            | "those"
            | "there"
            | "has"
            | "have"
            | "had"
            | "does"
            | "do"
            | "did"
            | "can"
            | "could"
            | "should"
            | "would"
            | "may"
            | "might"
            | "will"
            | "into"
            | "when"
            | "where"
            | "which"
            | "error:"
            | "issue:"
            | "bug:"
            | "fix:"
            | "no"
            | "not"
            | "missing"
            | "without"
            | "never"
            | "none"
            | "lacks"
            | "lack"
            | "lacking"
            | "absent"
            | "absence"
            | "cannot"
            | "isn't"
            | "doesn't"
            | "don't"
            | "aren't"
            | "wasn't"
            | "isn’t"
            | "doesn’t"
            | "don’t"
    )
}

/// Reduces a word to the stem that its forms share. The stemming is light, so that no two different
/// words have one stem.
fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let mut stem = word;
    for suffix in ["ings", "ing", "ions", "ion", "ed", "es", "s"] {
        let Some(short) = stem.strip_suffix(suffix) else { continue };
        let keeps = suffix == "s" && short.ends_with(['s', 'u', 'i']);
        if short.len() >= 3 && !keeps {
            stem = short;
            break;
        }
    }
    let short = stem.strip_suffix('e').unwrap_or(stem);
    if short.len() >= 3 { short } else { stem }
}

/// An index of many subjects that finds those which may be alike, by the rarest words they must
/// share.
///
/// Alike subjects share at least four fifths of the smaller subject's words. So the other subject
/// has at least one of the rarest fifth of these words (and one more): only these words are looked
/// up.
#[derive(Debug)]
pub struct TitleIndex {
    signatures: Vec<TitleSignature>,
    /// The words of each signature as numbers; the rarest word of all subjects is the lowest.
    words: Vec<Vec<u32>>,
    /// All subjects that were inserted at a place, in order.
    by_place: HashMap<u32, Vec<u32>>,
    /// The inserted subjects by (place, word), at places with many subjects.
    by_word: HashMap<(u32, u32), Vec<u32>>,
    /// The inserted subjects by (place, word), for only those words of which one must be shared.
    by_rare_word: HashMap<(u32, u32), Vec<u32>>,
    /// The inserted subjects without words, by (place, folded title).
    by_title: HashMap<(u32, String), Vec<u32>>,
}

impl TitleIndex {
    /// Creates an index over titles, with none inserted yet.
    pub fn from_titles<'a>(titles: impl IntoIterator<Item = &'a str>) -> TitleIndex {
        let signatures: Vec<TitleSignature> = titles.into_iter().map(TitleSignature::of).collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for token in signatures.iter().flat_map(|s| &s.tokens) {
            *counts.entry(token).or_default() += 1;
        }
        let mut ranked: Vec<(&str, usize)> = counts.into_iter().collect();
        ranked.sort_unstable_by(|a, b| a.1.cmp(&b.1).then(a.0.cmp(b.0)));
        let ranks: HashMap<&str, u32> =
            ranked.iter().zip(0u32..).map(|((token, _), rank)| (*token, rank)).collect();
        let words = signatures
            .iter()
            .map(|signature| {
                let mut words: Vec<u32> =
                    signature.tokens.iter().map(|token| ranks[token.as_str()]).collect();
                words.sort_unstable();
                words
            })
            .collect();
        TitleIndex {
            signatures,
            words,
            by_place: HashMap::new(),
            by_word: HashMap::new(),
            by_rare_word: HashMap::new(),
            by_title: HashMap::new(),
        }
    }

    /// Inserts the `id`-th title at a place. Only subjects at one place are compared.
    pub fn insert(&mut self, id: u32, place: u32) {
        let here = self.by_place.entry(place).or_default();
        here.push(id);
        match here.len().cmp(&MIN_INDEXED) {
            Ordering::Less => {}
            // From this number of subjects on, looking up words is faster than comparing all.
            Ordering::Equal => {
                for id in here.clone() {
                    self.insert_words(id, place);
                }
            }
            Ordering::Greater => self.insert_words(id, place),
        }
    }

    fn insert_words(&mut self, id: u32, place: u32) {
        let words = &self.words[id as usize];
        for word in words {
            self.by_word.entry((place, *word)).or_default().push(id);
        }
        for word in rarest_words(words) {
            self.by_rare_word.entry((place, *word)).or_default().push(id);
        }
        if words.is_empty() {
            let folded = self.signatures[id as usize].folded.clone();
            self.by_title.entry((place, folded)).or_default().push(id);
        }
    }

    /// Returns the subjects inserted at a place that may be alike to the `id`-th title, in order.
    pub fn candidates(&self, id: u32, place: u32) -> Vec<u32> {
        let here = self.by_place.get(&place).map(Vec::as_slice).unwrap_or_default();
        if here.len() < MIN_INDEXED {
            return here.to_vec();
        }
        let words = &self.words[id as usize];
        let mut found: Vec<u32> = Vec::new();
        for word in rarest_words(words) {
            found.extend(self.by_word.get(&(place, *word)).into_iter().flatten());
        }
        for word in words {
            found.extend(self.by_rare_word.get(&(place, *word)).into_iter().flatten());
        }
        if words.is_empty() {
            let folded = self.signatures[id as usize].folded.clone();
            found.extend(self.by_title.get(&(place, folded)).into_iter().flatten());
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Compares two of the titles, as titles in one file.
    pub fn similarity(&self, a: u32, b: u32, lines: (Option<u32>, Option<u32>)) -> Similarity {
        let near = are_near(lines.0, lines.1);
        similarity(&self.signatures[a as usize], &self.signatures[b as usize], near)
    }
}

/// Returns the rarest words, of which any alike subject has at least one.
fn rarest_words(words: &[u32]) -> &[u32] {
    let must_share = (words.len() as f64 * THRESHOLD).ceil() as usize;
    &words[..(words.len() - must_share + 1).min(words.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(a: &str, b: &str) -> f64 {
        let subject = |title| ComparedTitle { title, file: Some("api.py"), line: Some(42) };
        compare(subject(a), subject(b)).score
    }

    #[test]
    fn the_three_titles_of_one_recurring_issue_are_alike() {
        let titles = [
            "Missing error handling",
            "Error: Missing error handling",
            "No error handling for network failures",
        ];
        for a in titles {
            for b in titles {
                assert!(score(a, b) >= THRESHOLD, "{a} / {b}: {}", score(a, b));
            }
        }
    }

    #[test]
    fn names_and_numbers_keep_titles_apart() {
        for (a, b) in [
            ("criterion 1 not met", "criterion 2 not met"),
            ("Missing type annotation in cleanup.ts", "Missing type annotations in gap-filling.ts"),
            ("`parse_all` ignores its error", "`parse_one` ignores its error"),
            ("SQL injection in login", "XSS injection in login"),
        ] {
            assert_eq!(score(a, b), 0.0, "{a} / {b}");
        }
    }

    #[test]
    fn forms_of_one_word_are_one_word() {
        for (a, b) in [
            ("inputs not validated", "input validation missing"),
            ("Connection leaked on failure", "Connections leak on failures"),
        ] {
            assert!(score(a, b) >= THRESHOLD, "{a} / {b}: {}", score(a, b));
        }
    }
}
