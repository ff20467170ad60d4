//! The diff of one file whose new text is in memory: [`added`] and [`changed`].

use std::fs;

use assay_sandbox::ScratchFolder;

use crate::GitError;
use crate::diff::{Content, FileDiff, Mode};
use crate::git::Git;
use crate::tree::BINARY_CHECK_BYTES;

/// Returns the diff of a new file that adds all lines of a text.
pub(super) fn added(file: FileDiff, text: &str) -> FileDiff {
    let path = file.path().to_owned();
    let mode = file.new_mode.unwrap_or(Mode::File);
    let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    let all = match is_binary(text.as_bytes()) {
        true => FileDiff { content: Content::Binary, ..FileDiff::all_new(path, mode, 0) },
        false => FileDiff::all_new(path, mode, count),
    };
    FileDiff { generated: file.generated, ..all }
}

/// Returns the diff of a file between the bytes of its base and a text, as git computes it. A diff
/// without hunks means that both are the same, or that one of them is binary.
pub(super) fn changed(
    git: &Git,
    file: FileDiff,
    before: &[u8],
    after: &str,
) -> Result<FileDiff, GitError> {
    let none = FileDiff { hunks: Vec::new(), content: Content::Text, ..file };
    if before == after.as_bytes() {
        return Ok(none);
    }
    if is_binary(before) || is_binary(after.as_bytes()) {
        return Ok(FileDiff { content: Content::Binary, ..none });
    }
    let fail = |source| GitError::Layout { source };
    let folder = ScratchFolder::new("assay-unsaved-").map_err(fail)?;
    let (old, new) = (folder.path().join("before"), folder.path().join("after"));
    fs::write(&old, before).map_err(fail)?;
    fs::write(&new, after).map_err(fail)?;
    let compared = git.diff_files(&old, &new)?;
    Ok(match compared {
        Some(FileDiff { hunks, content, .. }) => FileDiff { hunks, content, ..none },
        None => none,
    })
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(BINARY_CHECK_BYTES)].contains(&0)
}
