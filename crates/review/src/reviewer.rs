//! What reads a change: [`Reviewer`], and the rules as one.

use assay_change::Change;
use assay_findings::coverage::{Look, Looks};
use assay_findings::identity::Suppression;
use assay_findings::report::{self, Report, ReviewerKind};
use assay_rules::Rulebook;

/// Reads one change and reports what it finds.
///
/// A reviewer writes nothing: not to the work tree, not to the queue. One that breaks down still
/// returns an answer, whose report and looks say what it did not look at.
pub trait Reviewer: Send + Sync {
    /// Gives the name under which it reports.
    fn name(&self) -> &str;

    /// Gives its kind.
    fn kind(&self) -> ReviewerKind;

    /// Says whether a change cannot be ready without it.
    fn is_required(&self) -> bool;

    /// Says whether it has anything to read in a change, and why.
    fn interest(&self, change: &Change) -> Interest;

    /// Reads a change.
    fn review(&self, change: &Change) -> Answer;
}

/// Whether a reviewer reads a change, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interest {
    /// It does.
    Reads(String),
    /// It does not.
    Rests(String),
}

/// What a reviewer returns.
#[derive(Debug)]
pub struct Answer {
    /// What it found.
    pub report: Report,
    /// What it made of each hunk, in the order of the change.
    pub looks: Looks,
    /// Which findings comments in the change ask to leave alone.
    pub suppressions: Vec<Suppression>,
}

impl Answer {
    /// Makes the answer of a reviewer that broke down: it covered nothing.
    pub(crate) fn failed(reviewer: &dyn Reviewer, change: &Change, why: &str) -> Answer {
        let who = report::Reviewer::new(reviewer.name(), reviewer.kind());
        let mut report = Report::unusable(who, why);
        report.required = reviewer.is_required();
        let look = Look::Failed(format!("{}: {why}", reviewer.name()));
        let looks = looks_of(reviewer, vec![look; change.hunks()]);
        Answer { report, looks, suppressions: Vec::new() }
    }
}

/// Says whose looks they are.
pub(crate) fn looks_of(reviewer: &dyn Reviewer, hunks: Vec<Look>) -> Looks {
    Looks {
        reviewer: reviewer.name().to_owned(),
        kind: reviewer.kind(),
        required: reviewer.is_required(),
        hunks,
    }
}

/// The built-in rules, and a repository's own.
#[derive(Debug)]
pub struct Rules(pub Rulebook);

impl Reviewer for Rules {
    fn name(&self) -> &str {
        assay_rules::REVIEWER
    }

    fn kind(&self) -> ReviewerKind {
        ReviewerKind::Rules
    }

    fn is_required(&self) -> bool {
        true
    }

    fn interest(&self, _change: &Change) -> Interest {
        Interest::Reads("always on".to_owned())
    }

    fn review(&self, change: &Change) -> Answer {
        let reviewed = self.0.review(change);
        Answer {
            report: reviewed.report,
            looks: looks_of(self, reviewed.looks),
            suppressions: reviewed.suppressions,
        }
    }
}
