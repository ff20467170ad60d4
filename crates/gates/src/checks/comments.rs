//! Finds added comments that leave work open, and those that describe history.

use assay_rules::SourceLines;

/// The beginnings of comments that describe history.
const HISTORY: [&str; 18] = [
    "previously", "formerly", "originally", "used to be", "changed from", "changed to", "changed:",
    "renamed from", "moved from", "refactored", "replaces the old", "replaced the", "no longer",
    "now uses", "now we", "updated to", "was previously", "removed the",
];

/// Maximum number of characters at the beginning of a comment that are examined.
const MAX_BEGINNING: usize = 24;

/// Returns the added lines with a TODO or FIXME comment.
pub(super) fn open(source: &SourceLines<'_>) -> Vec<usize> {
    let is_open = |at: &usize| {
        let said = said(source, *at);
        let end = said.find(|c: char| !c.is_alphanumeric()).unwrap_or(said.len());
        matches!(&said[..end], "TODO" | "FIXME")
    };
    source.added.iter().copied().filter(is_open).collect()
}

/// Returns the added lines with a comment that begins with history.
pub(super) fn history(source: &SourceLines<'_>) -> Vec<usize> {
    let tells = |at: &usize| {
        let said = said(source, *at).chars().take(MAX_BEGINNING);
        let said: String = said.flat_map(char::to_lowercase).collect();
        let is_history = HISTORY.iter().any(|words| {
            said.strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        is_history && begins(source, *at)
    };
    source.added.iter().copied().filter(tells).collect()
}

/// Returns the text of a comment, without its marks.
fn said<'s>(source: &'s SourceLines<'_>, at: usize) -> &'s str {
    source.comment(at).trim_start_matches(|c: char| !c.is_alphanumeric())
}

/// Returns true if a comment begins a sentence, and does not continue the comment on the line
/// before.
fn begins(source: &SourceLines<'_>, at: usize) -> bool {
    if !source.is_comment(at) {
        return true;
    }
    match at.checked_sub(1) {
        None => !source.is_cut,
        Some(before) if source.is_comment(before) => {
            let said = said(source, before);
            said.is_empty() || said.ends_with(['.', '!', '?', ':'])
        }
        Some(_) => true,
    }
}
