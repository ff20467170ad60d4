//! The words by which a claim is recognised: [`ClaimPattern`] matches a [`TokenizedClaim`].
//!
//! A wrong match is worse than none. Therefore a pattern does not match a claim that denies the
//! defect (`no SQL injection is possible`), and not one that is about a text or a test
//! (`the comment mentions SQL injection`).

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The maximum number of words of a claim that are compared.
const MAX_WORDS: usize = 40;

/// The number of words before a match in which a denial counts.
const DENIAL_DISTANCE: usize = 3;

/// The minimum length of the letters before `*`.
const MIN_PREFIX_CHARS: usize = 3;

/// Words before a match that deny the defect.
const DENIALS_BEFORE: &[&str] = &[
    "against", "avoid", "avoids", "fix", "fixed", "fixes", "mitigate", "mitigates", "never", "no",
    "not", "prevent", "prevents", "protect", "protects", "refuses", "rejects", "without",
];

/// Words after a match that deny the defect.
const DENIALS_AFTER: &[&str] = &[
    "avoided", "blocked", "cannot", "fixed", "handled", "impossible", "mitigated", "necessary",
    "needed", "possible", "prevented", "refused", "rejected",
];

/// Words of claims that are about a text or a test, and not about the code that they name.
const SUBJECT_WORDS: &[&str] = &[
    "changelog", "claims", "docs", "docstring", "documentation", "mentions", "message", "messages",
    "misspelled", "readme", "says", "spelling", "test", "tested", "testing", "tests",
    "translation", "typo", "untested", "wording",
];

/// The words of a claim in lower case, each with the number of its clause.
#[derive(Debug)]
pub(crate) struct TokenizedClaim {
    words: Vec<(String, usize)>,
}

impl TokenizedClaim {
    /// Splits a claim at all characters except letters and digits. A comma, colon or semicolon
    /// before a blank, and the end of a sentence, begin a clause.
    pub(crate) fn new(claim: &str) -> TokenizedClaim {
        let mut words = Vec::new();
        let mut clause = 0;
        for chunk in claim.split_whitespace() {
            let without_apostrophes = chunk.replace(['\'', '’'], "").to_lowercase();
            let parts = without_apostrophes.split(|c: char| !c.is_alphanumeric());
            for part in parts.filter(|part| !part.is_empty()) {
                words.push((part.to_owned(), clause));
            }
            if chunk.ends_with([',', ':', ';', '.', '!', '?', '–', '—']) {
                clause += 1;
            }
            if words.len() >= MAX_WORDS {
                break;
            }
        }
        words.truncate(MAX_WORDS);
        TokenizedClaim { words }
    }

    /// Returns the words of the clause of a match, before and after the match.
    fn around(&self, matched: &Range<usize>) -> (Vec<String>, Vec<String>) {
        let (first, last) = (self.words[matched.start].1, self.words[matched.end - 1].1);
        let before = self.words[..matched.start].iter().filter(|(_, clause)| *clause == first);
        let after = self.words[matched.end..].iter().filter(|(_, clause)| *clause == last);
        let text = |(word, _): &'_ (String, usize)| word.clone();
        (before.map(text).collect(), after.map(text).collect())
    }
}

/// A pattern of words: `sql injection*`, `query|queries .. in . loop`.
///
/// The words stand in this order. `a|b` is one of several words, `inject*` a word that begins so,
/// `.` at most one other word, and `..` at most three.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClaimPattern {
    text: String,
    steps: Vec<PatternStep>,
}

/// A position of a pattern: the words that may stand there, and the gap before.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PatternStep {
    alternatives: Vec<PatternWord>,
    /// The maximum number of other words before this position.
    max_gap: usize,
}

/// A word of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
enum PatternWord {
    Whole(String),
    Prefix(String),
}

impl PatternWord {
    fn parse(text: &str) -> Result<PatternWord, String> {
        let (letters, is_prefix) = match text.strip_suffix('*') {
            Some(letters) => (letters, true),
            None => (text, false),
        };
        let is_word = !letters.is_empty() && letters.chars().all(char::is_alphanumeric);
        if !is_word || letters != letters.to_lowercase() {
            return Err(format!(
                "invalid word `{text}`: expected letters and digits in lower case"
            ));
        }
        if is_prefix && letters.chars().count() < MIN_PREFIX_CHARS {
            return Err(format!(
                "invalid word `{text}`: expected {MIN_PREFIX_CHARS} or more letters before `*`"
            ));
        }
        let letters = letters.to_owned();
        Ok(if is_prefix { PatternWord::Prefix(letters) } else { PatternWord::Whole(letters) })
    }

    fn matches(&self, word: &str) -> bool {
        match self {
            PatternWord::Whole(whole) => whole == word,
            PatternWord::Prefix(prefix) => word.starts_with(prefix.as_str()),
        }
    }
}

impl PatternStep {
    fn matches(&self, word: &str) -> bool {
        self.alternatives.iter().any(|alternative| alternative.matches(word))
    }
}

impl ClaimPattern {
    /// Returns true if a claim contains the pattern, states the defect, and is about the code.
    pub(super) fn matches(&self, claim: &TokenizedClaim, own_words: &SubjectWords) -> bool {
        (0..claim.words.len()).any(|start| {
            let matched = self.match_at(claim, start);
            matched.is_some_and(|matched| is_statement(claim, &matched, own_words))
        })
    }

    /// Returns the words that the pattern matches from a position on.
    fn match_at(&self, claim: &TokenizedClaim, start: usize) -> Option<Range<usize>> {
        let mut end = start;
        for (number, step) in self.steps.iter().enumerate() {
            let max_gap = if number == 0 { 0 } else { step.max_gap };
            let reach = (end + max_gap + 1).min(claim.words.len());
            let words = claim.words.get(end..reach).unwrap_or_default();
            end += words.iter().position(|(word, _)| step.matches(word))? + 1;
        }
        Some(start..end)
    }

    fn has_word(&self, word: &str) -> bool {
        self.steps.iter().any(|step| step.matches(word))
    }
}

impl TryFrom<String> for ClaimPattern {
    type Error = String;

    fn try_from(text: String) -> Result<ClaimPattern, String> {
        let mut steps: Vec<PatternStep> = Vec::new();
        let mut max_gap = 0;
        for part in text.split_whitespace() {
            match part {
                "." | ".." if max_gap > 0 || steps.is_empty() => {
                    return Err(format!("invalid pattern `{text}`: `{part}` must follow a word"));
                }
                "." => max_gap = 1,
                ".." => max_gap = 3,
                word => {
                    steps.extend(steps_of(word, max_gap)?);
                    max_gap = 0;
                }
            }
        }
        if steps.is_empty() || max_gap > 0 {
            return Err(format!("invalid pattern `{text}`: expected a word at its end"));
        }
        Ok(ClaimPattern { text, steps })
    }
}

/// Returns the positions of a part of a pattern: one, except for a text such as `n+1`, which a
/// claim has as two words.
fn steps_of(part: &str, max_gap: usize) -> Result<Vec<PatternStep>, String> {
    let words: Vec<&str> = part.split('+').collect();
    let step = |(number, word): (usize, &&str)| {
        let alternatives = word.split('|').map(PatternWord::parse).collect::<Result<_, _>>()?;
        Ok(PatternStep { alternatives, max_gap: if number == 0 { max_gap } else { 0 } })
    };
    words.iter().enumerate().map(step).collect()
}

impl From<ClaimPattern> for String {
    fn from(pattern: ClaimPattern) -> String {
        pattern.text
    }
}

/// The words that make a claim one about a text or a test, without those that a template itself
/// looks for.
#[derive(Debug, Clone)]
pub(super) struct SubjectWords(Vec<&'static str>);

impl SubjectWords {
    pub(super) fn of(patterns: &[ClaimPattern]) -> SubjectWords {
        let is_own = |word: &str| patterns.iter().any(|pattern| pattern.has_word(word));
        SubjectWords(SUBJECT_WORDS.iter().copied().filter(|word| !is_own(word)).collect())
    }
}

/// Returns true if a claim states the defect that it names, and is about the code.
fn is_statement(claim: &TokenizedClaim, matched: &Range<usize>, subjects: &SubjectWords) -> bool {
    let (before, after) = claim.around(matched);
    let is_in = |words: &[&str], word: &String| words.contains(&word.as_str());
    let mut near = before.iter().rev().take(DENIAL_DISTANCE);
    let is_denied = near.any(|word| is_in(DENIALS_BEFORE, word))
        || after.iter().any(|word| is_in(DENIALS_AFTER, word));
    let outside = claim.words[..matched.start].iter().chain(&claim.words[matched.end..]);
    let mut outside = outside.map(|(word, _)| word);
    !is_denied && !outside.any(|word| is_in(&subjects.0, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, claim: &str, expected: bool) {
        let pattern = ClaimPattern::try_from(pattern.to_owned()).unwrap();
        let subjects = SubjectWords::of(std::slice::from_ref(&pattern));
        let matches = pattern.matches(&TokenizedClaim::new(claim), &subjects);
        assert_eq!(matches, expected, "{pattern:?} on {claim:?}");
    }

    #[test]
    fn words_match_in_their_order_with_small_gaps() {
        check("sql injection*", "Possible SQL-injections in `find`", true);
        check("sql injection", "Injection of SQL", false);
        check("sql injection", "NoSQL injection", false);
        check("query in . loop", "Query in a loop", true);
        check("query in . loop", "Query in the outer loop", false);
        check("query .. loop", "Query in the outer loop", true);
        check("file|stream never closed", "Stream never closed", true);
        check("n+1 quer*", "N+1 queries for tags", true);
        check("n+1", "n+10 elements", false);
    }

    #[test]
    fn a_denied_defect_does_not_match() {
        check("deadlock*", "No deadlock: the order is fixed", false);
        check("deadlock*", "A deadlock is impossible here", false);
        check("deadlock*", "Lock order prevents deadlocks", false);
        check("deadlock*", "No timeout, so a deadlock stays", true);
        check("no timeout", "No timeout on the call", true);
    }

    #[test]
    fn a_claim_about_a_text_or_a_test_does_not_match() {
        check("xss", "Comment says XSS is handled", false);
        check("xss", "Test of the XSS filter is slow", false);
        check("no test for", "No test for the parser", true);
    }

    #[test]
    fn an_invalid_pattern_is_refused_with_the_reason() {
        let refused = |text: &str| ClaimPattern::try_from(text.to_owned()).unwrap_err();
        assert_eq!(refused(".. sql"), "invalid pattern `.. sql`: `..` must follow a word");
        assert_eq!(refused("sql .."), "invalid pattern `sql ..`: expected a word at its end");
        assert_eq!(refused(""), "invalid pattern ``: expected a word at its end");
        assert_eq!(refused("SQL"), "invalid word `SQL`: expected letters and digits in lower case");
        assert_eq!(refused("in*"), "invalid word `in*`: expected 3 or more letters before `*`");
    }
}
