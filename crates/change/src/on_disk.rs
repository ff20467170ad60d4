//! The tree after a change as a folder, for programs that need one: [`OnDisk`].

use std::io;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchFolder;

use crate::tree::TreeKind;
use crate::{Change, GitError};

/// A folder with the tree after a change.
#[derive(Debug)]
pub enum OnDisk {
    /// The work tree itself.
    WorkTree(PathBuf),
    /// A copy, which is removed when this value is dropped.
    Copy(ScratchFolder),
}

impl OnDisk {
    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        match self {
            OnDisk::WorkTree(path) => path,
            OnDisk::Copy(folder) => folder.path(),
        }
    }
}

impl Change {
    /// Returns a folder with the tree after the change: the work tree if the change is in it, or
    /// else a copy. No hook and no filter is run.
    pub fn on_disk(&self) -> Result<OnDisk, GitError> {
        let tree = match &self.tree.kind {
            TreeKind::Git(tree) => tree,
            TreeKind::Dir(_) => return Ok(OnDisk::WorkTree(self.root.clone())),
            TreeKind::Recorded(_) => return Err(GitError::OnRecordOnly),
        };
        let failed = |source: io::Error| GitError::Layout { source };
        let folder = ScratchFolder::new("assay-").map_err(failed)?;
        tree.lay_out(folder.path())?;
        Ok(OnDisk::Copy(folder))
    }
}
