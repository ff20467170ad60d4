//! A temporary folder that is removed with its value: [`PrivateFolder`].

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that only its owner may read, removed when the value is dropped.
#[derive(Debug)]
pub(crate) struct PrivateFolder(PathBuf);

impl PrivateFolder {
    /// Creates a folder below another one; its name starts with `prefix`.
    pub(crate) fn new(below: &Path, prefix: &str) -> io::Result<PrivateFolder> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let folder = below.join(format!("{prefix}-{}-{count}", std::process::id()));
            match DirBuilder::new().mode(0o700).create(&folder) {
                // A process with the same id may have been killed before it could remove its
                // folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(()) => return Ok(PrivateFolder(folder)),
            }
        }
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
