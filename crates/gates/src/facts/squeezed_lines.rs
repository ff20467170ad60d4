//! Lines without their blanks, so that formatting makes no difference.

use std::collections::HashSet;

use assay_change::unified::HunkText;
use assay_findings::grounding::squeeze;

/// Returns the set of a text's lines, without their blanks.
pub(crate) fn squeezed(text: &str) -> HashSet<String> {
    text.lines().map(squeeze).collect()
}

/// Returns true if the lines, without blanks, contain every line that a hunk adds.
pub(crate) fn holds_added(lines: &HashSet<String>, hunk: &HunkText<'_>) -> bool {
    hunk.added().all(|line| lines.contains(&squeeze(line.text)))
}
