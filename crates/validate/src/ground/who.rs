//! Who looks, works and listens in a loop: traits that somebody else fills.

use std::path::Path;

use assay_checks::check::CheckOutcome;

use crate::criterion::CriterionLine;
use crate::ending::{Ending, MissingFixer};
use crate::event::Seen;
use crate::issue::Issue;
use crate::run::Breakdown;
use crate::spec::Spec;
use crate::standing::Standing;

/// Reviews the implementation of a spec.
pub trait Reviews {
    /// Looks at the change on top of a commit and at the criteria, given what the checks said.
    fn review(
        &self,
        base: Option<&str>,
        spec: &Spec,
        checks: &[CheckOutcome],
    ) -> Result<Reviewed, Breakdown>;

    /// Returns true if a model judges the criteria that neither checks nor code decide.
    fn has_judge(&self) -> bool {
        true
    }
}

/// The result of a review.
#[derive(Debug)]
pub struct Reviewed {
    /// The issues that keep the change from being ready.
    pub issues: Vec<Issue>,
    /// Other findings, which block nothing.
    pub remarks: Vec<Issue>,
    /// Whether each criterion is met.
    pub criteria: Vec<CriterionLine>,
}

/// Fixes what is wrong.
pub trait Fixes {
    /// Works in a folder, a copy of the tree, and says what it did.
    fn fix(&self, errand: &Errand<'_>) -> Result<String, Breakdown>;

    /// Returns why there is nothing but safe fixes; `None` where a model or a command fixes.
    fn missing(&self) -> Option<MissingFixer> {
        None
    }
}

/// The task of a fixer.
#[derive(Debug, Clone, Copy)]
pub struct Errand<'a> {
    /// The folder that it works in.
    pub folder: &'a Path,
    /// The commit on top of which the implementation was made.
    pub base: Option<&'a str>,
    /// The issues in words.
    pub request: &'a str,
    /// The issues.
    pub issues: &'a [Issue],
}

/// Hears how a loop goes on.
pub trait Hears {
    /// A loop that waited for a person, for this reason, goes on because the tree was changed.
    fn tree_changed(&self, _waited_for: &Ending) {}
    /// A round begins.
    fn round(&self, number: u32);
    /// A check is about to be run.
    fn checking(&self, name: &str);
    /// A check was run.
    fn checked(&self, outcome: &CheckOutcome);
    /// Everything else is looked at.
    fn reviewing(&self);
    /// A round was looked at to its end.
    fn reviewed(&self, seen: &Seen);
    /// The fixer begins.
    fn fixing(&self, issues: usize);
    /// The fixer is done, and says this.
    fn said(&self, said: &str);
    /// The work of the fixer is in the tree, if there is any, without the files that a fixer must not touch.
    fn fixed(&self, files: &[String], left_out: &[String]);
    /// A round broke down.
    fn broke_down(&self, _why: &str) {}
    /// The loop stands here, or ended like this. The same may come again after a crash.
    fn stands(&self, _standing: &Standing, _ending: Option<&Ending>) {}
}
