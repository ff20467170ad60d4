//! The outcome of a single review text: [`judge`] returns its [`Outcome`].
//!
//! The findings decide first. Only if they leave the decision open, the reviewer's own verdict is
//! read, from its conclusion and never from code, quotes or the diff. A text without a verdict does
//! not approve. The [`Audit`] lists the words that were found and the rule that decided.
//!
//! The reviewer's words count against its report and never for it. If the words reject the change
//! and no listed finding blocks it, or if they state that the change was not reviewed, the report
//! is incomplete.
//!
//! [`speech`] finds the lines that are the reviewer's own words, [`clauses`] splits them into
//! clauses, [`words`] finds the severities, failed tests and verdicts in them, and [`objections`]
//! finds the objections.

mod clauses;
mod objections;
mod speech;
mod words;

use assay_base::text::first_chars;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Impact;
use crate::incomplete::{IncompleteKind, IncompleteReason};
use crate::read::{OwnLines, Reading, severity_tag};
use crate::verdict_words::structured_verdict;
use speech::Line;
use words::Seen;

pub use crate::verdict_words::Word;

/// The outcome of a review text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// True if the reviewer approved, and none of its findings contradicts the approval.
    pub approved: bool,
    /// True if there is a critical finding or severity.
    pub has_critical_issues: bool,
    /// True if the text reports failed tests.
    pub has_test_failures: bool,
    /// True if the reviewer requested changes, or made an objection.
    pub has_change_requests: bool,
    /// True if there is a HIGH or MAJOR finding or severity, or one of unknown severity. A CRITICAL
    /// finding sets `has_critical_issues` alone, so that the two flags name different findings.
    pub has_major_issues: bool,
    /// True if the change must be fixed first.
    pub needs_fix: bool,
    /// True if the text neither approves nor rejects, which is never an approval.
    pub ambiguous: bool,
}

/// The rule that decided the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DecidedBy {
    /// A finding of MAJOR or above, or of an unknown severity.
    Findings,
    /// A severity named in the prose.
    NamedSeverity,
    /// A line that begins with a severity of MAJOR or above and could not be read as a finding.
    DefaultDeny,
    /// Tests that failed.
    TestFailures,
    /// A part that may be a finding and could not be read, so the text approves nothing.
    Unreadable,
    /// The reviewer's verdict, or an objection.
    Conclusion,
    /// No rule: the text has no verdict.
    Nothing,
}

/// The meaning that a matched word was read with.
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
    /// A demand that a part of the change is fixed, or that the change is not merged.
    Objection,
    /// A defect that is described in prose.
    Concern,
    /// A statement that the change was not reviewed.
    NotReviewed,
    /// No meaning: the word is negated, conditional, about the past, or one of two choices.
    Ignored,
}

/// A match of a deciding word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Match {
    /// The clause with the word.
    pub text: String,
    /// The line of the word, from 1; 0 for a word in the JSON.
    pub line: usize,
    /// The meaning that the word was read with.
    pub meaning: Meaning,
}

/// The audit of an outcome: the verdict, the deciding rule and the matched words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Audit {
    /// The reviewer's verdict; null if the text has none.
    pub word: Option<Word>,
    /// The rule that decided.
    pub decided_by: DecidedBy,
    /// True if the reviewer approved, but the outcome is no approval.
    pub overruled: bool,
    /// Every deciding word that was found, up to a limit.
    pub matches: Vec<Match>,
}

/// The maximum number of matches in an audit.
const MAX_MATCHES: usize = 100;

/// The maximum number of characters of a quoted sentence.
const QUOTED_CHARS: usize = 120;

/// The outcome of a review text, with its audit.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// The outcome.
    pub outcome: Outcome,
    /// The words and the rule that led to the outcome.
    pub audit: Audit,
    /// The reasons why the text may have left out a finding, by its form and by its words.
    pub incomplete: Vec<IncompleteReason>,
    /// The sentence by which the reviewer rejects the change; `None` if no sentence does.
    pub rejection: Option<String>,
}

/// Judges a review text by the findings that were read from it and by its words.
pub fn judge(text: &str, reading: &Reading) -> Judgement {
    let text = reading.unescaped.as_deref().unwrap_or(text);
    let votes = reading.votes.as_deref().unwrap_or_default();
    let prose = Prose::of(text, reading);
    let word = prose.word();
    let default_deny = word.is_none() && prose.bare_tag.is_some();
    let found_critical = votes.iter().any(|vote| vote.grade.impact().level() == 0);
    let found_major = votes
        .iter()
        .any(|vote| vote.grade.is_unmapped() || matches!(vote.grade.impact().level(), 1 | 2));
    let mut incomplete = reading.incomplete.clone();
    let listed_blocks = votes.iter().any(|vote| vote.grade.blocks() && vote.counts());
    incomplete.extend(prose.shortcomings(listed_blocks, reading));
    // An approval behind the last finding marks the end of the findings in a text without JSON.
    let is_ended = reading.json_spans.is_empty() && prose.approves_last();
    let is_complete =
        incomplete.iter().all(|reason| is_ended && reason.kind == IncompleteKind::OpenList);
    let decided_by = if found_critical || found_major {
        DecidedBy::Findings
    } else if prose.critical || prose.major {
        DecidedBy::NamedSeverity
    } else if prose.test_failure {
        DecidedBy::TestFailures
    } else if word == Some(Word::RequestChanges) || prose.has_objection() {
        DecidedBy::Conclusion
    } else if !is_complete {
        DecidedBy::Unreadable
    } else if word.is_some() {
        DecidedBy::Conclusion
    } else if default_deny {
        DecidedBy::DefaultDeny
    } else {
        DecidedBy::Nothing
    };
    let approved = decided_by == DecidedBy::Conclusion
        && word == Some(Word::Approve)
        && !prose.has_objection()
        && prose.bare_tag.is_none();
    let needs_fix = match decided_by {
        DecidedBy::Findings
        | DecidedBy::NamedSeverity
        | DecidedBy::TestFailures
        | DecidedBy::DefaultDeny => true,
        DecidedBy::Conclusion => !approved,
        DecidedBy::Unreadable | DecidedBy::Nothing => false,
    };
    let outcome = Outcome {
        approved,
        has_critical_issues: found_critical || prose.critical,
        has_test_failures: prose.test_failure,
        has_change_requests: word == Some(Word::RequestChanges) || prose.has_objection(),
        has_major_issues: found_major || prose.major || default_deny,
        needs_fix,
        ambiguous: !approved && !needs_fix,
    };
    let overruled = word == Some(Word::Approve) && !approved;
    let rejection = prose.rejection().map(str::to_owned);
    let audit = Audit { word, decided_by, overruled, matches: prose.matches };
    Judgement { outcome, audit, incomplete, rejection }
}

/// The statements in the prose of a review.
#[derive(Default)]
struct Prose {
    critical: bool,
    major: bool,
    test_failure: bool,
    /// The first line that begins with a severity of MAJOR or above and could not be read as a
    /// finding.
    bare_tag: Option<String>,
    /// The last verdict at the place of a conclusion.
    concluded: Option<Word>,
    /// True if any verdict of the text approves; `refused` is the same for a request for changes.
    approved: bool,
    refused: bool,
    /// The number of the last line that begins with a severity.
    last_finding: usize,
    /// The number of the last line that approves.
    last_approval: usize,
    /// The first sentence of each meaning that counts against the change or the report.
    sentences: Vec<(Meaning, String)>,
    matches: Vec<Match>,
}

/// Returns the beginning of a sentence, to be quoted.
fn quoted(sentence: &str) -> String {
    first_chars(sentence.trim(), QUOTED_CHARS).to_owned()
}

impl Prose {
    fn of(text: &str, reading: &Reading) -> Prose {
        let mut prose = Prose::default();
        for line in speech::lines(&OwnLines::of(text, &reading.json_spans)) {
            prose.line(&line);
        }
        for text in reading.envelope.summary.iter().chain(&reading.envelope.words) {
            prose.member(text);
        }
        if let Some(word) = &reading.envelope.verdict {
            prose.structured_word(word);
        }
        prose
    }

    /// Returns the reviewer's verdict: its conclusion, or else its statements elsewhere, of which a
    /// request for changes takes precedence.
    fn word(&self) -> Option<Word> {
        let elsewhere = match (self.refused, self.approved) {
            (true, _) => Some(Word::RequestChanges),
            (false, true) => Some(Word::Approve),
            (false, false) => None,
        };
        self.concluded.or(elsewhere)
    }

    /// Reads a text that is a member of the report, such as its summary. An approval there does not
    /// count.
    fn member(&mut self, text: &str) {
        let mut own = OwnLines::of(text, &[]);
        own.lines.iter_mut().for_each(|line| line.is_fenced = true);
        for line in speech::lines(&own) {
            let tag = severity_tag(line.raw).filter(|tag| tag.set_off && !tag.rest.is_empty());
            if let Some(tag) = tag.filter(|tag| tag.grade.impact() <= Impact::MAJOR) {
                let meaning = match tag.grade.impact().level() {
                    0 => Meaning::Critical,
                    _ => Meaning::Major,
                };
                self.take(&line, Seen { clause: line.raw, meaning });
            }
            self.words_of(&line);
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        if let Some(tag) = severity_tag(line.raw) {
            self.last_finding = line.number;
            let heavy = tag.grade.impact() <= Impact::MAJOR;
            let is_cut = tag.rest.is_empty() && !line.is_heading() && !line.is_followed_by_none;
            if heavy && (is_cut || !tag.set_off && tag.at_margin) {
                self.bare_tag.get_or_insert_with(|| quoted(line.raw));
            }
        }
        self.words_of(line);
    }

    /// Records the deciding words of a line.
    fn words_of(&mut self, line: &Line<'_>) {
        let seen = words::severities(line)
            .into_iter()
            .chain(words::test_failures(line))
            .chain(objections::objections(line))
            .chain(words::verdicts(line));
        for seen in seen {
            self.take(line, seen);
        }
    }

    /// Records one deciding word.
    fn take(&mut self, line: &Line<'_>, seen: Seen<'_>) {
        match seen.meaning {
            Meaning::Critical => self.critical = true,
            Meaning::Major => self.major = true,
            Meaning::TestFailure => self.test_failure = true,
            Meaning::Approve if line.is_fenced => {}
            Meaning::Approve => {
                self.last_approval = line.number;
                self.verdict(Word::Approve, line.is_conclusion);
            }
            Meaning::RequestChanges => self.verdict(Word::RequestChanges, line.is_conclusion),
            Meaning::Objection | Meaning::Concern | Meaning::NotReviewed | Meaning::Ignored => {}
        }
        let rejects = !matches!(seen.meaning, Meaning::Approve | Meaning::Ignored);
        if rejects && !self.sentences.iter().any(|(meaning, _)| *meaning == seen.meaning) {
            self.sentences.push((seen.meaning, quoted(seen.clause)));
        }
        if self.matches.len() < MAX_MATCHES {
            let text = quoted(seen.clause);
            self.matches.push(Match { text, line: line.number, meaning: seen.meaning });
        }
    }

    fn verdict(&mut self, word: Word, is_conclusion: bool) {
        if is_conclusion {
            self.concluded = Some(word);
        }
        self.approved |= word == Word::Approve;
        self.refused |= word == Word::RequestChanges;
    }

    fn approves_last(&self) -> bool {
        self.last_approval > self.last_finding
    }

    fn has_objection(&self) -> bool {
        self.sentence(Meaning::Objection).is_some()
    }

    /// Returns the first sentence with a meaning.
    fn sentence(&self, meaning: Meaning) -> Option<&str> {
        self.sentences.iter().find(|(seen, _)| *seen == meaning).map(|(_, text)| text.as_str())
    }

    /// Returns the first sentence by which the reviewer rejects the change.
    fn rejection(&self) -> Option<&str> {
        let rejecting = [
            Meaning::Critical,
            Meaning::Major,
            Meaning::TestFailure,
            Meaning::Objection,
            Meaning::RequestChanges,
        ];
        let sentence = rejecting.iter().find_map(|meaning| self.sentence(*meaning));
        sentence.or(self.bare_tag.as_deref())
    }

    /// Returns the reasons by which the words of a report contradict its list of findings.
    fn shortcomings(&self, listed_blocks: bool, reading: &Reading) -> Vec<IncompleteReason> {
        let mut reasons = Vec::new();
        if let Some(sentence) = self.sentence(Meaning::NotReviewed) {
            let text = format!("the reviewer says that the change was not reviewed: `{sentence}`");
            reasons.push(IncompleteReason::new(IncompleteKind::NotReviewed, text));
        }
        let not_covered = &reading.envelope.remarks.not_covered;
        if let Some(first) = not_covered.first() {
            let text =
                format!("the reviewer did not look at all of the change: `{}`", quoted(first));
            reasons.push(IncompleteReason::new(IncompleteKind::NotReviewed, text));
        }
        let Some(votes) = &reading.votes else { return reasons };
        if listed_blocks {
            return reasons;
        }
        let concern = self.sentence(Meaning::Concern).filter(|_| votes.is_empty());
        if let Some(sentence) = self.rejection().or(concern) {
            let text = format!("its words reject the change, and its list does not: `{sentence}`");
            reasons.push(IncompleteReason::new(IncompleteKind::Contradiction, text));
        }
        reasons
    }

    /// Records the verdict of the JSON. An approval there does not override a conclusion of the
    /// prose.
    fn structured_word(&mut self, text: &str) {
        let Some(word) = structured_verdict(text) else { return };
        let meaning = match word {
            Word::Approve => Meaning::Approve,
            Word::RequestChanges => {
                self.concluded = Some(Word::RequestChanges);
                self.sentences.push((Meaning::RequestChanges, quoted(text)));
                Meaning::RequestChanges
            }
        };
        self.verdict(word, false);
        self.matches.push(Match { text: quoted(text), line: 0, meaning });
    }
}
