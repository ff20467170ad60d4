//! Review, fix, review: what the kinds of work do, and what follows from each.
//!
//! [`follow_up`] decides, and does nothing; [`review`], [`fix`], [`validation`] and [`command`] do
//! the work and ask it. How a review is made, how code is mended and how it is validated arrives
//! from outside ([`Reviews`], [`Fixes`], [`Validates`]).

pub mod command;
mod context_keys;
pub mod fix;
pub mod follow_up;
pub mod review;
mod runner;
mod subject;
pub mod validation;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_base::clock::Clock;
use assay_change::Scope;
use assay_change::state::State;
use assay_findings::post::Draft;
use assay_findings::synthesis::Synthesis;

use assay_store::pulls::Pull;
use assay_store::task::Moment;

use self::follow_up::Terms;
pub use self::runner::{OWN_AGENT, OWN_TASK, ROOT, Runner, may_pass};
pub use self::subject::failed as git_failed;
use crate::config::framework::Workflow;
use crate::config::roster::Roster;
use crate::work::{Failed, Job};

/// What all kinds of work share.
#[derive(Debug, Clone)]
pub struct Shop {
    /// The repository.
    pub root: PathBuf,
    /// Its state.
    pub state: State,
    /// Where work trees are made.
    pub worktrees: PathBuf,
    /// What follows from a review.
    pub workflow: Workflow,
    /// Who works.
    pub roster: Roster,
    /// How work is put where people see it, where that is known.
    pub publishes: Option<Arc<dyn Publishes>>,
    /// The time of follow-up tasks.
    pub clock: Clock,
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
            now: Moment::now(&self.clock),
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

/// Puts work where people see it.
///
/// It moves a branch on and never back, and does nothing twice: what stands there stays.
pub trait Publishes: Send + Sync + fmt::Debug {
    /// Returns the last commit of the pull request that a task names, fetched from the branch that
    /// work on the task is pushed to. Returns `None` where nothing would be pushed there: the
    /// repository is not configured, or the agent may not push. Fails for good where the pull
    /// request cannot be pushed to, before any work is done on it.
    fn pull_head(&self, job: &Job<'_>) -> Result<Option<String>, Failed>;

    /// Pushes a commit, which is on a branch here, and opens its pull request, or finds the one that
    /// it has. Gives nothing where there is no place for it, or the agent may not.
    fn publish(
        &self,
        commit: &str,
        branch: &str,
        base: Option<&str>,
        job: &Job<'_>,
    ) -> Result<Option<Pull>, Failed>;
}

/// What came of a review.
#[derive(Debug, Clone)]
pub struct Reviewed {
    /// What was found, and the verdict.
    pub synthesis: Synthesis,
    /// The review as it is to stand on the pull request, if the change is one.
    pub draft: Option<Box<Draft>>,
    /// The last commit of the pull request that was looked at, if it is one.
    pub head: Option<String>,
    /// What the messages of the change's commits say.
    pub messages: Vec<String>,
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

/// Validates what was implemented against its spec, and has what is wrong mended.
///
/// It writes in the folder that it is given and in what the repository keeps apart from git, and
/// commits nothing. What a spec's folder says of earlier rounds may be made up: it approves nothing.
pub trait Validates: Send + Sync {
    /// Goes round in a folder with the change, which was made on top of a branch, until a spec is
    /// met or a person has to decide. Rounds that broke down are a failure, and no ending.
    fn validate(
        &self,
        folder: &Path,
        base: Option<&str>,
        spec: &str,
        job: &Job<'_>,
    ) -> Result<Validated, Failed>;
}

/// What came of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Validated {
    /// The folder, as it is now, is what the spec asks for.
    Approved {
        /// Why, in a few words.
        summary: String,
    },
    /// A person has to decide.
    HandedOver {
        /// Why.
        reason: String,
        /// The file that tells more, from the root of the folder.
        paper: String,
    },
    /// There is more to be implemented first, so nothing was done.
    NotYet {
        /// What is missing.
        missing: String,
    },
}
