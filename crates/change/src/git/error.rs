//! Errors of git: [`GitError`].

use std::path::PathBuf;

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
    #[error("there is no index `{index}`, which the variable `GIT_INDEX_FILE` names")]
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
    #[error("the repository of `{folder}` takes `{root}` for its work tree, where it does not lie")]
    StrayWorkTree {
        /// The folder that was given.
        folder: PathBuf,
        /// The configured work tree.
        root: PathBuf,
    },
    /// The repository belongs to another user, whose settings git would apply.
    #[error(
        "`{root}` belongs to another user; `git config --global --add safe.directory {quoted}` \
         trusts that repository and no other",
        quoted = shell_word(root)
    )]
    NotYours {
        /// The absolute path of the repository.
        root: PathBuf,
    },
    /// The commit or branch does not exist.
    #[error("`{name}` is no commit or branch of this repository")]
    UnknownRevision {
        /// The name that was given.
        name: String,
    },
    /// The file or folder does not exist.
    #[error("`{path}` is no file or folder of this repository")]
    UnknownPath {
        /// The path that was given.
        path: String,
    },
    /// The history is too shallow: the parent of a commit is missing.
    #[error(
        "this clone ends at `{commit}`: its parent is not there; `git fetch --deepen 1` gets it"
    )]
    CutOff {
        /// The commit whose parent is missing.
        commit: String,
    },
    /// The history is too shallow: the common commit of two branches is missing.
    #[error(
        "this clone ends before `{base}` and `{tip}` meet; `git fetch --unshallow` gets the rest"
    )]
    EndsTooEarly {
        /// The base of the comparison.
        base: String,
        /// The tip of the comparison.
        tip: String,
    },
    /// No remote belongs to this repository.
    #[error("no remote of this repository is `{repository}`; there {remotes}")]
    UnknownRemote {
        /// The repository that was given, `OWNER/REPO`.
        repository: String,
        /// A text that lists the remotes.
        remotes: String,
    },
    /// The remote has no ref of the pull request, or none yet.
    #[error(
        "`{repository}` has no pull request {number}: `refs/pull/{number}/head` is not there; check \
         the number, or wait if it was opened just now"
    )]
    UnknownPull {
        /// The repository of the pull request, `OWNER/REPO`.
        repository: String,
        /// The number of the pull request.
        number: u64,
    },
    /// The branch on the remote has commits that the pushed one does not follow.
    #[error(
        "pushing to branch `{branch}` of `{repository}` was refused, as the branch has other commits \
         by now: {refusal}; work on its head again"
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
        "pushing to branch `{branch}` of `{repository}` was refused: {refusal}; allow it (rights of \
         the token, protection of the branch, hooks of the server), or push by hand"
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
    #[error("`{name}` is no name for a branch")]
    BadBranch {
        /// The name that was given.
        name: String,
    },
    /// The branch is checked out elsewhere with uncommitted changes.
    #[error(
        "branch `{branch}` is checked out in `{folder}` with changes that are not committed; \
         commit them, or switch to another branch there"
    )]
    BusyBranch {
        /// The name of the branch.
        branch: String,
        /// The folder in which the branch is checked out.
        folder: PathBuf,
    },
    /// A program that worked in the folder replaced its repository.
    #[error("`{folder}/.git` is not what git put there, so nothing of it is committed")]
    Replaced {
        /// The path of the folder.
        folder: PathBuf,
    },
    /// Another process changed a file of the patch in the meantime.
    #[error("`{file}` was changed by somebody else meanwhile")]
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
    #[error("could not make a folder for the files of the change")]
    Layout {
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The change is a recording, without the folder that it was made in.
    #[error("the change is on record only, without the folder that it was made in")]
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

/// Quotes a path for a shell if necessary.
fn shell_word(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
