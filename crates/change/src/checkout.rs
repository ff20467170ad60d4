//! The tree after a change as a folder, for programs that need one: [`Checkout`].

use std::io;
use std::path::{Path, PathBuf};

use assay_sandbox::ScratchFolder;

use crate::tree::TreeKind;
use crate::{Change, GitError};

/// A folder with the tree after a change.
#[derive(Debug)]
pub enum Checkout {
    /// The work tree itself.
    WorkTree(PathBuf),
    /// A copy, which is removed when this value is dropped.
    Copy(ScratchFolder),
}

impl Checkout {
    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        match self {
            Checkout::WorkTree(path) => path,
            Checkout::Copy(folder) => folder.path(),
        }
    }
}

impl Change {
    /// Returns a folder with the tree after the change: the work tree if the change is in it, or
    /// else a copy. No hook and no filter is run.
    pub fn checkout(&self) -> Result<Checkout, GitError> {
        let tree = match &self.tree.kind {
            TreeKind::Git(tree) => tree,
            TreeKind::Dir(_) => return Ok(Checkout::WorkTree(self.root.clone())),
            TreeKind::Recorded(_) => return Err(GitError::OnRecordOnly),
        };
        let failed = |source: io::Error| GitError::Layout { source };
        let folder = ScratchFolder::new("assay-").map_err(failed)?;
        tree.write_to(folder.path())?;
        Ok(Checkout::Copy(folder))
    }
}
