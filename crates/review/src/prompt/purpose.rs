//! The purpose of a change: [`Purpose`], from the messages of its commits, the text that the caller
//! states, and the documents of the repository that these name.
//!
//! Documents are read as they were before the change: a change cannot bring the text that it is
//! judged by. Each part of a change is shown the documents that are about its files
//! ([`relevance`]).

use assay_base::text::first_bytes;
use assay_change::Change;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;

use super::relevance::{self, FileWords};
use crate::sanitize::{names, safe_text, unsafe_name_reason};

/// The maximum number of bytes of a stated purpose, and of all messages together.
const MAX_PURPOSE_BYTES: usize = 6 << 10;

/// The maximum number of bytes of a document that are read.
const MAX_DOCUMENT_BYTES: usize = 64 << 10;

/// The maximum number of documents.
const MAX_DOCUMENTS: usize = 24;

/// File extensions of documents for people.
const DOCUMENT_EXTENSIONS: [&str; 7] = ["md", "markdown", "rst", "adoc", "txt", "org", "feature"];

/// The purpose of a change. It is untrusted text: credentials and instructions to reviewers are
/// removed.
#[derive(Debug, Default)]
pub(crate) struct Purpose {
    /// The text that the caller states; `None` if there is none.
    pub(crate) stated: Option<String>,
    /// The messages of the commits, the newest first.
    pub(crate) messages: Vec<String>,
    /// The documents that the stated purpose and the messages name, as they were before the change.
    pub(crate) documents: Vec<(RepoPath, String)>,
}

impl Purpose {
    /// Reads the purpose of a change; `base` is the tree before the change as models may see it.
    pub(crate) fn of(change: &Change, base: &dyn Tree) -> Purpose {
        let stated =
            change.stated_purpose().map(|text| truncate(&safe_text(text), MAX_PURPOSE_BYTES));
        let mut left = MAX_PURPOSE_BYTES;
        let mut messages = Vec::new();
        for message in change.messages() {
            let message = truncate(&safe_text(&message), left);
            left = left.saturating_sub(message.len());
            messages.push(message);
        }
        messages.retain(|message| !message.trim().is_empty());
        let named: Vec<&str> = stated.iter().chain(&messages).map(String::as_str).collect();
        let documents = documents(change, base, &named);
        Purpose { stated, messages, documents }
    }

    /// Formats the purpose for a part of the change with these files; empty if there is none.
    pub(crate) fn text(&self, files: &[FileWords]) -> String {
        let mut out = String::new();
        if let Some(stated) = &self.stated {
            out.push_str(&format!("## PURPOSE, as stated\n{stated}\n\n"));
        }
        if !self.messages.is_empty() {
            out.push_str("## PURPOSE, from the commit messages\n");
            out.extend(self.messages.iter().map(|message| format!("{}\n", quote(message))));
        }
        let (shown, left_out) = relevance::choose(&self.documents, files);
        for (path, text) in shown {
            out.push_str(&format!("## DOCUMENT {path}, as it was before the change\n{text}\n\n"));
        }
        if !left_out.is_empty() {
            let names: Vec<&str> = left_out.iter().map(|path| path.as_str()).collect();
            out.push_str(&format!(
                "Documents that are named and not shown: {}\n\n",
                names.join(", ")
            ));
        }
        out
    }
}

fn quote(message: &str) -> String {
    message.lines().map(|line| format!("  > {line}\n")).collect()
}

/// Returns the beginning of a text, with a mark if the rest is left out.
fn truncate(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let kept = first_bytes(text, most);
    let kept = kept.rfind('\n').map_or(kept, |end| &kept[..end]);
    format!("{kept}\n[the rest is left out: {} bytes]", text.len() - kept.len())
}

/// Returns the documents that texts name, and those that the named documents name.
fn documents(change: &Change, base: &dyn Tree, texts: &[&str]) -> Vec<(RepoPath, String)> {
    // The change records a tree that cannot be listed, which makes the review incomplete.
    let paths = change.base().paths().unwrap_or_default();
    let paths: Vec<&RepoPath> = paths.iter().filter(|path| is_document(path.as_str())).collect();
    let mut found: Vec<RepoPath> = Vec::new();
    for text in texts {
        add_named(text, "", &paths, &mut found);
    }
    let direct = found.len();
    let mut read: Vec<(RepoPath, String)> = Vec::new();
    let mut at = 0;
    while let Some(path) = found.get(at).cloned() {
        if let Ok(Some(text)) = base.read(&path) {
            if at < direct {
                let folder = path.as_str().rsplit_once('/').map_or("", |(folder, _)| folder);
                add_named(&text, folder, &paths, &mut found);
            }
            let text = truncate(&names::normalize_line_breaks(&text), MAX_DOCUMENT_BYTES);
            read.push((path, text));
        }
        at += 1;
    }
    read
}

/// Returns true if a file with that name may be a document for people.
fn is_document(path: &str) -> bool {
    let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| DOCUMENT_EXTENSIONS.contains(&ending.as_str()))
        && unsafe_name_reason(path).is_none()
}

/// Adds the documents that a text names: by path, by the end of a path, by number (`ADR 12`,
/// `spec 001`). If several match, the one with the shortest path counts.
fn add_named(text: &str, folder: &str, paths: &[&RepoPath], found: &mut Vec<RepoPath>) {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    let words: Vec<&str> = text.split(|c| !is_part(c)).collect();
    for (at, word) in words.iter().enumerate() {
        let word = word.trim_end_matches(['.', '-']).trim_start_matches("./");
        let path = match is_document(word) {
            true => by_name(word, folder, paths),
            false => by_number(word, words.get(at + 1).copied(), paths),
        };
        let Some(path) = path else { continue };
        if found.len() < MAX_DOCUMENTS && !found.contains(path) {
            found.push(path.clone());
        }
    }
}

fn by_name<'p>(name: &str, folder: &str, paths: &[&'p RepoPath]) -> Option<&'p RepoPath> {
    let beside = format!("{folder}/{name}");
    let is_named = |path: &str| path == name || path.ends_with(&format!("/{name}"));
    let exact = paths.iter().find(|path| path.as_str() == beside.trim_start_matches('/'));
    exact
        .copied()
        .or_else(|| shortest(paths.iter().copied().filter(|path| is_named(path.as_str()))))
}

/// Returns the document of a numbered series: `ADR-12`, `RFC 7`, `spec 001`.
fn by_number<'p>(word: &str, next: Option<&str>, paths: &[&'p RepoPath]) -> Option<&'p RepoPath> {
    let word = word.to_ascii_lowercase();
    let (series, number) = match word.split_once('-') {
        Some((series, number)) => (series, number),
        None => (word.as_str(), next?.trim_matches('.')),
    };
    let series = ["adr", "rfc", "spec", "plan"].into_iter().find(|known| *known == series)?;
    let number: u32 = number.parse().ok()?;
    let is_of = |path: &str| {
        let path = path.to_ascii_lowercase();
        let mut parts = path.split('/').rev();
        let own = parts.next().unwrap_or("");
        let in_series = path.contains(series);
        let counts = |name: &str| {
            let name = name.trim_start_matches(series).trim_start_matches(['-', '_']);
            let digits: String = name.chars().take_while(char::is_ascii_digit).collect();
            digits.parse() == Ok(number)
        };
        in_series && (counts(own) || parts.next().is_some_and(counts))
    };
    shortest(paths.iter().copied().filter(|path| is_of(path.as_str())))
}

fn shortest<'p>(paths: impl Iterator<Item = &'p RepoPath>) -> Option<&'p RepoPath> {
    paths
        .min_by_key(|path| (path.as_str().matches('/').count(), path.as_str().len(), path.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str, folder: &str, paths: &[&str]) -> Vec<String> {
        let paths: Vec<RepoPath> =
            paths.iter().map(|path| RepoPath::exact(path).unwrap()).collect();
        let paths: Vec<&RepoPath> = paths.iter().collect();
        let mut found = Vec::new();
        add_named(text, folder, &paths, &mut found);
        found.iter().map(|path| path.as_str().to_owned()).collect()
    }

    #[test]
    fn documents_are_found_by_path_by_name_and_by_number() {
        let paths = [
            "docs/plan.md", "docs/adr/0012-money.md", "specs/001-cart/spec.md", "README.md",
            "old/docs/plan.md",
        ];
        for (text, expected) in [
            ("Implements docs/plan.md.", vec!["docs/plan.md"]),
            ("See `plan.md`, then (README.md)", vec!["docs/plan.md", "README.md"]),
            ("As ADR-12 says", vec!["docs/adr/0012-money.md"]),
            ("as adr 0012 says", vec!["docs/adr/0012-money.md"]),
            ("spec 001: cart", vec!["specs/001-cart/spec.md"]),
            ("fixes the plan", vec![]),
            ("see other.md and ADR 13", vec![]),
        ] {
            assert_eq!(named(text, "", &paths), expected, "{text}");
        }
    }

    #[test]
    fn a_document_in_the_folder_of_the_reference_is_preferred() {
        let paths = ["context.md", "a/b/plan.md", "a/b/context.md"];
        assert_eq!(named("See context.md", "a/b", &paths), ["a/b/context.md"]);
    }
}
