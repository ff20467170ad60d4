//! The number of executable lines: neither blank nor comment.

use std::collections::HashSet;

use assay_change::Change;
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;

use crate::syntax::{LineSet, Syntax};

/// Counts the executable lines that a change adds, by file. A file that cannot be read has no
/// entry, and the change records the error.
pub fn executable_lines(change: &Change) -> Vec<(String, usize)> {
    let counted = change.files.iter().filter(|file| file.left_out.is_none()).filter_map(|file| {
        let path = file.new_path.as_deref()?;
        let text = change.tree().read(&RepoPath::exact(path).ok()?).ok()??;
        let touched = LineSet::new(file.added());
        let comments = Syntax::of(path, &text).map(|syntax| syntax.comments(&touched));
        Some((path.to_owned(), count(&text, comments.as_deref(), &touched)))
    });
    counted.collect()
}

/// Counts the executable lines among the touched ones. Without a tree, comments are recognised by
/// their first characters.
pub(crate) fn count(
    text: &str,
    comments: Option<&[(LineRange, String)]>,
    touched: &LineSet,
) -> usize {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let comment_lines = comments.map(|comments| comment_lines(&lines, comments));
    let is_comment = |number: u32| match &comment_lines {
        Some(comments) => comments.contains(&number),
        None => looks_like_comment(lines[number as usize - 1]),
    };
    let touched = touched.numbers().take_while(|number| *number as usize <= lines.len());
    touched.filter(|n| !lines[*n as usize - 1].is_empty() && !is_comment(*n)).count()
}

/// Returns the lines that consist of a comment alone: a line that also has code is longer.
fn comment_lines(lines: &[&str], comments: &[(LineRange, String)]) -> HashSet<u32> {
    let parts = comments.iter().flat_map(|(at, text)| (at.start()..).zip(text.lines()));
    let whole =
        parts.filter(|(number, part)| lines.get(*number as usize - 1) == Some(&part.trim()));
    whole.map(|(number, _)| number).collect()
}

pub(crate) fn looks_like_comment(line: &str) -> bool {
    ["//", "#", "*", "/*", "--", ";", "<!--"].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_are_not_executable() {
        let rust = "// a\nfn f() { // b\n\n    /* c\n       d */\n    g();\n}\n";
        let everything = LineSet::all();
        let comments = Syntax::of("a.rs", rust).unwrap().comments(&everything);
        assert_eq!(count(rust, Some(&comments), &everything), 3);
        let sql = "-- a\nSELECT 1;\n\n";
        assert_eq!(count(sql, None, &everything), 1);
    }
}
