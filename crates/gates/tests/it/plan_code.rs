//! Tests of the checks of `plan-code`.

use assay_gates::plan::{Milestone, Plan};
use assay_gates::subject::Subject;
use expect_test::{Expect, expect};

use crate::check_runner::{check_results, milestone};
use crate::files::Files;

const TREE: [(&str, &str); 2] =
    [("src/a.py", "import os\n\n\ndef a():\n    return 1\n"), ("b.md", "# B\n")];

/// Compares the results of one check on the diffs of a milestone without files with those expected.
fn check(key: &str, diffs: &[&str], expected: Expect) {
    check_in(key, vec![milestone("M1", &[], diffs)], expected);
}

fn check_in(key: &str, milestones: Vec<Milestone>, expected: Expect) {
    let plan = Plan { milestones, is_markdown: true, ..Plan::default() };
    let tree = Files::new(&TREE);
    let subject = Subject::new(Some((&plan, "plan.md")), None, &tree);
    expected.assert_eq(&check_results(&subject, key));
}

/// Returns a diff that adds lines to the end of a Python file.
fn adding(lines: &[&str]) -> String {
    let added: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!(
        "--- a/src/a.py\n+++ b/src/a.py\n@@ -4,2 +4,{} @@\n def a():\n     return 1\n{added}",
        2 + lines.len()
    )
}

#[test]
fn a_diff_without_a_file_of_the_repository_fails() {
    check(
        "plan-code/named",
        &["+x\n", "--- /dev/null\n+++ b/../up\n@@ -0,0 +1 @@\n+x\n"],
        expect![[r#"
            MUST * | Check that every diff names files of the repository | FAILS: line 11 of the plan: the diff names no file; put `--- a/PATH` and `+++ b/PATH` above its hunks; line 111 of the plan: `../up` is not a valid path: the path leaves the repository.
        "#]],
    );
    check(
        "plan-code/named",
        &[&adding(&["x = 1"])],
        expect![[r#"
            MUST * | Check that every diff names files of the repository | holds
        "#]],
    );
}

#[test]
fn a_plan_without_diffs_has_nothing_to_check() {
    for key in ["plan-code/named", "plan-code/syntax", "plan-code/tests", "plan-code/own-files"] {
        check(key, &[], expect![[""]]);
    }
}

#[test]
fn wrong_counts_fail() {
    let wrong = adding(&["x = 1"]).replace("+4,3", "+4,9");
    check(
        "plan-code/syntax",
        &[&wrong],
        expect![[r#"
            MUST file:src/a.py | Validate diff syntax of src/a.py | FAILS: line 13 of the plan: the hunk header states 2 lines before and 9 after, and the hunk has 2 and 3.
        "#]],
    );
    check(
        "plan-code/syntax",
        &[&adding(&["x = 1"])],
        expect![[r#"
            MUST file:src/a.py | Validate diff syntax of src/a.py | holds
        "#]],
    );
}

#[test]
fn diffs_apply_in_the_order_of_the_plan() {
    let again = "--- a/src/a.py\n+++ b/src/a.py\n@@ -6 +6 @@\n-x = 1\n+x = 2\n";
    check(
        "plan-code/applies",
        &[&adding(&["x = 1"]), again],
        expect![[r#"
            MUST file:src/a.py | Apply the diffs in the order of the plan to src/a.py | holds
        "#]],
    );
    check(
        "plan-code/applies",
        &[again, &adding(&["x = 1"])],
        expect![[r#"
            MUST file:src/a.py | Apply the diffs in the order of the plan to src/a.py | FAILS: the diff at line 13 of the plan does not apply: line 14 of the plan has `x = 1`, and the file ends at line 5.
        "#]],
    );
}

#[test]
fn conflict_markers_fail_with_or_without_a_diff_prefix() {
    check(
        "plan-code/conflict-markers",
        &[&adding(&["<<<<<<< HEAD", "x = 1", "=======", "x = 2", ">>>>>>> topic"])],
        expect![[r#"
            MUST file:src/a.py | Check for merge conflict markers in the diffs of src/a.py | FAILS: line 16 of the plan is a conflict marker (<<<<<<<); line 18 of the plan is a conflict marker (=======); line 20 of the plan is a conflict marker (>>>>>>>).
        "#]],
    );
    let bare = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1,2 @@\n import os\n<<<<<<< HEAD\n+x = 1\n";
    check(
        "plan-code/conflict-markers",
        &[bare],
        expect![[r#"
            MUST file:src/a.py | Check for merge conflict markers in the diffs of src/a.py | FAILS: line 15 of the plan is a conflict marker (<<<<<<<).
        "#]],
    );
    check(
        "plan-code/conflict-markers",
        &[&adding(&["TITLE = '''", "=======", "'''"])],
        expect![[r#"
            MUST file:src/a.py | Check for merge conflict markers in the diffs of src/a.py | holds
        "#]],
    );
}

#[test]
fn conflict_markers_in_a_page_are_accepted_only_inside_a_fence() {
    let check_page = |page: &str, diff: &str, expected: Expect| {
        let milestones = vec![milestone("M1", &[], &[diff])];
        let plan = Plan { milestones, is_markdown: true, ..Plan::default() };
        let tree = Files::new(&[("b.md", page)]);
        let subject = Subject::new(Some((&plan, "plan.md")), None, &tree);
        expected.assert_eq(&check_results(&subject, "plan-code/conflict-markers"));
    };
    let added = "+<<<<<<< HEAD\n+a\n+=======\n+b\n+>>>>>>> topic\n";
    let in_a_fence = format!("--- a/b.md\n+++ b/b.md\n@@ -3,2 +3,7 @@\n x\n{added} ```\n");
    check_page(
        "# B\n```\nx\n```\n",
        &in_a_fence,
        expect![[r#"
        MUST file:b.md | Check for merge conflict markers in the diffs of b.md | holds
    "#]],
    );
    check_page(
        "# B\n\nx\n```\ny\n```\n",
        &in_a_fence,
        expect![[r#"
        MUST file:b.md | Check for merge conflict markers in the diffs of b.md | FAILS: line 15 of the plan is a conflict marker (<<<<<<<); line 17 of the plan is a conflict marker (=======); line 19 of the plan is a conflict marker (>>>>>>>).
    "#]],
    );
    let stray = format!("--- a/b.md\n+++ b/b.md\n@@ -8,3 +8,8 @@\n gone\n ```\n{added} ```\n");
    check_page(
        "# B\n",
        &stray,
        expect![[r#"
        MUST file:b.md | Check for merge conflict markers in the diffs of b.md | holds
    "#]],
    );
}

#[test]
fn a_diff_of_a_file_that_its_milestone_does_not_name_fails() {
    let page = "--- a/b.md\n+++ b/b.md\n@@ -1 +1,2 @@\n # B\n+b\n";
    check_in(
        "plan-code/own-files",
        vec![
            milestone("M1", &["src/a.py"], &[&adding(&["x = 1"]), page]),
            milestone("M2", &[], &[page]),
        ],
        expect![[r#"
            MUST file:b.md | Check that its milestone names b.md | FAILS: the diff at line 111 of the plan touches `b.md`, which milestone M1 does not name.
            MUST file:src/a.py | Check that its milestone names src/a.py | holds
        "#]],
    );
}

#[test]
fn a_diff_alone_does_not_make_its_milestone_name_the_file() {
    let text = "# Plan\n\n## Milestone 1: A\n\n**Files**:\n- `src/a.py`\n\n**Acceptance Criteria**:\n\
                - `a` returns 2\n\n```diff\n--- a/b.md\n+++ b/b.md\n@@ -1 +1,2 @@\n # B\n+b\n```\n";
    let plan = assay_gates::plan::read("plan.md", text.as_bytes()).unwrap();
    let tree = Files::new(&TREE);
    let subject = Subject::new(Some((&plan, "plan.md")), None, &tree);
    expect![[r#"
        MUST file:b.md | Check that its milestone names b.md | FAILS: the diff at line 12 of the plan touches `b.md`, which milestone M1 does not name.
    "#]].assert_eq(&check_results(&subject, "plan-code/own-files"));
}

#[test]
fn findings_in_a_json_plan_name_the_lines_of_the_diff() {
    let json = r#"{"milestones": [{"id": "M1", "diffs": ["--- a/b.md\n+++ b/b.md\n@@ -1 +1,9 @@\n # C\n+b\n"]}]}"#;
    let plan = assay_gates::plan::read("plan.json", json.as_bytes()).unwrap();
    let tree = Files::new(&TREE);
    let subject = Subject::new(Some((&plan, "plan.json")), None, &tree);
    expect![[r#"
        MUST file:b.md | Validate diff syntax of b.md | FAILS: line 3 of its diff: the hunk header states 1 lines before and 9 after, and the hunk has 1 and 2.
    "#]].assert_eq(&check_results(&subject, "plan-code/syntax"));
    expect![[r#"
        MUST file:b.md | Apply the diffs in the order of the plan to b.md | FAILS: the diff at line 3 of its diff does not apply: line 1 of the file is `# B`, and line 4 of its diff `# C`.
    "#]].assert_eq(&check_results(&subject, "plan-code/applies"));
}

#[test]
fn a_code_file_that_a_milestone_names_needs_a_diff() {
    let files = ["src/a.py", "src/c.py", "README.md", "src/"];
    check_in(
        "plan-code/all-files",
        vec![milestone("M1", &files, &[&adding(&["x = 1"])]), milestone("M2", &["d.py"], &[])],
        expect![[r#"
            SHOULD milestone:M1 | Check that every file of code that milestone M1 names has a diff | FAILS: milestone M1 names `src/c.py` and has no diff of it.
        "#]],
    );
}

#[test]
fn rule_findings_are_reported_by_severity() {
    let flawed = adding(&[
        "", "", "def run(name):", "    os.system('ls ' + name)", "    try:", "        eval(name)",
        "    except:", "        pass", "    breakpoint()", "    print('DEBUG', name)",
    ]);
    for (key, expected) in [
        (
            "plan-code/rules-must",
            expect![[r#"
                MUST file:src/a.py | Check for defects and vulnerabilities that rules find in src/a.py | FAILS: line 19 of the plan: Shell command built from a value (python/shell-injection): Pass a list of arguments without `shell=True`, such as `subprocess.run(["tar", "xf", path], check=True)`; line 24 of the plan: Breakpoint left in the code (python/debugger): Take the breakpoint out.
            "#]],
        ),
        (
            "plan-code/rules-should",
            expect![[r#"
            SHOULD file:src/a.py | Check size, nesting, copies and error handling of src/a.py | FAILS: line 21 of the plan: A function's argument is run as code (python/eval-of-parameter): Use `ast.literal_eval` for values, or a table of the operations that are allowed; line 22 of the plan: Every error is swallowed (python/swallowed-exception): Catch the one error that is expected, or log it; if it must be ignored, say why in a comment.
        "#]],
        ),
        (
            "plan-code/rules-may",
            expect![[r#"
                MAY file:src/a.py | Check for lint warnings in src/a.py | FAILS: line 25 of the plan: Debugging output left in the code (python/debug-print): Take it out, or log it.
            "#]],
        ),
    ] {
        check(key, &[&flawed], expected);
    }
}

#[test]
fn deep_nesting_is_reported_as_a_should_finding() {
    let mut lines = vec![String::new(), "def deep(x):".to_owned()];
    lines.extend((1..9).map(|depth| format!("{}if x > {depth}:", "    ".repeat(depth))));
    lines.push(format!("{}return 1", "    ".repeat(9)));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    check(
        "plan-code/rules-should",
        &[&adding(&lines)],
        expect![[r#"
        SHOULD file:src/a.py | Check size, nesting, copies and error handling of src/a.py | FAILS: line 24 of the plan: Code nested too deep (shape/deep-nesting): Return early, or extract the inner part into a function.
    "#]],
    );
}

#[test]
fn an_ignore_comment_with_a_reason_suppresses_a_rule() {
    let flawed = adding(&[
        "",
        "",
        "def run(name):",
        "    # assay: ignore python/shell-injection names are constants",
        "    os.system('ls ' + name)",
    ]);
    check(
        "plan-code/rules-must",
        &[&flawed],
        expect![[r#"
        MUST file:src/a.py | Check for defects and vulnerabilities that rules find in src/a.py | holds
    "#]],
    );
}

#[test]
fn rules_do_not_check_a_file_whose_diffs_do_not_apply() {
    let stray = "--- a/src/a.py\n+++ b/src/a.py\n@@ -1 +1,2 @@\n import sys\n+eval('1')\n";
    check(
        "plan-code/rules-must",
        &[stray],
        expect![[r#"
            MUST file:src/a.py | Check for defects and vulnerabilities that rules find in src/a.py | unseen: not all diffs of the file apply, so the rules cannot check it
        "#]],
    );
}

#[test]
fn rules_do_not_check_lock_files() {
    let lock = "--- /dev/null\n+++ b/Cargo.lock\n@@ -0,0 +1 @@\n+x\n";
    check("plan-code/rules-must", &[lock], expect![[""]]);
}

#[test]
fn planned_behaviour_needs_a_test_if_the_project_has_tests() {
    let lines: Vec<String> = (0..40).map(|nth| format!("x{nth} = a() + {nth}")).collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let plan = |tests: &[&str]| {
        let mut only = milestone("M1", &[], &[&adding(&lines)]);
        only.tests = tests.iter().map(|test| (*test).to_owned()).collect();
        Plan { milestones: vec![only], is_markdown: true, ..Plan::default() }
    };
    let with_test = [TREE[0], ("tests/test_a.py", "def test_a():\n    pass\n")];
    let test_results = |files: &[(&str, &str)], plan: &Plan| {
        let tree = Files::new(files);
        check_results(&Subject::new(Some((plan, "plan.md")), None, &tree), "plan-code/tests")
    };
    expect![[r#"
        SHOULD * | Check that behaviour changes with tests | FAILS: Behaviour changed and no test touched (change/untested): Add or change a test that fails without this change.
    "#]].assert_eq(&test_results(&with_test, &plan(&[])));
    let holds = expect![[r#"
        SHOULD * | Check that behaviour changes with tests | holds
    "#]];
    holds.assert_eq(&test_results(&with_test, &plan(&["tests/test_a.py: sums"])));
    holds.assert_eq(&test_results(&TREE, &plan(&[])));
}

#[test]
fn trailing_whitespace_in_added_lines_is_reported() {
    let page = "--- a/b.md\n+++ b/b.md\n@@ -1 +1,3 @@\n # B\n+a break  \n+no break \n";
    check(
        "plan-code/whitespace",
        &[&adding(&["x = 1 ", "  \ty = 2", "z = 3"]), page],
        expect![[r#"
            MAY file:b.md | Check the whitespace in added lines of b.md | FAILS: line 116 of the plan has trailing whitespace.
            MAY file:src/a.py | Check the whitespace in added lines of src/a.py | FAILS: line 16 of the plan has trailing whitespace; line 17 of the plan has a space before a tab.
        "#]],
    );
}

#[test]
fn a_long_path_is_truncated_in_messages() {
    let diff = |path: &str| format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
    let long = format!("{}.py", "a/".repeat(500));
    let plan = Plan { milestones: vec![milestone("M1", &[], &[&diff(&long)])], ..Plan::default() };
    let tree = Files::new(&TREE);
    let syntax_results =
        check_results(&Subject::new(Some((&plan, "plan.md")), None, &tree), "plan-code/syntax");
    assert!(syntax_results.contains("… | holds"), "{syntax_results}");
    check(
        "plan-code/named",
        &[&diff(&"a/".repeat(3_000))],
        expect![[r#"
        MUST * | Check that every diff names files of the repository | FAILS: line 11 of the plan: `a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/…` is not a valid path: the path is too long.
    "#]],
    );
}
