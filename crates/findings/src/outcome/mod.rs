//! Whether a single review text approves: [`judge`] gives its [`Outcome`].
//!
//! The findings decide first. Only where they leave it open is the reviewer's own word read, from
//! its conclusion and never from code, quotes or the diff; and where nothing was said, nothing was
//! approved. The [`Audit`] says which words were seen and which rule decided.
//!
//! [`speech`] finds the lines in which the reviewer speaks for itself, [`clauses`] takes them
//! apart, and [`words`] knows what they say.

mod clauses;
mod speech;
mod words;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Impact;
use crate::read::{Reading, severity_tag};
use speech::Line;
use words::Seen;

/// What a review text comes to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The reviewer approved, and nothing it found speaks against that.
    pub approved: bool,
    /// Something critical was found.
    pub has_critical_issues: bool,
    /// Tests failed.
    pub has_test_failures: bool,
    /// Changes were asked for.
    pub has_change_requests: bool,
    /// Something of high or major weight was found.
    pub has_major_issues: bool,
    /// The change has to be fixed first.
    pub needs_fix: bool,
    /// Neither approved nor refused, which is never an approval.
    pub ambiguous: bool,
}

/// What the reviewer's own words amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// It approves.
    Approve,
    /// It asks for changes.
    RequestChanges,
}

/// The rule that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// A finding of MAJOR or above.
    Findings,
    /// A severity named in the prose.
    NamedSeverity,
    /// A line that begins with a severity and says no more.
    DefaultDeny,
    /// Tests that failed.
    TestFailures,
    /// Something that may be a finding could not be read, so nothing is approved.
    Unreadable,
    /// The reviewer's word.
    Conclusion,
    /// Nothing did.
    Nothing,
}

/// What a matched word was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Meaning {
    /// An approval.
    Approve,
    /// A request for changes.
    RequestChanges,
    /// A critical severity.
    Critical,
    /// A high or major severity.
    Major,
    /// A failed test.
    TestFailure,
    /// Nothing: it is negated, conditional, told of the past, or one of two choices.
    Ignored,
}

/// One place where a deciding word was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// The words around it.
    pub text: String,
    /// The line it stands in, counted from 1; 0 for a word that stood in the JSON.
    pub line: usize,
    /// What it was taken for.
    pub meaning: Meaning,
}

/// How an outcome came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// The reviewer's word, if it gave one.
    pub word: Option<Word>,
    /// The rule that decided.
    pub decided_by: DecidedBy,
    /// Whether the reviewer approved and was overruled by what it found.
    pub overruled: bool,
    /// Every deciding word that was seen.
    pub matches: Vec<Match>,
}

/// The most matches that are told.
const MAX_MATCHES: usize = 100;

/// Judges a review text by what was read from it.
pub fn judge(text: &str, reading: &Reading) -> (Outcome, Audit) {
    let votes = reading.votes.as_deref().unwrap_or_default();
    let worst = votes.iter().map(|vote| vote.grade.impact()).min();
    let prose = Prose::of(text, reading);
    let word = prose.word();
    let default_deny = word.is_none() && prose.bare_tag;
    let found_critical = votes.iter().any(|vote| vote.grade.impact().level() == 0);
    let found_major = votes.iter().any(|vote| matches!(vote.grade.impact().level(), 1 | 2));
    let named = prose.critical || prose.major;
    let decided_by = if worst.is_some_and(|worst| worst <= Impact::MAJOR) {
        DecidedBy::Findings
    } else if named {
        DecidedBy::NamedSeverity
    } else if prose.test_failure {
        DecidedBy::TestFailures
    } else if reading.lost > 0 && word != Some(Word::RequestChanges) {
        DecidedBy::Unreadable
    } else if word.is_some() {
        DecidedBy::Conclusion
    } else if default_deny {
        DecidedBy::DefaultDeny
    } else {
        DecidedBy::Nothing
    };
    let needs_fix = match decided_by {
        DecidedBy::Findings
        | DecidedBy::NamedSeverity
        | DecidedBy::TestFailures
        | DecidedBy::DefaultDeny => true,
        DecidedBy::Conclusion => word == Some(Word::RequestChanges),
        DecidedBy::Unreadable | DecidedBy::Nothing => false,
    };
    let approved = decided_by == DecidedBy::Conclusion && word == Some(Word::Approve);
    let outcome = Outcome {
        approved,
        has_critical_issues: found_critical || prose.critical,
        has_test_failures: prose.test_failure,
        has_change_requests: word == Some(Word::RequestChanges),
        has_major_issues: found_major || prose.major || default_deny,
        needs_fix,
        ambiguous: !approved && !needs_fix,
    };
    let overruled = word == Some(Word::Approve) && !approved;
    (outcome, Audit { word, decided_by, overruled, matches: prose.matches })
}

/// Says whether the word of a verdict field asks for changes.
pub(crate) fn refuses(word: &str) -> bool {
    words::structured_verdict(word) == Some(Meaning::RequestChanges)
}

/// What the prose of a review says.
#[derive(Default)]
struct Prose {
    critical: bool,
    major: bool,
    test_failure: bool,
    bare_tag: bool,
    /// The last word that stands where a conclusion does.
    concluded: Option<Word>,
    /// Whether a word stands anywhere else.
    approved: bool,
    refused: bool,
    matches: Vec<Match>,
}

impl Prose {
    fn of(text: &str, reading: &Reading) -> Prose {
        let mut prose = Prose::default();
        for line in speech::lines(text, &reading.json_spans) {
            prose.line(&line);
        }
        if let Some(word) = &reading.envelope.verdict {
            prose.structured_word(word);
        }
        prose
    }

    /// Gives the reviewer's word: its conclusion, or else what it says elsewhere, where asking for
    /// changes weighs more.
    fn word(&self) -> Option<Word> {
        let elsewhere = match (self.refused, self.approved) {
            (true, _) => Some(Word::RequestChanges),
            (false, true) => Some(Word::Approve),
            (false, false) => None,
        };
        self.concluded.or(elsewhere)
    }

    fn line(&mut self, line: &Line<'_>) {
        if let Some(tag) = severity_tag(line.raw) {
            let heavy = tag.grade.impact() <= Impact::MAJOR;
            self.bare_tag |= heavy && !tag.set_off && tag.at_margin;
        }
        for severity in words::severities(line) {
            self.critical |= severity.meaning == Meaning::Critical;
            self.major |= severity.meaning == Meaning::Major;
            self.note(line, severity);
        }
        for test in words::test_failures(line) {
            self.test_failure |= test.meaning == Meaning::TestFailure;
            self.note(line, test);
        }
        for verdict in words::verdicts(line) {
            self.verdict(verdict.meaning, line.is_conclusion);
            self.note(line, verdict);
        }
    }

    fn verdict(&mut self, meaning: Meaning, is_conclusion: bool) {
        let word = match meaning {
            Meaning::Approve => Word::Approve,
            Meaning::RequestChanges => Word::RequestChanges,
            _ => return,
        };
        if is_conclusion {
            self.concluded = Some(word);
        }
        self.approved |= word == Word::Approve;
        self.refused |= word == Word::RequestChanges;
    }

    fn note(&mut self, line: &Line<'_>, seen: Seen<'_>) {
        if self.matches.len() < MAX_MATCHES {
            let text = seen.clause.trim().chars().take(120).collect();
            self.matches.push(Match { text, line: line.number, meaning: seen.meaning });
        }
    }

    /// Reads the verdict that stood in the JSON. It cannot soften what the prose concludes.
    fn structured_word(&mut self, word: &str) {
        let Some(meaning) = words::structured_verdict(word) else { return };
        if meaning == Meaning::RequestChanges {
            self.concluded = Some(Word::RequestChanges);
        }
        self.verdict(meaning, false);
        self.matches.push(Match { text: word.chars().take(120).collect(), line: 0, meaning });
    }
}
