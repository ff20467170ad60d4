//! Changes formatted as text, for comparisons.

use std::path::Path;

use assay_change::diff::{Content, FileDiff, Origin};
use assay_change::{Change, Scope, Selection};
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;

pub(crate) fn open(folder: &Path, scope: Scope) -> Change {
    assay_change::open(folder, &scope, &Selection::default()).unwrap()
}

pub(crate) fn against(base: &str) -> Scope {
    Scope::Against(base.to_owned())
}

pub(crate) fn commits(range: &str) -> Scope {
    Scope::Commits(range.to_owned())
}

pub(crate) fn path(path: &str) -> RepoPath {
    RepoPath::exact(path).unwrap()
}

/// Counts the added and the removed lines.
pub(crate) fn counts(file: &FileDiff) -> (u32, u32) {
    let count = |lines: &mut dyn Iterator<Item = LineRange>| {
        lines.map(|lines| lines.end() - lines.start() + 1).sum()
    };
    (count(&mut file.added()), count(&mut file.removed()))
}

/// Formats a change: its title, and a line for each file.
pub(crate) fn show(change: &Change) -> String {
    let mut text = format!("{}\n", change.title);
    for file in &change.files {
        let (added, removed) = counts(file);
        text += &format!("{:?} +{added} -{removed}", file.path());
        if file.content != Content::Text {
            text += &format!(" {:?}", file.content);
        }
        if file.origin != Origin::Same {
            text += &format!(" {:?} {:?}", file.origin, file.old_path.as_deref().unwrap());
        }
        if file.generated {
            text += " generated";
        }
        text.push('\n');
    }
    text
}
