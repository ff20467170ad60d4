//! Lines without their blanks, so that formatting makes no difference.

use std::collections::HashSet;

use assay_change::unified::HunkText;
use assay_findings::ground::squeeze;

/// Returns the lines of a file without their blanks, so that formatting makes no difference.
pub(crate) fn squeezed(text: &str) -> HashSet<String> {
    text.lines().map(squeeze).collect()
}

/// Returns true if such lines hold every one that a hunk adds.
pub(crate) fn holds_added(lines: &HashSet<String>, hunk: &HunkText<'_>) -> bool {
    hunk.added().all(|line| lines.contains(&squeeze(line.text)))
}
