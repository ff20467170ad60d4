//! Where the links of a page lead: [`Anchors::dead`].

use std::collections::{HashMap, HashSet};

use assay_findings::path::RepoPath;

use super::markdown;
use crate::kinds::is_markdown;
use crate::subject::Subject;

/// The headings of pages that were linked to, so that each page is read once.
#[derive(Debug, Default)]
pub(super) struct Anchors(HashMap<String, Option<HashSet<String>>>);

impl Anchors {
    /// Says why a link on a page leads nowhere. One that leaves the repository is not followed.
    pub(super) fn dead(
        &mut self,
        subject: &Subject<'_>,
        page: &str,
        target: &str,
    ) -> Option<String> {
        if has_scheme(target) || target.starts_with("//") {
            return None;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let path = decoded(path.split('?').next().unwrap_or(path));
        let path = match path.as_str() {
            "" => page.to_owned(),
            path => beside(page, path)?,
        };
        let exact = RepoPath::exact(&path).ok()?;
        if !subject.tree.exists(&exact) {
            let is_folder = subject.index().first_in(&path).is_some();
            return (!is_folder).then(|| "there is no such file".to_owned());
        }
        if anchor.is_empty() || !is_markdown(&path) {
            return None;
        }
        let known = self.0.entry(path).or_insert_with(|| {
            let text = subject.tree.read(&exact)?;
            Some(markdown::anchors(&text))
        });
        let has_anchor = known.as_ref()?.contains(&decoded(anchor).to_lowercase());
        (!has_anchor).then(|| "there is no such heading".to_owned())
    }
}

fn has_scheme(target: &str) -> bool {
    let scheme = target.split_once(':').map(|(scheme, _)| scheme);
    scheme
        .is_some_and(|s| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || c == '+'))
}

/// Gives a path that is written in a page as one from the root; none where it leaves the root.
pub(super) fn beside(page: &str, path: &str) -> Option<String> {
    let joined = match path.strip_prefix('/') {
        Some(from_root) => from_root.to_owned(),
        None => match page.rsplit_once('/') {
            Some((folder, _)) => format!("{folder}/{path}"),
            None => path.to_owned(),
        },
    };
    // The root itself is there.
    RepoPath::parse(&joined, None).ok().map(String::from)
}

/// Puts the letters back that stand in a link as `%20`.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *byte == b'%') {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
