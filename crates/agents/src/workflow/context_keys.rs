//! Keys of a task's context under which its branches are stored.

/// The branch of an agent's own local work, which therefore has more commits than the pull request.
pub(super) const OWN_BRANCH_KEY: &str = "_own_branch";

/// Keys of the branch of a change, the most reliable first.
pub(super) const BRANCH_KEYS: [&str; 4] =
    [OWN_BRANCH_KEY, "worktree_branch", "implementation_branch", "branch_name"];

/// Keys of the branch that a change is based on.
pub(super) const BASE_KEYS: [&str; 2] = ["base", "base_branch"];
