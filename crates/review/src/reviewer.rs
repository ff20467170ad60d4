//! What reads a change: [`Reviewer`], and the rules as one.

use std::collections::BTreeMap;

use assay_base::hash::short_hash;
use assay_change::Change;
use assay_findings::coverage::{Look, Looks};
use assay_findings::identity::Suppression;
use assay_findings::report::{self, Report, ReviewerKind};
use assay_rules::Rulebook;
use serde::{Deserialize, Serialize};

use crate::exchange::Exchange;
use crate::leads::Leads;
use crate::secrets::keep_secrets;

/// Why a reader that was interrupted has no answer.
const INTERRUPTED: &str = "it was interrupted before it answered; review again";

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

    /// Says what reading a change would take, where it costs anything.
    fn estimate(&self, _change: &Change) -> Option<Estimate> {
        None
    }

    /// Gives what it is made of, by name: whatever is another today than it was in an earlier run
    /// may be why it finds something else.
    fn made_of(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Takes note of the findings of the rules, before the reviewer reads the change.
    fn note_leads(&self, _leads: &Leads) {}

    /// Reads a change, and tells how it goes on meanwhile.
    fn review(&self, change: &Change, tell: Tell<'_>) -> Answer;
}

/// Hears how many characters of an answer have come so far.
pub type Tell<'a> = &'a (dyn Fn(usize) + Sync);

/// What reading a change would take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Which model is asked.
    pub model: String,
    /// How often.
    pub calls: usize,
    /// The most calls, with all look-ups.
    pub most_calls: usize,
    /// How many tokens it is sent, about.
    pub tokens: u64,
    /// What it costs as a rule, in millionths of a dollar, where prices are known.
    pub usual_micro_usd: Option<u64>,
    /// The most that it can cost.
    pub most_micro_usd: Option<u64>,
    /// The most tokens that it can take.
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

/// Whether a reviewer reads a change, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interest {
    /// It does.
    Reads(String),
    /// It does not.
    Rests(String),
}

/// What a reviewer returns.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Answer {
    /// What it found.
    pub report: Report,
    /// What it made of each hunk, in the order of the change.
    pub looks: Looks,
    /// Which findings comments in the change ask to leave alone.
    pub suppressions: Vec<Suppression>,
    /// What was asked of models.
    #[serde(default)]
    pub exchanges: Vec<Exchange>,
}

impl Answer {
    /// Makes the answer of a reviewer that broke down: it covered nothing.
    pub(crate) fn failed(reviewer: &dyn Reviewer, change: &Change, why: &str) -> Answer {
        let who = report::Reviewer::new(reviewer.name(), reviewer.kind());
        let mut report = Report::unusable(who, why);
        report.required = reviewer.is_required();
        let look = Look::Failed(format!("{}: {why}", reviewer.name()));
        let looks = looks_of(reviewer, vec![look; change.hunks()]);
        Answer { report, looks, suppressions: Vec::new(), exchanges: Vec::new() }
    }
}

impl Answer {
    /// Returns the answer of a reviewer that was interrupted before it answered. It is required
    /// whatever the configuration says: the review was to have its answer, and does not.
    pub(crate) fn interrupted(reviewer: &dyn Reviewer, change: &Change) -> Answer {
        let mut answer = Answer::failed(reviewer, change, INTERRUPTED);
        answer.report.required = true;
        answer
    }
}

/// Returns the report of a step that was interrupted before it came to an end.
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

    fn made_of(&self) -> BTreeMap<String, String> {
        let files = self.0.files();
        files.map(|(name, text)| (name.to_owned(), version_hash(text.as_bytes()))).collect()
    }

    fn review(&self, change: &Change, _tell: Tell<'_>) -> Answer {
        let mut reviewed = self.0.review(change);
        keep_secrets(&mut reviewed.report, change);
        Answer {
            report: reviewed.report,
            looks: looks_of(self, reviewed.looks),
            suppressions: reviewed.suppressions,
            exchanges: Vec::new(),
        }
    }
}
