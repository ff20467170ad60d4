//! What a task is about: its change, and the branch that it is on.

use std::path::Path;

use assay_change::{GitError, Scope, commit_of, main_branch};

use crate::work::{Failed, Job, chain};

/// Where the branch of a change may stand, the surest first.
const BRANCHES: [&str; 3] = ["worktree_branch", "implementation_branch", "branch_name"];

/// Where the branch may stand that a change was made on top of.
const BASES: [&str; 2] = ["base", "base_branch"];

/// Gives the branch that a task names.
pub(super) fn branch<'a>(job: &'a Job<'_>) -> Option<&'a str> {
    BRANCHES.iter().find_map(|key| job.context(key))
}

/// Gives the branch that the task's change was made on top of.
pub(super) fn base(root: &Path, job: &Job<'_>) -> Option<String> {
    let named = BASES.iter().find_map(|key| job.context(key)).map(str::to_owned);
    named.or_else(|| main_branch(root))
}

/// Gives the pull request that a task names.
pub(super) fn pull(job: &Job<'_>) -> Option<(String, u64)> {
    let repository = job.context("github_repo")?.to_owned();
    let number = job.task.context.get("pr_number")?;
    let number = number.as_u64().or_else(|| number.as_str()?.parse().ok())?;
    Some((repository, number))
}

/// Gives the change that a task names: a commit, else a branch that is here, else a pull request.
pub(super) fn scope(root: &Path, job: &Job<'_>) -> Result<Scope, Failed> {
    if let Some(commit) = job.context("commit") {
        return Ok(Scope::Commits(commit.to_owned()));
    }
    let named = branch(job);
    let here = named.and_then(|name| local(root, name).ok());
    if let Some(branch) = here {
        let Some(base) = base(root, job) else {
            return Err(Failed::lasting(format!(
                "nobody knows what `{branch}` was made on top of; name it as `base` in the \
                 task's context"
            )));
        };
        return Ok(Scope::Commits(format!("{base}...{branch}")));
    }
    match (pull(job), named) {
        (Some((repository, number)), _) => Ok(Scope::Pull { repository, number }),
        (None, Some(branch)) => {
            Err(Failed::lasting(format!("branch `{branch}` is not in this repository")))
        }
        (None, None) => Err(Failed::lasting(
            "the task names no change: its context has neither `branch_name`, `commit` nor \
             `pr_number` with `github_repo`",
        )),
    }
}

/// Gives a branch under the name by which it is found here.
fn local(root: &Path, branch: &str) -> Result<String, GitError> {
    let remote = format!("origin/{branch}");
    match commit_of(root, &format!("refs/heads/{branch}")) {
        Ok(_) => Ok(branch.to_owned()),
        Err(_) => commit_of(root, &remote).map(|_| remote),
    }
}

/// Says why git did not do something, and whether it may later.
pub fn failed(error: &GitError) -> Failed {
    let error_text = chain(error);
    match error {
        // The remote, or the machine, may be out for a moment.
        GitError::Run(_) | GitError::Failed { .. } | GitError::BusyBranch { .. } => {
            Failed::passing(error_text)
        }
        GitError::NotARepository { .. }
        | GitError::NoWorkTree { .. }
        | GitError::StrayWorkTree { .. }
        | GitError::NotYours { .. }
        | GitError::UnknownRevision { .. }
        | GitError::UnknownPath { .. }
        | GitError::CutOff { .. }
        | GitError::EndsTooEarly { .. }
        | GitError::UnknownRemote { .. }
        | GitError::UnknownPull { .. }
        | GitError::BadBranch { .. }
        | GitError::Layout { .. }
        | GitError::OnRecordOnly => Failed::lasting(error_text),
    }
}
