//! Traits that the caller of a loop implements: `SpecReviewer`, `IssueFixer` and `LoopObserver`,
//! the reviewer, the fixer and the observer.

use std::path::Path;

use assay_checks::check::CheckOutcome;

use crate::criterion::CriterionLine;
use crate::ending::{Ending, MissingFixer};
use crate::event::ReviewResult;
use crate::issue::Issue;
use crate::loop_state::LoopState;
use crate::run::StepError;
use crate::spec::Spec;

/// Reviews the implementation of a spec.
pub trait SpecReviewer {
    /// Reviews the change on top of `base` and judges the criteria, given the outcomes of the
    /// checks.
    fn review(
        &self,
        base: Option<&str>,
        spec: &Spec,
        checks: &[CheckOutcome],
    ) -> Result<ReviewReport, StepError>;

    /// Returns true if a model judges the criteria that neither checks nor code decide.
    fn has_judge(&self) -> bool {
        true
    }
}

/// The result of a review.
#[derive(Debug)]
pub struct ReviewReport {
    /// The issues that block approval.
    pub issues: Vec<Issue>,
    /// Other findings, which block nothing.
    pub remarks: Vec<Issue>,
    /// The criteria, each with the answer of the review.
    pub criteria: Vec<CriterionLine>,
}

/// Fixes issues.
pub trait IssueFixer {
    /// Fixes the issues in a copy of the tree, and returns a summary of the work.
    fn fix(&self, request: &FixRequest<'_>) -> Result<String, StepError>;

    /// Returns the reason why only safe fixes are available; `None` if a model or a command fixes.
    fn missing(&self) -> Option<MissingFixer> {
        None
    }
}

/// The request to a fixer.
#[derive(Debug, Clone, Copy)]
pub struct FixRequest<'a> {
    /// The copy of the tree that the fixer works in.
    pub folder: &'a Path,
    /// The commit that the implementation is based on; `None` if there is none.
    pub base: Option<&'a str>,
    /// The text of the fix request.
    pub request: &'a str,
    /// The issues to fix.
    pub issues: &'a [Issue],
}

/// Observes the progress of a loop.
pub trait LoopObserver {
    /// Notifies that a loop continues because the tree was changed; `_waited_for` is the ending in
    /// which the loop waited for a person.
    fn on_tree_changed(&self, _waited_for: &Ending) {}
    /// Notifies that a round begins.
    fn on_round(&self, number: u32);
    /// Notifies that a check is about to run.
    fn on_check_started(&self, name: &str);
    /// Notifies that a check ran.
    fn on_check_finished(&self, outcome: &CheckOutcome);
    /// Notifies that the review begins, after the checks.
    fn on_review_started(&self);
    /// Notifies that the review of a round is complete.
    fn on_review_finished(&self, review: &ReviewResult);
    /// Notifies that the fixer starts, with the number of issues.
    fn on_fix_started(&self, issues: usize);
    /// Notifies that the fixer has finished, with its summary.
    fn on_fix_finished(&self, summary: &str);
    /// Notifies that the patch of the fixer was applied: `files` were changed, and changes of
    /// `left_out`, which a fixer must not touch, were dropped.
    fn on_fix_applied(&self, files: &[String], left_out: &[String]);
    /// Notifies that a round failed with an error.
    fn on_error(&self, _why: &str) {}
    /// Notifies of the state of the loop, and of its ending if there is one. The same notification
    /// may come again after a crash.
    fn on_state(&self, _loop_state: &LoopState, _ending: Option<&Ending>) {}
}
