//! The outcome of a single review text: [`judge`] returns its [`TextOutcome`].
//!
//! The findings decide first. Only if they leave the decision open, the reviewer's own verdict is
//! read, from its conclusion and never from code, quotes or the diff. A text without a verdict does
//! not approve. The [`OutcomeAudit`] lists the words that were found and the rule that decided.
//!
//! The reviewer's words count against its report and never for it. If the words reject the change
//! and no listed finding blocks it, or if they state that the change was not reviewed, the report
//! is incomplete.
//!
//! [`prose_lines`] finds the lines that are the reviewer's own words, [`clauses`] splits them into
//! clauses, [`words`] finds the severities, failed tests and verdicts in them, and [`objections`]
//! finds the objections.

mod clauses;
mod objections;
mod prose_lines;
mod words;

use assay_base::text::first_chars;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Impact;
use crate::incomplete::{IncompleteKind, IncompleteReason};
use crate::read::{OwnLines, ReadResult, severity_tag};
use crate::verdict_words::structured_verdict;
use prose_lines::Line;
use words::DecidingWord;

pub use crate::verdict_words::VerdictWord;

/// The outcome of a review text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub struct TextOutcome {
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
#[schemars(rename = "DecidedBy")]
pub enum DecidingRule {
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
#[schemars(rename = "Meaning")]
pub enum WordMeaning {
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
#[schemars(rename = "Match")]
pub struct WordMatch {
    /// The clause with the word.
    pub text: String,
    /// The line of the word, from 1; 0 for a word in the JSON.
    pub line: usize,
    /// The meaning that the word was read with.
    pub meaning: WordMeaning,
}

/// The audit of an outcome: the verdict, the deciding rule and the matched words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Audit")]
pub struct OutcomeAudit {
    /// The reviewer's verdict; null if the text has none.
    pub word: Option<VerdictWord>,
    /// The rule that decided.
    pub decided_by: DecidingRule,
    /// True if the reviewer approved, but the outcome is no approval.
    pub overruled: bool,
    /// Every deciding word that was found, up to a limit.
    pub matches: Vec<WordMatch>,
}

/// The maximum number of matches in an audit.
const MAX_MATCHES: usize = 100;

/// The maximum number of characters of a quoted sentence.
const MAX_QUOTED_CHARS: usize = 120;

/// The outcome of a review text, with its audit.
#[derive(Debug, Clone, PartialEq)]
pub struct TextJudgement {
    /// The outcome.
    pub outcome: TextOutcome,
    /// The words and the rule that led to the outcome.
    pub audit: OutcomeAudit,
    /// The reasons why the text may have left out a finding, by its form and by its words.
    pub incomplete: Vec<IncompleteReason>,
    /// The sentence by which the reviewer rejects the change; `None` if no sentence does.
    pub rejection: Option<String>,
}

/// Judges a review text by the findings that were read from it and by its words.
pub fn judge(text: &str, reading: &ReadResult) -> TextJudgement {
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
    incomplete.extend(prose.contradictions(listed_blocks, reading));
    // An approval behind the last finding marks the end of the findings in a text without JSON.
    let is_ended = reading.json_spans.is_empty() && prose.approves_last();
    let is_complete =
        incomplete.iter().all(|reason| is_ended && reason.kind == IncompleteKind::OpenList);
    let decided_by = if found_critical || found_major {
        DecidingRule::Findings
    } else if prose.critical || prose.major {
        DecidingRule::NamedSeverity
    } else if prose.test_failure {
        DecidingRule::TestFailures
    } else if word == Some(VerdictWord::RequestChanges) || prose.has_objection() {
        DecidingRule::Conclusion
    } else if !is_complete {
        DecidingRule::Unreadable
    } else if word.is_some() {
        DecidingRule::Conclusion
    } else if default_deny {
        DecidingRule::DefaultDeny
    } else {
        DecidingRule::Nothing
    };
    let approved = decided_by == DecidingRule::Conclusion
        && word == Some(VerdictWord::Approve)
        && !prose.has_objection()
        && prose.bare_tag.is_none();
    let needs_fix = match decided_by {
        DecidingRule::Findings
        | DecidingRule::NamedSeverity
        | DecidingRule::TestFailures
        | DecidingRule::DefaultDeny => true,
        DecidingRule::Conclusion => !approved,
        DecidingRule::Unreadable | DecidingRule::Nothing => false,
    };
    let outcome = TextOutcome {
        approved,
        has_critical_issues: found_critical || prose.critical,
        has_test_failures: prose.test_failure,
        has_change_requests: word == Some(VerdictWord::RequestChanges) || prose.has_objection(),
        has_major_issues: found_major || prose.major || default_deny,
        needs_fix,
        ambiguous: !approved && !needs_fix,
    };
    let overruled = word == Some(VerdictWord::Approve) && !approved;
    let rejection = prose.rejection().map(str::to_owned);
    let audit = OutcomeAudit { word, decided_by, overruled, matches: prose.matches };
    TextJudgement { outcome, audit, incomplete, rejection }
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
    concluded: Option<VerdictWord>,
    /// True if any verdict of the text approves; `refused` is the same for a request for changes.
    approved: bool,
    refused: bool,
    /// The number of the last line that begins with a severity.
    last_finding: usize,
    /// The number of the last line that approves.
    last_approval: usize,
    /// The first sentence of each meaning that counts against the change or the report.
    sentences: Vec<(WordMeaning, String)>,
    matches: Vec<WordMatch>,
}

/// Returns the beginning of a sentence, to be quoted.
fn truncate_quote(sentence: &str) -> String {
    first_chars(sentence.trim(), MAX_QUOTED_CHARS).to_owned()
}

impl Prose {
    fn of(text: &str, reading: &ReadResult) -> Prose {
        let mut prose = Prose::default();
        for line in prose_lines::lines(&OwnLines::of(text, &reading.json_spans)) {
            prose.line(&line);
        }
        for text in reading.envelope.summary.iter().chain(&reading.envelope.words) {
            prose.read_member(text);
        }
        if let Some(word) = &reading.envelope.verdict {
            prose.record_structured_verdict(word);
        }
        prose
    }

    /// Returns the reviewer's verdict: its conclusion, or else its statements elsewhere, of which a
    /// request for changes takes precedence.
    fn word(&self) -> Option<VerdictWord> {
        let elsewhere = match (self.refused, self.approved) {
            (true, _) => Some(VerdictWord::RequestChanges),
            (false, true) => Some(VerdictWord::Approve),
            (false, false) => None,
        };
        self.concluded.or(elsewhere)
    }

    /// Reads a text that is a member of the report, such as its summary. An approval there does not
    /// count.
    fn read_member(&mut self, text: &str) {
        let mut own = OwnLines::of(text, &[]);
        own.lines.iter_mut().for_each(|line| line.is_fenced = true);
        for line in prose_lines::lines(&own) {
            let tag = severity_tag(line.raw).filter(|tag| tag.set_off && !tag.rest.is_empty());
            if let Some(tag) = tag.filter(|tag| tag.grade.impact() <= Impact::MAJOR) {
                let meaning = match tag.grade.impact().level() {
                    0 => WordMeaning::Critical,
                    _ => WordMeaning::Major,
                };
                self.record_word(&line, DecidingWord { clause: line.raw, meaning });
            }
            self.record_words(&line);
        }
    }

    fn line(&mut self, line: &Line<'_>) {
        if let Some(tag) = severity_tag(line.raw) {
            self.last_finding = line.number;
            let heavy = tag.grade.impact() <= Impact::MAJOR;
            let is_cut = tag.rest.is_empty() && !line.is_heading() && !line.is_followed_by_none;
            if heavy && (is_cut || !tag.set_off && tag.at_margin) {
                self.bare_tag.get_or_insert_with(|| truncate_quote(line.raw));
            }
        }
        self.record_words(line);
    }

    /// Records the deciding words of a line.
    fn record_words(&mut self, line: &Line<'_>) {
        let seen = words::severities(line)
            .into_iter()
            .chain(words::test_failures(line))
            .chain(objections::objections(line))
            .chain(words::verdicts(line));
        for seen in seen {
            self.record_word(line, seen);
        }
    }

    /// Records one deciding word.
    fn record_word(&mut self, line: &Line<'_>, seen: DecidingWord<'_>) {
        match seen.meaning {
            WordMeaning::Critical => self.critical = true,
            WordMeaning::Major => self.major = true,
            WordMeaning::TestFailure => self.test_failure = true,
            WordMeaning::Approve if line.is_fenced => {}
            WordMeaning::Approve => {
                self.last_approval = line.number;
                self.record_verdict(VerdictWord::Approve, line.is_conclusion);
            }
            WordMeaning::RequestChanges => {
                self.record_verdict(VerdictWord::RequestChanges, line.is_conclusion)
            }
            WordMeaning::Objection
            | WordMeaning::Concern
            | WordMeaning::NotReviewed
            | WordMeaning::Ignored => {}
        }
        let rejects = !matches!(seen.meaning, WordMeaning::Approve | WordMeaning::Ignored);
        if rejects && !self.sentences.iter().any(|(meaning, _)| *meaning == seen.meaning) {
            self.sentences.push((seen.meaning, truncate_quote(seen.clause)));
        }
        if self.matches.len() < MAX_MATCHES {
            let text = truncate_quote(seen.clause);
            self.matches.push(WordMatch { text, line: line.number, meaning: seen.meaning });
        }
    }

    fn record_verdict(&mut self, word: VerdictWord, is_conclusion: bool) {
        if is_conclusion {
            self.concluded = Some(word);
        }
        self.approved |= word == VerdictWord::Approve;
        self.refused |= word == VerdictWord::RequestChanges;
    }

    fn approves_last(&self) -> bool {
        self.last_approval > self.last_finding
    }

    fn has_objection(&self) -> bool {
        self.sentence(WordMeaning::Objection).is_some()
    }

    /// Returns the first sentence with a meaning.
    fn sentence(&self, meaning: WordMeaning) -> Option<&str> {
        self.sentences.iter().find(|(seen, _)| *seen == meaning).map(|(_, text)| text.as_str())
    }

    /// Returns the first sentence by which the reviewer rejects the change.
    fn rejection(&self) -> Option<&str> {
        let rejecting = [
            WordMeaning::Critical,
            WordMeaning::Major,
            WordMeaning::TestFailure,
            WordMeaning::Objection,
            WordMeaning::RequestChanges,
        ];
        let sentence = rejecting.iter().find_map(|meaning| self.sentence(*meaning));
        sentence.or(self.bare_tag.as_deref())
    }

    /// Returns the reasons by which the words of a report contradict its list of findings.
    fn contradictions(&self, listed_blocks: bool, reading: &ReadResult) -> Vec<IncompleteReason> {
        let mut reasons = Vec::new();
        if let Some(sentence) = self.sentence(WordMeaning::NotReviewed) {
            let text =
                format!("the reviewer states that the change was not reviewed: `{sentence}`");
            reasons.push(IncompleteReason::new(IncompleteKind::NotReviewed, text));
        }
        let not_covered = &reading.envelope.remarks.not_covered;
        if let Some(first) = not_covered.first() {
            let text = format!(
                "the reviewer did not review the whole change: `{}`",
                truncate_quote(first)
            );
            reasons.push(IncompleteReason::new(IncompleteKind::NotReviewed, text));
        }
        let Some(votes) = &reading.votes else { return reasons };
        if listed_blocks {
            return reasons;
        }
        let concern = self.sentence(WordMeaning::Concern).filter(|_| votes.is_empty());
        if let Some(sentence) = self.rejection().or(concern) {
            let text = format!(
                "the text of the report rejects the change, but its findings do not block: \
                 `{sentence}`"
            );
            reasons.push(IncompleteReason::new(IncompleteKind::Contradiction, text));
        }
        reasons
    }

    /// Records the verdict of the JSON. An approval there does not override a conclusion of the
    /// prose.
    fn record_structured_verdict(&mut self, text: &str) {
        let Some(word) = structured_verdict(text) else { return };
        let meaning = match word {
            VerdictWord::Approve => WordMeaning::Approve,
            VerdictWord::RequestChanges => {
                self.concluded = Some(VerdictWord::RequestChanges);
                self.sentences.push((WordMeaning::RequestChanges, truncate_quote(text)));
                WordMeaning::RequestChanges
            }
        };
        self.record_verdict(word, false);
        self.matches.push(WordMatch { text: truncate_quote(text), line: 0, meaning });
    }
}
