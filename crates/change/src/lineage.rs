//! The position of a change in the history: [`Lineage`].

use assay_findings::grounding::Tree as _;
use assay_findings::path::RepoPath;

use crate::git::Git;
use crate::tree::{GitTree, TreeKind};
use crate::{Change, GitError};

/// The position of a change in the history, to decide whether another change follows it.
#[derive(Debug, Clone, Default)]
pub struct Lineage {
    /// The base commit; `None` for a recorded change.
    pub base: Option<String>,
    /// The last commit of the change, or the parent of its uncommitted part.
    pub head: Option<String>,
    /// The branch of the work tree, or the pull request.
    pub branch: Option<String>,
    git: Option<Git>,
    /// True if the text of the change is that of the commit `head`.
    is_committed: bool,
}

impl Change {
    /// Returns the position of the change in the history; empty for a recorded change.
    pub fn lineage(&self) -> Result<Lineage, GitError> {
        let TreeKind::Git(base) = &self.base.kind else { return Ok(Lineage::default()) };
        let (git, from) = base.source();
        let head = || git.resolve_if_known("HEAD");
        let mut is_committed = false;
        let (head, branch) = match &self.tree.kind {
            TreeKind::Dir(_) => (head()?, git.current_branch()?),
            TreeKind::Git(tree) => match tree.source().1 {
                None => (head()?, git.current_branch()?),
                Some(commit) => {
                    is_committed = true;
                    (Some(commit.to_owned()), None)
                }
            },
            TreeKind::Recorded(_) => (None, None),
        };
        Ok(Lineage {
            base: from.map(str::to_owned),
            head,
            branch: self.pull.clone().or(branch),
            git: Some(git.clone()),
            is_committed,
        })
    }
}

impl Lineage {
    /// Returns true if this change continues an earlier one: on the same branch, which may have
    /// been rewritten, or on a history that contains the earlier head.
    pub fn follows(&self, branch: Option<&str>, head: Option<&str>) -> bool {
        let same_branch = branch.is_some() && self.branch.as_deref() == branch;
        let contains = || {
            let (git, earlier, later) = (self.git.as_ref()?, head?, self.head.as_deref()?);
            // If git fails, the change does not follow, so that no finding counts as gone.
            Some(git.is_ancestor(earlier, later).unwrap_or(false))
        };
        same_branch || contains().unwrap_or(false)
    }

    /// Returns true if the text of a file in the change is that of the commit `head`, so that other
    /// checkouts can have the text. `None` stands for the change as a whole. If git fails, the text
    /// counts as not committed.
    pub fn is_committed(&self, change: &Change, file: Option<&RepoPath>) -> bool {
        if self.is_committed {
            return true;
        }
        let (Some(git), Some(head), Some(file)) = (&self.git, &self.head, file) else {
            return false;
        };
        let committed = GitTree::revision(git.clone(), head.clone());
        match (committed.read(file), change.tree().read(file)) {
            (Ok(committed), Ok(here)) => committed == here,
            (Err(_), _) | (_, Err(_)) => false,
        }
    }
}
