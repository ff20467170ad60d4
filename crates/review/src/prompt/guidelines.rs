//! The guidelines of a repository for its code, as they were before the change.

use std::collections::BTreeSet;

use assay_base::text::first_bytes;
use assay_change::Change;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_rules::RedactedTree;

use crate::sanitize::names::is_plain;

/// The names of files with guidelines, in any folder above a changed file.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md"];

/// The maximum number of bytes of all guidelines together.
const MAX_GUIDELINES_BYTES: usize = 24 << 10;

/// Returns true if there are guidelines.
pub(crate) fn exist(change: &Change) -> bool {
    paths(change).iter().any(|path| change.base().exists(path).unwrap_or(true))
}

/// Returns the guidelines, those of outer folders first. They are read from the base, so that a
/// change cannot bring its own.
pub(crate) fn read(change: &Change) -> Vec<(RepoPath, String)> {
    let base = RedactedTree(change.base());
    let mut left = MAX_GUIDELINES_BYTES;
    let mut all = Vec::new();
    for path in paths(change) {
        // The change records a file that cannot be read, which makes the review incomplete.
        let Ok(Some(text)) = base.read(&path) else { continue };
        let text = truncate(&text, left);
        left -= text.len();
        if !text.trim().is_empty() {
            all.push((path, text.to_owned()));
        }
    }
    all
}

/// Returns the beginning of a text, up to the end of a line.
fn truncate(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    &text[..first_bytes(text, most).rfind('\n').unwrap_or(0)]
}

/// Returns the possible paths of guidelines for a change.
fn paths(change: &Change) -> Vec<RepoPath> {
    let mut folders: BTreeSet<&str> = BTreeSet::from([""]);
    for file in &change.files {
        let path = file.path();
        folders.extend(path.match_indices('/').map(|(at, _)| &path[..=at]));
    }
    let mut folders: Vec<&str> = folders.into_iter().collect();
    folders.sort_by_key(|folder| folder.matches('/').count());
    let names = folders.iter().flat_map(|folder| NAMES.map(|name| format!("{folder}{name}")));
    let names = names.filter(|path| is_plain(path));
    names.filter_map(|path| RepoPath::exact(&path).ok()).collect()
}
