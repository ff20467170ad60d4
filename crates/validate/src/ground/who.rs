//! Who looks, works and listens in a loop: traits that somebody else fills.

use std::path::Path;

use assay_checks::check::CheckOutcome;

use crate::ending::Ending;
use crate::event::Seen;
use crate::issue::Issue;
use crate::paper::CriterionLine;
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
}

/// What a review says.
#[derive(Debug)]
pub struct Reviewed {
    /// What keeps the change from being ready.
    pub issues: Vec<Issue>,
    /// What was found besides, which blocks nothing.
    pub remarks: Vec<Issue>,
    /// Whether each criterion is met.
    pub criteria: Vec<CriterionLine>,
}

/// Fixes what is wrong.
pub trait Fixes {
    /// Works in a folder, a copy of the tree, and says what it did.
    fn fix(&self, errand: &Errand<'_>) -> Result<String, Breakdown>;
}

/// What a fixer is to do.
#[derive(Debug, Clone, Copy)]
pub struct Errand<'a> {
    /// The folder that it works in.
    pub folder: &'a Path,
    /// The commit on top of which the implementation was made.
    pub base: Option<&'a str>,
    /// What is wrong, for whoever reads.
    pub request: &'a str,
    /// What is wrong.
    pub issues: &'a [Issue],
}

/// Hears how a loop goes on.
pub trait Hears {
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
    /// What the fixer did is in the tree, or it did nothing; what it must not touch was left out.
    fn fixed(&self, files: &[String], left_out: &[String]);
    /// A round broke down.
    fn broke_down(&self, _why: &str) {}
    /// The loop stands here, or ended like this. The same may come again after a crash.
    fn stands(&self, _standing: &Standing, _ending: Option<&Ending>) {}
}
