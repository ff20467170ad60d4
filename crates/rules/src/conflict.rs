//! Conflict markers.

use assay_change::diff::FileDiff;

use crate::Hit;

/// Fires on the line that opens a conflict, once for each, if the rest of it follows.
pub(crate) fn look(file: &FileDiff) -> Vec<Hit> {
    if shows_markers(file) {
        return Vec::new();
    }
    let mut hits: Vec<Hit> = Vec::new();
    let mut open: Option<(u32, String)> = None;
    let mut divided = false;
    for (number, line) in file.added() {
        if is_marker(line, "<<<<<<<") {
            open = Some((number, line.to_owned()));
            divided = false;
        } else if line == "=======" {
            divided = open.is_some();
        } else if is_marker(line, ">>>>>>>")
            && divided
            && let Some((line, quote)) = open.take()
        {
            hits.push(Hit { line, note: None, quote: Some(quote), deletable: false });
        }
    }
    hits
}

/// Says whether a line is a marker, with or without the name of its side.
fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Says whether a page shows markers in a fence rather than having them.
fn shows_markers(file: &FileDiff) -> bool {
    let is_page =
        [".md", ".markdown", ".rst", ".adoc"].iter().any(|end| file.path().ends_with(end));
    is_page && file.added().any(|(_, line)| line.trim_start().starts_with("```"))
}
