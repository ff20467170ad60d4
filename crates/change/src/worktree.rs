//! A branch in a folder of its own, to be worked on: [`Worktree`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::GitError;
use crate::git::Git;

/// The name and address under which work of agents is committed.
const IDENTITY: [&str; 6] =
    ["-c", "user.name=assay", "-c", "user.email=assay@localhost", "-c", "commit.gpgSign=false"];

/// A branch laid out in a folder of its own, apart from where anybody else works. The folder goes
/// when this does.
#[derive(Debug)]
pub struct Worktree {
    /// The repository as its owner sees it.
    git: Git,
    /// The repository as seen from the folder.
    own: Git,
    path: PathBuf,
    branch: String,
    start: String,
}

impl Worktree {
    /// Lays out a branch of a repository in a folder. A branch that is not there is taken from the
    /// remote, or else begins where it is told to.
    pub fn open(
        root: &Path,
        path: &Path,
        branch: &str,
        from: Option<&str>,
    ) -> Result<Worktree, GitError> {
        let git = Git::find(root)?;
        if git.line(&["check-ref-format", "--branch", branch]).is_err() {
            return Err(GitError::BadBranch { name: branch.to_owned() });
        }
        let start = git.branch_start(branch, from)?;
        let shown = path.display().to_string();
        if path.exists() {
            // Whoever worked here before did not come to an end.
            let _ = git.run(&["worktree", "remove", "--force", "--force", &shown]);
            let _ = fs::remove_dir_all(path);
        }
        git.run(&["worktree", "prune"])?;
        git.run(&["worktree", "add", "--quiet", "--detach", &shown, &start])?;
        let own = Git::find(path)?;
        Ok(Worktree { git, own, path: path.to_owned(), branch: branch.to_owned(), start })
    }

    /// Gives its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Commits all that was changed, and moves the branch there. Gives the new commit, or nothing
    /// if nothing was changed.
    pub fn commit(&self, message: &str) -> Result<Option<String>, GitError> {
        self.own.run(&["add", "--all"])?;
        let commit = ["commit", "--quiet", "--no-verify", "--message", message];
        if !self.own.line(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            self.own.run(&[&IDENTITY[..], &commit[..]].concat())?;
        }
        let head = self.own.resolve("HEAD")?;
        if head == self.start {
            return Ok(None);
        }
        self.git.move_branch(&self.branch, &head, &self.start)?;
        Ok(Some(head))
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        let shown = self.path.display().to_string();
        // What cannot be removed now is removed when the folder is needed again.
        let _ = self.git.run(&["worktree", "remove", "--force", &shown]);
    }
}

impl Git {
    /// Gives the commit that a branch is at, or where it is to begin.
    fn branch_start(&self, branch: &str, from: Option<&str>) -> Result<String, GitError> {
        let local = self.resolve(&format!("refs/heads/{branch}"));
        if local.is_ok() {
            return local;
        }
        let remote = self.resolve(&format!("refs/remotes/origin/{branch}"));
        let start = match (remote, from) {
            (Ok(remote), _) => remote,
            (Err(_), Some(from)) => self.resolve(from)?,
            (Err(_), None) => {
                return Err(GitError::UnknownRevision { name: branch.to_owned() });
            }
        };
        // Without a value before, there must be none.
        self.run(&["update-ref", &format!("refs/heads/{branch}"), &start, ""])?;
        Ok(start)
    }

    /// Moves a branch on, unless somebody else did. Where it is checked out, its files follow.
    fn move_branch(&self, branch: &str, to: &str, from: &str) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        let Some(folder) = self.checked_out(&name)? else {
            return self.run(&["update-ref", &name, to, from]).map(|_| ());
        };
        let there = Git::find(&folder)?;
        if !there.line(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            return Err(GitError::BusyBranch { branch: branch.to_owned(), folder });
        }
        there.run(&["merge", "--quiet", "--ff-only", to]).map(|_| ())
    }

    /// Gives the folder in which a branch is checked out.
    fn checked_out(&self, name: &str) -> Result<Option<PathBuf>, GitError> {
        let listed = self.line(&["worktree", "list", "--porcelain"])?;
        let mut folder = None;
        for line in listed.lines() {
            if let Some(path) = line.strip_prefix("worktree ") {
                folder = Some(PathBuf::from(path));
            }
            if line.strip_prefix("branch ") == Some(name) {
                return Ok(folder);
            }
        }
        Ok(None)
    }
}
