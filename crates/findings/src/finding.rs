//! A defect, derived from the votes on it: [`Finding`], with the results that later stages add.

mod validation;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Grade;
use crate::path::RepoPath;
use crate::template::TemplateText;
use crate::tier::EvidenceTier;
use crate::title_similarity::fold_title;
use crate::trace::TraceStep;
use crate::vote::{AutofixClass, Confidence, Owner, Replacement};

pub use self::validation::{Consequence, Validation, ValidationState};

/// A defect, derived from the votes on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The id of the finding, unique within its synthesis.
    pub id: String,
    /// The fingerprint by which the finding is recognised in later rounds.
    pub fingerprint: String,
    /// The defect, in a few words.
    pub title: String,
    /// The severity, in the reviewer's word.
    pub severity: String,
    /// The severity as impact, obligation and original word.
    pub grade: Grade,
    /// The file of the defect; null if it is not known.
    pub file: Option<RepoPath>,
    /// The first line of the defect, from 1; null if no line is known.
    pub line: Option<u32>,
    /// The last line, from 1; null if the defect is on one line.
    pub end_line: Option<u32>,
    /// The column on the first line where the defect starts, in bytes from 1, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The kind of defect.
    pub category: String,
    /// The defect and its effect.
    pub description: String,
    /// The suggested fix, in words.
    pub suggested_fix: Option<String>,
    /// The text that fixes the defect, if the fix is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replacement: Option<Replacement>,
    /// The texts that all findings of this kind share; absent if no template matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<TemplateText>,
    /// The confidence that the finding is right.
    pub confidence: Confidence,
    /// The probability that the finding is right, by the number of readers that agree; 1 for a
    /// finding of a rule or an analyser. Absent outside of a synthesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worth: Option<f64>,
    /// True if a review shows the finding; otherwise the finding is folded.
    #[serde(default = "is_shown")]
    pub shown: bool,
    /// A worse grade, given by votes that are not sure enough of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubted_grade: Option<Grade>,
    /// The evidence of the votes.
    pub evidence: Vec<String>,
    /// The way of a value from its source to the defect; absent unless a rule followed data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// The strength of a rule's evidence; absent if the finding is certain by itself, or if another
    /// reviewer is sure of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<EvidenceTier>,
    /// The way in which the finding should be fixed.
    pub autofix_class: AutofixClass,
    /// The role that acts next.
    pub owner: Owner,
    /// True if a fix counts only after it is verified.
    pub requires_verification: bool,
    /// True if the defect is older than the change.
    pub pre_existing: bool,
    /// The rule that found the defect; absent if no rule did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The symbol that contains the defect, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The names of the reviewers that found the defect.
    pub reviewers: Vec<String>,
    /// The votes that the finding is derived from.
    pub votes: Vec<VoteRef>,
    /// The results of grounding: the marks of the vote that grades the finding, and of its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<GroundingMark>,
    /// The hash by which GitHub recognises the line after lines have moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_hash: Option<String>,
    /// The recorded decision that the finding contradicts; such a conflict is always shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled_conflict: Option<String>,
    /// True if a rule or an analyser alone is sure of the finding, so that no model can hide it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub vouched_for: bool,
    /// The result of the second look; absent without a second look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Validation>,
    /// The reason of the decision to dismiss the finding; absent unless the finding is dismissed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dismissal: Option<String>,
    /// The destination of the finding; absent unless the finding is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<FindingRoute>,
    /// The status since the last round; absent without an earlier round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<FindingStatus>,
}

fn is_shown() -> bool {
    true
}

/// Returns a title and a description as one text; the title is left out if the description begins
/// with it.
pub(crate) fn issue(title: &str, description: &str) -> String {
    issue_text(title, description).into_owned()
}

/// Returns the text of [`issue`], borrowed where the text is the title or the description alone.
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

/// A reference to one vote.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub struct VoteRef {
    /// The name of the reviewer that cast the vote.
    pub reviewer: String,
    /// The index of the vote in that reviewer's report, from 0.
    pub vote: usize,
}

/// A result of grounding a vote.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Mark")]
pub enum GroundingMark {
    /// The tree has no such file.
    FileNotFound,
    /// The file could not be read, so the vote was not checked.
    FileUnreadable,
    /// The file has another path than the vote states.
    FileMoved,
    /// The quote is on another line than the vote states.
    LineMoved,
    /// The line is beyond the end of the file.
    LineBeyondEnd,
    /// No quote of the evidence is in the file.
    QuoteNotFound,
    /// The vote has no quote.
    NoQuote,
    /// The vote is not on a changed line.
    OutsideTheHunks,
    /// The grade was lowered, since the reviewer may not give so bad a grade.
    GradeCapped,
    /// The vote names no file and line, so the vote could not be checked.
    NoPlace,
    /// The JSON of the report was repaired, so place and quote may not be the reviewer's.
    Repaired,
    /// The vote names no place; assay found one by the names and quotes of the claim.
    PlacedByAssay,
}

/// The destination of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Route")]
pub enum FindingRoute {
    /// The fixer, at once.
    Fixer,
    /// A fix task.
    Tasks,
    /// The report only.
    Report,
}

/// The status of a finding since the last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Status")]
pub enum FindingStatus {
    /// The last round did not have the finding.
    New,
    /// The last round had the finding, too.
    StillOpen,
    /// The finding was resolved once and is back.
    Regressed,
}

impl Finding {
    /// Returns the place as `src/a.rs:42`; the file if there is no line, and `None` if there is no
    /// file.
    pub fn place(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.to_string(),
        })
    }

    /// Returns the file that a reviewer named; `None` if assay found the place, which may differ
    /// the next time.
    pub(crate) fn named_file(&self) -> Option<&RepoPath> {
        self.file.as_ref().filter(|_| !self.marks.contains(&GroundingMark::PlacedByAssay))
    }

    /// Returns title and description as one text, for formats that have no field for a title.
    pub fn issue(&self) -> String {
        issue(&self.title, &self.description)
    }

    /// Returns the title for a heading: that of the template, else that of the reviewer.
    pub fn heading(&self) -> &str {
        self.template.as_ref().map_or(&self.title, |template| &template.title)
    }

    /// Returns the text below the heading, which contains the title of the reviewer if the heading
    /// is that of a template; `None` if the text would repeat the heading.
    pub fn text_below_heading(&self) -> Option<Cow<'_, str>> {
        let is_repeated = match &self.template {
            Some(template) => fold_title(&template.title) == fold_title(&self.title),
            None => true,
        };
        match (is_repeated, self.description == self.title) {
            (true, true) => None,
            (true, false) => Some(Cow::Borrowed(self.description.as_str())),
            (false, true) => Some(Cow::Borrowed(self.title.as_str())),
            (false, false) => Some(issue_text(&self.title, &self.description)),
        }
    }

    /// Returns the suggested fix of the reviewers, else the form of a fix of the template.
    pub fn fix_or_form(&self) -> Option<&str> {
        let form = || self.template.as_ref().map(|template| template.fix.as_str());
        self.suggested_fix.as_deref().or_else(form)
    }

    /// Returns true if the finding asks for an action: it is not advisory and does not belong to
    /// the release.
    pub fn is_actionable(&self) -> bool {
        self.autofix_class != AutofixClass::Advisory && self.owner != Owner::Release
    }

    /// Returns true if the finding is a lead: a pattern alone, which a reader should check.
    pub fn is_lead(&self) -> bool {
        self.tier == Some(EvidenceTier::Lead)
    }

    /// Returns the state after the second look, and the action that a maintainer would take.
    pub(crate) fn second_look(&self) -> (Option<ValidationState>, Option<Consequence>) {
        let look = self.validation.as_ref();
        (look.map(|look| look.state), look.and_then(|look| look.consequence))
    }

    /// Returns true if models alone found the defect and the second look states that a maintainer
    /// would not stop the change for it. A finding that may be critical is not put off.
    pub fn is_put_off(&self) -> bool {
        let (_, consequence) = self.second_look();
        !self.vouched_for
            && self.settled_conflict.is_none()
            && self.grade.impact().level() > 0
            && matches!(consequence, Some(Consequence::Later | Consequence::Ignore))
    }

    /// Returns true if a person must check the finding: it may be critical, models alone found it,
    /// they are not sure, and a second look did not confirm it.
    pub fn is_to_be_checked(&self) -> bool {
        let is_open = |look: &Validation| {
            matches!(
                look.state,
                ValidationState::Unsure | ValidationState::Disputed | ValidationState::Refuted
            )
        };
        !self.vouched_for
            && self.grade.impact().level() == 0
            && self.confidence <= Confidence::MODERATE
            && self.validation.as_ref().is_some_and(is_open)
    }

    /// Returns the sentence about a second look that did not simply confirm the finding; `None` if
    /// it did, or without a second look.
    pub fn doubt(&self) -> Option<String> {
        let look = self.validation.as_ref()?;
        let answer = match look.state {
            ValidationState::Confirmed if self.is_put_off() => "confirmed, and can wait",
            ValidationState::Confirmed => return None,
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
    pub fn cmp_by_weight(&self, other: &Finding) -> std::cmp::Ordering {
        self.grade
            .worst_first(&other.grade)
            .then(other.confidence.cmp(&self.confidence))
            .then_with(|| self.file.cmp(&other.file))
            .then_with(|| self.line.cmp(&other.line))
            .then_with(|| self.title.cmp(&other.title))
            .then_with(|| self.id.cmp(&other.id))
    }
}
