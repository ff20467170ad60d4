//! A scratch copy of the work tree: [`ScratchWorktree`].

use std::fs;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchRegistration;

use crate::GitError;
use crate::file_name::display_name;
use crate::git::Git;
use crate::linked_worktree::LinkedWorktree;
use crate::patch::Patch;

/// A copy of the work tree, including uncommitted work, in a folder that only its owner uses.
/// Dropping it removes the folder.
#[derive(Debug)]
pub struct ScratchWorktree {
    git: Git,
    folder: PathBuf,
    /// The commit, on no branch, of the work tree at the time of the copy.
    start: String,
    linked: LinkedWorktree,
    _note: ScratchRegistration,
}

impl ScratchWorktree {
    /// Removes a copy that a killed process left behind.
    pub fn remove(root: &Path, folder: &Path) -> Result<(), GitError> {
        Git::find(root)?.remove_worktree(&folder.join("tree"));
        // The next process tries again to remove what remains.
        let _ = fs::remove_dir_all(folder);
        Ok(())
    }

    /// Copies the current work tree of a repository into a folder. Replaces the remains of an
    /// earlier copy there.
    pub fn create(root: &Path, folder: &Path) -> Result<ScratchWorktree, GitError> {
        let git = Git::find(root)?;
        let layout = |source| GitError::Layout { source };
        let folder = std::path::absolute(folder).map_err(layout)?;
        let tree = folder.join("tree");
        git.remove_worktree(&tree);
        let note = ScratchRegistration::new([folder.clone()]).map_err(layout)?;
        fs::create_dir_all(&folder).map_err(layout)?;
        let start = git.commit_work_tree(&fresh_index(&folder))?;
        let linked = LinkedWorktree::add(&git, &tree, &start)?;
        Ok(ScratchWorktree { git, folder, start, linked, _note: note })
    }

    /// Returns the folder of the copy.
    pub fn path(&self) -> &Path {
        self.linked.path()
    }

    /// Returns the work that was done on the copy. If a folder in the copy was made a repository,
    /// git includes none of its files, and the patch is empty.
    pub fn patch(&self) -> Result<Patch, GitError> {
        let own = self.linked.open_repository()?;
        // The index of the copy itself is not used: a program that works there could hide files
        // with it.
        let index = fresh_index(&self.folder);
        own.begin_index(&index)?;
        let listed = own.run_with_index(&["ls-files", "--stage", "-z"], &index)?;
        self.linked.check_submodules(&listed)?;
        let new = ["ls-files", "--others", "--exclude-standard", "-z"];
        let new = own.run_with_index(&new, &index)?;
        // Git lists a nested repository as a folder.
        let folders = new.split(|byte| *byte == 0).filter_map(|name| name.strip_suffix(b"/"));
        let repositories: Vec<String> = folders.map(display_name).collect();
        if !repositories.is_empty() {
            let end = own.line(&["rev-parse", &format!("{}^{{tree}}", self.start)])?;
            return Ok(Patch { start: self.start.clone(), end, repositories });
        }
        let end = own.write_work_tree(&index)?;
        Ok(Patch { start: self.start.clone(), end, repositories })
    }
}

/// Returns the path of an index file that does not exist yet.
fn fresh_index(folder: &Path) -> PathBuf {
    let index = folder.join("index");
    // If the file cannot be removed, git reports the reason when it uses the file.
    let _ = fs::remove_file(&index);
    index
}

impl Drop for ScratchWorktree {
    fn drop(&mut self) {
        // The rest of a failed removal is removed when the folder is used again.
        self.git.remove_worktree(self.path());
        let _ = fs::remove_dir_all(&self.folder);
    }
}
