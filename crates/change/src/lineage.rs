//! Where a change stands in the history: [`Lineage`].

use crate::git::Git;
use crate::tree::TreeKind;
use crate::{Change, GitError};

/// Where a change stands in the history, for telling whether another one follows it.
#[derive(Debug, Clone, Default)]
pub struct Lineage {
    /// The commit that it is held against.
    pub base: Option<String>,
    /// The last commit of it, or the one that its uncommitted part was made on.
    pub head: Option<String>,
    /// The branch that the work tree is on, or the pull request.
    pub branch: Option<String>,
    git: Option<Git>,
}

impl Change {
    /// Returns where the change stands in the history; a recorded change stands nowhere.
    pub fn lineage(&self) -> Result<Lineage, GitError> {
        let TreeKind::Git(base) = &self.base.kind else { return Ok(Lineage::default()) };
        let (git, from) = base.stands_on();
        let head = || git.resolve_if_known("HEAD");
        let (head, branch) = match &self.tree.kind {
            TreeKind::Dir(_) => (head()?, git.current_branch()?),
            TreeKind::Git(tree) => match tree.stands_on().1 {
                None => (head()?, git.current_branch()?),
                Some(commit) => (Some(commit.to_owned()), None),
            },
            TreeKind::Recorded(_) => (None, None),
        };
        Ok(Lineage {
            base: from.map(str::to_owned),
            head,
            branch: self.pull.clone().or(branch),
            git: Some(git.clone()),
        })
    }
}

impl Lineage {
    /// Says whether it goes on from where an earlier change stood: on the same branch, which may
    /// have been rewritten, or on a history that has the other's in it.
    pub fn follows(&self, branch: Option<&str>, head: Option<&str>) -> bool {
        let same_branch = branch.is_some() && self.branch.as_deref() == branch;
        let contains = || {
            let (git, earlier, later) = (self.git.as_ref()?, head?, self.head.as_deref()?);
            // Where git has no answer nothing follows, so that no finding is taken for gone.
            Some(git.is_ancestor(earlier, later).unwrap_or(false))
        };
        same_branch || contains().unwrap_or(false)
    }
}
