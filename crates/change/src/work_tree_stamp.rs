//! The state of a work tree by the times of its files: [`WorkTreeStamp`].

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::GitError;
use crate::edited_work_tree::TreeStamp;
use crate::git::{Git, argument};

/// The sizes, times and inodes of the files that git tracks or would add, and of the files of git.
/// Two equal stamps mean that no file was changed, staged or committed in between.
#[derive(Debug, PartialEq, Eq)]
pub struct WorkTreeStamp {
    git_files: TreeStamp,
    files: blake3::Hash,
}

impl WorkTreeStamp {
    /// Reads the stamp of the work tree around a folder. No content is read.
    pub fn of(folder: &Path) -> Result<WorkTreeStamp, GitError> {
        let git = Git::find_without_filters(folder)?;
        let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
        let listed = git.command(&args).folder(&git.root).run()?;
        crate::git::check(&args, listed.status, &listed.stderr)?;
        let mut digest = blake3::Hasher::new();
        for name in listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            digest.update(name);
            let metadata = fs::symlink_metadata(git.root.join(argument(name)));
            let stamp =
                metadata.map(|it| (it.len(), it.mtime(), it.mtime_nsec(), it.ino(), it.mode()));
            digest.update(format!("{:?}", stamp.ok()).as_bytes());
        }
        Ok(WorkTreeStamp { git_files: TreeStamp::of(&git.root), files: digest.finalize() })
    }
}
