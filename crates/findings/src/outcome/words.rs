//! The deciding words of a line: severities, failed tests, and verdicts.
//!
//! Each clause is searched alone, so that a negation applies only to its own thought.

use super::WordMeaning;
use super::clauses::{Clause, clauses};
use super::prose_lines::{Line, says_nothing};
use crate::grade::Grade;
use crate::verdict_words::{NEGATIONS, Words};

/// A deciding word, by its meaning and its clause.
pub(super) struct DecidingWord<'l> {
    pub(super) clause: &'l str,
    pub(super) meaning: WordMeaning,
}

/// Finds the severities that a line names: in capitals with a colon after them or in brackets, as a
/// number of issues, or as the topic of a heading.
pub(super) fn severities<'l>(line: &'l Line<'_>) -> Vec<DecidingWord<'l>> {
    let mut seen = Vec::new();
    let last_colon = line.prose.rfind(':');
    let in_table = line.raw.contains('|');
    let starts_as_title = line.raw.trim_start().starts_with(['#', '*']);
    for clause in clauses(&line.prose, &[" - ", " – ", " — "]) {
        let words = Words::of(clause.text);
        for (at, word) in words.all.iter().enumerate() {
            let meaning = match word.text.to_ascii_uppercase().as_str() {
                "CRITICAL" => WordMeaning::Critical,
                "HIGH" | "MAJOR" | "BLOCKER" | "BLOCKING" => WordMeaning::Major,
                _ => continue,
            };
            let colon_after = last_colon.is_some_and(|colon| colon > clause.at + word.at);
            let shouted = word.is_shouted() && (colon_after || words.is_enclosed(at));
            let labelled = words.lower(at.wrapping_sub(1)) == "severity";
            let named = at == 0
                && (starts_as_title && words.issues_after(at)
                    || line.is_heading() && words.is_topic(at));
            let tabled = in_table && words.count(at + 1).is_some_and(|count| count > 0);
            let leading = at == 0
                && word.text.to_ascii_lowercase().starts_with("block")
                && line.prose[clause.at + word.at + word.text.len()..].starts_with(':');
            let meant = shouted || labelled || named || tabled || leading;
            if !(meant || words.counts_issues(at)) {
                continue;
            }
            let is_past =
                words.within(at, 5, |word| matches!(word, "resolved" | "fixed" | "addressed"));
            let denied = words.is_denied(at)
                || is_past
                || says_nothing(words.after_issues(at))
                || (named && line.is_heading() && line.is_followed_by_none);
            let meaning = if denied { WordMeaning::Ignored } else { meaning };
            seen.push(DecidingWord { clause: clause.text, meaning });
        }
    }
    seen
}

/// Finds the statements of a line about failed tests.
pub(super) fn test_failures<'l>(line: &'l Line<'_>) -> Vec<DecidingWord<'l>> {
    let mut seen = Vec::new();
    for sentence in line.prose.split_inclusive(['.', ';', '!', '?']) {
        let words = Words::of(sentence);
        let Some(at) = words.failed_tests() else { continue };
        if words.is_counted_as_none(at) {
            seen.push(DecidingWord { clause: sentence, meaning: WordMeaning::Ignored });
            continue;
        }
        let counted =
            words.count(at.wrapping_sub(2)).is_some() || words.count(at.wrapping_sub(1)).is_some();
        let about_code = [
            "when", "could", "might", "fix", "fixes", "fixed", "asserts", "assert", "checks",
            "check", "verifies", "added", "adds", "covers",
        ];
        let is_header = line.raw.contains('|') && !line.raw.bytes().any(|b| b.is_ascii_digit());
        let supposed = words.any(&["if", "would", "unless", "whenever"])
            || !counted && (is_header || words.any(&about_code));
        let denied = supposed || words.is_denied(at) || words.is_past();
        let meaning = if denied { WordMeaning::Ignored } else { WordMeaning::TestFailure };
        seen.push(DecidingWord { clause: sentence, meaning });
    }
    seen
}

/// Finds the verdicts of a line.
pub(super) fn verdicts<'l>(line: &'l Line<'_>) -> Vec<DecidingWord<'l>> {
    let mut seen = Vec::new();
    let separators = [" - ", " – ", " — ", ": ", " → ", " so ", " and ", " therefore "];
    for clause in clauses(&line.prose, &separators) {
        let words = Words::of(clause.text);
        let meaning = match (words.approval(), words.changes(line.is_conclusion)) {
            (None, None) => continue,
            // The word of the form itself requests changes, whatever reason is next to it.
            (None, Some(at)) if words.is_form_word(at) && !words.is_denied(at) => {
                let is_other = line.is_unchecked || says_none(clause.after) || words.any(&["said"]);
                if is_other { WordMeaning::Ignored } else { WordMeaning::RequestChanges }
            }
            _ if line.is_unchecked || clause.is_question => WordMeaning::Ignored,
            _ if Words::of(clause.sentence).is_past() => WordMeaning::Ignored,
            // "APPROVE or REQUEST_CHANGES" names the choice and makes none.
            (Some(at), Some(_)) if words.any(&["or"]) || at == 0 => WordMeaning::Ignored,
            (_, Some(_)) if says_none(clause.after) => WordMeaning::Ignored,
            (_, Some(at)) => changes_meaning(&words, at),
            (Some(at), None) => approval_meaning(line, &clause, &words, at),
        };
        seen.push(DecidingWord { clause: clause.text, meaning });
    }
    seen
}

fn approval_meaning(
    line: &Line<'_>,
    clause: &Clause<'_>,
    words: &Words<'_>,
    at: usize,
) -> WordMeaning {
    let small = words.all[at].text.starts_with(|c: char| c.is_lowercase());
    let refused_before = small && Words::of(clause.thought_before).any(&REFUSALS);
    let carried_over = small && clause.at == 0 && Words::of(&line.before).any(&REFUSALS);
    let taken_back = words.is_negated_after(at) || is_taken_back(clause.after);
    if words.is_refused(at) || taken_back || refused_before || carried_over {
        return WordMeaning::RequestChanges;
    }
    let about_something_else = clause.follows_colon && !words.all[at].is_shouted();
    if words.is_conditional(at)
        || asks_for_fixes(clause.after)
        || (about_something_else && !line.is_conclusion)
        || !words.approves(at, line.is_conclusion)
    {
        return WordMeaning::Ignored;
    }
    WordMeaning::Approve
}

/// Returns true if the text behind an approval denies it: `Approved: no`.
fn is_taken_back(after: &str) -> bool {
    let Some(answer) = after.strip_prefix(':') else { return false };
    let answer: String = answer.trim_start().chars().take(40).collect();
    let answer = answer.trim_end();
    answer.starts_with('❌')
        || says_nothing(answer) && answer.split_whitespace().count() == 1
        || ["false", "denied", "not "].iter().any(|word| answer.to_lowercase().starts_with(word))
}

/// Returns true if a text begins with a colon, an equals sign or a table's border, and states that
/// there is nothing: `Changes requested: none`.
fn says_none(after: &str) -> bool {
    let after = after.trim_start();
    let Some(answer) = after.strip_prefix([':', '|', '=']) else { return false };
    let answer: String = answer.trim_start().chars().take(40).collect();
    says_nothing(&answer)
}

/// Returns true if the text behind an approval makes it depend on a fix.
fn asks_for_fixes(after: &str) -> bool {
    let after: String = after.chars().take(400).collect::<String>().to_lowercase();
    let asks = ["must be fixed", "before merg", "to be fixed", "please fix", "must fix"];
    asks.iter().any(|ask| after.contains(ask))
}

fn changes_meaning(words: &Words<'_>, at: usize) -> WordMeaning {
    let supposed = words.any(&["if", "could", "might", "unless", "whether", "when"])
        || words.lower[..at].iter().any(|word| word == "would");
    if supposed || words.is_denied(at) { WordMeaning::Ignored } else { WordMeaning::RequestChanges }
}

/// Words that refuse any approval after them in the sentence.
const REFUSALS: [&str; 18] = [
    "cannot", "can't", "won't", "unable", "refuse", "not", "never", "dont", "cant", "wont",
    "don't", "decline", "hesitant", "against", "hardly", "far", "nothing", "neither",
];

/// The maximum number of words that are read before a word.
const MAX_WORDS_BACK: usize = 16;

impl<'c> Words<'c> {
    pub(super) fn len(&self) -> usize {
        self.lower.len()
    }

    /// Returns true if one of the `count` words behind a word passes a test.
    pub(super) fn within(&self, at: usize, count: usize, test: impl Fn(&str) -> bool) -> bool {
        self.lower.iter().skip(at + 1).take(count).any(|word| test(word))
    }

    fn count(&self, at: usize) -> Option<u64> {
        self.lower(at).parse().ok()
    }

    /// Returns true if a word close before another denies it: "no known CRITICAL issues". Further
    /// back, or beyond a colon or a bracket, a denial is about another word.
    fn is_denied(&self, at: usize) -> bool {
        const PASSED: [&str; 9] = ["or", "and", "nor", "of", "the", "our", "any", "a", "to"];
        let mut others = 0;
        for before in (at.saturating_sub(MAX_WORDS_BACK)..at).rev() {
            let gap = &self.clause
                [self.all[before].at + self.all[before].text.len()..self.all[before + 1].at];
            if gap.contains([':', '(', '[']) {
                return false;
            }
            let word = self.lower(before);
            if NEGATIONS.contains(&word) || word.ends_with("n't") {
                return true;
            }
            others += usize::from(!PASSED.contains(&word) && !Grade::is_word(word));
            if others > 2 {
                return false;
            }
        }
        false
    }

    /// Returns true if the words before an approval refuse it.
    fn is_refused(&self, at: usize) -> bool {
        let refuses = |word: &String| REFUSALS.contains(&word.as_str()) || word.ends_with("n't");
        self.lower[..at].iter().any(refuses)
            || matches!(self.lower(at.wrapping_sub(1)), "no" | "without" | "zero")
    }

    /// Returns true if the words are about an earlier state, or are another person's words.
    fn is_past(&self) -> bool {
        self.any(&[
            "previous", "previously", "prior", "earlier", "formerly", "originally", "said", "says",
            "message", "titled", "claims", "returns", "expected", "first",
        ])
    }

    /// Returns true if the severity is the whole topic of a heading.
    fn is_topic(&self, at: usize) -> bool {
        matches!(self.lower(at + 1), "" | "priority" | "severity" | "risk")
    }

    /// Returns true if the words right behind negate a word: "APPROVE is not possible".
    fn is_negated_after(&self, at: usize) -> bool {
        let (next, second) = (self.lower(at + 1), self.lower(at + 2));
        let is_last = at + 2 == self.lower.len();
        let ends_in_not = self.lower.last().is_some_and(|word| word == "not");
        matches!(next, "not" | "never" | "isn't" | "denied" | "withheld")
            || ends_in_not
            || (matches!(next, "no" | "false") && is_last)
            || (next == "is" && matches!(second, "not" | "never" | "denied" | "withheld" | "no"))
    }

    /// Returns true if the word is alone in brackets: `(HIGH)`.
    fn is_enclosed(&self, at: usize) -> bool {
        let word = &self.all[at];
        let before = self.clause[..word.at].ends_with(['(', '[']);
        before && self.clause[word.at + word.text.len()..].starts_with([')', ']'])
    }

    pub(super) fn is_issue(word: &str) -> bool {
        ["issue", "finding", "bug", "problem", "defect", "vulnerabilit"]
            .iter()
            .any(|noun| word.starts_with(noun))
    }

    fn issues_after(&self, at: usize) -> bool {
        Words::is_issue(self.lower(at + 1))
    }

    /// Returns the text of the clause behind a severity and its noun.
    fn after_issues(&self, at: usize) -> &'c str {
        let next = at + 1 + usize::from(self.issues_after(at));
        self.all.get(next).map_or("", |word| &self.clause[word.at..])
    }

    /// Returns true if the severity at `at` is counted: `3 critical issues`.
    fn counts_issues(&self, at: usize) -> bool {
        let numbers = [
            "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
            "several",
        ];
        let before = self.lower(at.wrapping_sub(1));
        let counted = before.parse::<u64>().is_ok() || numbers.contains(&before);
        let end = self.lower.len().min(at + 4);
        counted && self.lower[at + 1..end].iter().any(|word| Words::is_issue(word))
    }

    /// Returns the index of the word that states that tests failed.
    fn failed_tests(&self) -> Option<usize> {
        let passes = self.any(&["pass", "passes"]);
        (0..self.lower.len())
            .find(|at| {
                let at = *at;
                let before = self.count(at.wrapping_sub(1));
                match self.lower(at) {
                    "failed" | "fail" | "fails" | "failing" => match (before, self.count(at + 1)) {
                        (_, Some(count)) | (Some(count), None) => count > 0,
                        (None, None) => !passes && self.are_tests(at),
                    },
                    "broken" | "red" => self.tests_before(at),
                    "failure" | "failures" => match before {
                        Some(count) => count > 0,
                        None => matches!(self.lower(at.wrapping_sub(1)), "test" | "tests"),
                    },
                    // "Not all tests pass", "the tests did not pass".
                    "pass" => {
                        let from = at.saturating_sub(MAX_WORDS_BACK);
                        let denies = |word: &String| word == "not" || word.ends_with("n't");
                        let denied = self.lower[from..at].iter().any(denies);
                        denied && self.tests_before(at)
                    }
                    _ => false,
                }
            })
            // The denial of a pass is the failure itself, so it is not denied again.
            .map(|at| if self.lower(at) == "pass" { 0 } else { at })
    }

    /// Returns true if failures are named only to state that there are none: `Test failures: 0`,
    /// `Failing tests: none`, `| failed | 0 |`.
    fn is_counted_as_none(&self, at: usize) -> bool {
        let behind = (at + 1..self.len().min(at + 4)).find(|next| {
            !matches!(
                self.lower(*next),
                "tests" | "test" | "cases" | "checks" | "were" | "was" | "found"
            )
        });
        let Some(behind) = behind else {
            // `Failed tests: []` and `Failed tests: –` have no word behind the colon.
            let last = self.all.last().map_or(0, |word| word.at + word.text.len());
            let rest = self.clause[last..].trim();
            return rest.starts_with(':') && rest.len() > 1;
        };
        let (before, word) = (&self.all[behind - 1], &self.all[behind]);
        let gap = &self.clause[before.at + before.text.len()..word.at];
        gap.contains([':', '|', '=', '(', '-', '–', '—'])
            && (self.clause[word.at..].to_lowercase().starts_with("n/a")
                || matches!(
                    word.text.to_lowercase().as_str(),
                    "0" | "none" | "zero" | "no" | "nil" | "nothing"
                ))
    }

    /// Returns true if the word at `at` is about tests.
    fn are_tests(&self, at: usize) -> bool {
        let about = matches!(self.lower(at.wrapping_sub(1)), "for" | "of" | "on" | "about");
        let passes = self.any(&["pass", "passes"]);
        !about
            && !passes
            && (self.tests_before(at) || matches!(self.lower(at + 1), "test" | "tests"))
    }

    fn tests_before(&self, at: usize) -> bool {
        let from = at.saturating_sub(5);
        self.lower[from..at].iter().any(|word| {
            matches!(word.as_str(), "test" | "tests" | "suite") || word.starts_with("test_")
        })
    }

    /// Returns true if the word is `REQUEST_CHANGES` or `CHANGES_REQUESTED` in capitals.
    fn is_form_word(&self, at: usize) -> bool {
        matches!(self.all[at].text, "REQUEST_CHANGES" | "CHANGES_REQUESTED")
    }

    /// Returns true if the approval at `at` is a verdict, and not a word that is only mentioned.
    fn approves(&self, at: usize, is_conclusion: bool) -> bool {
        if is_conclusion {
            return true;
        }
        let is_speaker = |word: &str| matches!(word, "i" | "we");
        let leads = at == 0 || (at == 1 && is_speaker(self.lower(0)));
        if self.all[at].is_shouted() || self.lower(at) == "lgtm" {
            let led_to = ["i", "we", "thus", "is", "overall", "verdict", "decision"];
            let is_last = at + 1 == self.lower.len();
            let ends = is_last && led_to.contains(&self.lower(at.wrapping_sub(1)));
            let spoken = self.lower.len() <= 6 && self.lower[..at].iter().any(|w| is_speaker(w));
            return leads || ends || spoken || self.lower.len() <= 3;
        }
        let is_short = self.lower.len() <= 3;
        leads && (is_short || matches!(self.lower(at + 1), "with" | "this" | "as" | "it"))
    }
}
