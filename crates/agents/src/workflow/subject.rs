//! The subject of a task: its change, and the branch of the change.

use std::path::Path;

use assay_change::{GitError, Scope, commit_of, main_branch};

use assay_findings::write::escape::chain;
use assay_store::pulls::{self, CommitId};

use super::context_keys::{BASE_KEYS, BRANCH_KEYS, OWN_BRANCH_KEY};
use crate::task_handler::{HandlerError, Job};

/// Returns the branch that a task names.
pub(super) fn branch<'a>(job: &'a Job<'_>) -> Option<&'a str> {
    BRANCH_KEYS.iter().find_map(|key| job.context(key))
}

/// Returns the branch for work on a task, if the task names a branch that has its change. Any
/// author can give the branch of a pull request a name that means another branch here.
pub(super) fn branch_to_work_on<'a>(root: &Path, job: &'a Job<'_>) -> Option<&'a str> {
    let branch = branch(job)?;
    let pull = pulls::pull_in_context(&job.task.context);
    let Some(head) = pull.and(job.context("head_commit")) else { return Some(branch) };
    let has_it = || {
        let found = find_branch(root, branch).and_then(|name| commit_of(root, &name));
        found.is_ok_and(|commit| commit == head)
    };
    (is_own_branch(job) || has_it()).then_some(branch)
}

/// Fails if the change of a pull request cannot be located here: work on top of another branch
/// could never be pushed to the pull request.
pub(super) fn check_pull_is_here(root: &Path, job: &Job<'_>) -> Result<(), HandlerError> {
    let pull = pulls::pull_in_context(&job.task.context).filter(|_| !is_own_branch(job));
    let Some((repository, number)) = pull else { return Ok(()) };
    let is_named = ["head_commit", "commit"].iter().any(|key| job.context(key).is_some());
    let is_here = branch(job).is_some_and(|branch| find_branch(root, branch).is_ok());
    match is_named || is_here {
        true => Ok(()),
        false => Err(HandlerError::permanent(format!(
            "the branch of {repository}#{number} is unknown, so nothing was done; enable the \
             look-up on GitHub (`{repository}` among `github.repositories`, a token, and `push` \
             and `github` in the permissions of agent `{}`), or set `branch_name` or `head_commit` \
             in the context of the task",
            job.agent.id
        ))),
    }
}

/// Returns true if the branch that a task names was worked on for it here.
pub(super) fn is_own_branch(job: &Job<'_>) -> bool {
    job.context(OWN_BRANCH_KEY).is_some()
}

/// Returns the branch or revision that the task's change is based on.
pub(super) fn base(root: &Path, job: &Job<'_>) -> Result<Option<String>, HandlerError> {
    if let Some(named) = BASE_KEYS.iter().find_map(|key| job.context(key)) {
        return Ok(Some(named.to_owned()));
    }
    if let Some(before) = job.context("commit").map(before) {
        match commit_of(root, &before) {
            Ok(_) => return Ok(Some(before)),
            Err(GitError::UnknownRevision { .. }) => {}
            Err(error) => return Err(git_error(&error)),
        }
    }
    main_branch(root).map_err(|error| git_error(&error))
}

/// Returns the revision before a commit or a range of commits.
pub(super) fn before(commits: &str) -> String {
    match commits.split_once("..") {
        Some((from, _)) => from.to_owned(),
        None => format!("{commits}^"),
    }
}

/// Returns the last revision of a range of commits.
pub(super) fn last(commits: &str) -> &str {
    match commits.rsplit_once("..") {
        Some((_, "")) => "HEAD",
        Some((_, last)) => last,
        None => commits,
    }
}

/// Returns the change that a task names: a commit, else a pull request, unless it was worked on
/// here since, else a local branch.
pub(super) fn scope(root: &Path, job: &Job<'_>) -> Result<Scope, HandlerError> {
    if let Some(commit) = job.context("commit") {
        return Ok(Scope::Commits(commit.to_owned()));
    }
    let pull = pulls::pull_in_context(&job.task.context);
    if let Some((repository, number)) = pull.filter(|_| !is_own_branch(job)) {
        let head = job.context("head_commit").filter(|head| head.parse::<CommitId>().is_ok());
        let (head, base) = (head.map(str::to_owned), job.context("base_branch").map(str::to_owned));
        return Ok(Scope::Pull { repository: repository.to_string(), number, head, base });
    }
    let named = branch(job);
    let here = match named.map(|name| find_branch(root, name)) {
        Some(Err(error)) if error.is_git_failure() => return Err(git_error(&error)),
        here => here.and_then(Result::ok),
    };
    if let Some(branch) = here {
        let Some(base) = base(root, job)? else {
            return Err(HandlerError::permanent(format!(
                "the base of branch `{branch}` is unknown; set `base` in the context of the task"
            )));
        };
        return Ok(Scope::Commits(format!("{base}...{branch}")));
    }
    Err(HandlerError::permanent(match named {
        Some(branch) => format!("unknown branch `{branch}` in this repository"),
        None => "the task names no change: its context has neither `branch_name`, `commit` nor \
                 `pr_number` with `github_repo`"
            .to_owned(),
    }))
}

/// Returns the name under which a branch is found here: local, or of `origin`.
fn find_branch(root: &Path, branch: &str) -> Result<String, GitError> {
    let remote = format!("origin/{branch}");
    match commit_of(root, &format!("refs/heads/{branch}")) {
        Ok(_) => Ok(branch.to_owned()),
        Err(GitError::UnknownRevision { .. }) => commit_of(root, &remote).map(|_| remote),
        Err(error) => Err(error),
    }
}

/// Converts an error of git to a transient or permanent error.
pub fn git_error(error: &GitError) -> HandlerError {
    let error_text = chain(error);
    match error {
        // The remote or the machine may be unavailable for a moment; a pull request that was just
        // opened may have no ref yet; and the next attempt starts at the new head of a branch.
        GitError::Run(_)
        | GitError::Failed { .. }
        | GitError::BusyBranch { .. }
        | GitError::UnknownPull { .. }
        | GitError::UnknownMergeRequest { .. }
        | GitError::BranchMoved { .. } => HandlerError::transient(error_text),
        GitError::NotARepository { .. }
        | GitError::NoIndex { .. }
        | GitError::NoWorkTree { .. }
        | GitError::StrayWorkTree { .. }
        | GitError::NotYours { .. }
        | GitError::UnknownRevision { .. }
        | GitError::UnknownPath { .. }
        | GitError::CutOff { .. }
        | GitError::EndsTooEarly { .. }
        | GitError::UnknownRemote { .. }
        | GitError::PushRefused { .. }
        | GitError::BadBranch { .. }
        | GitError::Replaced { .. }
        | GitError::Moved { .. }
        | GitError::Layout { .. }
        | GitError::BadDiff { .. }
        | GitError::DiffMisfit { .. }
        | GitError::DiffRefused { .. }
        | GitError::OnRecordOnly => HandlerError::permanent(error_text),
    }
}
