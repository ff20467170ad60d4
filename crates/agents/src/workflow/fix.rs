//! Mending what a review found, in a work tree of its own: [`FixWork`].

use std::fs;
use std::io;
use std::path::PathBuf;

use assay_change::{Worktree, commit_of};
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
        let (branch, worktree) = lay_out(&self.shop, job)?;
        let summary = match &job.agent.command {
            Some(command) => in_short(&self.runner.run(command, worktree.path(), job)?),
            None => {
                let base = subject::base(&self.shop.root, job)?;
                self.fixes.fix(worktree.path(), base.as_deref(), job)?
            }
        };
        commit(&self.shop, job, &worktree, &branch, summary)
    }
}

/// Lays out the branch of a task. A task without one gets one.
pub(super) fn lay_out(shop: &Shop, job: &Job<'_>) -> Result<(String, Worktree), Failed> {
    let id = &job.task.id;
    let named = subject::branch_to_work_on(&shop.root, job).map(str::to_owned);
    let from = job.context("head_commit").or_else(|| job.context("commit").map(subject::last));
    let from = match from {
        Some(from) => Some(from.to_owned()),
        None => subject::base(&shop.root, job)?,
    };
    let branch = named.unwrap_or_else(|| {
        let root = job.context("_root_task_id").unwrap_or(id.as_str());
        format!("assay/{root}")
    });
    let folder = own_folder(shop, job).map_err(|error| {
        Failed::passing(format!("could not use `{}`: {error}", shop.worktrees.display()))
    })?;
    let worktree = Worktree::open(&shop.root, &folder.join(id.as_str()), &branch, from.as_deref());
    Ok((branch, worktree.map_err(|error| subject::failed(&error))?))
}

/// Makes the folder for the work trees of a worker. Nobody else of its name is at work, and it does
/// one task at a time, so what is left in there is of nobody any more.
fn own_folder(shop: &Shop, job: &Job<'_>) -> io::Result<PathBuf> {
    let folder = shop.worktrees.join(job.worker.as_str());
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Finds a file among those that were changed that says what agents do, or what they did.
fn guarded(files: &[String]) -> Option<&String> {
    let lies_in = |path: &str, folder: &str| {
        path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_guarded = |file: &&String| {
        GUARDED.iter().any(|guarded| lies_in(file, guarded) || lies_in(guarded, file))
    };
    files.iter().find(is_guarded)
}

/// Gives what was said of a task whose work was committed just before its worker ended.
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
    worktree: &Worktree,
    branch: &str,
    summary: String,
) -> Result<Outcome, Failed> {
    let terms = shop.terms(job);
    let (commit, summary) = match put_on_branch(job, worktree, branch, &summary)? {
        Some(commit) => (commit, summary),
        None => match done_before(worktree, job) {
            Some(before) => (head(worktree)?, before),
            None => return Ok(after_nothing(&terms, job.task, summary)),
        },
    };
    let pull = publish(shop, job, &commit, branch)?;
    Ok(after_commit(&terms, job.task, branch, pull.as_ref(), summary))
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
    let files = worktree.changed().map_err(|error| subject::failed(&error))?;
    if let Some(file) = guarded(&files) {
        return Err(Failed::lasting(format!(
            "the work changes `{file}`, which agents go by, so it is not committed; a person has \
             to make that change"
        )));
    }
    let message = format!("{}\n\n{}{}", job.task.title, summary.trim(), mark(job));
    let commit = worktree.commit(&message).map_err(|error| subject::failed(&error))?;
    if let Some(commit) = &commit {
        let short: String = commit.chars().take(12).collect();
        job.log.info(&format!("Committed {short} to `{branch}`"));
    }
    Ok(commit)
}
