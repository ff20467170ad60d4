//! Counting lines that do something: neither blank nor comment.

use assay_change::Change;
use assay_findings::path::RepoPath;

use crate::syntax::{Syntax, Touched};

/// Counts the lines that a change adds and that do something, by file.
pub fn executable_lines(change: &Change) -> Vec<(String, usize)> {
    let counted = change.files.iter().filter(|file| file.left_out.is_none()).filter_map(|file| {
        let path = file.new_path.as_deref()?;
        let text = change.tree().read(&RepoPath::exact(path).ok()?)?;
        let syntax = Syntax::of(path, &text);
        Some((path.to_owned(), count(&text, syntax.as_ref(), &Touched::new(file.added()))))
    });
    counted.collect()
}

/// Counts the lines among the touched ones that do something.
pub(crate) fn count(text: &str, syntax: Option<&Syntax>, touched: &Touched) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let line = |number: u32| lines.get(number as usize - 1).map_or("", |line| line.trim());
    let comments = syntax.map(|syntax| syntax.comments(touched));
    let is_comment = |number: u32| match &comments {
        // Where code and a comment share a line, the line is longer than the comment.
        Some(comments) => comments.iter().any(|(at, text)| {
            at.start() <= number
                && number <= at.end()
                && text.lines().any(|part| part.trim() == line(number))
        }),
        None => looks_like_comment(line(number)),
    };
    let touched = touched.numbers().take_while(|number| *number as usize <= lines.len());
    touched.filter(|number| !line(*number).is_empty() && !is_comment(*number)).count()
}

fn looks_like_comment(line: &str) -> bool {
    ["//", "#", "*", "/*", "--", ";", "<!--"].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_do_nothing() {
        let rust = "// a\nfn f() { // b\n\n    /* c\n       d */\n    g();\n}\n";
        let syntax = Syntax::of("a.rs", rust);
        assert_eq!(count(rust, syntax.as_ref(), &Touched::everything()), 3);
        let sql = "-- a\nSELECT 1;\n\n";
        assert_eq!(count(sql, None, &Touched::everything()), 1);
    }
}
