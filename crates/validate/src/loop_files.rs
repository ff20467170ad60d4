//! Recognises files that the loop itself writes, and others that are no part of the tree under
//! approval; computes the digest of a tree without them.

use std::path::Path;

use assay_change::{GitError, fingerprint};

use crate::file_names::{self, MANUAL_PLAN, REPORT, SPEC_HOMES};
use crate::plan::{self, ImplementationPlan, LOOP_KEYS};
use crate::tree_hash::TreeHash;

/// Folders at the root that contain no implementation.
const EXCLUDED_DIRS: [&str; 3] = [".assay", ".agent-communication", "logs"];

/// Returns the digest of a work tree without the files that a loop writes: an approval must not
/// void itself.
pub fn tree_hash(root: &Path) -> Result<TreeHash, GitError> {
    tree_hash_without(root, &[])
}

/// Returns the digest of a work tree without the files that a loop writes, and without `outputs`:
/// files, with paths from the root, that this process writes its output to.
pub fn tree_hash_without(root: &Path, outputs: &[String]) -> Result<TreeHash, GitError> {
    let is_left_out =
        |path: &str| is_loop_output(path) || outputs.iter().any(|output| output == path);
    let instead = |path: &str, file: &Path| is_plan(path).then(|| plan_without_keys(file));
    fingerprint(root, &is_left_out, &|path, file| instead(path, file).flatten()).map(TreeHash)
}

/// Returns true if the loop writes the file at a path from the root, or the file is no part of an
/// implementation.
pub(crate) fn is_loop_output(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or_default();
    EXCLUDED_DIRS.contains(&first) || name_in_spec(path).is_some_and(is_loop_output_name)
}

/// Returns true if the file at a path from the root is a document of a loop, a spec or a plan: it
/// states requirements on an implementation and is no part of it.
pub(crate) fn is_loop_document(path: &str) -> bool {
    let says =
        |name: &str| is_loop_output_name(name) || name == plan::NAME || name == file_names::SPEC;
    name_in_spec(path).is_some_and(says)
}

/// Returns the name of a file directly in the folder of a spec; `None` for other paths.
fn name_in_spec(path: &str) -> Option<&str> {
    let inside = SPEC_HOMES.iter().find_map(|home| path.strip_prefix(home)?.strip_prefix('/'))?;
    let (_, name) = inside.split_once('/')?;
    (!name.contains('/')).then_some(name)
}

fn is_loop_output_name(name: &str) -> bool {
    let is_loop_document = name.starts_with("QA_") && name.ends_with(".md");
    // A file that is being rewritten or locked has a temporary file or a lock file next to it.
    let beside = name.strip_prefix('.').unwrap_or_default();
    let is_beside = (beside.ends_with(".lock") || beside.ends_with(".tmp"))
        && (beside.starts_with("QA_")
            || beside.starts_with("qa_")
            || beside.starts_with("MANUAL_")
            || beside.starts_with(plan::NAME));
    is_loop_document || is_beside || [REPORT, MANUAL_PLAN, file_names::JOURNAL].contains(&name)
}

fn is_plan(path: &str) -> bool {
    name_in_spec(path) == Some(plan::NAME)
}

/// Returns the text of a plan without the keys that the loop exports; `None` if the plan cannot be
/// parsed.
fn plan_without_keys(file: &Path) -> Option<String> {
    let plan = ImplementationPlan::read(file).ok()?;
    let mut whole = plan.whole().clone();
    LOOP_KEYS.iter().for_each(|key| drop(whole.remove(*key)));
    serde_json::to_string(&whole).ok()
}
