//! Review, fix, review: what the kinds of work do, and what follows from each.
//!
//! [`follow_up`] decides, and does nothing; [`review`], [`fix`] and [`command`] do the work and ask
//! it. How a review is made and how code is mended arrives from outside ([`Reviews`], [`Fixes`]).

pub mod command;
pub mod fix;
pub mod follow_up;
pub mod review;
mod runner;
mod subject;

use std::path::{Path, PathBuf};

use assay_change::Scope;
use assay_findings::synthesis::Synthesis;

use assay_store::clock;

use self::follow_up::Terms;
pub use self::runner::{OWN_TASK, ROOT, Runner, may_pass};
pub use self::subject::failed as git_failed;
use crate::config::framework::Workflow;
use crate::config::roster::Roster;
use crate::work::{Failed, Job};

/// What all kinds of work share.
#[derive(Debug, Clone)]
pub struct Shop {
    /// The repository.
    pub root: PathBuf,
    /// Where work trees are made.
    pub worktrees: PathBuf,
    /// What follows from a review.
    pub workflow: Workflow,
    /// Who works.
    pub roster: Roster,
    /// The version of the program.
    pub version: String,
}

impl Shop {
    /// On what terms it is decided what follows from a job.
    fn terms<'a>(&'a self, job: &'a Job<'_>) -> Terms<'a> {
        Terms {
            workflow: &self.workflow,
            roster: &self.roster,
            queue: job.queue,
            worker: job.worker.as_str(),
            now: clock::now(),
            version: &self.version,
        }
    }
}

/// Reviews changes.
///
/// It changes nothing in the repository but for what it keeps of the review.
pub trait Reviews: Send + Sync {
    /// Reviews a change.
    fn review(&self, scope: &Scope, job: &Job<'_>) -> Result<Reviewed, Failed>;
}

/// What came of a review.
#[derive(Debug, Clone)]
pub struct Reviewed {
    /// What was found, and the verdict.
    pub synthesis: Synthesis,
    /// Where the review is kept.
    pub run: Option<String>,
    /// Whether somebody who did not answer may do so later.
    pub may_answer_later: bool,
}

/// Mends code.
///
/// It writes in the folder that it is given and nowhere else, and commits nothing.
pub trait Fixes: Send + Sync {
    /// Mends what a task tells of, in a folder with the change, which was made on top of a branch.
    /// Says what was done.
    fn fix(&self, folder: &Path, base: Option<&str>, job: &Job<'_>) -> Result<String, Failed>;
}
