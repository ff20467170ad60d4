//! Pushing of commits: [`Git::push`] moves a branch on the remote of a repository.

use super::{Git, GitError};

/// The program on the remote side, which a setting could replace by any other.
const RECEIVE_PACK: &str = "--receive-pack=git-receive-pack";

impl Git {
    /// Moves a branch on the remote of a repository forward to a commit, or creates it. Fails if
    /// the branch has other commits by now.
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
        match self.run_on_remote(&push) {
            Ok(_) => Ok(()),
            Err(GitError::Failed { message, .. }) if is_refused(&message) => {
                let (repository, branch) = (repository.to_owned(), branch.to_owned());
                Err(match is_behind(&message) {
                    true => GitError::BranchMoved { repository, branch, refusal: message },
                    false => GitError::PushRefused { repository, branch, refusal: message },
                })
            }
            Err(error) => Err(error),
        }
    }
}

/// Returns true if the remote was reached and refused the push.
fn is_refused(message: &str) -> bool {
    let words = [
        "! [", "protected branch", "permission to", "permission denied", "error: 403",
        "error: 401", "authentication failed", "could not read username",
    ];
    let message = message.to_lowercase();
    words.iter().any(|word| message.contains(word))
}

/// Returns true if the push was refused only because the branch has moved.
fn is_behind(message: &str) -> bool {
    let behind = ["(non-fast-forward)", "(fetch first)", "(stale info)", "cannot lock ref"];
    behind.iter().any(|word| message.contains(word))
}
