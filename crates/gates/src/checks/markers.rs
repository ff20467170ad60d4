//! Conflict markers in lines that come.

use crate::kinds::is_page;

/// Gives the lines that belong to a conflict. A page that shows markers in a fence has none.
pub(super) fn markers<'l, At: Copy>(path: &str, lines: &[(At, &'l str)]) -> Vec<(At, &'l str)> {
    if is_page(path) && lines.iter().any(|(_, line)| line.trim_start().starts_with("```")) {
        return Vec::new();
    }
    let mut found = Vec::new();
    // A rule of equal signs is a heading, unless it stands in a conflict.
    let mut is_open = false;
    for (at, line) in lines {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let opens = is_marker(line, "<<<<<<<");
        let closes = is_marker(line, ">>>>>>>");
        let divides = is_open && (line == "=======" || is_marker(line, "|||||||"));
        if opens || closes || divides {
            found.push((*at, line));
        }
        is_open = (is_open || opens) && !closes;
    }
    found
}

/// Says whether a line is a marker, with or without the name of its side.
fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
