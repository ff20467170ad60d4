//! Correct work that gates once refused, and a list as agents write it, from failed to passed.

use std::fs;

use assay_testkit::Repository;
use expect_test::expect;
use serde_json::{Value, json};

use super::{PLAN, check, gate, with_plan};

/// Files of all languages that rules parse and of some that they do not, each with a function
/// `frob` that a search for words on one line does not find.
const DEFINED: &[(&str, &str)] = &[
    ("a.rs", "impl A {\n    pub(crate) async fn frob<T>(\n        a: T,\n    )\n    {\n    }\n}\n"),
    ("a.py", "class A:\n    @cached\n    async def frob(\n        self,\n    ): return 1\n"),
    ("a.js", "class A {\n  static async frob(a)\n  {\n  }\n}\n"),
    ("b.js", "module.exports = {\n  frob: async (a) => a,\n};\n"),
    ("a.ts", "export class A {\n  private frob = <T,>(a: T): T => a;\n}\n"),
    ("b.ts", "export class A {\n  public frob<T>(a: T): T\n  { return a; }\n}\n"),
    ("a.tsx", "export default function frob()\n{\n  return <p />;\n}\n"),
    ("a.go", "package a\n\nfunc (s *Shop[T]) frob(\n\ta int,\n) error { return nil }\n"),
    (
        "A.java",
        "class A {\n  @Override\n  public <T> List<T> frob(int a)\n      throws E\n  {\n  }\n}\n",
    ),
    ("a.c", "static int\nfrob(int a)\n{\n  return a;\n}\n"),
    ("a.cpp", "int A::frob(int a) const\n{\n  return a;\n}\n"),
    ("a.rb", "class A\n  def self.frob = 1\nend\n"),
    ("b.rb", "class A\n  def self.frob(a)\n  end\nend\n"),
    ("a.php", "<?php\nclass A\n{\n  public static function frob(int $a): int\n  {\n  }\n}\n"),
    ("a.sh", "frob()\n{\n  :\n}\n"),
    ("a.kt", "class A {\n  suspend fun <T> List<T>.frob(a: T): T = a\n}\n"),
    ("a.cs", "class A\n{\n    public int frob(int a) => a;\n}\n"),
    ("b.cs", "class A\n{\n    public async Task<int> frob<T>(T a)\n    {\n    }\n}\n"),
    ("a.swift", "struct A {\n  static func frob<T>(a: T) -> T\n  {\n  }\n}\n"),
];

#[test]
fn every_form_of_function_definition_is_found() {
    for (path, text) in DEFINED {
        let repository = Repository::new();
        let plan = format!(
            "# Plan\n\n## Milestone M1: A function\n\nAcceptance Criteria:\n\n\
             - `src/{path}` has a function `frob`\n- function `frob` exists\n"
        );
        repository.write("plan.md", plan);
        repository.write(format!("src/{path}"), text);
        repository.commit("a function");
        let ran = gate(&repository, &["reconcile", "--plan", "plan.md"]);
        assert_eq!(ran.code, 0, "{path}: {text}\n{}{}", ran.stdout, ran.stderr);
        repository.write(format!("src/{path}"), text.replace("frob", "other"));
        let ran = gate(&repository, &["reconcile", "--plan", "plan.md"]);
        assert_eq!(ran.code, 1, "{path}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("is not defined"), "{path}: {}", ran.stdout);
    }
}

#[test]
fn blank_context_lines_in_a_diff_are_not_trailing_whitespace() {
    let repository = with_plan("");
    repository.remove("plan.md");
    repository.git(&["checkout", "--quiet", "-b", "topic"]);
    let diff = "```diff\n--- a/greet.py\n+++ b/greet.py\n@@ -1,3 +1,3 @@\n def greet(name):\n \n-    a\n+    b\n```\n";
    repository.write(
        "plan.md",
        PLAN.replace("Acceptance Criteria:", &format!("{diff}\nAcceptance Criteria:")),
    );
    repository.write("changes.patch", "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \n-a\n+b\n");
    repository.write("greet.py", "def greet(name):\n    return f\"hello {name}\"\n");
    repository.commit("a plan with a diff, and the work");
    let args = ["run", "--phase", "impl-code", "--base", "main", "--format", "json"];
    let ran = gate(&repository, &args).json();
    let items = ran["items"].as_array().unwrap().iter();
    let blanks: Vec<&Value> =
        items.filter(|item| item["check"].as_str().unwrap().contains("whitespace")).collect();
    assert!(blanks.len() >= 3, "{ran}");
    assert!(blanks.iter().all(|item| item["status"] == "PASS"), "{blanks:?}");
    // Trailing blanks on another line are still reported.
    repository.write("greet.py", "def greet(name):  \n    return f\"hello {name}\"\n");
    let ran = gate(&repository, &["verify", "--phase", "impl-code"]);
    assert!(ran.stdout.contains("line 1 has trailing whitespace"), "{}", ran.stdout);
}

/// A list of seven items as agents write it, from failed to passed.
#[test]
fn a_list_of_seven_items_goes_from_failed_to_passed_with_the_exact_output() {
    let repository = with_plan(PLAN);
    repository.write("config/agent-framework.yaml", "gates:\n  allow_only_items: true\n");
    repository.commit("lists of our own are enough");
    let mut items = vec![
        json!({"id": "plan-001", "scope": "*", "check": "Verify milestone definitions"}),
        json!({"id": "plan-002", "scope": "milestone:M1", "check": "Check acceptance criteria"}),
        json!({"id": "plan-003", "scope": "file:planner/qa/verify.py", "check": "Validate diff syntax"}),
    ];
    for number in 4..=7 {
        let scope = "file:planner/qa/verify.py:45-52";
        items.push(json!({"id": format!("plan-{number:03}"), "scope": scope, "check": format!("Check {number}")}));
    }
    repository.write("items.json", json!(items).to_string());
    let phase = ["--phase", "plan-structure"];
    let step = |args: &[&str]| gate(&repository, &[args, &phase[..]].concat());
    let made = step(&["decompose", "--plan", "plan.md", "--items", "items.json", "--only-items"]);
    assert!(
        made.stdout.starts_with(
            "DECOMPOSE COMPLETE\n\nItems created: 7\n\
             - plan-001: Verify milestone definitions (scope: *)\n\
             - plan-002: Check acceptance criteria (scope: milestone:M1)\n\
             - plan-003: Validate diff syntax (scope: file:planner/qa/verify.py)\n"
        ),
        "{}",
        made.stdout
    );
    assert!(made.stdout.ends_with("\nNEXT: Invoke verifiers for each item.\n"), "{}", made.stdout);
    let missing = "Acceptance criteria missing. Need success conditions and verification steps.";
    let failed = [("plan-002", missing), ("plan-005", "Diff has merge conflict markers")];
    for number in 1..=7 {
        let id = format!("plan-{number:03}");
        let finding = failed.iter().find(|(failed, _)| *failed == id);
        let args = match finding {
            Some((_, finding)) => {
                vec!["update-item", &id, "--status", "FAIL", "--finding", finding]
            }
            None => vec!["update-item", &id, "--status", "PASS"],
        };
        assert_eq!(step(&args).code, 0, "{id}");
    }
    let left_out = "Built-in checklist: left out\n";
    let verified = step(&["verify"]);
    assert!(verified.stdout.contains(left_out), "{}", verified.stdout);
    let verified = crate::AssayRun { stdout: verified.stdout.replace(left_out, ""), ..verified };
    check(
        &verified,
        1,
        expect![[r#"
            VERIFICATION COMPLETE

            Status: FAIL
            Items: 7 total, 5 PASS, 2 FAIL
            Failed items:
            - plan-002: Acceptance criteria missing for M1
            - plan-005: Diff has merge conflict markers

            NEXT: Invoke fixer with failed items.
        "#]],
    );
    let guide = step(&["guide"]).stdout;
    assert!(guide.starts_with("FIX GUIDANCE\n\nItem plan-002: Acceptance criteria missing for M1\nScope: milestone:M1\nFix: "), "{guide}");
    assert!(guide.contains("\nItem plan-005: Diff has merge conflict markers\nScope: file:planner/qa/verify.py:45-52\nFix: "), "{guide}");
    for (id, _) in failed {
        assert_eq!(step(&["update-item", id, "--status", "PASS"]).code, 0);
    }
    let verified = step(&["verify"]);
    let verified = crate::AssayRun { stdout: verified.stdout.replace(left_out, ""), ..verified };
    check(
        &verified,
        0,
        expect![[r#"
            VERIFICATION COMPLETE

            Status: PASS
            Items: 7 total, 7 PASS, 0 FAIL

            NEXT: Continue to next phase.
        "#]],
    );
    let list = fs::read_to_string(repository.file(".assay/gates/qr-plan-structure.json")).unwrap();
    let list: Value = serde_json::from_str(&list).unwrap();
    for item in list["items"].as_array().unwrap() {
        assert_eq!(item.as_object().unwrap().len(), 5, "{item}");
    }
}
