//! The decision whether a review approves its pull request: [`Approval`], by [`approval`] alone.
//!
//! An approval acts in a system that belongs to others, so every condition must hold: the
//! configuration asks for approvals, the review is complete, a model read all of the change, and no
//! finding is open that should be fixed. Every path to GitHub calls this function.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coverage::ReviewCoverage;
use crate::finding::Finding;
use crate::grade::Obligation;
use crate::synthesis::Synthesis;
use crate::verdict::{VerdictRule, VerdictState};

/// The action that the configuration (`github.when_ready`) asks for if a change is ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadyAction {
    /// An approval, if all conditions of [`approval`] hold.
    Approve,
    /// A comment.
    #[default]
    Comment,
}

/// The decision whether a review approves its pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// The review approves.
    Granted,
    /// The review does not approve; there is at least one reason.
    Withheld(Vec<WithheldReason>),
}

/// A reason why a review does not approve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WithheldReason {
    /// The configuration does not ask for approvals.
    NotConfigured,
    /// The verdict is `not ready`.
    NotReady,
    /// The change has no content to review.
    NothingToReview,
    /// A required reviewer did not answer, or a part of the change or of a report was not read.
    Incomplete,
    /// No model read the change.
    NotRead,
    /// The number of hunks that no model read.
    PartlyRead(usize),
    /// The number of open findings that should or must be fixed, or whose severity is unknown.
    Open(usize),
    /// A finding that may block was held back as unsure.
    HeldBack,
}

impl fmt::Display for WithheldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WithheldReason::NotConfigured => {
                f.write_str("`github.when_ready` is not set to `approve`")
            }
            WithheldReason::NotReady => f.write_str("the change is not ready"),
            WithheldReason::NothingToReview => f.write_str("the change has nothing to review"),
            WithheldReason::Incomplete => f.write_str("the review is incomplete"),
            WithheldReason::NotRead => f.write_str("no model has read the change"),
            WithheldReason::PartlyRead(hunks) => {
                write!(f, "no model has read {}", format_count(*hunks, "hunk"))
            }
            WithheldReason::Open(findings) => {
                write!(f, "{} at `should` or above", format_count(*findings, "open finding"))
            }
            WithheldReason::HeldBack => {
                f.write_str("a finding that may block was held back as unsure")
            }
        }
    }
}

impl Approval {
    /// Returns true if the review approves.
    pub fn is_granted(&self) -> bool {
        match self {
            Approval::Granted => true,
            Approval::Withheld(_) => false,
        }
    }

    /// Returns the reasons against an approval in words; `None` if the approval is granted.
    pub fn withheld_text(&self) -> Option<String> {
        match self {
            Approval::Granted => None,
            Approval::Withheld(reasons) => {
                Some(reasons.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
            }
        }
    }
}

/// Decides whether a review approves its pull request.
pub fn approval(when_ready: ReadyAction, review: &Synthesis) -> Approval {
    let mut reasons = match when_ready {
        ReadyAction::Approve => Vec::new(),
        ReadyAction::Comment => vec![WithheldReason::NotConfigured],
    };
    reasons.extend(objections(review));
    match reasons.is_empty() {
        true => Approval::Granted,
        false => Approval::Withheld(reasons),
    }
}

fn objections(synthesis: &Synthesis) -> Vec<WithheldReason> {
    let verdict = &synthesis.verdict;
    let by_state = match verdict.state {
        VerdictState::NotReady => Some(WithheldReason::NotReady),
        VerdictState::NothingToReview => Some(WithheldReason::NothingToReview),
        VerdictState::Ready | VerdictState::ReadyWithFixes | VerdictState::Incomplete => None,
    };
    let is_incomplete = verdict.incomplete || verdict.state == VerdictState::Incomplete;
    let open = synthesis.findings.iter().filter(|finding| prevents_approval(finding)).count();
    let held_back = verdict.because.iter().any(|reason| reason.rule == VerdictRule::HeldBack);
    [
        by_state,
        is_incomplete.then_some(WithheldReason::Incomplete),
        unread_reason(synthesis.coverage.as_ref()),
        (open > 0).then_some(WithheldReason::Open(open)),
        held_back.then_some(WithheldReason::HeldBack),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns true if an open finding prevents an approval.
fn prevents_approval(finding: &Finding) -> bool {
    finding.grade.obligation() != Obligation::May
        || finding.grade.blocks()
        || finding.grade.is_unmapped()
}

/// Returns the reason that a model did not read all of the change. Without a coverage there is no
/// evidence that any reviewer read the change.
fn unread_reason(coverage: Option<&ReviewCoverage>) -> Option<WithheldReason> {
    let Some(coverage) = coverage.filter(|coverage| coverage.by_model > 0) else {
        return Some(WithheldReason::NotRead);
    };
    match coverage.unread_by_models() {
        0 => None,
        hunks => Some(WithheldReason::PartlyRead(hunks)),
    }
}

/// Formats a number with its noun.
fn format_count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
