//! Handing commits on: [`Git::push`] moves a branch of the remote that a repository is.

use super::{Git, GitError};

/// The program at the other end, which a setting could replace by any other.
const RECEIVE_PACK: &str = "--receive-pack=git-receive-pack";

impl Git {
    /// Moves a branch of a repository's remote on to a commit, or makes it. A branch that has
    /// something else on it by now is left alone, and that is a failure.
    pub(crate) fn push(
        &self,
        repository: &str,
        commit: &str,
        branch: &str,
    ) -> Result<(), GitError> {
        if self.line(&["check-ref-format", "--branch", branch]).is_err() {
            return Err(GitError::BadBranch { name: branch.to_owned() });
        }
        let remote = self.remote_of(repository)?;
        let commit = self.resolve(commit)?;
        let to = format!("{commit}:refs/heads/{branch}");
        let push = [
            "push", "--quiet", "--no-verify", "--no-follow-tags", "--no-signed",
            "--recurse-submodules=no", RECEIVE_PACK, "--", &remote, &to,
        ];
        self.ask_remote(&push).map(|_| ())
    }
}
