//! Errors of git: [`GitError`].

use std::path::PathBuf;

use assay_base::text::shell_word;
use assay_sandbox::RunError;

/// The reason that a call of git has no result.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The folder is in no repository.
    #[error("`{folder}` is not in a git repository")]
    NotARepository {
        /// The folder that was given.
        folder: PathBuf,
    },
    /// The index that git named to a hook does not exist.
    #[error("cannot read the index: `GIT_INDEX_FILE` names `{index}`, which does not exist")]
    NoIndex {
        /// The path in the variable.
        index: PathBuf,
    },
    /// The repository has no work tree.
    #[error("`{folder}` has no work tree: it is a bare repository, or git's own folder")]
    NoWorkTree {
        /// The folder that was given.
        folder: PathBuf,
    },
    /// The work tree that the repository configures is elsewhere.
    #[error(
        "the repository of `{folder}` has its work tree at `{root}`, which has no `.git`; check \
         `core.worktree`"
    )]
    StrayWorkTree {
        /// The folder that was given.
        folder: PathBuf,
        /// The configured work tree.
        root: PathBuf,
    },
    /// The repository belongs to another user, whose settings git would apply.
    #[error(
        "`{root}` belongs to another user; to trust only this repository, run `git config --global \
         --add safe.directory {quoted}`",
        quoted = shell_word(root)
    )]
    NotYours {
        /// The absolute path of the repository.
        root: PathBuf,
    },
    /// The commit or branch does not exist.
    #[error("unknown commit or branch `{name}` in this repository")]
    UnknownRevision {
        /// The name that was given.
        name: String,
    },
    /// The file or folder does not exist.
    #[error("unknown path `{path}`: no such file or folder in this repository")]
    UnknownPath {
        /// The path that was given.
        path: String,
    },
    /// The history is too shallow: the parent of a commit is missing.
    #[error("shallow clone: the parent of `{commit}` is missing; run `git fetch --deepen 1`")]
    CutOff {
        /// The commit whose parent is missing.
        commit: String,
    },
    /// The history is too shallow: the common commit of two branches is missing.
    #[error(
        "shallow clone: the common ancestor of `{base}` and `{tip}` is missing; run `git fetch \
         --unshallow`"
    )]
    EndsTooEarly {
        /// The base of the comparison.
        base: String,
        /// The tip of the comparison.
        tip: String,
    },
    /// No remote belongs to this repository.
    #[error("no remote of this repository is `{repository}`; remotes: {remotes}")]
    UnknownRemote {
        /// The repository that was given, `OWNER/REPO`.
        repository: String,
        /// A text that lists the remotes.
        remotes: String,
    },
    /// The remote has no ref of the pull request, or none yet.
    #[error(
        "`{repository}` has no pull request {number}: `refs/pull/{number}/head` does not exist; \
         check the number, or wait if the pull request was just opened"
    )]
    UnknownPull {
        /// The repository of the pull request, `OWNER/REPO`.
        repository: String,
        /// The number of the pull request.
        number: u64,
    },
    /// The remote has no merge request with the number.
    #[error(
        "`{project}` has no merge request {number}: `refs/merge-requests/{number}/head` does not \
         exist; check the number, or wait if the merge request was just opened"
    )]
    UnknownMergeRequest {
        /// The project of the merge request.
        project: String,
        /// The number of the merge request.
        number: u64,
    },
    /// The branch on the remote has commits that the pushed one does not follow.
    #[error(
        "cannot push to branch `{branch}` of `{repository}`, which has new commits: {refusal}; \
         repeat the work on the new head"
    )]
    BranchMoved {
        /// The repository, `OWNER/REPO`.
        repository: String,
        /// The name of the branch.
        branch: String,
        /// The message of git.
        refusal: String,
    },
    /// The remote does not allow the push.
    #[error(
        "cannot push to branch `{branch}` of `{repository}`: {refusal}; check the rights of the \
         token, the branch protection and the server hooks, or push by hand"
    )]
    PushRefused {
        /// The repository, `OWNER/REPO`.
        repository: String,
        /// The name of the branch.
        branch: String,
        /// The message of git.
        refusal: String,
    },
    /// The name is not valid for a branch.
    #[error("invalid branch name `{name}`")]
    BadBranch {
        /// The name that was given.
        name: String,
    },
    /// The branch is checked out elsewhere with uncommitted changes.
    #[error(
        "branch `{branch}` is checked out in `{folder}` with uncommitted changes; commit the \
         changes, or switch to another branch there"
    )]
    BusyBranch {
        /// The name of the branch.
        branch: String,
        /// The folder in which the branch is checked out.
        folder: PathBuf,
    },
    /// A program that worked in the folder replaced its repository.
    #[error("`{folder}/.git` was replaced after the checkout; nothing was committed")]
    Replaced {
        /// The path of the folder.
        folder: PathBuf,
    },
    /// A diff has a syntax error.
    #[error("cannot read the diff, line {line}: {reason}")]
    BadDiff {
        /// The line of the diff.
        line: u32,
        /// The error.
        reason: String,
    },
    /// A hunk of a diff does not fit the files of the base.
    #[error(
        "the diff does not apply to `{file}`, hunk at line {line} of the diff: {reason}; name the \
         commit that the diff was made from with `--base`"
    )]
    DiffMisfit {
        /// The path of the file.
        file: String,
        /// The line of the hunk's header in the diff.
        line: u32,
        /// The reason of the misfit.
        reason: String,
    },
    /// Git does not apply a diff.
    #[error("the diff does not apply: {refusal}")]
    DiffRefused {
        /// The message of git.
        refusal: String,
    },
    /// Another process changed a file of the patch in the meantime.
    #[error("another process changed `{file}` meanwhile")]
    Moved {
        /// The path of the file.
        file: String,
    },
    /// Git could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Git returned a failure.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The sub-command.
        command: String,
        /// The message of git.
        message: String,
        /// The exit code; `None` if a signal ended git.
        code: Option<i32>,
    },
    /// A folder for the tree could not be created.
    #[error("cannot create a folder for the files of the change")]
    Layout {
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The change is a recording, without the folder that it was made in.
    #[error("the change is a recording; the folder of its repository is not available")]
    OnRecordOnly,
}

impl GitError {
    /// Returns true if git answered a question with no, which is its exit code 1. Any other failure
    /// leaves the question open.
    pub(crate) fn is_negative_answer(&self) -> bool {
        matches!(self, GitError::Failed { code: Some(1), .. })
    }

    /// Returns true if git could not be run or failed, so that the question is still open.
    pub fn is_git_failure(&self) -> bool {
        matches!(self, GitError::Run(_) | GitError::Failed { .. })
    }

    /// Returns true if the folder is certainly not a work tree that git would read.
    pub(crate) fn is_no_work_tree(&self) -> bool {
        matches!(
            self,
            GitError::NotARepository { .. }
                | GitError::NoWorkTree { .. }
                | GitError::StrayWorkTree { .. }
        )
    }
}

/// Returns the answer of git, or `None` if git answered with no.
pub(crate) fn none_if_negative<T>(answer: Result<T, GitError>) -> Result<Option<T>, GitError> {
    match answer {
        Err(error) if error.is_negative_answer() => Ok(None),
        answer => answer.map(Some),
    }
}
