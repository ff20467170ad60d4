//! Finds conflict markers: [`markers`].

use std::fmt::Display;

use crate::file_kinds::is_page;
use crate::result::CheckResult;

/// Fails with the lines of a file that are conflict markers.
pub(super) fn look<'l, At: Display>(
    path: &str,
    lines: impl IntoIterator<Item = (At, &'l str)>,
) -> CheckResult {
    let told = markers(lines, is_page(path)).into_iter().map(|(at, line)| {
        let marker: String = line.chars().take(7).collect();
        format!("{at} is a conflict marker ({marker})")
    });
    CheckResult::of(told.collect())
}

/// Returns the lines that are conflict markers, in code or on a page.
pub(super) fn markers<'l, At>(
    lines: impl IntoIterator<Item = (At, &'l str)>,
    is_page: bool,
) -> Vec<(At, &'l str)> {
    let mut found = Vec::new();
    // A line of equal signs is a heading, unless it is in a conflict.
    let mut is_open = false;
    for (at, line) in lines {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let opens = is_marker(line, "<<<<<<<");
        // A closing marker alone on a page is a nested quote.
        let closes = is_marker(line, ">>>>>>>") && (is_open || !is_page);
        let divides = is_open && (line == "=======" || is_marker(line, "|||||||"));
        if opens || closes || divides {
            found.push((at, line));
        }
        is_open = (is_open || opens) && !closes;
    }
    found
}

/// Returns true if a line is a marker, with or without the name of its side.
fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
