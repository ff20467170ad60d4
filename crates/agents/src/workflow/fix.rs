//! Mending what a review found, in a work tree of its own: [`FixWork`].
//!
//! Each attempt has a work tree in a new folder, so that a process that outlives its attempt writes
//! where no later attempt looks. A fix for a pull request is pushed before the local branch moves:
//! the next attempt starts at the commit that GitHub has, so a refused push leaves no commit to
//! build upon.

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

/// What agents go by, and what they keep: none of it is theirs to change.
const GUARDED: [&str; 5] =
    [roster::PATH, "config/agent-framework.yaml", mcp::PATH, ".assay", ".agent-communication"];

/// How the name of an attempt's folder begins.
const ATTEMPT: &str = "attempt-";

/// Mends what a review found, commits it to the task's branch, and has it reviewed again.
pub struct FixWork<F> {
    /// What all kinds of work share.
    pub shop: Shop,
    /// How code is mended where the agent has no program for it.
    pub fixes: F,
    /// How the agent's program is run.
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

/// The work tree of a task, and the branch here that its commit goes to.
pub(super) struct TaskTree {
    pub(super) branch: String,
    pub(super) worktree: Worktree,
    /// Whether the commit is pushed to a pull request before the branch here has it: the pull request
    /// is where the next attempt begins, so a push that is refused leaves nothing behind.
    is_pull: bool,
    /// The folder of the attempt, which goes after the work tree in it.
    _attempt: ScratchFolder,
}

/// Lays out the change of a task to be pushed: its pull request as it is on the remote, where it has
/// one that can be pushed to, else its branch here.
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

/// Lays out the branch of a task. A task without one gets one.
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

/// Names the branch of a task that has none of its own.
fn own_branch(job: &Job<'_>) -> String {
    let root = job.context("_root_task_id").unwrap_or(job.task.id.as_str());
    format!("assay/{root}")
}

/// Goes on with work that an earlier attempt at the task committed. The work is not done again, so
/// however often a task is tried, it has one commit.
pub(super) fn take_up(
    shop: &Shop,
    job: &Job<'_>,
    tree: &TaskTree,
) -> Result<Option<Outcome>, Failed> {
    let Some(summary) = done_before(&tree.worktree, job) else { return Ok(None) };
    let commit = head(&tree.worktree)?;
    finish(shop, job, tree, &commit, summary).map(Some)
}

/// Returns the folder for the work tree of an attempt at a task. No other attempt, of this worker or of
/// another one, ever has the same folder: a process that outlives its attempt writes where no later
/// attempt looks. What earlier attempts of the worker left behind is removed, as far as it can be.
fn own_folder(shop: &Shop, job: &Job<'_>) -> Result<ScratchFolder, Failed> {
    let worker = shop.worktrees.join(job.worker.as_str());
    remove_earlier(&shop.root, &worker);
    let made = fs::create_dir_all(&worker).and_then(|()| ScratchFolder::new_in(ATTEMPT, &worker));
    made.map_err(|error| {
        Failed::passing(format!("could not use `{}`: {error}", shop.worktrees.display()))
    })
}

/// Removes the folders of earlier attempts of a worker, which does one task at a time.
fn remove_earlier(root: &Path, worker: &Path) {
    for attempt in fs::read_dir(worker).into_iter().flatten().flatten() {
        for tree in fs::read_dir(attempt.path()).into_iter().flatten().flatten() {
            Worktree::remove(root, &tree.path());
        }
        // A process that still writes there may keep the folder alive until the next attempt.
        let _ = fs::remove_dir_all(attempt.path());
    }
}

/// Finds a file among those that were changed that says what agents do, or what they did.
fn guarded(files: &[String]) -> Option<&String> {
    let is_guarded = |file: &&String| {
        GUARDED.iter().any(|place| is_at_or_below(file, place) || is_at_or_below(place, file))
    };
    files.iter().find(is_guarded)
}

/// Gives what was said of a task whose work an earlier attempt committed.
fn done_before(worktree: &Worktree, job: &Job<'_>) -> Option<String> {
    let message = worktree.message().ok()?;
    let work = message.trim_end().strip_suffix(&mark(job))?;
    Some(work.split_once("\n\n").map_or_else(String::new, |(_, summary)| summary.to_owned()))
}

/// How the message of a commit for a task ends.
fn mark(job: &Job<'_>) -> String {
    let cycle = match cycle(job.task) {
        0 => String::new(),
        cycle => format!("{REVIEW_CYCLE}{cycle}\n"),
    };
    format!("\n\n{cycle}Task: {}", job.task.id)
}

/// Commits what was done, and decides what follows.
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

/// Publishes the commit of a task, and decides what follows.
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

/// Gives the commit that a work tree is at.
fn head(worktree: &Worktree) -> Result<String, Failed> {
    commit_of(worktree.path(), "HEAD").map_err(|error| subject::failed(&error))
}

/// Puts a commit where people see it, if there is a place for it.
fn publish(shop: &Shop, job: &Job<'_>, commit: &str, branch: &str) -> Result<Option<Pull>, Failed> {
    let Some(publishes) = &shop.publishes else { return Ok(None) };
    let base = subject::base(&shop.root, job)?;
    publishes.publish(commit, branch, base.as_deref(), job)
}

/// Commits what was done to a branch, unless a person has to do it. Gives the new commit, or nothing
/// if nothing was done.
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

/// Commits what was done, on no branch, unless a person has to do it. Returns the new commit, or
/// `None` if nothing was done.
fn make_commit(
    job: &Job<'_>,
    worktree: &Worktree,
    summary: &str,
) -> Result<Option<String>, Failed> {
    let files = worktree.changed().map_err(|error| subject::failed(&error))?;
    if let Some(file) = guarded(&files) {
        return Err(Failed::lasting(format!(
            "the work changes `{file}`, which agents go by, so it is not committed; a person has \
             to make that change"
        )));
    }
    let message = format!("{}\n\n{}{}", job.task.title, summary.trim(), mark(job));
    worktree.make_commit(&message).map_err(|error| subject::failed(&error))
}
