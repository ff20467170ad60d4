//! All files of a work tree as a change that adds them: [`open`].
//!
//! The tree before the change is the last commit, so that the settings of the review are those that
//! are committed. No file of the change has a version before it.

use crate::git::Git;
use crate::tree::{DirTree, TreeKind};
use crate::{Change, GitError, Selection, untracked_files};

/// Opens the files that git tracks, limited to the paths of the selection. Untracked files belong
/// to the change if the selection includes them, or if there are no others.
pub(crate) fn open(git: Git, selection: &Selection) -> Result<Change, GitError> {
    let head = git.head_or_empty()?;
    let mut files = git.diff(&[&git.empty_tree], &selection.paths)?;
    let mut untracked = git.untracked(&selection.paths)?;
    if selection.untracked || files.is_empty() {
        files.extend(untracked.drain(..).map(|path| untracked_files::new_file(&git.root, path)));
    }
    let title = match selection.paths.is_empty() {
        true => "all files",
        false => "all files of the given paths",
    };
    let tree = TreeKind::Dir(DirTree::new(git.root.clone()));
    let change = Change::new(git, title.to_owned(), head, files, tree)?;
    Ok(Change { untracked, is_whole_tree: true, ..change })
}
