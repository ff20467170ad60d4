//! Snapshots of the work tree, including uncommitted work: its [`fingerprint`], and its commit on
//! no branch.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::GitError;
use crate::digest::file_digest;
use crate::file_name::display_name;
use crate::git::{Git, argument, text};

/// The name and address under which a snapshot is committed.
pub(crate) const IDENTITY: [&str; 4] =
    ["-c", "user.name=assay", "-c", "user.email=assay@localhost"];

/// Returns a digest of the work tree: of every file that git tracks or would add, byte for byte,
/// except for those that `is_excluded` returns true for. `instead` may return another text to
/// digest for a file.
pub fn fingerprint(
    root: &Path,
    is_excluded: &dyn Fn(&str) -> bool,
    instead: &dyn Fn(&str, &Path) -> Option<String>,
) -> Result<String, GitError> {
    let git = Git::find(root)?;
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = git.command(&args).folder(&git.root).run()?;
    let mut names: Vec<&[u8]> =
        listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    let mut digest = blake3::Hasher::new();
    for name in names {
        let path = display_name(name);
        if is_excluded(&path) {
            continue;
        }
        let file = git.root.join(argument(name));
        digest.update(&(name.len() as u64).to_le_bytes());
        digest.update(name);
        let content = match instead(&path, &file) {
            Some(text) => blake3::hash(text.as_bytes()),
            None if file.is_dir() => nested_digest(&file),
            // A file that was deleted or cannot be read differs from every readable one.
            None => file_digest(&file).unwrap_or_else(|_| blake3::hash(b"not there")),
        };
        digest.update(content.as_bytes());
        digest.update(&[u8::from(is_executable(&file))]);
    }
    Ok(digest.finalize().to_hex()[..32].to_owned())
}

/// Returns the digest of a nested repository with all of its files.
fn nested_digest(folder: &Path) -> blake3::Hash {
    let all = |_: &str| false;
    let as_it_is = |_: &str, _: &Path| None;
    let is_one = folder.join(".git").symlink_metadata().is_ok();
    let digest = is_one.then(|| fingerprint(folder, &all, &as_it_is).ok()).flatten();
    blake3::hash(digest.unwrap_or_else(|| "no repository".to_owned()).as_bytes())
}

pub(crate) fn is_executable(file: &Path) -> bool {
    let about = fs::symlink_metadata(file);
    about.is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o100 != 0)
}

impl Git {
    /// Reads the last commit into an index that is not the repository's own.
    pub(crate) fn begin_index(&self, index: &Path) -> Result<(), GitError> {
        if self.line(&["rev-parse", "--verify", "--quiet", "HEAD"]).is_ok() {
            self.run_with_index(&["read-tree", "HEAD"], index)?;
        }
        Ok(())
    }

    /// Returns the tree of all files in the work tree, by an index that was started for it.
    pub(crate) fn write_work_tree(&self, index: &Path) -> Result<String, GitError> {
        self.run_with_index(&["add", "--all"], index)?;
        Ok(text(&self.run_with_index(&["write-tree"], index)?).trim().to_owned())
    }

    /// Commits the current work tree, on no branch.
    pub(crate) fn commit_work_tree(&self, index: &Path) -> Result<String, GitError> {
        self.begin_index(index)?;
        let tree = self.write_work_tree(index)?;
        let head = self.line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).ok();
        let mut args = IDENTITY.to_vec();
        args.extend(["commit-tree", &tree, "-m", "The work tree as it is"]);
        if let Some(head) = &head {
            args.extend(["-p", head]);
        }
        self.line(&args)
    }
}
