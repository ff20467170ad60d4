//! Text and files as models may see them: [`safe_text`], [`SafeTree`].
//!
//! Credentials and lines that address reviewers are removed, and [`names`] keeps a text on one
//! line. A file that models do not see at all has a reason, [`UnreadReason`].

pub(crate) mod names;

use std::fmt;

use assay_change::diff::{Content, FileDiff};
use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_rules::{
    RedactedTree, find_injection_in_name, redact_text, without_injections,
    without_injections_in_file,
};

/// Reasons why a name is not shown, or why its content does not count as read.
const ADDRESSES: &str = "text in it addresses a reviewer";
const ODD_NAME: &str = "its name has control characters";
const SECRET_NAME: &str = "its name holds a credential";

/// The reason why a hunk does not count as read by models.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UnreadReason {
    /// The hunk is left out of the review, by this rule.
    LeftOut(String),
    /// The hunk addresses reviewers, so the answer of a model about it does not count.
    Addresses,
    /// The hunk could not be shown.
    NotShown(&'static str),
}

impl fmt::Display for UnreadReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnreadReason::LeftOut(rule) => rule,
            UnreadReason::Addresses => ADDRESSES,
            UnreadReason::NotShown(why) => why,
        })
    }
}

/// A tree as models may see it: without credentials, and without lines that address them.
pub(crate) struct SafeTree<'t>(RedactedTree<'t>);

impl<'t> SafeTree<'t> {
    /// Creates the view of a tree for models.
    pub(crate) fn of(tree: &'t (dyn Tree + Sync)) -> SafeTree<'t> {
        SafeTree(RedactedTree(tree))
    }
}

impl Tree for SafeTree<'_> {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        let text = self.0.read(path)?;
        Ok(text.map(|text| without_injections_in_file(path.as_str(), &text).into_owned()))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        self.0.exists(path)
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError> {
        self.0.symbol_at(path, line)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        self.0.paths()
    }
}

/// Removes credentials and lines that address reviewers from a text.
pub(crate) fn safe_text(text: &str) -> String {
    let text = redact_text(text);
    names::normalize_line_breaks(&without_injections(&text)).into_owned()
}

/// Returns the reason why the name of a file is not shown; `None` if it is.
pub(crate) fn unsafe_name_reason(path: &str) -> Option<UnreadReason> {
    if find_injection_in_name(path).is_some() {
        return Some(UnreadReason::Addresses);
    }
    if !names::is_plain(path) {
        return Some(UnreadReason::NotShown(ODD_NAME));
    }
    (assay_rules::redact(path) != path).then_some(UnreadReason::NotShown(SECRET_NAME))
}

/// Returns the reason why models do not see a file; `None` if they do.
pub(crate) fn withheld_reason(file: &FileDiff) -> Option<UnreadReason> {
    let left_out = |rule: &str| Some(UnreadReason::LeftOut(rule.to_owned()));
    if let Some(rule) = &file.left_out {
        return left_out(&rule.rule);
    }
    if let Some(what) = file.without_content() {
        return left_out(what);
    }
    match file.content {
        Content::Text | Content::Binary | Content::Submodule => None,
        Content::Link => left_out("symbolic link"),
        Content::Unread(_) => left_out("its diff could not be read"),
    }
}
