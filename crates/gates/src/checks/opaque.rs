//! Parts of a change that are no text: [`seen`].

use std::fs;

use assay_change::Change;
use assay_change::diff::{Content, FileDiff};
use assay_findings::path::RepoPath;

/// The knowledge of a file without its text.
pub(super) enum Opaque {
    /// The definition has a doc comment, or needs none.
    Text,
    /// Nobody can see what it holds, and what it is.
    Hidden(&'static str),
    /// The file is a link to a place in the repository, whose target was looked at.
    LeadsInside,
    /// The file is a link to a place outside of the repository.
    LeadsOut(String),
}

/// Says what becomes of a file that may be no text. One that is gone, or that a rule leaves out,
/// nobody has to look at; of a link its target is looked at.
pub(super) fn seen(change: &Change, file: &FileDiff) -> Opaque {
    let Some(path) = file.new_path.as_deref().filter(|_| file.left_out.is_none()) else {
        return Opaque::Text;
    };
    match file.content {
        // The reason why a diff could not be read the rules say themselves.
        Content::Text | Content::Unread(_) => Opaque::Text,
        Content::Binary => Opaque::Hidden("binary"),
        Content::Submodule => Opaque::Hidden("a commit of another repository"),
        Content::Link => match target(change, path) {
            Some(target) if stays_inside(path, &target) => Opaque::LeadsInside,
            Some(target) => Opaque::LeadsOut(target),
            None => Opaque::Hidden("a link"),
        },
    }
}

/// Returns where a link leads to, as it is written in it.
fn target(change: &Change, path: &str) -> Option<String> {
    if change.is_in_work_tree() {
        let target = fs::read_link(change.root.join(path)).ok()?;
        return target.to_str().map(str::to_owned);
    }
    change.tree().read(&RepoPath::exact(path).ok()?).ok().flatten()
}

/// Returns true if a link surely leads to a place in the repository, which its records are not. Behind
/// a name `..` may lead anywhere, since the name may be that of another link.
fn stays_inside(path: &str, target: &str) -> bool {
    let folders = path.matches('/').count();
    let parts = || target.split('/').filter(|part| !matches!(*part, "" | "."));
    let up = parts().take_while(|part| *part == "..").count();
    let mut down = parts().skip(up);
    let is_record = up == folders
        && down.clone().next().is_some_and(|first| first.eq_ignore_ascii_case(".git"));
    !target.starts_with('/') && up <= folders && !is_record && down.all(|part| part != "..")
}
