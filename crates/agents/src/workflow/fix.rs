//! The task handler for fixes, [`FixHandler`], and the work trees of attempts.
//!
//! Each attempt has a work tree in a new folder, so that a process that outlives its attempt cannot
//! write into the work tree of a later one. A fix for a pull request is pushed before the local
//! branch moves: the next attempt starts at the commit that GitHub has, so a rejected push leaves
//! no commit to build upon.

use std::fs;
use std::path::Path;

use assay_base::text::first_chars;
use assay_change::state::is_at_or_below;
use assay_change::{Worktree, commit_of};
use assay_sandbox::ScratchFolder;
use assay_store::pulls::Pull;

use super::follow_up::{CYCLE_TRAILER, after_commit, after_empty_fix, cycle};
use super::runner::to_summary;
use super::{ChangeFixer, Runner, WorkflowContext, subject};
use crate::config::mcp;
use crate::config::roster::{self, Permission};
use crate::task_handler::{HandlerError, Job, TaskHandler, TaskOutcome};

/// The configuration and state of agents, which agents must not change.
const PROTECTED_PATHS: [&str; 7] = [
    roster::PATH,
    "config/agent-framework.yaml",
    "assay.yaml",
    ".assay.yaml",
    mcp::PATH,
    ".assay",
    ".agent-communication",
];

/// The prefix of an attempt's folder.
const ATTEMPT_PREFIX: &str = "attempt-";

/// The handler that fixes the findings of a review, commits the fix to the branch of the task, and
/// requests another review.
pub struct FixHandler<F> {
    /// The shared context.
    pub workflow_context: WorkflowContext,
    /// The fixer for agents without their own program.
    pub fixer: F,
    /// The runner of the agent's program.
    pub runner: Runner,
}

impl<F: ChangeFixer> TaskHandler for FixHandler<F> {
    fn required_permission(&self) -> Permission {
        Permission::Edit
    }

    fn handle(&self, job: &Job<'_>) -> Result<TaskOutcome, HandlerError> {
        let tree = check_out_to_push(&self.workflow_context, job)?;
        if let Some(outcome) = finish_earlier_attempt(&self.workflow_context, job, &tree)? {
            return Ok(outcome);
        }
        let folder = tree.worktree.path();
        let summary = match &job.agent.command {
            Some(command) => to_summary(&self.runner.run(command, folder, job)?),
            None => {
                let base = subject::base(&self.workflow_context.root, job)?;
                self.fixer.fix(folder, base.as_deref(), job)?
            }
        };
        commit(&self.workflow_context, job, &tree, summary)
    }
}

/// The work tree of a task, and the local branch that its commit goes to.
pub(super) struct TaskTree {
    pub(super) branch: String,
    pub(super) worktree: Worktree,
    /// True if the commit is pushed to a pull request before the local branch moves: the next
    /// attempt starts at the pull request, so a rejected push leaves nothing behind.
    is_pull: bool,
    /// The folder of the attempt, which is removed after the work tree in it.
    _attempt: ScratchFolder,
}

/// Checks out the change of a task for pushing: the head of its pull request on the remote, if it
/// has one that can be pushed to, else its local branch.
pub(super) fn check_out_to_push(
    workflow_context: &WorkflowContext,
    job: &Job<'_>,
) -> Result<TaskTree, HandlerError> {
    let head = match &workflow_context.publisher {
        Some(publisher) if !subject::is_own_branch(job) => publisher.pull_head(job)?,
        Some(_) | None => None,
    };
    let Some(head) = head else {
        subject::check_pull_is_here(&workflow_context.root, job)?;
        return check_out(workflow_context, job);
    };
    let (branch, attempt) = (new_branch_name(job), create_attempt_folder(workflow_context, job)?);
    let folder = attempt.path().join(job.task.id.as_str());
    let worktree = Worktree::open_at(&workflow_context.root, &folder, &branch, &head);
    let worktree = worktree.map_err(|error| subject::git_error(&error))?;
    Ok(TaskTree { branch, worktree, is_pull: true, _attempt: attempt })
}

/// Checks out the branch of a task. A task without a branch gets a new one.
pub(super) fn check_out(
    workflow_context: &WorkflowContext,
    job: &Job<'_>,
) -> Result<TaskTree, HandlerError> {
    let named = subject::branch_to_work_on(&workflow_context.root, job).map(str::to_owned);
    let from = job.context("head_commit").or_else(|| job.context("commit").map(subject::last));
    let from = match from {
        Some(from) => Some(from.to_owned()),
        None => subject::base(&workflow_context.root, job)?,
    };
    let branch = named.unwrap_or_else(|| new_branch_name(job));
    let attempt = create_attempt_folder(workflow_context, job)?;
    let folder = attempt.path().join(job.task.id.as_str());
    let worktree = Worktree::open(&workflow_context.root, &folder, &branch, from.as_deref());
    let worktree = worktree.map_err(|error| subject::git_error(&error))?;
    Ok(TaskTree { branch, worktree, is_pull: false, _attempt: attempt })
}

/// Returns the name of the new branch for a task without one.
fn new_branch_name(job: &Job<'_>) -> String {
    let root = job.context("_root_task_id").unwrap_or(job.task.id.as_str());
    format!("assay/{root}")
}

/// Finishes a task whose work an earlier attempt committed. The work is not repeated, so a task has
/// one commit, however many attempts it takes.
pub(super) fn finish_earlier_attempt(
    workflow_context: &WorkflowContext,
    job: &Job<'_>,
    tree: &TaskTree,
) -> Result<Option<TaskOutcome>, HandlerError> {
    let Some(summary) = find_committed_summary(&tree.worktree, job) else { return Ok(None) };
    let commit = head(&tree.worktree)?;
    finish(workflow_context, job, tree, &commit, summary).map(Some)
}

/// Creates the folder for the work tree of an attempt. No other attempt, of this worker or of
/// another one, has the same folder: a process that outlives its attempt cannot write into the work
/// tree of a later one. Folders of earlier attempts of the worker are removed, as far as possible.
fn create_attempt_folder(
    workflow_context: &WorkflowContext,
    job: &Job<'_>,
) -> Result<ScratchFolder, HandlerError> {
    let worker = workflow_context.worktrees.join(job.worker.as_str());
    remove_earlier(&workflow_context.root, &worker);
    let made =
        fs::create_dir_all(&worker).and_then(|()| ScratchFolder::new_in(ATTEMPT_PREFIX, &worker));
    made.map_err(|error| {
        HandlerError::transient(format!(
            "cannot access `{}`: {error}",
            workflow_context.worktrees.display()
        ))
    })
}

/// Removes the folders of a worker's earlier attempts; a worker runs one task at a time.
fn remove_earlier(root: &Path, worker: &Path) {
    for attempt in fs::read_dir(worker).into_iter().flatten().flatten() {
        for tree in fs::read_dir(attempt.path()).into_iter().flatten().flatten() {
            Worktree::remove(root, &tree.path());
        }
        // A process that still writes into the folder may prevent its removal until the next
        // attempt.
        let _ = fs::remove_dir_all(attempt.path());
    }
}

/// Returns a changed file that configures agents or holds their state; `None` if there is none.
fn find_protected(files: &[String]) -> Option<&String> {
    let is_protected = |file: &&String| {
        PROTECTED_PATHS
            .iter()
            .any(|place| is_at_or_below(file, place) || is_at_or_below(place, file))
    };
    files.iter().find(is_protected)
}

/// Returns the summary of the work if an earlier attempt committed it.
fn find_committed_summary(worktree: &Worktree, job: &Job<'_>) -> Option<String> {
    let message = worktree.message().ok()?;
    let work = message.trim_end().strip_suffix(&commit_trailer(job))?;
    Some(work.split_once("\n\n").map_or_else(String::new, |(_, summary)| summary.to_owned()))
}

/// Returns the trailer of a commit message for a task.
fn commit_trailer(job: &Job<'_>) -> String {
    let cycle = match cycle(job.task) {
        0 => String::new(),
        cycle => format!("{CYCLE_TRAILER}{cycle}\n"),
    };
    format!("\n\n{cycle}Task: {}", job.task.id)
}

/// Commits the changes of a work tree, and decides on the follow-up.
pub(super) fn commit(
    workflow_context: &WorkflowContext,
    job: &Job<'_>,
    tree: &TaskTree,
    summary: String,
) -> Result<TaskOutcome, HandlerError> {
    let TaskTree { branch, worktree, is_pull, .. } = tree;
    let commit = match is_pull {
        true => make_commit(job, worktree, &summary)?,
        false => commit_to_branch(job, worktree, branch, &summary)?,
    };
    match commit {
        Some(commit) => finish(workflow_context, job, tree, &commit, summary),
        None => Ok(after_empty_fix(&workflow_context.follow_up_input(job), job.task, summary)),
    }
}

/// Publishes the commit of a task, and decides on the follow-up.
fn finish(
    workflow_context: &WorkflowContext,
    job: &Job<'_>,
    tree: &TaskTree,
    commit: &str,
    summary: String,
) -> Result<TaskOutcome, HandlerError> {
    let branch = &tree.branch;
    let pull = publish(workflow_context, job, commit, branch)?;
    if tree.is_pull {
        tree.worktree.advance(commit).map_err(|error| subject::git_error(&error))?;
    }
    Ok(after_commit(
        &workflow_context.follow_up_input(job),
        job.task,
        branch,
        pull.as_ref(),
        summary,
    ))
}

/// Returns the head commit of a work tree.
fn head(worktree: &Worktree) -> Result<String, HandlerError> {
    commit_of(worktree.path(), "HEAD").map_err(|error| subject::git_error(&error))
}

/// Publishes a commit. Returns `None` if there is no publisher, or it publishes nothing.
fn publish(
    workflow_context: &WorkflowContext,
    job: &Job<'_>,
    commit: &str,
    branch: &str,
) -> Result<Option<Pull>, HandlerError> {
    let Some(publisher) = &workflow_context.publisher else { return Ok(None) };
    let base = subject::base(&workflow_context.root, job)?;
    publisher.publish(commit, branch, base.as_deref(), job)
}

/// Commits the changes of a work tree to a branch. Returns the new commit, or `None` if nothing was
/// changed. Fails if the changes need a person.
pub(super) fn commit_to_branch(
    job: &Job<'_>,
    worktree: &Worktree,
    branch: &str,
    summary: &str,
) -> Result<Option<String>, HandlerError> {
    let commit = make_commit(job, worktree, summary)?;
    if let Some(commit) = &commit {
        worktree.advance(commit).map_err(|error| subject::git_error(&error))?;
        let short = first_chars(commit, 12);
        job.log.info(&format!("Committed {short} to `{branch}`"));
    }
    Ok(commit)
}

/// Creates a commit on no branch. Returns the commit, or `None` if nothing was changed. Fails if
/// the changes need a person.
fn make_commit(
    job: &Job<'_>,
    worktree: &Worktree,
    summary: &str,
) -> Result<Option<String>, HandlerError> {
    let files = worktree.changed_files().map_err(|error| subject::git_error(&error))?;
    if let Some(file) = find_protected(&files) {
        return Err(HandlerError::permanent(format!(
            "the work changes `{file}`, which instructs agents, so it is not committed; a person \
             must make that change"
        )));
    }
    let message = format!("{}\n\n{}{}", job.task.title, summary.trim(), commit_trailer(job));
    worktree.make_commit(&message).map_err(|error| subject::git_error(&error))
}
