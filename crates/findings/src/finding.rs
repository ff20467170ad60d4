//! What the votes on one defect add up to: [`Finding`], with the results that later stages enter.

mod second_look;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Grade;
use crate::path::RepoPath;
use crate::vote::{Anchor, AutofixClass, Owner, Replacement};

pub use self::second_look::{Consequence, Validated, Validation};

/// One defect, derived from the votes on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What it is called in this synthesis.
    pub id: String,
    /// What it is told again by.
    pub fingerprint: String,
    /// What it is, in a few words.
    pub title: String,
    /// How bad, in the word it came in.
    pub severity: String,
    /// How bad, in full.
    pub grade: Grade,
    /// Where.
    pub file: Option<RepoPath>,
    /// On which line of it.
    pub line: Option<u32>,
    /// The last such line, where there are several.
    pub end_line: Option<u32>,
    /// Where on its first line it starts, in bytes from 1, where somebody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// Of which kind.
    pub category: String,
    /// What is wrong and what breaks.
    pub description: String,
    /// How to fix it.
    pub suggested_fix: Option<String>,
    /// The fix itself, where it is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Replacement>,
    /// How sure.
    pub confidence: Anchor,
    /// The probability that the finding is right, by how many readers agree; 1 for what a rule or
    /// an analyser found. `None` outside of a synthesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<f64>,
    /// Whether a review shows the finding; else the finding is folded.
    #[serde(default = "is_shown")]
    pub shown: bool,
    /// A worse grade that votes on the finding gave without being sure enough of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubted_grade: Option<Grade>,
    /// What it is based on.
    pub evidence: Vec<String>,
    /// What should happen to it.
    pub autofix_class: AutofixClass,
    /// Who acts next.
    pub owner: Owner,
    /// Whether a fix counts only once it was verified.
    pub requires_verification: bool,
    /// Whether it was there before the change.
    pub pre_existing: bool,
    /// The rule that found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The thing it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// Who found it.
    pub reviewers: Vec<String>,
    /// The votes it stands on.
    pub votes: Vec<VoteRef>,
    /// What grounding found out about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<Mark>,
    /// The hash by which GitHub tells its line again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_hash: Option<String>,
    /// The recorded decision that it runs against; such a conflict is always shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_conflict: Option<String>,
    /// Whether a rule or an analyser alone is sure of it, so that nothing a model says hides it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vouched_for: bool,
    /// What became of it at its second look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// Why somebody decided to leave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissal: Option<String>,
    /// Where it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
    /// What became of it since the last round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

fn is_shown() -> bool {
    true
}

/// Returns a title and a description as one text; the title is left out where the description
/// begins with it.
pub(crate) fn issue(title: &str, description: &str) -> String {
    issue_text(title, description).into_owned()
}

/// Returns the text of [`issue`], which is mostly one of the two.
pub(crate) fn issue_text<'t>(title: &'t str, description: &'t str) -> Cow<'t, str> {
    let begin = title.trim_end_matches(['…', '.']);
    match description {
        "" => Cow::Borrowed(title),
        text if text.starts_with(begin) => Cow::Borrowed(text),
        text => Cow::Owned(format!("{begin}. {text}")),
    }
}

/// Returns the number of bytes of a title and a description as one text.
pub(crate) fn issue_len(title: &str, description: &str) -> usize {
    let begin = title.trim_end_matches(['…', '.']);
    match description {
        "" => title.len(),
        text if text.starts_with(begin) => text.len(),
        text => begin.len() + ". ".len() + text.len(),
    }
}

/// Names one vote.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct VoteRef {
    /// Whose vote.
    pub reviewer: String,
    /// Which vote of that reviewer's report, counted from 0.
    pub vote: usize,
}

/// What grounding found out about a vote.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// No such file.
    FileNotFound,
    /// The file could not be read, so nothing was checked.
    FileUnreadable,
    /// The file was found elsewhere.
    FileMoved,
    /// The quote stands on another line.
    LineMoved,
    /// The line is beyond the file's end.
    LineBeyondEnd,
    /// None of the evidence stands in the file.
    QuoteNotFound,
    /// Nothing was quoted.
    NoQuote,
    /// It is not on a changed line.
    OutsideTheHunks,
    /// Its reviewer may not give so bad a grade.
    GradeCapped,
    /// No file and line are named, so that nothing could be checked.
    NoPlace,
    /// The JSON of its report was repaired, so that place and quote may not be the reviewer's.
    Repaired,
    /// The reviewer named no place; assay found one by the names and quotes of the claim.
    PlacedByAssay,
}

/// Where a finding goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Route {
    /// To the fixer, now.
    Fixer,
    /// Into a fix task.
    Tasks,
    /// Into the report only.
    Report,
}

/// What became of a finding since the last time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It was not there.
    New,
    /// It is still there.
    StillOpen,
    /// It was resolved once and is back.
    Regressed,
}

impl Finding {
    /// Gives the place as `src/a.rs:42`; with no line the file, with no file nothing.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_string(),
        })
    }

    /// Returns the file that a reviewer named; `None` where assay found the place, which may be
    /// another the next time.
    pub(crate) fn named_file(&self) -> Option<&RepoPath> {
        self.file.as_ref().filter(|_| !self.marks.contains(&Mark::PlacedByAssay))
    }

    /// Says in one text what is wrong, for forms that have no place for a title.
    pub fn issue(&self) -> String {
        issue(&self.title, &self.description)
    }

    /// Says whether something is to be done about it.
    pub fn is_actionable(&self) -> bool {
        self.autofix_class != AutofixClass::Advisory && self.owner != Owner::Release
    }

    /// Returns what a second look answered, and what a maintainer would do by it.
    pub(crate) fn second_look(&self) -> (Option<Validated>, Option<Consequence>) {
        let look = self.validation.as_ref();
        (look.map(|look| look.state), look.and_then(|look| look.consequence))
    }

    /// Returns true if a second look at what models alone found says that a maintainer would not stop the
    /// change for it. What may be critical is not put off.
    pub fn is_put_off(&self) -> bool {
        let (_, consequence) = self.second_look();
        !self.vouched_for
            && self.settled_conflict.is_none()
            && self.grade.impact().level() > 0
            && matches!(consequence, Some(Consequence::Later | Consequence::Ignore))
    }

    /// Returns true if a person has to check the finding: it may be critical, models alone found it, they
    /// are not sure, and a second look did not confirm it.
    pub fn is_to_be_checked(&self) -> bool {
        let is_open = |look: &Validation| {
            matches!(look.state, Validated::Unsure | Validated::Disputed | Validated::Refuted)
        };
        !self.vouched_for
            && self.grade.impact().level() == 0
            && self.confidence <= Anchor::MODERATE
            && self.validation.as_ref().is_some_and(is_open)
    }

    /// Returns the sentence about a second look that did not simply confirm the finding.
    pub fn doubt(&self) -> Option<String> {
        let look = self.validation.as_ref()?;
        let answer = match look.state {
            Validated::Confirmed if self.is_put_off() => "confirmed, and can wait",
            Validated::Confirmed => return None,
            state => state.as_str(),
        };
        let why = look.why.trim();
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let before = look.lowered_from.map(|before| {
            format!(" (confidence {}, {} before)", self.confidence.percent(), before.percent())
        });
        Some(format!("Second look: {answer}{why}{}", before.unwrap_or_default()))
    }

    /// Orders findings: the worst first, then the surest, then by place and title.
    pub fn by_weight(&self, other: &Finding) -> std::cmp::Ordering {
        self.grade
            .worst_first(&other.grade)
            .then(other.confidence.cmp(&self.confidence))
            .then_with(|| self.file.cmp(&other.file))
            .then_with(|| self.line.cmp(&other.line))
            .then_with(|| self.title.cmp(&other.title))
            .then_with(|| self.id.cmp(&other.id))
    }
}
