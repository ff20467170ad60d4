//! Checks of `impl-code` on code of a plan, and criteria that are partly met.

use assay_testkit::Repository;

use super::gate;
use crate::AssayRun;

const PLAN: &str = "\
# Calc

## Milestone M1: Multiplication

Files: `calc.py`, `test_calc.py`

Tests: `test_mul`

### Acceptance Criteria

- `calc.py` has a function `mul`

```diff
--- a/calc.py
+++ b/calc.py
@@ -1,2 +1,6 @@
 def add(a, b):
     return a + b
+
+
+def mul(a, b):
+    return a * b
```
";

const CALC: &str = "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return a * b\n";
const TEST: &str = "import calc\n\n\ndef test_mul():\n    assert calc.mul(2, 3) == 6\n";

fn planned(config: &str) -> Repository {
    let repository = Repository::new();
    repository.write("calc.py", "def add(a, b):\n    return a + b\n");
    repository.write("plan.md", PLAN);
    repository.write("config/agent-framework.yaml", config);
    repository.commit("a plan");
    repository.git(&["checkout", "--quiet", "-b", "work"]);
    repository
}

fn verified(repository: &Repository) -> AssayRun {
    gate(repository, &["run", "--phase", "impl-code", "--plan", "plan.md", "--base", "main"])
}

const READ: &str = "Read the change and judge whether the code does what the plan asks for";

#[test]
fn code_that_no_reader_judged_does_not_pass() {
    let repository = planned("");
    repository.write("calc.py", CALC);
    repository.write("test_calc.py", TEST);
    let ran = verified(&repository);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains(READ), "{}", ran.stdout);
    assert!(ran.stderr.contains("was not verified: not judged"), "{}", ran.stderr);
    let list = gate(&repository, &["status", "--phase", "impl-code", "--format", "json"]).json();
    let items = list["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["check"].as_str().unwrap().starts_with(READ)).unwrap();
    let pass =
        ["update-item", item["id"].as_str().unwrap(), "--status", "PASS", "--phase", "impl-code"];
    assert_eq!(gate(&repository, &pass).code, 0);
    let ran = verified(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // Changed code is judged again.
    repository.write("calc.py", CALC.replace("a * b", "a * b  # exact"));
    assert_ne!(verified(&repository).code, 0);
}

#[test]
fn unjudged_code_passes_if_so_configured_and_is_reported_as_not_judged() {
    let repository = planned("gates:\n  allow_not_judged: true\n");
    repository.write("calc.py", CALC);
    repository.write("test_calc.py", TEST);
    let ran = verified(&repository);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("Not judged: "), "{}", ran.stdout);
}

/// Implementations that differ from the plan, each with text that the output must contain.
const BROKEN: &[(&str, &str, &str)] = &[
    (
        "def add(a, b):\n    return a + b\n\n\ndef mul(a, b):\n    return 0\n",
        TEST,
        "lacks `return a * b`",
    ),
    (
        "def add(a, b):\n    return a + b\n\n\nif False:\n    def mul(a, b):\n        return a * b\n",
        TEST,
        "code that never runs",
    ),
    (CALC, "# a note\n", "asserts"),
    (CALC, "import calc\n\n\ndef test_mul():\n    pass\n", "asserts nothing"),
    (CALC, "import calc\n\n\ndef test_mul():\n    assert True\n", "asserts nothing"),
    (
        CALC,
        "import calc\n\n\n# def test_mul():\n#     assert calc.mul(2, 3) == 6\n",
        "no test is named",
    ),
    (CALC, "", "test_calc.py"),
];

#[test]
fn code_that_is_not_as_planned_fails() {
    for (code, test, expected) in BROKEN {
        let repository = planned("gates:\n  allow_not_judged: true\n");
        repository.write("calc.py", code);
        if !test.is_empty() {
            repository.write("test_calc.py", test);
        }
        let ran = verified(&repository);
        assert_eq!(ran.code, 1, "{code}{test}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(expected), "{expected}: {}", ran.stdout);
    }
}

/// Criteria for the tree below, each with its result.
const CRITERIA: &[(&str, &str)] = &[
    ("There is no `mul`", "NOT_MET"),
    ("There is no `gone`", "MET"),
    ("`calc.py` has no function `mul`", "NOT_MET"),
    ("`calc.py` has no function `gone`", "MET"),
    ("`mul` does not exist", "NOT_MET"),
    ("`calc.py` does not contain `mul`", "NOT_MET"),
    ("`calc.py` must not have a function `mul`", "NOT_MET"),
    ("No function `mul` exists", "NOT_MET"),
    ("`test_mul` fails", "CANNOT_TELL"),
    ("`calc.py` has a function `mul`; and more", "CANNOT_TELL"),
    ("`calc.py` has a function `mul` and login works", "CANNOT_TELL"),
    ("either `mul` or `gone` exists", "NOT_MET"),
    ("`calc.py` has a function `sub`", "NOT_MET"),
    ("`calc.py` has a function `div`", "NOT_MET"),
    ("`calc.py` has a function `power`", "NOT_MET"),
    ("`calc.py` contains `later`", "CANNOT_TELL"),
    ("`calc.py` contains `mul`", "MET"),
    ("`test_calc.py` has a test `test_mul`", "MET"),
    ("`test_calc.py` has a test `test_empty`", "NOT_MET"),
    ("`a.test.js` has a test `adds up`", "NOT_MET"),
    ("`a.test.js` has a test `adds down`", "NOT_MET"),
    ("`a.test.js` has a test `adds`", "MET"),
];

#[test]
fn no_criterion_is_met_by_its_opposite_or_by_a_part_of_it() {
    let repository = Repository::new();
    let dead = "\n\nif False:\n    def sub(a, b):\n        return a - b\n\nTEXT = \"\"\"\ndef div(a, b):\n    \
                return 1\n\"\"\"\n# def power(a): later\n";
    repository.write("calc.py", format!("{CALC}{dead}"));
    repository.write(
        "test_calc.py",
        format!("{TEST}\n\ndef test_empty():\n    \"\"\"assert mul\"\"\"\n"),
    );
    let script = "// it('adds up', () => { expect(1).toBe(a) })\nconst s = \"it('adds down'\";\n\
                  it('adds', () => {\n  expect(add(1)).toBe(2);\n});\n";
    repository.write("a.test.js", script);
    let criteria: String = CRITERIA.iter().map(|(text, _)| format!("- {text}\n")).collect();
    let plan = format!("# Plan\n\n## Milestone M1: All\n\n### Acceptance Criteria\n\n{criteria}");
    repository.write("plan.md", plan);
    repository.commit("all");
    let ran = gate(&repository, &["reconcile", "--plan", "plan.md", "--format", "json"]).json();
    let results = ran["milestones"][0]["criteria"].as_array().unwrap();
    let wrong: Vec<String> = CRITERIA
        .iter()
        .zip(results)
        .filter(|((_, status), result)| result["answer"]["status"] != *status)
        .map(|((text, status), result)| format!("{text}: {status}, not {}", result["answer"]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
