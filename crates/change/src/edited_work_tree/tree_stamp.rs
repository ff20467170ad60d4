//! The state of a repository by the times of its files: [`TreeStamp`].

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The files in the folder of git that change with every commit, checkout, fetch and `git add`.
const GIT_FILES: [&str; 5] = ["HEAD", "index", "logs/HEAD", "FETCH_HEAD", "packed-refs"];

/// The sizes, times and inodes of the files of git. Two equal stamps mean that no branch was
/// changed and no file was staged in between.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TreeStamp(Vec<Option<(u64, i64, i64, u64)>>);

impl TreeStamp {
    pub(crate) fn of(root: &Path) -> TreeStamp {
        let git_folder = git_folder(root);
        TreeStamp(GIT_FILES.iter().map(|name| stamp(&git_folder.join(name))).collect())
    }
}

/// Returns the folder of git, which a linked work tree names in a file.
fn git_folder(root: &Path) -> PathBuf {
    let entry = root.join(".git");
    let named = fs::read_to_string(&entry).ok();
    let named = named.as_deref().and_then(|text| text.strip_prefix("gitdir:"));
    named.map_or(entry, |path| root.join(path.trim()))
}

fn stamp(path: &Path) -> Option<(u64, i64, i64, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.mtime(), metadata.mtime_nsec(), metadata.ino()))
}
