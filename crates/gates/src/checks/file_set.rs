//! The files that exist, or will exist after a plan is carried out: [`FileSet`].

use std::collections::HashSet;

use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;

use crate::facts::plan_diffs::PlanDiffs;
use crate::facts::tree_index::TreeIndex;
use crate::subject::Subject;

/// The files of a tree, and those that a plan creates.
pub(super) struct FileSet<'s> {
    tree: &'s dyn Tree,
    there: &'s TreeIndex,
    new: HashSet<RepoPath>,
    new_by_name: TreeIndex,
    planned: Option<&'s PlanDiffs<'s>>,
}

impl<'s> FileSet<'s> {
    /// Returns the files of the current tree.
    pub(super) fn now(subject: &'s Subject<'_>) -> FileSet<'s> {
        FileSet::new(subject, HashSet::new(), None)
    }

    /// Returns the files of the tree and those that the plan adds.
    pub(super) fn planned(subject: &'s Subject<'_>) -> FileSet<'s> {
        let new = subject.plan.map(|(plan, _)| plan.new_files()).unwrap_or_default();
        let new = new.iter().filter_map(|path| RepoPath::parse(path, None).ok()).collect();
        FileSet::new(subject, new, subject.planned())
    }

    fn new(
        subject: &'s Subject<'_>,
        new: HashSet<RepoPath>,
        planned: Option<&'s PlanDiffs<'s>>,
    ) -> FileSet<'s> {
        let new_by_name = TreeIndex::new(new.iter().cloned().collect());
        FileSet { tree: subject.tree, there: subject.index(), new, new_by_name, planned }
    }

    /// Returns true if the file or folder exists. A path outside of the tree counts as existing,
    /// since it cannot be checked.
    pub(super) fn has(&self, path: &str) -> Result<bool, TreeError> {
        let Ok(path) = RepoPath::parse(path, None) else { return Ok(true) };
        Ok(self.tree.exists(&path)?
            || self.new.contains(&path)
            || self.there.first_in(path.as_str()).is_some()
            || self.new_by_name.first_in(path.as_str()).is_some())
    }

    /// Returns true if the path of some file ends with `path`: people leave out the first folders.
    pub(super) fn has_one_that_ends_in(&self, path: &str) -> bool {
        let Ok(path) = RepoPath::parse(path, None) else { return true };
        let ending = |index: &TreeIndex| !index.ending(path.as_str()).is_empty();
        ending(self.there) || ending(&self.new_by_name)
    }

    /// Returns the text of a file; `None` if there is no such file, or a plan changes it.
    pub(super) fn text(&self, path: &str) -> Result<Option<String>, TreeError> {
        let is_planned = self.planned.is_some_and(|planned| planned.touches(path));
        match RepoPath::exact(path).ok().filter(|_| !is_planned) {
            Some(path) => self.tree.read(&path),
            None => Ok(None),
        }
    }
}
