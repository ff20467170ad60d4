//! Checks the targets of the links on a page: [`Links::dead`].

use std::collections::{HashMap, HashSet};

use assay_base::percent;
use assay_findings::grounding::TreeError;
use assay_findings::path::RepoPath;

use super::file_set::FileSet;
use super::markdown;
use crate::file_kinds::is_markdown;

/// The possible targets of links: files, and headings of pages.
pub(super) struct Links<'s> {
    pub(super) known: FileSet<'s>,
    /// The anchors of each page that was read; `None` for a page without readable text.
    headings: HashMap<String, Option<HashSet<String>>>,
}

impl<'s> Links<'s> {
    /// Creates the targets from files.
    pub(super) fn new(known: FileSet<'s>) -> Links<'s> {
        Links { known, headings: HashMap::new() }
    }

    /// Adds the anchors of a page whose text is known.
    pub(super) fn add_page(&mut self, path: &str, text: &str) {
        self.headings.insert(path.to_owned(), Some(markdown::anchors(text)));
    }

    /// Returns the reason why a link on a page is dead; `None` if its target exists or is outside
    /// of the repository. Fails if a target file cannot be read.
    pub(super) fn dead(
        &mut self,
        page: &str,
        target: &str,
    ) -> Result<Option<&'static str>, TreeError> {
        if has_scheme(target) || target.starts_with("//") {
            return Ok(None);
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = percent::decode(path.split('?').next().unwrap_or(path));
        let path = match path.as_str() {
            "" => page.to_owned(),
            path => {
                let Some(path) = beside(page, path) else { return Ok(None) };
                if !self.known.has(&path)? {
                    return Ok(Some("there is no such file"));
                }
                path
            }
        };
        if anchor.is_empty() || !is_markdown(&path) {
            return Ok(None);
        }
        if !self.headings.contains_key(&path) {
            let text = self.known.text(&path)?;
            let anchors = text.map(|text| markdown::anchors(&text));
            self.headings.insert(path.clone(), anchors);
        }
        let Some(Some(headings)) = self.headings.get(&path) else { return Ok(None) };
        let is_there = headings.contains(&percent::decode(anchor).to_lowercase());
        Ok((!is_there).then_some("there is no such heading"))
    }
}

/// Returns true if a target has a URL scheme: `https:`, `mailto:`.
fn has_scheme(target: &str) -> bool {
    target.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+.-".contains(c))
    })
}

/// Resolves a path on a page to a path from the root; returns `None` if it leaves the root.
pub(super) fn beside(page: &str, path: &str) -> Option<String> {
    let joined = match path.strip_prefix('/') {
        Some(from_root) => from_root.to_owned(),
        None => match page.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{path}"),
            None => path.to_owned(),
        },
    };
    // The root itself exists.
    RepoPath::parse(&joined, None).ok().map(String::from)
}
