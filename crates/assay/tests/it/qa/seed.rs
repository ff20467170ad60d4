//! A spec with the usual criteria and commands of a login, verbatim, from rejected to approved:
//! with a runner that prints only counts, and names its tests in a requested report.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use assay_testkit::specs::LOGIN as SPEC;

use super::QaFixture;

const PLAN: &str = r#"{
  "phases": [{"subtasks": [{"id": "1", "status": "completed"}]}],
  "verification_strategy": {
    "unit_tests": {
      "required": true,
      "commands": ["pytest tests/test_feature.py -v"]
    }
  }
}
"#;

/// A program with the name of pytest, which reads its options from the same places.
const PYTEST: &str = r#"#!/usr/bin/env python3
import json, os, shlex, sys

junit = coverage = None
paths = []
for word in shlex.split(os.environ.get("PYTEST_ADDOPTS", "")) + sys.argv[1:]:
    if word.startswith("--junitxml="):
        junit = word[len("--junitxml="):]
    elif word.startswith("--cov-report=json:"):
        coverage = word[len("--cov-report=json:"):]
    elif not word.startswith("-"):
        paths.append(word)
tests = ["tests/test_auth.py", "tests/test_feature.py", "tests/integration/test_api.py"]
tests = [test for test in tests if not paths or test in paths]
right = "verify" in open("auth.py").read()
failed = [] if right else [test for test in tests if "auth" in test]
if junit:
    with open(junit, "w") as out:
        out.write(f'<testsuites><testsuite tests="{len(tests)}" failures="{len(failed)}">')
        for test in tests:
            module = test[:-3].replace("/", ".")
            name = "test_" + module.rsplit("test_", 1)[1] + "_works"
            inner = '<failure message="wrong"/>' if test in failed else ""
            out.write(f'<testcase classname="{module}" name="{name}">{inner}</testcase>')
        out.write("</testsuite></testsuites>")
if coverage:
    lines = [1, 2]
    of_file = {"executed_lines": lines, "missing_lines": [], "summary": {"covered_lines": 2, "num_statements": 2}}
    totals = {"covered_lines": 2, "num_statements": 2, "percent_covered": 100.0}
    json.dump({"meta": {"format": 3}, "files": {"auth.py": of_file}, "totals": totals}, open(coverage, "w"))
print(f"{len(failed)} failed, {len(tests) - len(failed)} passed in 0.01s" if failed else f"{len(tests)} passed in 0.01s")
sys.exit(1 if failed else 0)
"#;

const WRONG: &str = "def login(name, password):\n    return name\n";

const RIGHT: &str = "def login(name, password):\n    return verify(name, password)\n";

/// Returns the path of the machine's Python.
fn interpreter() -> String {
    let print = "import os, sys; print(os.path.realpath(sys.executable), end='')";
    let output = Command::new("python3").args(["-c", print]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Sets up the implementation of a login with a failing test, and a fixer.
fn login(spec: &str, plan: &str) -> QaFixture {
    let fixture = QaFixture::bare();
    let right = fixture.aside("auth.py");
    fs::write(&right, RIGHT).unwrap();
    fixture.configure(&format!("cp '{}' auth.py\n", right.display()), "");
    let repository = &fixture.repository;
    repository.write(".gitignore", ".venv/\n__pycache__/\n");
    repository.write("pytest.ini", "[pytest]\n");
    for (file, name) in [
        ("tests/test_auth.py", "test_auth_works"),
        ("tests/test_feature.py", "test_feature_works"),
        ("tests/integration/test_api.py", "test_api_works"),
    ] {
        repository.write(file, format!("def {name}():\n    assert True\n"));
    }
    // Programs of a virtual environment count if its `python` links out of the tree.
    repository.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    repository.write(".venv/bin/pytest", PYTEST);
    std::os::unix::fs::symlink(interpreter(), repository.file(".venv/bin/python")).unwrap();
    let program = repository.file(".venv/bin/pytest");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    repository.commit("before");
    repository.write("specs/001-login/spec.md", spec);
    repository.write("specs/001-login/implementation_plan.json", plan);
    repository.write("auth.py", WRONG);
    fixture
}

#[test]
fn a_login_goes_from_rejected_to_approved_by_its_commands_and_a_person() {
    let fixture = login(SPEC, PLAN);
    let ran = fixture.ends(4, &[]);
    assert!(ran.stdout.contains("failed    unit: pytest tests/test_auth.py"), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("passed    unit: pytest tests/test_feature.py -v"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("test_auth_works"), "tests are known by name: {}", ran.stdout);
    assert!(!ran.stdout.contains("Test is missing"), "{}", ran.stdout);
    assert_eq!(fixture.ending()["ending"], "awaits_decision", "{}", ran.stdout);
    let mut args =
        vec!["--sign-off", "Ada", "--because", "went through the manual plan on staging"];
    let numbers = ["1", "2", "3", "4", "5"];
    numbers.iter().for_each(|number| args.extend(["--for", number]));
    fixture.ends(0, &args);
    fixture.is_approved();
}

#[test]
fn criteria_that_name_tests_of_the_runner_need_no_person() {
    let spec = SPEC
        .replace("Login with valid credentials works", "Login works: `test_auth_works`")
        .replace("Password must be 8+ characters with special char", "`test_feature_works`")
        .replace("- [ ] User can register with email/password\n", "")
        .replace("- [ ] Account created after email verification\n", "")
        .replace("Login with invalid credentials shows error", "`test_api_works`");
    let fixture = login(&spec, PLAN);
    fixture.ends(0, &[]);
    fixture.is_approved();
}

#[test]
fn a_plan_of_another_tool_shows_its_iteration_history() {
    let fixture = login(
        SPEC,
        r#"{
      "phases": [{"subtasks": [{"id": "1", "status": "completed"}]}],
      "qa_signoff": {"status": "rejected", "qa_session": 2, "timestamp": "2026-02-12T10:30:00Z",
        "issues_found": [{"title": "Missing error handling", "type": "acceptance_criteria", "severity": "high"}]},
      "qa_iteration_history": [
        {"iteration": 1, "status": "rejected", "timestamp": "2026-02-12T09:00:00Z",
         "issues": [{"title": "Missing test", "type": "unit_test"}, {"title": "b"}]},
        {"iteration": 2, "status": "rejected", "timestamp": "2026-02-12T10:30:00Z",
         "issues": [{"title": "Missing error handling"}]}
      ]
    }"#,
    );
    let ran = fixture.ends(0, &["--status"]);
    assert!(
        ran.stdout.contains(
            "Iteration History:\n  Iteration 1 (09:00): Rejected - 2 issues\n  Iteration 2 (10:30): Rejected - 1 issue\n"
        ),
        "{}",
        ran.stdout
    );
}
