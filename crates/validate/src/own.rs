//! The files that the loop itself writes, and others that are no part of a tree that is approved.

use std::path::Path;

use assay_change::{GitError, fingerprint};

use crate::file_names::{self, MANUAL_PLAN, REPORT, SPEC_HOMES};
use crate::plan::{self, ImplementationPlan, LOOP_KEYS};
use crate::tree_hash::TreeHash;

/// Folders at the root that hold nobody's implementation.
const ASIDE: [&str; 3] = [".assay", ".agent-communication", "logs"];

/// Returns the digest of a work tree, without what a loop writes: an approval must not void itself.
pub fn tree_hash(root: &Path) -> Result<TreeHash, GitError> {
    tree_hash_without(root, &[])
}

/// Returns the digest of a work tree, without what a loop writes and without some files, named from the
/// root, that this very process prints into.
pub fn tree_hash_without(root: &Path, outputs: &[String]) -> Result<TreeHash, GitError> {
    let is_left_out = |path: &str| is_own(path) || outputs.iter().any(|output| output == path);
    let instead = |path: &str, file: &Path| is_plan(path).then(|| plan_without_keys(file));
    fingerprint(root, &is_left_out, &|path, file| instead(path, file).flatten()).map(TreeHash)
}

/// Returns true if a path from the root is a loop's own, or no part of an implementation.
pub(crate) fn is_own(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    ASIDE.contains(&first) || in_spec(path).is_some_and(is_own_name)
}

/// Returns true if a path from the root is a paper of a loop, or says what has to hold: what an
/// implementation is held against, and no part of it.
pub(crate) fn is_paper(path: &str) -> bool {
    let says = |name: &str| is_own_name(name) || name == plan::NAME || name == file_names::SPEC;
    in_spec(path).is_some_and(says)
}

/// Returns the name of a file in a spec's folder.
fn in_spec(path: &str) -> Option<&str> {
    let inside = SPEC_HOMES.iter().find_map(|home| path.strip_prefix(home)?.strip_prefix('/'))?;
    let (_, name) = inside.split_once('/')?;
    (!name.contains('/')).then_some(name)
}

fn is_own_name(name: &str) -> bool {
    let is_paper = name.starts_with("QA_") && name.ends_with(".md");
    // A file that is written anew, or locked, has one beside it for a while.
    let beside = name.strip_prefix('.').unwrap_or_default();
    let is_beside = (beside.ends_with(".lock") || beside.ends_with(".tmp"))
        && (beside.starts_with("QA_")
            || beside.starts_with("qa_")
            || beside.starts_with("MANUAL_")
            || beside.starts_with(plan::NAME));
    is_paper || is_beside || [REPORT, MANUAL_PLAN, file_names::JOURNAL].contains(&name)
}

fn is_plan(path: &str) -> bool {
    in_spec(path) == Some(plan::NAME)
}

/// Returns a plan's text without the keys that the loop exports; `None` where it cannot be read.
fn plan_without_keys(file: &Path) -> Option<String> {
    let plan = ImplementationPlan::read(file).ok()?;
    let mut whole = plan.whole().clone();
    LOOP_KEYS.iter().for_each(|key| drop(whole.remove(*key)));
    serde_json::to_string(&whole).ok()
}
