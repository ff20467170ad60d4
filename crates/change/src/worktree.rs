//! A branch in a separate folder, to be worked on: [`Worktree`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::GitError;
use crate::file_name::display_name;
use crate::git::{Git, check, text};
use crate::linked_worktree::LinkedWorktree;

/// The name and address under which work of agents is committed.
const IDENTITY: [&str; 4] = ["-c", "user.name=assay", "-c", "user.email=assay@localhost"];

/// A work tree of a branch in a folder that only its owner uses. Dropping it removes the folder. A
/// branch that does not exist is created with the first commit.
#[derive(Debug)]
pub struct Worktree {
    git: Git,
    linked: LinkedWorktree,
    branch: String,
    /// The commit of the branch when it was opened; `None` if the branch did not exist.
    was: Option<String>,
    start: String,
}

impl Worktree {
    /// Creates a work tree of a branch in a folder. A branch that does not exist starts at the
    /// branch of the remote, or else at `from`.
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
        Worktree::create(git, path, branch, was, start)
    }

    /// Creates a work tree of a commit in a folder, to be worked on for a branch. A branch at
    /// another commit stays there until [`Worktree::advance`] moves it.
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
        Worktree::create(git, path, branch, was, start)
    }

    fn create(
        git: Git,
        path: &Path,
        branch: &str,
        was: Option<String>,
        start: String,
    ) -> Result<Worktree, GitError> {
        // An earlier process may have been killed before it removed the folder.
        git.remove_worktree(path);
        let linked = LinkedWorktree::add(&git, path, &start)?;
        Ok(Worktree { git, linked, branch: branch.to_owned(), was, start })
    }

    /// Removes the work tree that a killed process left in a folder.
    pub fn remove(root: &Path, path: &Path) {
        if let Ok(git) = Git::find(root) {
            git.remove_worktree(path);
        }
    }

    /// Returns the folder of the work tree.
    pub fn path(&self) -> &Path {
        self.linked.path()
    }

    /// Returns the message of the commit that the work tree started at.
    pub fn message(&self) -> Result<String, GitError> {
        self.git.line(&["show", "--no-patch", "--no-show-signature", "--format=%B", &self.start])
    }

    /// Returns the paths of the changed files, committed or not.
    pub fn changed_files(&self) -> Result<Vec<String>, GitError> {
        let own = self.open_repository()?;
        let tree = own.tree()?;
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &self.start, &tree];
        let listed = own.run(&args)?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(display_name).collect())
    }

    /// Commits all changes and moves the branch. Returns the new commit, or `None` if nothing
    /// changed.
    pub fn commit(&self, message: &str) -> Result<Option<String>, GitError> {
        let commit = self.make_commit(message)?;
        if let Some(commit) = &commit {
            self.advance(commit)?;
        }
        Ok(commit)
    }

    /// Moves the branch to a commit. Fails if another process moved the branch since it was opened.
    pub fn advance(&self, commit: &str) -> Result<(), GitError> {
        self.git.move_branch(&self.branch, commit, self.was.as_deref())
    }

    /// Commits all changes, on no branch. Returns the new commit, or `None` if nothing changed.
    pub fn make_commit(&self, message: &str) -> Result<Option<String>, GitError> {
        let own = self.open_repository()?;
        let tree = own.tree()?;
        let mut head = own.line(&["rev-parse", "HEAD^{commit}"])?;
        if tree != own.line(&["rev-parse", "HEAD^{tree}"])? {
            head = own.commit_tree(&tree, &head, message)?;
        }
        Ok((head != self.start).then_some(head))
    }

    /// Opens the repository from the folder, after a check that no setting there can run programs.
    fn open_repository(&self) -> Result<Git, GitError> {
        let own = self.linked.open_repository()?;
        self.linked.check_submodules(&own.run(&["ls-files", "--stage", "-z"])?)?;
        Ok(own)
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        // The rest of a failed removal is removed when the folder is used again.
        self.git.remove_worktree(self.path());
    }
}

impl Git {
    /// Removes the work tree in a folder.
    pub(crate) fn remove_worktree(&self, path: &Path) {
        if fs::symlink_metadata(path).is_ok() {
            let folder = path.display().to_string();
            let _ = self.run(&["worktree", "remove", "--force", "--force", &folder]);
            let _ = fs::remove_dir_all(path);
        }
    }

    /// Fails if a name is not valid for a branch.
    fn check_branch(&self, branch: &str) -> Result<(), GitError> {
        match self.line(&["check-ref-format", "--branch", branch]) {
            Ok(_) => Ok(()),
            Err(_) => Err(GitError::BadBranch { name: branch.to_owned() }),
        }
    }

    /// Returns the tree of all files in the folder.
    fn tree(&self) -> Result<String, GitError> {
        self.run(&["add", "--all"])?;
        self.line(&["write-tree"])
    }

    /// Commits a tree on top of another commit, and returns the new commit.
    fn commit_tree(&self, tree: &str, parent: &str, message: &str) -> Result<String, GitError> {
        let commit = ["commit-tree", tree, "-p", parent, "-F", "-"];
        // Git accepts no message with a NUL.
        let message = message.replace('\0', "");
        let command = self.command(&[&IDENTITY[..], &commit[..]].concat());
        let finished = command.input(message.as_bytes()).run()?;
        check(&commit, finished.status, &finished.stderr)?;
        Ok(text(&finished.stdout).trim().to_owned())
    }

    /// Returns the commit at which a new branch starts.
    fn branch_start(&self, branch: &str, from: Option<&str>) -> Result<String, GitError> {
        match (self.resolve_if_known(&format!("refs/remotes/origin/{branch}"))?, from) {
            (Some(remote), _) => Ok(remote),
            (None, Some(from)) => self.resolve(from),
            (None, None) => Err(GitError::UnknownRevision { name: branch.to_owned() }),
        }
    }

    /// Moves a branch forward, or creates it. Fails if another process did. If the branch is
    /// checked out, its files are updated.
    fn move_branch(&self, branch: &str, to: &str, from: Option<&str>) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        let Some(folder) = self.checkout_folder(&name)? else {
            // Without an old value, the branch must not exist.
            return self.run(&["update-ref", &name, to, from.unwrap_or_default()]).map(|_| ());
        };
        let there = Git::find(&folder)?;
        if !there.line(&["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            return Err(GitError::BusyBranch { branch: branch.to_owned(), folder });
        }
        there.run(&["merge", "--quiet", "--ff-only", to]).map(|_| ())
    }

    /// Returns the folder in which a branch is checked out, or `None` if there is none.
    fn checkout_folder(&self, name: &str) -> Result<Option<PathBuf>, GitError> {
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
