//! A branch in a folder of its own, to be worked on: [`Worktree`].

use std::fs;
use std::path::{Path, PathBuf};

use crate::GitError;
use crate::git::{Git, argument, text};
use crate::name::shown;

/// The name and address under which work of agents is committed.
const IDENTITY: [&str; 4] = ["-c", "user.name=assay", "-c", "user.email=assay@localhost"];

/// How git lists what is a repository of its own.
const SUBMODULE: &[u8] = b"160000 ";

/// A branch laid out in a folder of its own, apart from where anybody else works. The folder goes
/// when this does. A branch that was not there is made with the first commit.
#[derive(Debug)]
pub struct Worktree {
    git: Git,
    path: PathBuf,
    /// Git's own folder for this one.
    git_folder: String,
    /// What git wrote into the folder to find its own.
    link: Vec<u8>,
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
        if git.line(&["check-ref-format", "--branch", branch]).is_err() {
            return Err(GitError::BadBranch { name: branch.to_owned() });
        }
        let was = git.resolve(&format!("refs/heads/{branch}")).ok();
        let start = match &was {
            Some(commit) => commit.clone(),
            None => git.branch_start(branch, from)?,
        };
        // Whoever worked here before may not have come to an end.
        git.clear(path);
        git.run(&["worktree", "prune"])?;
        let folder = path.display().to_string();
        git.run(&["worktree", "add", "--quiet", "--detach", &folder, &start])?;
        let link = fs::read(path.join(".git")).map_err(|source| GitError::Layout { source })?;
        let git_folder = Git::find(path)?.line(&["rev-parse", "--absolute-git-dir"])?;
        let (path, branch) = (path.to_owned(), branch.to_owned());
        Ok(Worktree { git, path, git_folder, link, branch, was, start })
    }

    /// Gives its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the message of the commit that it was laid out at.
    pub fn message(&self) -> Result<String, GitError> {
        self.git.line(&["show", "--no-patch", "--no-show-signature", "--format=%B", &self.start])
    }

    /// Names the files that were changed, whether that is committed or not.
    pub fn changed(&self) -> Result<Vec<String>, GitError> {
        let own = self.own()?;
        let tree = self.tree(&own)?;
        let args = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", &self.start, &tree];
        let listed = self.run(&own, &args, "")?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        Ok(names.map(shown).collect())
    }

    /// Commits all that was changed, and moves the branch there. Gives the new commit, or nothing
    /// if nothing was changed.
    pub fn commit(&self, message: &str) -> Result<Option<String>, GitError> {
        let own = self.own()?;
        let tree = self.tree(&own)?;
        let mut head = self.line(&own, &["rev-parse", "HEAD^{commit}"], "")?;
        if tree != self.line(&own, &["rev-parse", "HEAD^{tree}"], "")? {
            let commit = ["commit-tree", &tree, "-p", &head, "-F", "-"];
            // Git takes no message with a zero in it.
            let message = message.replace('\0', "");
            head = self.line(&own, &[&IDENTITY[..], &commit[..]].concat(), &message)?;
        }
        if head == self.start {
            return Ok(None);
        }
        self.git.move_branch(&self.branch, &head, self.was.as_deref())?;
        Ok(Some(head))
    }

    /// Sees the repository from the folder, as it is set up by now. What was put there in the place
    /// of git's own could have programs run, and so could a repository within.
    fn own(&self) -> Result<Git, GitError> {
        let link = self.path.join(".git");
        let is_file = fs::symlink_metadata(&link).is_ok_and(|about| about.is_file());
        if !is_file || fs::read(&link).ok().as_deref() != Some(&self.link) {
            return Err(GitError::Replaced { folder: self.path.clone() });
        }
        let own = Git::find(&self.path)?;
        let listed = self.run(&own, &["ls-files", "--stage", "-z"], "")?;
        for entry in listed.split(|byte| *byte == 0).filter(|it| it.starts_with(SUBMODULE)) {
            let name = entry.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or_default();
            let folder = self.path.join(argument(name));
            if fs::symlink_metadata(folder.join(".git")).is_ok() {
                return Err(GitError::Replaced { folder });
            }
        }
        Ok(own)
    }

    /// Gives the tree of all that is in the folder.
    fn tree(&self, own: &Git) -> Result<String, GitError> {
        self.run(own, &["add", "--all"], "")?;
        self.line(own, &["write-tree"], "")
    }

    /// Asks git in the folder, whatever repository may be found there by now.
    fn run(&self, own: &Git, args: &[&str], input: &str) -> Result<Vec<u8>, GitError> {
        let command = own.command(args).input(input.as_bytes());
        let command = command.env("GIT_DIR", &self.git_folder).env("GIT_WORK_TREE", &self.path);
        let finished = command.run()?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        let message = text(&finished.stderr);
        let message = message.lines().next().unwrap_or("no reason given").to_owned();
        let command = args.iter().find(|arg| !IDENTITY.contains(arg)).copied().unwrap_or_default();
        Err(GitError::Failed { command: command.to_owned(), message })
    }

    fn line(&self, own: &Git, args: &[&str], input: &str) -> Result<String, GitError> {
        Ok(text(&self.run(own, args, input)?).trim().to_owned())
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        // What cannot be removed now is removed when the folder is needed again.
        self.git.clear(&self.path);
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

    /// Gives the commit where a branch that is not there is to begin.
    fn branch_start(&self, branch: &str, from: Option<&str>) -> Result<String, GitError> {
        match (self.resolve(&format!("refs/remotes/origin/{branch}")), from) {
            (Ok(remote), _) => Ok(remote),
            (Err(_), Some(from)) => self.resolve(from),
            (Err(_), None) => Err(GitError::UnknownRevision { name: branch.to_owned() }),
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
