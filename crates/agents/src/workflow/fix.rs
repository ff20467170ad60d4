//! Mending what a review found, in a work tree of its own: [`FixWork`].

use assay_change::Worktree;

use super::follow_up::{after_commit, after_nothing};
use super::runner::in_short;
use super::{Fixes, Runner, Shop, subject};
use crate::config::roster::Permission;
use crate::work::{Failed, Job, Outcome, Work};

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
                let base = subject::base(&self.shop.root, job);
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
    let from = from.map(str::to_owned).or_else(|| subject::base(&shop.root, job));
    let branch = named.unwrap_or_else(|| {
        let root = job.context("_root_task_id").unwrap_or(id.as_str());
        format!("assay/{root}")
    });
    let folder = shop.worktrees.join(id.as_str());
    std::fs::create_dir_all(&shop.worktrees).map_err(|error| {
        Failed::passing(format!("could not make `{}`: {error}", shop.worktrees.display()))
    })?;
    let worktree = Worktree::open(&shop.root, &folder, &branch, from.as_deref());
    Ok((branch, worktree.map_err(|error| subject::failed(&error))?))
}

/// Commits what was done, and decides what follows.
pub(super) fn commit(
    shop: &Shop,
    job: &Job<'_>,
    worktree: &Worktree,
    branch: &str,
    summary: String,
) -> Result<Outcome, Failed> {
    let message = format!("{}\n\n{summary}\n\nTask: {}", job.task.title, job.task.id);
    let commit = worktree.commit(&message).map_err(|error| subject::failed(&error))?;
    let terms = shop.terms(job);
    Ok(match commit {
        Some(commit) => {
            let short: String = commit.chars().take(12).collect();
            job.log.info(&format!("Committed {short} to `{branch}`"));
            after_commit(&terms, job.task, branch, summary)
        }
        None => after_nothing(&terms, job.task, summary),
    })
}
