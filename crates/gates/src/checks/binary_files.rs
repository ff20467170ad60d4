//! Classifies the files of a change that are no text: [`classify`].

use std::fs;

use assay_change::Change;
use assay_change::diff::{Content, FileDiff};
use assay_findings::path::RepoPath;

/// The kind of a file in a change, as far as its text can be read.
pub(super) enum ChangedFileKind {
    /// The file is text, or needs no reading.
    Text,
    /// The content cannot be read; the text names the kind of file.
    Hidden(&'static str),
    /// The file is a link to a path in the repository.
    LeadsInside,
    /// The file is a link to a path outside of the repository, which is the value.
    LeadsOut(String),
}

/// Classifies a file of a change. A file that is deleted or excluded by a rule counts as text,
/// since no reader has to see it. Links are classified by their target.
pub(super) fn classify(change: &Change, file: &FileDiff) -> ChangedFileKind {
    let Some(path) = file.new_path.as_deref().filter(|_| file.left_out.is_none()) else {
        return ChangedFileKind::Text;
    };
    match file.content {
        // If a diff could not be read, the rules report the reason themselves.
        Content::Text | Content::Unread(_) => ChangedFileKind::Text,
        Content::Binary => ChangedFileKind::Hidden("binary"),
        Content::Submodule => ChangedFileKind::Hidden("a commit of another repository"),
        Content::Link => match target(change, path) {
            Some(target) if stays_inside(path, &target) => ChangedFileKind::LeadsInside,
            Some(target) => ChangedFileKind::LeadsOut(target),
            None => ChangedFileKind::Hidden("a link"),
        },
    }
}

/// Returns the target of a link, as it is written; `None` if it cannot be read.
fn target(change: &Change, path: &str) -> Option<String> {
    if change.is_in_work_tree() {
        let target = fs::read_link(change.root.join(path)).ok()?;
        return target.to_str().map(str::to_owned);
    }
    change.tree().read(&RepoPath::exact(path).ok()?).ok().flatten()
}

/// Returns true if a link certainly leads to a path in the repository, outside of `.git`. After a
/// name, `..` may lead anywhere, since the name may be that of another link.
fn stays_inside(path: &str, target: &str) -> bool {
    let folders = path.matches('/').count();
    let parts = || target.split('/').filter(|part| !matches!(*part, "" | "."));
    let up = parts().take_while(|part| *part == "..").count();
    let mut down = parts().skip(up);
    let is_record = up == folders
        && down.clone().next().is_some_and(|first| first.eq_ignore_ascii_case(".git"));
    !target.starts_with('/') && up <= folders && !is_record && down.all(|part| part != "..")
}
