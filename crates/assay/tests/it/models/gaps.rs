//! Content that a model was not shown is named, and never counts as read.

use super::*;

/// Reviews with `correctness`, which is required, and checks that the output contains `why`.
fn check(case: &Case, why: &str) {
    let ran = case.review(&["--persona", "correctness"]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    let said = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("incomplete") && said.contains(why), "{}", ran.stdout);
    assert!(said.contains("by no model"), "{}", ran.stdout);
}

#[test]
fn a_file_whose_name_cannot_be_shown_is_not_read() {
    let case = Case::new("");
    case.repository.write("tab\tname.py", "def f(a):\n    return a\n");
    case.repository.commit("adds a file");
    check(&case, "its name has control characters");
}

#[test]
fn a_line_that_is_too_long_is_not_read() {
    let case = Case::new("");
    case.repository.write("long.py", format!("x = \"{}\"\n", "a".repeat(5_000)));
    case.repository.commit("adds a file");
    check(&case, "a line is too long to be shown");
}

#[test]
fn hunks_beyond_twelve_parts_are_not_read() {
    let case = Case::new("      context_tokens: 1000\n");
    for file in 0..40 {
        let lines: String = (0..60).map(|n| format!("value_{n} = {n} * {file}\n")).collect();
        case.repository.write(format!("part_{file}.py"), lines);
    }
    case.repository.commit("adds files");
    check(&case, "the change is larger than models are given");
}
