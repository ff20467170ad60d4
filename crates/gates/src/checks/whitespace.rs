//! Finds invisible blanks: at the end of a line, or before a tab.

use crate::file_kinds::{ending, is_markdown};

/// Returns the fault of a line with invisible blanks; `None` if there is none.
pub(super) fn fault(path: &str, line: &str) -> Option<&'static str> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    // In a diff, an empty line of context is one blank.
    if line == " " && ["diff", "patch"].contains(&ending(path).as_str()) {
        return None;
    }
    let said = line.trim_end_matches([' ', '\t']);
    // In Markdown, two blanks at the end of a line are a line break.
    let is_break = is_markdown(path) && !said.is_empty() && &line[said.len()..] == "  ";
    if said.len() < line.len() && !is_break {
        return Some("trailing whitespace");
    }
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    indent.contains(" \t").then_some("a space before a tab")
}
