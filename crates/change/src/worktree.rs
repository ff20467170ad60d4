//! A branch in a folder of its own, to be worked on: [`Worktree`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::GitError;
use crate::git::{Git, check, text};
use crate::laid_out::LaidOut;
use crate::name::shown;

/// The name and address under which work of agents is committed.
const IDENTITY: [&str; 4] = ["-c", "user.name=assay", "-c", "user.email=assay@localhost"];

/// A branch laid out in a folder of its own, apart from where anybody else works. The folder goes
/// when this does. A branch that was not there is made with the first commit.
#[derive(Debug)]
pub struct Worktree {
    git: Git,
    laid_out: LaidOut,
    branch: String,
    /// Where the branch was, if it was there.
    was: Option<String>,
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
        git.check_branch(branch)?;
        let was = git.resolve_if_known(&format!("refs/heads/{branch}"))?;
        let start = match &was {
            Some(commit) => commit.clone(),
            None => git.branch_start(branch, from)?,
        };
        Worktree::lay_out(git, path, branch, was, start)
    }

    /// Lays out a commit in a folder, to be worked on for a branch. Where the branch is elsewhere, it
    /// is left alone until [`Worktree::advance`] replaces what is on it.
    pub fn open_at(
        root: &Path,
        path: &Path,
        branch: &str,
        commit: &str,
    ) -> Result<Worktree, GitError> {
        let git = Git::find(root)?;
        git.check_branch(branch)?;
        let was = git.resolve(&format!("refs/heads/{branch}")).ok();
        let start = git.resolve(commit)?;
        Worktree::lay_out(git, path, branch, was, start)
    }

    fn lay_out(
        git: Git,
        path: &Path,
        branch: &str,
        was: Option<String>,
        start: String,
    ) -> Result<Worktree, GitError> {
        // Whoever worked here before may not have come to an end.
        git.clear(path);
        let laid_out = LaidOut::add(&git, path, &start)?;
        Ok(Worktree { git, laid_out, branch: branch.to_owned(), was, start })
    }

    /// Removes a folder in which a branch of a repository was laid out by a process that did not live
    /// to remove it.
    pub fn remove(root: &Path, path: &Path) {
        if let Ok(git) = Git::find(root) {
            git.clear(path);
        }
    }

    /// Gives its folder.
    pub fn path(&self) -> &Path {
        self.laid_out.path()
    }

    /// Gives the message of the commit that it was laid out at.
    pub fn message(&self) -> Result<String, GitError> {
        self.git.line(&["show", "--no-patch", "--no-show-signature", "--format=%B", &self.start])
    }

    /// Names the files that were changed, whether that is committed or not.
    pub fn changed(&self) -> Result<Vec<String>, GitError> {
        let own = self.own()?;
        let tree = own.tree()?;
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &self.start, &tree];
        let listed = own.run(&args)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(shown).collect())
    }

    /// Commits all that was changed, and moves the branch there. Gives the new commit, or nothing
    /// if nothing was changed.
    pub fn commit(&self, message: &str) -> Result<Option<String>, GitError> {
        let commit = self.make_commit(message)?;
        if let Some(commit) = &commit {
            self.advance(commit)?;
        }
        Ok(commit)
    }

    /// Moves the branch to a commit, unless another process moved the branch since it was laid out.
    pub fn advance(&self, commit: &str) -> Result<(), GitError> {
        self.git.move_branch(&self.branch, commit, self.was.as_deref())
    }

    /// Commits all that was changed, on no branch. Returns the new commit, or `None` if nothing was
    /// changed.
    pub fn make_commit(&self, message: &str) -> Result<Option<String>, GitError> {
        let own = self.own()?;
        let tree = own.tree()?;
        let mut head = own.line(&["rev-parse", "HEAD^{commit}"])?;
        if tree != own.line(&["rev-parse", "HEAD^{tree}"])? {
            head = own.commit_tree(&tree, &head, message)?;
        }
        Ok((head != self.start).then_some(head))
    }

    /// Sees the repository from the folder, once nothing there could have programs run.
    fn own(&self) -> Result<Git, GitError> {
        let own = self.laid_out.own()?;
        self.laid_out.refuse_within(&own.run(&["ls-files", "--stage", "-z"])?)?;
        Ok(own)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        // What cannot be removed now is removed when the folder is needed again.
        self.git.clear(self.path());
    }
}

impl Git {
    /// Removes a folder in which a branch was laid out.
    pub(crate) fn clear(&self, path: &Path) {
        if fs::symlink_metadata(path).is_ok() {
            let folder = path.display().to_string();
            let _ = self.run(&["worktree", "remove", "--force", "--force", &folder]);
            let _ = fs::remove_dir_all(path);
        }
    }

    /// Refuses a name that no branch can have.
    fn check_branch(&self, branch: &str) -> Result<(), GitError> {
        match self.line(&["check-ref-format", "--branch", branch]) {
            Ok(_) => Ok(()),
            Err(_) => Err(GitError::BadBranch { name: branch.to_owned() }),
        }
    }

    /// Gives the tree of all that is in the folder.
    fn tree(&self) -> Result<String, GitError> {
        self.run(&["add", "--all"])?;
        self.line(&["write-tree"])
    }

    /// Commits a tree upon another commit, and gives the new one.
    fn commit_tree(&self, tree: &str, parent: &str, message: &str) -> Result<String, GitError> {
        let commit = ["commit-tree", tree, "-p", parent, "-F", "-"];
        // Git takes no message with a zero in it.
        let message = message.replace('\0', "");
        let command = self.command(&[&IDENTITY[..], &commit[..]].concat());
        let finished = command.input(message.as_bytes()).run()?;
        check(&commit, finished.status, &finished.stderr)?;
        Ok(text(&finished.stdout).trim().to_owned())
    }

    /// Gives the commit where a branch that is not there is to begin.
    fn branch_start(&self, branch: &str, from: Option<&str>) -> Result<String, GitError> {
        match (self.resolve_if_known(&format!("refs/remotes/origin/{branch}"))?, from) {
            (Some(remote), _) => Ok(remote),
            (None, Some(from)) => self.resolve(from),
            (None, None) => Err(GitError::UnknownRevision { name: branch.to_owned() }),
        }
    }

    /// Moves a branch on, or makes it, unless somebody else did. Where it is checked out, its files
    /// follow.
    fn move_branch(&self, branch: &str, to: &str, from: Option<&str>) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        let Some(folder) = self.checked_out(&name)? else {
            // Without a value before, there must be none.
            return self.run(&["update-ref", &name, to, from.unwrap_or_default()]).map(|_| ());
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
