//! Fixes that a user can apply with one click.

use assay_findings::path::RepoPath;
use assay_findings::post::{DraftInputs, PostedState, SyntaxChecker, compose};
use expect_test::{Expect, expect};
use serde_json::json;

use super::{diff, finding, found, inputs};
use crate::memory_tree::MemoryTree;

/// A language whose text parses if its braces are balanced.
struct BraceChecker;

impl SyntaxChecker for BraceChecker {
    fn parses(&self, path: &RepoPath, text: &str) -> Option<bool> {
        let count = |c| text.matches(c).count();
        path.as_str().ends_with(".c").then(|| count('{') == count('}'))
    }
}

const TEN_ADDED: &str = "a.c > a.c\n1 1 ++++++++++";

/// Checks the place and the block of a fix. `at` and `replaced` are the first and last lines of the
/// finding and of its replacement.
fn check_fix(text: &str, at: (u32, u32), replaced: (u32, u32), with: &str, expected: Expect) {
    let tree = MemoryTree::new(&[("a.c", text)]);
    let mut value = finding("x", "a.c", at.0);
    value["end_line"] = json!(at.1);
    value["replacement"] = json!({"start_line": replaced.0, "end_line": replaced.1, "text": with});
    let diff = diff(TEN_ADDED);
    let inputs = DraftInputs { parses: Some(&BraceChecker), ..inputs(&diff, Some(&tree)) };
    let draft = compose(&found(&[value]), &inputs);
    let comment = draft.calls(&PostedState::default()).remove(0).comments.remove(0);
    let block = comment.body.find("```").map_or("nothing", |at| {
        let block = &comment.body[at..];
        &block[..block.find("\n\n<sub>").unwrap()]
    });
    let start = comment.start.unwrap_or(comment.line);
    expected.assert_eq(&format!("{start}-{}\n{}", comment.line, block.replace('\r', "\\r")));
}

#[test]
fn a_suggestion_replaces_just_the_lines_of_its_comment() {
    let text = "one {\n  two\n  three\n}\n";
    check_fix(text, (2, 2), (2, 2), "  2\n", expect!["2-2\n```suggestion\n  2\n```"]);
    check_fix(text, (2, 3), (3, 3), "  3\n", expect!["2-3\n```suggestion\n  two\n  3\n```"]);
    check_fix(text, (3, 3), (2, 3), "  2", expect!["2-3\n```suggestion\n  2\n```"]);
    check_fix(text, (2, 2), (2, 2), "", expect!["2-2\n```suggestion\n```"]);
    check_fix(text, (2, 2), (2, 2), "\n", expect!["2-2\n```suggestion\n\n```"]);
    check_fix("one", (1, 1), (1, 1), "a ``` b", expect!["1-1\n````suggestion\na ``` b\n````"]);
}

#[test]
fn a_suggestion_keeps_the_ends_of_the_lines() {
    check_fix(
        "a\r\nb\r\n",
        (2, 2),
        (2, 2),
        "c\nd\n",
        expect!["2-2\n```suggestion\nc\\r\nd\\r\n```"],
    );
}

#[test]
fn a_fix_that_would_do_harm_is_not_suggested() {
    let text = "one {\n  two = call();\n  three\n}\n";
    let nothing = || expect!["2-2\nnothing"];
    // The file would no longer parse.
    check_fix(text, (2, 2), (2, 2), "  {\n", nothing());
    // The file already has this text.
    check_fix(text, (2, 2), (2, 2), "  two = call();\n", nothing());
    // The file has no such lines.
    check_fix(text, (2, 2), (2, 40), "  x\n", nothing());
    // The lines of the comment extend beyond the end of the file.
    check_fix(text, (4, 6), (4, 4), "  x }\n", expect!["4-6\nnothing"]);
    // The fix has invisible characters.
    check_fix(text, (2, 2), (2, 2), "  a\u{202e}b\n", nothing());
    // The fix is on another line.
    check_fix(text, (2, 2), (3, 3), "  x\n", nothing());
    // The fix repeats the line above.
    check_fix(text, (3, 3), (3, 3), "  two = call();\n  x\n", expect!["3-3\nnothing"]);
}

#[test]
fn a_fix_is_suggested_for_a_file_that_did_not_parse_before() {
    check_fix("{\nb\n", (2, 2), (2, 2), "c\n", expect!["2-2\n```suggestion\nc\n```"]);
}
