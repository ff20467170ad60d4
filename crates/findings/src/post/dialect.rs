//! The Markdown of a service: [`CommentDialect`] adapts the text of a comment to the service.
//!
//! GitLab carries out a line that begins with a command, such as `/merge`, with the rights of the
//! account that posts it, and links `!7` to another merge request. Text of a change must do neither.

use serde::{Deserialize, Serialize};

use crate::vote::LineRange;

/// The separator that ends a reference; it has no width.
const ZERO_WIDTH_SPACE: &str = "&#8203;";

/// The Markdown of a service.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommentDialect {
    /// GitHub, and GitHub Enterprise.
    #[default]
    GitHub,
    /// GitLab, on gitlab.com or self-managed.
    GitLab,
}

impl CommentDialect {
    /// Returns the info string of a block that replaces some lines, in a comment on these lines.
    pub(super) fn suggestion_tag(self, lines: LineRange) -> String {
        match self {
            CommentDialect::GitHub => "suggestion".to_owned(),
            // The block is relative to the last line of the comment.
            CommentDialect::GitLab => format!("suggestion:-{}+0", lines.end() - lines.start()),
        }
    }

    /// Returns true if code can be shown as it is: no line of it is a command.
    pub(super) fn can_show(self, code: &str) -> bool {
        match self {
            CommentDialect::GitHub => true,
            CommentDialect::GitLab => !code.lines().any(is_command),
        }
    }

    /// Returns a text that has the same look on the service, and no effect.
    pub(super) fn adapt(self, text: &str) -> String {
        match self {
            CommentDialect::GitHub => text.to_owned(),
            CommentDialect::GitLab => without_commands(text),
        }
    }
}

/// Returns true if a line begins like a command: `/close`.
fn is_command(line: &str) -> bool {
    let command = line.trim_start().strip_prefix('/');
    command.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// Returns a text without commands and without references to merge requests and epics.
fn without_commands(text: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        let is_mark = ticks.len() >= 3;
        match fence {
            Some(open) if is_mark && ticks.len() >= open.len() && line.trim() == ticks => {
                fence = None;
                out.push_str(line);
            }
            // Entities are not read inside of a fence.
            Some(_) if is_command(line) => {
                out.push_str("· ");
                out.push_str(line);
            }
            Some(_) => out.push_str(line),
            None => {
                if is_mark {
                    fence = Some(ticks);
                }
                out.push_str(&without_references(line));
            }
        }
    }
    out
}

/// Returns a line of prose without a command at its start, and without references.
fn without_references(line: &str) -> String {
    let line = match is_command(line) {
        true => line.replacen('/', "&#47;", 1),
        false => line.to_owned(),
    };
    let mut out = String::with_capacity(line.len());
    for (at, c) in line.char_indices() {
        out.push(c);
        let (before, after) = (&line[..at], &line[at + c.len_utf8()..]);
        let opens = c == '!' || (c == ';' && before.ends_with("&amp"));
        if opens && after.starts_with(|c: char| c.is_ascii_digit()) {
            out.push_str(ZERO_WIDTH_SPACE);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(CommentDialect::GitLab.adapt(text), expected);
        assert_eq!(CommentDialect::GitHub.adapt(text), text);
    }

    #[test]
    fn no_line_of_a_comment_is_a_command_of_gitlab() {
        check("a\n/close\n/* b */\n//c\nd /merge", "a\n&#47;close\n/* b */\n//c\nd /merge");
        check("  /approve", "  &#47;approve");
        check(
            "````\n/merge\n```\n/close\n````\n/close",
            "````\n· /merge\n```\n· /close\n````\n&#47;close",
        );
    }

    #[test]
    fn no_reference_to_another_merge_request_is_left() {
        check("see \\!7 and &amp;3, x!", "see \\!&#8203;7 and &amp;&#8203;3, x!");
    }

    #[test]
    fn a_suggestion_names_the_lines_above_its_comment_on_gitlab() {
        let tag = |start, end| {
            let lines = LineRange::range(start, end).unwrap();
            CommentDialect::GitLab.suggestion_tag(lines)
        };
        assert_eq!(tag(4, 4), "suggestion:-0+0");
        assert_eq!(tag(4, 7), "suggestion:-3+0");
        assert!(!CommentDialect::GitLab.can_show("a\n/close\n"));
        assert!(CommentDialect::GitLab.can_show("// a\n"));
    }
}
