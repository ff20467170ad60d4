//! The task handler for fixes, [`FixWork`], and the work trees of attempts.
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

use super::follow_up::{REVIEW_CYCLE, after_commit, after_nothing, cycle};
use super::runner::in_short;
use super::{Fixes, Runner, Shop, subject};
use crate::config::mcp;
use crate::config::roster::{self, Permission};
use crate::work::{Failed, Job, Outcome, Work};

/// The configuration and state of agents, which agents must not change.
const GUARDED: [&str; 5] =
    [roster::PATH, "config/agent-framework.yaml", mcp::PATH, ".assay", ".agent-communication"];

/// The prefix of an attempt's folder.
const ATTEMPT: &str = "attempt-";

/// The handler that fixes the findings of a review, commits the fix to the branch of the task, and
/// requests another review.
pub struct FixWork<F> {
    /// The shared context.
    pub shop: Shop,
    /// The fixer for agents without their own program.
    pub fixes: F,
    /// The runner of the agent's program.
    pub runner: Runner,
}

impl<F: Fixes> Work for FixWork<F> {
    fn needs(&self) -> Permission {
        Permission::Edit
    }

    fn work(&self, job: &Job<'_>) -> Result<Outcome, Failed> {
        let tree = lay_out_to_push(&self.shop, job)?;
        if let Some(outcome) = take_up(&self.shop, job, &tree)? {
            return Ok(outcome);
        }
        let folder = tree.worktree.path();
        let summary = match &job.agent.command {
            Some(command) => in_short(&self.runner.run(command, folder, job)?),
            None => {
                let base = subject::base(&self.shop.root, job)?;
                self.fixes.fix(folder, base.as_deref(), job)?
            }
        };
        commit(&self.shop, job, &tree, summary)
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
pub(super) fn lay_out_to_push(shop: &Shop, job: &Job<'_>) -> Result<TaskTree, Failed> {
    let head = match &shop.publishes {
        Some(publishes) if !subject::is_own(job) => publishes.pull_head(job)?,
        Some(_) | None => None,
    };
    let Some(head) = head else {
        subject::check_pull_is_here(&shop.root, job)?;
        return lay_out(shop, job);
    };
    let (branch, attempt) = (own_branch(job), own_folder(shop, job)?);
    let folder = attempt.path().join(job.task.id.as_str());
    let worktree = Worktree::open_at(&shop.root, &folder, &branch, &head);
    let worktree = worktree.map_err(|error| subject::failed(&error))?;
    Ok(TaskTree { branch, worktree, is_pull: true, _attempt: attempt })
}

/// Checks out the branch of a task. A task without a branch gets a new one.
pub(super) fn lay_out(shop: &Shop, job: &Job<'_>) -> Result<TaskTree, Failed> {
    let named = subject::branch_to_work_on(&shop.root, job).map(str::to_owned);
    let from = job.context("head_commit").or_else(|| job.context("commit").map(subject::last));
    let from = match from {
        Some(from) => Some(from.to_owned()),
        None => subject::base(&shop.root, job)?,
    };
    let branch = named.unwrap_or_else(|| own_branch(job));
    let attempt = own_folder(shop, job)?;
    let folder = attempt.path().join(job.task.id.as_str());
    let worktree = Worktree::open(&shop.root, &folder, &branch, from.as_deref());
    let worktree = worktree.map_err(|error| subject::failed(&error))?;
    Ok(TaskTree { branch, worktree, is_pull: false, _attempt: attempt })
}

/// Returns the name of the new branch for a task without one.
fn own_branch(job: &Job<'_>) -> String {
    let root = job.context("_root_task_id").unwrap_or(job.task.id.as_str());
    format!("assay/{root}")
}

/// Finishes a task whose work an earlier attempt committed. The work is not repeated, so a task has
/// one commit, however many attempts it takes.
pub(super) fn take_up(
    shop: &Shop,
    job: &Job<'_>,
    tree: &TaskTree,
) -> Result<Option<Outcome>, Failed> {
    let Some(summary) = done_before(&tree.worktree, job) else { return Ok(None) };
    let commit = head(&tree.worktree)?;
    finish(shop, job, tree, &commit, summary).map(Some)
}

/// Creates the folder for the work tree of an attempt. No other attempt, of this worker or of
/// another one, has the same folder: a process that outlives its attempt cannot write into the work
/// tree of a later one. Folders of earlier attempts of the worker are removed, as far as possible.
fn own_folder(shop: &Shop, job: &Job<'_>) -> Result<ScratchFolder, Failed> {
    let worker = shop.worktrees.join(job.worker.as_str());
    remove_earlier(&shop.root, &worker);
    let made = fs::create_dir_all(&worker).and_then(|()| ScratchFolder::new_in(ATTEMPT, &worker));
    made.map_err(|error| {
        Failed::passing(format!("could not use `{}`: {error}", shop.worktrees.display()))
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
fn guarded(files: &[String]) -> Option<&String> {
    let is_guarded = |file: &&String| {
        GUARDED.iter().any(|place| is_at_or_below(file, place) || is_at_or_below(place, file))
    };
    files.iter().find(is_guarded)
}

/// Returns the summary of the work if an earlier attempt committed it.
fn done_before(worktree: &Worktree, job: &Job<'_>) -> Option<String> {
    let message = worktree.message().ok()?;
    let work = message.trim_end().strip_suffix(&mark(job))?;
    Some(work.split_once("\n\n").map_or_else(String::new, |(_, summary)| summary.to_owned()))
}

/// Returns the trailer of a commit message for a task.
fn mark(job: &Job<'_>) -> String {
    let cycle = match cycle(job.task) {
        0 => String::new(),
        cycle => format!("{REVIEW_CYCLE}{cycle}\n"),
    };
    format!("\n\n{cycle}Task: {}", job.task.id)
}

/// Commits the changes of a work tree, and decides on the follow-up.
pub(super) fn commit(
    shop: &Shop,
    job: &Job<'_>,
    tree: &TaskTree,
    summary: String,
) -> Result<Outcome, Failed> {
    let TaskTree { branch, worktree, is_pull, .. } = tree;
    let commit = match is_pull {
        true => make_commit(job, worktree, &summary)?,
        false => put_on_branch(job, worktree, branch, &summary)?,
    };
    match commit {
        Some(commit) => finish(shop, job, tree, &commit, summary),
        None => Ok(after_nothing(&shop.terms(job), job.task, summary)),
    }
}

/// Publishes the commit of a task, and decides on the follow-up.
fn finish(
    shop: &Shop,
    job: &Job<'_>,
    tree: &TaskTree,
    commit: &str,
    summary: String,
) -> Result<Outcome, Failed> {
    let branch = &tree.branch;
    let pull = publish(shop, job, commit, branch)?;
    if tree.is_pull {
        tree.worktree.advance(commit).map_err(|error| subject::failed(&error))?;
    }
    Ok(after_commit(&shop.terms(job), job.task, branch, pull.as_ref(), summary))
}

/// Returns the head commit of a work tree.
fn head(worktree: &Worktree) -> Result<String, Failed> {
    commit_of(worktree.path(), "HEAD").map_err(|error| subject::failed(&error))
}

/// Publishes a commit. Returns `None` if there is no publisher, or it publishes nothing.
fn publish(shop: &Shop, job: &Job<'_>, commit: &str, branch: &str) -> Result<Option<Pull>, Failed> {
    let Some(publishes) = &shop.publishes else { return Ok(None) };
    let base = subject::base(&shop.root, job)?;
    publishes.publish(commit, branch, base.as_deref(), job)
}

/// Commits the changes of a work tree to a branch. Returns the new commit, or `None` if nothing was
/// changed. Fails if the changes need a person.
pub(super) fn put_on_branch(
    job: &Job<'_>,
    worktree: &Worktree,
    branch: &str,
    summary: &str,
) -> Result<Option<String>, Failed> {
    let commit = make_commit(job, worktree, summary)?;
    if let Some(commit) = &commit {
        worktree.advance(commit).map_err(|error| subject::failed(&error))?;
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
) -> Result<Option<String>, Failed> {
    let files = worktree.changed_files().map_err(|error| subject::failed(&error))?;
    if let Some(file) = guarded(&files) {
        return Err(Failed::lasting(format!(
            "the work changes `{file}`, which agents go by, so it is not committed; a person has \
             to make that change"
        )));
    }
    let message = format!("{}\n\n{}{}", job.task.title, summary.trim(), mark(job));
    worktree.make_commit(&message).map_err(|error| subject::failed(&error))
}
