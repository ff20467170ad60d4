//! Which files there are, or will be once a plan is carried out: [`Known`].

use std::collections::HashSet;

use assay_findings::ground::{Tree, TreeError};
use assay_findings::path::RepoPath;

use crate::facts::plan_diffs::Planned;
use crate::facts::tree_index::TreeIndex;
use crate::subject::Subject;

/// The files of a tree, and those that a plan makes.
pub(super) struct Known<'s> {
    tree: &'s dyn Tree,
    there: &'s TreeIndex,
    new: HashSet<RepoPath>,
    new_by_name: TreeIndex,
    planned: Option<&'s Planned<'s>>,
}

impl<'s> Known<'s> {
    /// Takes a tree as it is.
    pub(super) fn now(subject: &'s Subject<'_>) -> Known<'s> {
        Known::new(subject, HashSet::new(), None)
    }

    /// Takes a tree and what the plan adds to it.
    pub(super) fn planned(subject: &'s Subject<'_>) -> Known<'s> {
        let new = subject.plan.map(|(plan, _)| plan.new_files()).unwrap_or_default();
        let new = new.iter().filter_map(|path| RepoPath::parse(path, None).ok()).collect();
        Known::new(subject, new, subject.planned())
    }

    fn new(
        subject: &'s Subject<'_>,
        new: HashSet<RepoPath>,
        planned: Option<&'s Planned<'s>>,
    ) -> Known<'s> {
        let new_by_name = TreeIndex::new(new.iter().cloned().collect());
        Known { tree: subject.tree, there: subject.index(), new, new_by_name, planned }
    }

    /// Returns true if there is such a file or folder. A path that leads out of the tree counts as
    /// there, since it cannot be looked at.
    pub(super) fn has(&self, path: &str) -> Result<bool, TreeError> {
        let Ok(path) = RepoPath::parse(path, None) else { return Ok(true) };
        Ok(self.tree.exists(&path)?
            || self.new.contains(&path)
            || self.there.first_in(path.as_str()).is_some()
            || self.new_by_name.first_in(path.as_str()).is_some())
    }

    /// Returns true if there is a file whose path ends so, as people leave the first folders out.
    pub(super) fn has_one_that_ends_in(&self, path: &str) -> bool {
        let Ok(path) = RepoPath::parse(path, None) else { return true };
        let ending = |index: &TreeIndex| !index.ending(path.as_str()).is_empty();
        ending(self.there) || ending(&self.new_by_name)
    }

    /// Returns the text of a file; `None` where there is none, and where a plan is about to change
    /// the file.
    pub(super) fn text(&self, path: &str) -> Result<Option<String>, TreeError> {
        let is_planned = self.planned.is_some_and(|planned| planned.touches(path));
        match RepoPath::exact(path).ok().filter(|_| !is_planned) {
            Some(path) => self.tree.read(&path),
            None => Ok(None),
        }
    }
}
