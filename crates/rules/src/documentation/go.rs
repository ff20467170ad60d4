//! Exported items of Go, which are documented by a comment above them.

use super::{MAX_LINES, SourceLines, without, word};

/// Returns the name of the exported item on a line, if it has no comment.
pub(super) fn undocumented_name(source: &SourceLines<'_>, at: usize) -> Option<String> {
    let code = source.code(at);
    let is_exported = |name: &str| name.starts_with(char::is_uppercase);
    let name = if source.indent(at) == 0 {
        let rest = without(code, &["func", "type", "var", "const"])?;
        match rest.strip_prefix('(') {
            // The members of a group are checked, not the group.
            Some(_) if word(code) != "func" => return None,
            Some(receiver) => {
                let (receiver, rest) = receiver.split_once(')')?;
                let kind = receiver.rsplit([' ', '*']).next().unwrap_or_default();
                if !is_exported(kind) {
                    return None;
                }
                word(rest.trim_start())
            }
            None => word(rest),
        }
    } else {
        let group = group_of(source, at)?;
        if has_comment(source, group) || !source.comment(at).is_empty() {
            return None;
        }
        word(code)
    };
    (is_exported(name) && !has_comment(source, at)).then(|| name.to_owned())
}

/// Returns the line on which the group of a member begins, such as `const (`.
fn group_of(source: &SourceLines<'_>, at: usize) -> Option<usize> {
    let indent = source.indent(at);
    let is_member =
        |above: &usize| source.indent(*above) >= indent || source.code(*above).is_empty();
    let lowest = at.saturating_sub(10 * MAX_LINES);
    let head = (lowest..at).rev().find(|above| !is_member(above))?;
    let is_group = source.indent(head) == 0 && source.code(head).ends_with('(');
    let is_first_level =
        source.lines[at].starts_with('\t') && !source.lines[at].starts_with("\t\t");
    let kinds = ["var", "const", "type"];
    (is_group && is_first_level && kinds.contains(&word(source.code(head)))).then_some(head)
}

/// Returns true if a comment is above a line, or may be there. Directives to tools do not count.
fn has_comment(source: &SourceLines<'_>, at: usize) -> bool {
    let is_to_tools = |at: &usize| {
        let comment = source.comment(*at);
        source.is_comment(*at) && (comment.starts_with("//go:") || comment.starts_with("//nolint"))
    };
    let lowest = at.saturating_sub(MAX_LINES);
    match (lowest..at).rev().find(|above| !is_to_tools(above)) {
        Some(above) => source.is_comment(above),
        None => source.is_cut,
    }
}
