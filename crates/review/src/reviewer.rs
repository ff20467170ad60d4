//! The interface of reviewers: [`Reviewer`], and the rules as one of them.

use std::collections::BTreeMap;

use assay_base::hash::short_hash;
use assay_change::Change;
use assay_findings::coverage::{HunkOutcome, ReviewerCoverage};
use assay_findings::identity::Suppression;
use assay_findings::report::{self, Report, ReviewerKind};
use assay_models::Prompt;
use assay_rules::Rulebook;
use serde::{Deserialize, Serialize};

use crate::exchange::Exchange;
use crate::leads::Leads;
use crate::secrets::redact_report;

/// The failure of a reviewer that was interrupted.
const INTERRUPTED: &str = "the review was interrupted before the reviewer answered; review again";

/// Reads a change and reports its findings.
///
/// A reviewer writes nothing: not to the work tree, not to the queue. A reviewer that fails still
/// returns an answer, whose report and looks name what it did not read.
pub trait Reviewer: Send + Sync {
    /// Returns the name under which the reviewer reports.
    fn name(&self) -> &str;

    /// Returns the kind of the reviewer.
    fn kind(&self) -> ReviewerKind;

    /// Returns true if a change cannot be ready without an answer of the reviewer.
    fn is_required(&self) -> bool;

    /// Returns the decision of the reviewer to read a change or not, with the reason.
    fn interest(&self, change: &Change) -> ReadDecision;

    /// Returns the estimated cost of reading a change; `None` if it costs nothing.
    fn estimate(&self, _change: &Change) -> Option<Estimate> {
        None
    }

    /// Returns the first prompt for each part of a change, as a model would get it. A reviewer
    /// without a model has none.
    fn prompts(&self, _change: &Change) -> Vec<Prompt> {
        Vec::new()
    }

    /// Returns the inputs of the reviewer by name, such as versions: a difference to those of an
    /// earlier run may be the cause of other findings.
    fn provenance(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Stores the findings of the rules, before the reviewer reads the change.
    fn set_leads(&self, _leads: &Leads) {}

    /// Reads a change. Calls `on_progress` with the progress of the answer.
    fn review(&self, change: &Change, on_progress: OnProgress<'_>) -> ReviewerAnswer;
}

/// A callback with the number of characters of an answer received so far.
pub type OnProgress<'a> = &'a (dyn Fn(usize) + Sync);

/// The estimated cost of reading a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// The name of the model.
    pub model: String,
    /// The number of calls without look-ups.
    pub calls: usize,
    /// The maximum number of calls, with all look-ups.
    pub most_calls: usize,
    /// The approximate number of tokens that are sent.
    pub tokens: u64,
    /// The usual cost in millionths of a dollar; `None` if the price is unknown.
    pub usual_micro_usd: Option<u64>,
    /// The maximum cost in millionths of a dollar; `None` if the price is unknown.
    pub most_micro_usd: Option<u64>,
    /// The maximum number of tokens.
    pub most_tokens: u64,
}

impl Default for Estimate {
    fn default() -> Estimate {
        Estimate {
            model: String::new(),
            calls: 0,
            most_calls: 0,
            tokens: 0,
            usual_micro_usd: Some(0),
            most_micro_usd: Some(0),
            most_tokens: 0,
        }
    }
}

/// The decision of a reviewer to read a change or not, with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadDecision {
    /// The reviewer reads the change.
    Reads(String),
    /// The reviewer does not read the change.
    Skips(String),
}

/// The result of a reviewer.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReviewerAnswer {
    /// The findings.
    pub report: Report,
    /// The outcome of each hunk, in the order of the change.
    pub looks: ReviewerCoverage,
    /// The findings that comments in the change ask to suppress.
    pub suppressions: Vec<Suppression>,
    /// The requests to models.
    #[serde(default)]
    pub exchanges: Vec<Exchange>,
}

impl ReviewerAnswer {
    /// Returns the answer of a reviewer that failed: it covers nothing.
    pub(crate) fn failed(reviewer: &dyn Reviewer, change: &Change, why: &str) -> ReviewerAnswer {
        let who = report::Reviewer::new(reviewer.name(), reviewer.kind());
        let mut report = Report::unusable(who, why);
        report.required = reviewer.is_required();
        let look = HunkOutcome::Failed(format!("{}: {why}", reviewer.name()));
        let looks = reviewer_coverage(reviewer, vec![look; change.hunks()]);
        ReviewerAnswer { report, looks, suppressions: Vec::new(), exchanges: Vec::new() }
    }
}

impl ReviewerAnswer {
    /// Returns the answer of a reviewer that was interrupted before it answered. The reviewer
    /// counts as required, whatever its configuration, since the review lacks an answer that it
    /// should have.
    pub(crate) fn interrupted(reviewer: &dyn Reviewer, change: &Change) -> ReviewerAnswer {
        let mut answer = ReviewerAnswer::failed(reviewer, change, INTERRUPTED);
        answer.report.required = true;
        answer
    }
}

/// Returns the report of a step that was interrupted before it finished.
pub fn interrupted_report(name: &str) -> Report {
    let who = report::Reviewer::new(name, ReviewerKind::Persona);
    let mut report = Report::unusable(who, INTERRUPTED);
    report.required = true;
    report
}

/// Returns the hash by which two versions of a text are compared.
pub(crate) fn version_hash(bytes: &[u8]) -> String {
    short_hash(bytes, 16)
}

/// Returns the outcomes of hunks, with the reviewer that they belong to.
pub(crate) fn reviewer_coverage(
    reviewer: &dyn Reviewer,
    hunks: Vec<HunkOutcome>,
) -> ReviewerCoverage {
    ReviewerCoverage {
        reviewer: reviewer.name().to_owned(),
        kind: reviewer.kind(),
        required: reviewer.is_required(),
        hunks,
    }
}

/// The built-in rules, and those of a repository.
#[derive(Debug)]
pub struct RuleReviewer(pub Rulebook);

impl Reviewer for RuleReviewer {
    fn name(&self) -> &str {
        assay_rules::REVIEWER
    }

    fn kind(&self) -> ReviewerKind {
        ReviewerKind::Rules
    }

    fn is_required(&self) -> bool {
        true
    }

    fn interest(&self, _change: &Change) -> ReadDecision {
        ReadDecision::Reads("always on".to_owned())
    }

    fn provenance(&self) -> BTreeMap<String, String> {
        let files = self.0.files().map(|(name, text)| (name.to_owned(), text.to_owned()));
        let selection = self.0.selection().as_text().map(|text| ("selection".to_owned(), text));
        let all = files.chain(selection);
        all.map(|(name, text)| (name, version_hash(text.as_bytes()))).collect()
    }

    fn review(&self, change: &Change, _on_progress: OnProgress<'_>) -> ReviewerAnswer {
        let mut reviewed = self.0.review(change);
        redact_report(&mut reviewed.report, change);
        ReviewerAnswer {
            report: reviewed.report,
            looks: reviewer_coverage(self, reviewed.looks),
            suppressions: reviewed.suppressions,
            exchanges: Vec::new(),
        }
    }
}
