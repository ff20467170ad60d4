//! The rule on conflict markers that are left in added lines.

use super::AddedLines;
use crate::rule_match::RuleMatch;

/// Fires on the line that opens a conflict, once for each complete conflict.
pub(crate) fn find(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    if shows_markers(added) {
        return Vec::new();
    }
    let mut hits: Vec<RuleMatch> = Vec::new();
    let mut open: Option<(u32, &str)> = None;
    let mut divided = false;
    for (number, line) in &added.lines {
        if is_marker(line, "<<<<<<<") {
            open = Some((*number, line));
            divided = false;
        } else if *line == "=======" {
            divided = open.is_some();
        } else if is_marker(line, ">>>>>>>")
            && divided
            && let Some((line, quote)) = open.take()
        {
            hits.extend(RuleMatch::on_line(line, quote));
        }
    }
    hits
}

/// Returns true if a line is a marker, with or without the name of its side.
fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns true if a document has a code fence, so that it may show markers on purpose.
fn shows_markers(added: &AddedLines<'_>) -> bool {
    let is_page = [".md", ".markdown", ".rst", ".adoc"].iter().any(|end| added.path.ends_with(end));
    is_page && added.lines.iter().any(|(_, line)| line.trim_start().starts_with("```"))
}
