//! Why git gave no answer: [`GitError`].

use std::path::PathBuf;

use assay_sandbox::RunError;

/// Why git gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The folder belongs to no repository.
    #[error("`{folder}` is not in a git repository")]
    NotARepository {
        /// The folder.
        folder: PathBuf,
    },
    /// The repository has no files outside of git.
    #[error("`{folder}` has no work tree: it is a bare repository, or git's own folder")]
    NoWorkTree {
        /// The folder.
        folder: PathBuf,
    },
    /// The repository says that its files lie elsewhere.
    #[error("the repository of `{folder}` takes `{root}` for its work tree, where it does not lie")]
    StrayWorkTree {
        /// The folder that was asked for.
        folder: PathBuf,
        /// What is set as the work tree.
        root: PathBuf,
    },
    /// The repository belongs to another user, whose settings git would follow.
    #[error(
        "`{root}` belongs to another user; `git config --global --add safe.directory {quoted}` \
         trusts that repository and no other",
        quoted = shell_word(root)
    )]
    NotYours {
        /// The absolute path of the repository.
        root: PathBuf,
    },
    /// There is no such commit or branch.
    #[error("`{name}` is no commit or branch of this repository")]
    UnknownRevision {
        /// What was asked for.
        name: String,
    },
    /// There is no such file or folder.
    #[error("`{path}` is no file or folder of this repository")]
    UnknownPath {
        /// What was asked for.
        path: String,
    },
    /// The history ends too early to compare with.
    #[error(
        "this clone ends at `{commit}`: its parent is not there; `git fetch --deepen 1` gets it"
    )]
    CutOff {
        /// The commit whose parent is not there.
        commit: String,
    },
    /// The history ends before two branches meet.
    #[error(
        "this clone ends before `{base}` and `{tip}` meet; `git fetch --unshallow` gets the rest"
    )]
    EndsTooEarly {
        /// What was to be compared with.
        base: String,
        /// What was to be compared.
        tip: String,
    },
    /// No remote is this repository.
    #[error("no remote of this repository is `{repository}`; there {remotes}")]
    UnknownRemote {
        /// What was asked for.
        repository: String,
        /// The remotes that there are, in words.
        remotes: String,
    },
    /// The remote has no ref of the pull request, or none yet.
    #[error(
        "`{repository}` has no pull request {number}: `refs/pull/{number}/head` is not there; check \
         the number, or wait if it was opened just now"
    )]
    UnknownPull {
        /// Where it was looked for.
        repository: String,
        /// Its number.
        number: u64,
    },
    /// The branch that is pushed to has commits that the pushed one does not follow.
    #[error(
        "pushing to branch `{branch}` of `{repository}` was refused, as the branch has other commits \
         by now: {refusal}; work on its head again"
    )]
    BranchMoved {
        /// The repository.
        repository: String,
        /// The branch.
        branch: String,
        /// What git said.
        refusal: String,
    },
    /// The remote does not allow the push.
    #[error(
        "pushing to branch `{branch}` of `{repository}` was refused: {refusal}; allow it (rights of \
         the token, protection of the branch, hooks of the server), or push by hand"
    )]
    PushRefused {
        /// The repository.
        repository: String,
        /// The branch.
        branch: String,
        /// What git said.
        refusal: String,
    },
    /// A name is none that a branch can have.
    #[error("`{name}` is no name for a branch")]
    BadBranch {
        /// What was asked for.
        name: String,
    },
    /// Somebody works on a branch.
    #[error(
        "branch `{branch}` is checked out in `{folder}` with changes that are not committed; \
         commit them, or switch to another branch there"
    )]
    BusyBranch {
        /// The branch.
        branch: String,
        /// Where it is checked out.
        folder: PathBuf,
    },
    /// Whoever worked in a folder put a repository of their own there.
    #[error("`{folder}/.git` is not what git put there, so nothing of it is committed")]
    Replaced {
        /// The folder.
        folder: PathBuf,
    },
    /// Somebody else changed a file that was worked on.
    #[error("`{file}` was changed by somebody else meanwhile")]
    Moved {
        /// The file.
        file: String,
    },
    /// Git could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Git refused.
    #[error("git {command} failed: {message}")]
    Failed {
        /// The sub-command.
        command: String,
        /// What git said.
        message: String,
        /// The exit code; `None` where a signal ended git.
        code: Option<i32>,
    },
    /// A folder for the tree could not be made.
    #[error("could not make a folder for the files of the change")]
    Layout {
        /// Why.
        source: std::io::Error,
    },
    /// The change is on record only.
    #[error("the change is on record only, without the folder that it was made in")]
    OnRecordOnly,
}

impl GitError {
    /// Returns true if git answered the question with no, which its exit code 1 says. Any other
    /// failure leaves the question open.
    pub(crate) fn is_no(&self) -> bool {
        matches!(self, GitError::Failed { code: Some(1), .. })
    }

    /// Returns true if git could not be run or failed, so that the question is still open.
    pub fn is_unanswered(&self) -> bool {
        matches!(self, GitError::Run(_) | GitError::Failed { .. })
    }

    /// Returns true if the folder is known to be no work tree that git would read.
    pub(crate) fn is_no_work_tree(&self) -> bool {
        matches!(
            self,
            GitError::NotARepository { .. }
                | GitError::NoWorkTree { .. }
                | GitError::StrayWorkTree { .. }
        )
    }
}

/// Returns an answer of git, or `None` if git answered with no.
pub(crate) fn unless_no<T>(answer: Result<T, GitError>) -> Result<Option<T>, GitError> {
    match answer {
        Err(error) if error.is_no() => Ok(None),
        answer => answer.map(Some),
    }
}

/// Quotes a path for a shell where the path needs it.
fn shell_word(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
