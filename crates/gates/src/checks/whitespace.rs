//! Blanks where nobody sees them: at the end of a line, or before a tab.

use crate::kinds::{ending, is_markdown};

/// Says what is wrong with the blanks of a line, if anything is.
pub(super) fn fault(path: &str, line: &str) -> Option<&'static str> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    // A blank line of context in a diff is one blank.
    if line == " " && ["diff", "patch"].contains(&ending(path).as_str()) {
        return None;
    }
    let said = line.trim_end_matches([' ', '\t']);
    // Two blanks at the end of a line of Markdown break it.
    let is_break = is_markdown(path) && !said.is_empty() && &line[said.len()..] == "  ";
    if said.len() < line.len() && !is_break {
        return Some("blanks at the end");
    }
    let indent = &line[..line.len() - line.trim_start_matches([' ', '\t']).len()];
    indent.contains(" \t").then_some("a blank before a tab")
}
