//! A copy of the work tree to work on: [`Bench`].

use std::fs;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchNote;

use crate::GitError;
use crate::git::Git;
use crate::laid_out::LaidOut;
use crate::name::shown;
use crate::patch::Patch;

/// A copy of the work tree, uncommitted work included, apart from where anybody else works. It goes
/// when this does.
#[derive(Debug)]
pub struct Bench {
    git: Git,
    folder: PathBuf,
    /// The work tree as it was when the copy was made: a commit on no branch.
    start: String,
    laid_out: LaidOut,
    _note: ScratchNote,
}

impl Bench {
    /// Takes away what one left behind that nobody cleaned up after.
    pub fn clear(root: &Path, folder: &Path) -> Result<(), GitError> {
        Git::find(root)?.clear(&folder.join("tree"));
        // What cannot be removed now, whoever comes next tries to.
        let _ = fs::remove_dir_all(folder);
        Ok(())
    }

    /// Lays out the work tree of a repository as it is into a folder, in place of whatever an
    /// earlier one left there.
    pub fn lay_out(root: &Path, folder: &Path) -> Result<Bench, GitError> {
        let git = Git::find(root)?;
        let layout = |source| GitError::Layout { source };
        let folder = std::path::absolute(folder).map_err(layout)?;
        let tree = folder.join("tree");
        git.clear(&tree);
        let note = ScratchNote::new([folder.clone()]).map_err(layout)?;
        fs::create_dir_all(&folder).map_err(layout)?;
        let start = git.commit_as_it_is(&fresh_index(&folder))?;
        let laid_out = LaidOut::add(&git, &tree, &start)?;
        Ok(Bench { git, folder, start, laid_out, _note: note })
    }

    /// Gives its folder.
    pub fn path(&self) -> &Path {
        self.laid_out.path()
    }

    /// Returns the work that was done on the copy. If that made a repository of a folder, git takes none
    /// of the files there, and nothing is taken.
    pub fn patch(&self) -> Result<Patch, GitError> {
        let own = self.laid_out.own()?;
        // Not the folder's own index, in which whoever works there can hide what they did.
        let index = fresh_index(&self.folder);
        own.begin_index(&index)?;
        let listed = own.run_with_index(&["ls-files", "--stage", "-z"], &index)?;
        self.laid_out.refuse_within(&listed)?;
        let new = ["ls-files", "--others", "--exclude-standard", "-z"];
        let new = own.run_with_index(&new, &index)?;
        // Git names a repository within as a folder.
        let folders = new.split(|byte| *byte == 0).filter_map(|name| name.strip_suffix(b"/"));
        let repositories: Vec<String> = folders.map(shown).collect();
        if !repositories.is_empty() {
            let end = own.line(&["rev-parse", &format!("{}^{{tree}}", self.start)])?;
            return Ok(Patch { start: self.start.clone(), end, repositories });
        }
        let end = own.tree_as_it_is(&index)?;
        Ok(Patch { start: self.start.clone(), end, repositories })
    }
}

/// Names a file for an index, which is not there yet.
fn fresh_index(folder: &Path) -> PathBuf {
    let index = folder.join("index");
    // Where it cannot be removed, git says why it cannot use it.
    let _ = fs::remove_file(&index);
    index
}

impl Drop for Bench {
    fn drop(&mut self) {
        // What cannot be removed now is removed when the folder is needed again.
        self.git.clear(self.path());
        let _ = fs::remove_dir_all(&self.folder);
    }
}
