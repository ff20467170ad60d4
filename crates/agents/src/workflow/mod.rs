//! The task handlers for review, fix and validation, and their follow-up tasks.
//!
//! [`follow_up`] decides on follow-up tasks without side effects; [`review`], [`fix`],
//! [`validation`] and [`command`] do the work and call it. The caller implements how a change is
//! reviewed, fixed and validated ([`ChangeReviewer`], [`ChangeFixer`], [`SpecValidator`]).

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
use assay_findings::post::{ReviewDraft, TrackedFinding};
use assay_findings::synthesis::Synthesis;

use assay_store::pulls::Pull;
use assay_store::task::Moment;

use self::follow_up::FollowUpInput;
pub use self::runner::{
    AGENT_ID_VARIABLE, ROOT_VARIABLE, Runner, TASK_ID_VARIABLE, is_transient_io,
};
pub use self::subject::git_error;
use crate::config::framework::Workflow;
use crate::config::roster::Roster;
use crate::task_handler::{HandlerError, Job};

/// The shared context of the task handlers.
#[derive(Debug, Clone)]
pub struct WorkflowContext {
    /// The path of the repository.
    pub root: PathBuf,
    /// The state folder of the repository.
    pub state: State,
    /// The folder for work trees.
    pub worktrees: PathBuf,
    /// The settings for follow-up tasks.
    pub workflow: Workflow,
    /// The configured agents.
    pub roster: Roster,
    /// The publisher of branches and pull requests; `None` if nothing is published.
    pub publisher: Option<Arc<dyn ChangePublisher>>,
    /// The clock for timestamps of follow-up tasks.
    pub clock: Clock,
    /// The version of the program.
    pub version: String,
}

impl WorkflowContext {
    /// Returns the inputs of the decision on a job's follow-up tasks.
    fn follow_up_input<'a>(&'a self, job: &'a Job<'_>) -> FollowUpInput<'a> {
        FollowUpInput {
            workflow: &self.workflow,
            roster: &self.roster,
            queue: job.queue,
            worker: job.worker.as_str(),
            now: Moment::now(&self.clock),
            version: &self.version,
        }
    }
}

/// A service that reviews changes.
///
/// An implementation changes nothing in the repository except the stored review.
pub trait ChangeReviewer: Send + Sync {
    /// Reviews a change.
    fn review(&self, scope: &Scope, job: &Job<'_>) -> Result<ReviewOutcome, HandlerError>;
}

/// A service that pushes branches and opens pull requests.
///
/// An implementation only fast-forwards a branch, and is idempotent: a commit that was pushed is
/// not pushed again, and an existing pull request stays as it is.
pub trait ChangePublisher: Send + Sync + fmt::Debug {
    /// Returns the head commit of the pull request that a task names, fetched from the branch that
    /// work on the task is pushed to. Returns `None` if nothing would be pushed there: the
    /// repository is not configured, or the agent may not push. Fails permanently if the pull
    /// request cannot be pushed to, before any work is done on it.
    fn pull_head(&self, job: &Job<'_>) -> Result<Option<String>, HandlerError>;

    /// Pushes a commit of a local branch, and opens its pull request or finds the existing one.
    /// Returns `None` if the repository is not configured, or the agent may not push.
    fn publish(
        &self,
        commit: &str,
        branch: &str,
        base: Option<&str>,
        job: &Job<'_>,
    ) -> Result<Option<Pull>, HandlerError>;
}

/// The result of a review.
#[derive(Debug, Clone)]
pub struct ReviewOutcome {
    /// The findings and the verdict.
    pub synthesis: Synthesis,
    /// The review for the pull request; `None` if the change is not one.
    pub draft: Option<Box<ReviewDraft>>,
    /// The reviewed head commit of the pull request; `None` if the change is not one.
    pub head: Option<String>,
    /// The commit messages of the change.
    pub messages: Vec<String>,
    /// The findings of all reviews of the change, with their outcomes.
    pub tracked: Vec<TrackedFinding>,
    /// The id of the stored review; `None` if it is not stored.
    pub run: Option<String>,
    /// True if a reviewer that failed may succeed at a retry.
    pub may_answer_later: bool,
}

/// A service that fixes code.
///
/// An implementation writes only in the given folder, and commits nothing.
pub trait ChangeFixer: Send + Sync {
    /// Fixes the findings of a task in a folder with the change; `base` is the branch that the
    /// change is based on. Returns a summary of the fix.
    fn fix(&self, folder: &Path, base: Option<&str>, job: &Job<'_>)
    -> Result<String, HandlerError>;
}

/// A service that validates an implementation against its spec, and fixes what fails.
///
/// An implementation writes in the given folder and in the state of the repository outside of git,
/// and commits nothing. Records of earlier rounds in the spec's folder may be forged: they approve
/// nothing.
pub trait SpecValidator: Send + Sync {
    /// Runs validation rounds in a folder with the change until the spec is met or a person has to
    /// decide; `base` is the branch that the change is based on. Fails if the rounds could not
    /// finish.
    fn validate(
        &self,
        folder: &Path,
        base: Option<&str>,
        spec: &str,
        job: &Job<'_>,
    ) -> Result<ValidationOutcome, HandlerError>;
}

/// The result of a validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValidationOutcome {
    /// The content of the folder meets the spec.
    Approved {
        /// The reason of the approval, in a few words.
        summary: String,
    },
    /// A person has to decide.
    Escalated {
        /// The reason why a person has to decide.
        reason: String,
        /// The path of the report for the person, relative to the folder.
        paper: String,
    },
    /// The implementation is not finished, so nothing was validated.
    Unfinished {
        /// The missing parts of the implementation.
        missing: String,
    },
}
