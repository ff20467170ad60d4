//! A folder that git laid out for somebody else to work in: [`LaidOut`], seen again afterwards.

use std::fs;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchNote;

use crate::GitError;
use crate::git::{Git, argument};

/// How git lists what is a repository of its own.
const SUBMODULE: &[u8] = b"160000 ";

/// A folder that git laid out, as it was then.
#[derive(Debug)]
pub(crate) struct LaidOut {
    path: PathBuf,
    /// Git's own folder for this one.
    git_folder: PathBuf,
    /// What git wrote into the folder to find its own.
    link: Vec<u8>,
    /// Both folders go with the process, if their owner does not come to remove them.
    _notes: [ScratchNote; 2],
}

impl LaidOut {
    /// Lays out a commit of a repository in a folder.
    pub(crate) fn add(git: &Git, path: &Path, commit: &str) -> Result<LaidOut, GitError> {
        let folder = path.display().to_string();
        // Git may know of one whose folder was taken away. Others like that are their owners' business,
        // whose disk may only be unplugged.
        let add = ["worktree", "add", "--force", "--quiet", "--detach", &folder, commit];
        let layout = |source| GitError::Layout { source };
        let note = ScratchNote::new([path.to_owned()]).map_err(layout)?;
        git.run(&add)?;
        let link = fs::read(path.join(".git")).map_err(layout)?;
        let git_folder = Git::find(path)?.line(&["rev-parse", "--absolute-git-dir"])?;
        let git_folder = PathBuf::from(git_folder);
        let git_note = ScratchNote::new([git_folder.clone()]).map_err(layout)?;
        Ok(LaidOut { path: path.to_owned(), git_folder, link, _notes: [note, git_note] })
    }

    /// Gives the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Sees the repository from the folder, as it is set up by now. What was put there in the place
    /// of git's own could have programs run.
    pub(crate) fn own(&self) -> Result<Git, GitError> {
        let link = self.path.join(".git");
        let is_file = fs::symlink_metadata(&link).is_ok_and(|about| about.is_file());
        if !is_file || fs::read(&link).ok().as_deref() != Some(&self.link) {
            return Err(GitError::Replaced { folder: self.path.clone() });
        }
        Ok(Git::find(&self.path)?.pinned(&self.git_folder, &self.path))
    }

    /// Refuses repositories within, of those that an index lists: git looks into each, and its
    /// settings could have programs run.
    pub(crate) fn refuse_within(&self, listed: &[u8]) -> Result<(), GitError> {
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
