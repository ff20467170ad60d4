//! A linked work tree in which another program works: [`LinkedWorktree`], and the check of its
//! repository afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchRegistration;

use crate::GitError;
use crate::git::{Git, argument};

/// The start of git's entry for a nested repository.
const SUBMODULE: &[u8] = b"160000 ";

/// A linked work tree, with its state at creation.
#[derive(Debug)]
pub(crate) struct LinkedWorktree {
    path: PathBuf,
    /// The folder of git for this work tree.
    git_folder: PathBuf,
    /// The content of the file `.git`, which refers to the folder of git.
    link: Vec<u8>,
    /// The notes that remove both folders with the process, unless their owner removes them before.
    _notes: [ScratchRegistration; 2],
}

impl LinkedWorktree {
    /// Creates a work tree of a commit in a folder.
    pub(crate) fn add(git: &Git, path: &Path, commit: &str) -> Result<LinkedWorktree, GitError> {
        let folder = path.display().to_string();
        // Git may know a work tree whose folder was removed; `--force` replaces it. Other such
        // entries are left to their owners, whose disk may only be unplugged.
        let add = ["worktree", "add", "--force", "--quiet", "--detach", &folder, commit];
        let layout = |source| GitError::Layout { source };
        let note = ScratchRegistration::new([path.to_owned()]).map_err(layout)?;
        git.run(&add)?;
        let link = fs::read(path.join(".git")).map_err(layout)?;
        let git_folder = Git::find(path)?.line(&["rev-parse", "--absolute-git-dir"])?;
        let git_folder = PathBuf::from(git_folder);
        let git_note = ScratchRegistration::new([git_folder.clone()]).map_err(layout)?;
        Ok(LinkedWorktree { path: path.to_owned(), git_folder, link, _notes: [note, git_note] })
    }

    /// Returns the folder of the work tree.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the repository from the folder, with its current settings. Fails if the file `.git`
    /// was replaced: another repository could run programs.
    pub(crate) fn open_repository(&self) -> Result<Git, GitError> {
        let link = self.path.join(".git");
        let is_file = fs::symlink_metadata(&link).is_ok_and(|about| about.is_file());
        if !is_file || fs::read(&link).ok().as_deref() != Some(&self.link) {
            return Err(GitError::Replaced { folder: self.path.clone() });
        }
        Ok(Git::find(&self.path)?.pin(&self.git_folder, &self.path))
    }

    /// Fails if a submodule that an index lists is a repository: git enters each, and its settings
    /// could run programs.
    pub(crate) fn check_submodules(&self, listed: &[u8]) -> Result<(), GitError> {
        for entry in listed.split(|byte| *byte == 0).filter(|it| it.starts_with(SUBMODULE)) {
            let name = entry.splitn(2, |byte| *byte == b'\t').nth(1).unwrap_or_default();
            let folder = self.path.join(argument(name));
            if fs::symlink_metadata(folder.join(".git")).is_ok() {
                return Err(GitError::Replaced { folder });
            }
        }
        Ok(())
    }
}
