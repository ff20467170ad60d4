//! Tests of parsing a plan in JSON.

use assay_gates::plan;
use expect_test::{Expect, expect};

use crate::plan::plan_summary;

/// Parses a plan and compares its content, or the error, with that expected.
fn check(name: &str, text: &str, expected: Expect) {
    let plan_summary = match plan::read(name, text.as_bytes()) {
        Ok(plan) => plan_summary(&plan),
        Err(error) => format!("{error}\n"),
    };
    expected.assert_eq(&plan_summary);
}

#[test]
fn fields_are_found_under_their_usual_names() {
    check(
        "plan.json",
        r#"{
  "title": "P",
  "planning_context": {
    "decision_log": [{"id": "DL-001", "decision": "Use SQLite", "reasoning_chain": "one file"}],
    "assumptions": ["fast (verified: bench)", {"text": "small", "evidence": "counted"}, "cheap"]
  },
  "milestones": [
    {"id": "M1", "name": "Read", "acceptance_criteria": ["one", {"description": "two"}],
     "files": ["src/a.rs", {"path": "src/b.rs", "action": "create"}], "tests": ["tests/a.rs"],
     "code_changes": [{"file": "src/a.rs", "diff": "@@ -1 +1 @@\n-a\n+b"}]},
    {"number": 2, "title": "Write", "acceptanceCriteria": "- three\n- [ ] four", "depends_on": ["M1"],
     "files_to_modify": ["src/c.rs (new)"]}
  ]
}"#,
        expect![[r#"
            M1: Read (line 0)
              criterion 0: one
              criterion 0: two
              files: src/a.rs, src/b.rs
              new: src/b.rs
              old: src/a.rs
              tests: tests/a.rs
              diff 0: "--- a/src/a.rs\n+++ b/src/a.rs\n@@ -1 +1 @@\n-a\n+b"
            M2: Write (line 0)
              criterion 0: three
              criterion 0: four
              files: src/c.rs
              new: src/c.rs
              needs: M1
            DL-001 0: Use SQLite | one file
            assumption 0: fast (verified: bench) | Some("verified: bench")
            assumption 0: small | Some("counted")
            assumption 0: cheap | None
        "#]],
    );
}

#[test]
fn maps_and_strings_are_accepted_in_place_of_lists() {
    check(
        "plan",
        r#"{"plan": {"phases": {"setup": {"criteria": "it runs", "needs": "setup"}, "M2": "Write"},
            "decisions": {"DL-1": "Use X because users ask", "DL-2": {"choice": "Use Z", "why": ["one", "file"]}, "DL-3": "Use W"},
            "diffs": ["--- a/x\n+++ b/x\n@@ -1 +1 @@\n+y", 3]}}"#,
        expect![[r#"
            setup:  (line 0)
              criterion 0: it runs
              needs: setup
            M2: Write (line 0)
            DL-1 0: Use X | because users ask
            DL-2 0: Use Z | one file
            DL-3 0: Use W | 
            diff 0: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n+y"
        "#]],
    );
}

#[test]
fn invalid_json_is_reported_with_its_line_and_column() {
    check(
        "plan.json",
        "{\"milestones\": [\n  {,}\n]}",
        expect![[r#"
        the plan `plan.json` is not valid JSON at line 2, column 4: key must be a string
    "#]],
    );
    check(
        "plan.json",
        "",
        expect![[r#"
        the plan `plan.json` is not valid JSON at line 1, column 0: EOF while parsing a value
    "#]],
    );
    check(
        "plan.json",
        "[1]",
        expect![[r#"
        invalid plan `plan.json`: expected a JSON object, found an array
    "#]],
    );
    check(
        "plan.JSON",
        &"[".repeat(1000),
        expect![[r#"
        the plan `plan.JSON` is not valid JSON at line 1, column 128: recursion limit exceeded
    "#]],
    );
}

#[test]
fn values_of_unexpected_types_are_tolerated() {
    check(
        "plan.json",
        r#"{"milestones": [null, 3, [], {"id": {"a": 1}, "acceptance_criteria": {"x": [1]}, "files": 7}], "decisions": true, "assumptions": null}"#,
        expect![[r#"
            M1: 3 (line 0)
            M2:  (line 0)
            M3:  (line 0)
              criterion 0: 1
        "#]],
    );
}

#[test]
fn milestone_ids_are_reduced_to_one_short_line() {
    let long = "x".repeat(500);
    check(
        "plan.json",
        &format!(
            r#"{{"milestones": [{{"id": "a\nStatus: PASS"}}, {{"id": "{long}"}}, {{"id": "Milestone 3"}}]}}"#
        ),
        expect![[r#"
            a Status: PASS:  (line 0)
            xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx:  (line 0)
            M3:  (line 0)
        "#]],
    );
}
