//! The files of the reviewed tree: [`FileCache`].

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::grounding::Tree;
use crate::path::RepoPath;

/// The files of a tree, each read once.
pub(super) struct FileCache<'t> {
    tree: Option<&'t dyn Tree>,
    known: RefCell<HashMap<RepoPath, Option<Rc<str>>>>,
}

impl<'t> FileCache<'t> {
    pub(super) fn of(tree: Option<&'t dyn Tree>) -> FileCache<'t> {
        FileCache { tree, known: RefCell::default() }
    }

    /// Returns the text of a file; `None` without a tree, or if the file is absent or cannot be
    /// read.
    pub(super) fn read(&self, path: &RepoPath) -> Option<Rc<str>> {
        let mut known = self.known.borrow_mut();
        if !known.contains_key(path) {
            // Without the text there is no suggestion, and the finding is posted all the same.
            let text = self.tree.and_then(|tree| tree.read(path).ok().flatten()).map(Rc::from);
            known.insert(path.clone(), text);
        }
        known.get(path).cloned().flatten()
    }
}
