//! Surroundings of a tree that could affect its validation: programs, refs, ignored files, state of
//! another repository. Each way to a false approval is refused with its reason, and honest work
//! that looks similar is approved.

mod base;
mod converted;
mod ignored;
mod nested;
mod output;
mod programs;
mod state;

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::toolchains::has;
use super::{PLAN, QaFixture};
use crate::AssayRun;

/// A Python module with a correct function.
const CALC: &str = "def sub(a, b):\n    return a - b\n";

/// The same module with a wrong function.
const BROKEN: &str = "def sub(a, b):\n    return a + b\n";

/// The same module with another function.
const MORE: &str = "def sub(a, b):\n    return a - b\n\n\ndef mul(a, b):\n    return a * b\n";

/// The test of the module.
const TEST: &str = "import unittest\n\nfrom calc import sub\n\n\nclass T(unittest.TestCase):\n    def test_sub(self):\n        self.assertEqual(sub(2, 3), -1)\n";

/// The test of the module, weakened so that the wrong function passes.
const WEAKENED: &str = "import unittest\n\nfrom calc import sub\n\n\nclass T(unittest.TestCase):\n    def test_sub(self):\n        self.assertEqual(sub(2, 3), 5)\n";

/// The command that runs the test.
const UNITTEST: &str = "python3 -m unittest discover";

/// Sets up a project on the main branch, with a spec that a command and a criterion decide, and a
/// checked-out branch.
fn project(main: &[(&str, &str)], command: &str, criterion: &str) -> QaFixture {
    let fixture = QaFixture::bare();
    fixture.configure("true\n", "");
    let repository = &fixture.repository;
    main.iter().for_each(|(path, text)| repository.write(path, text));
    let spec = format!(
        "# Work\n\n## Acceptance Criteria\n\n- [ ] {criterion}\n\n## Verification\n\n**Unit Tests:**\n- `{command}` - All pass\n"
    );
    repository.write("specs/001-work/spec.md", spec);
    repository.write("specs/001-work/implementation_plan.json", PLAN);
    repository.commit("main");
    repository.git(&["switch", "--quiet", "--create", "work"]);
    fixture
}

/// Sets up the Python project.
fn python(more: &[(&str, &str)]) -> QaFixture {
    let main = [("calc.py", CALC), ("tests/__init__.py", ""), ("tests/test_calc.py", TEST)];
    project(&[&main, more].concat(), UNITTEST, "Subtracting works: `test_sub` passes")
}

/// Writes an executable program.
fn program(fixture: &QaFixture, path: &str, text: &str) {
    fixture.repository.write(path, text);
    let path = fixture.repository.file(path);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Asserts that a run approves nothing, and that an issue has the reason.
fn is_refused(
    fixture: &QaFixture,
    args: &[&str],
    rounds: &str,
    title: &str,
    reason: &str,
) -> AssayRun {
    let ran = fixture.qa_with(args, &[("MAX_QA_ITERATIONS", rounds)]);
    let issues = fixture.issues();
    assert_eq!(ran.code, 4, "{title}: {}{}\n{issues:#?}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("APPROVED"), "{title}: {}", ran.stdout);
    let is_named = issues.iter().any(|(_, it)| it.starts_with(title));
    assert!(is_named, "{title}: {issues:#?}\n{}", ran.stdout);
    let report = fixture.artifact("qa_report.md").replace('\\', "");
    assert!(report.contains(reason), "{title}: {reason}\n{report}");
    ran
}

/// Asserts that a run approves the tree.
fn is_approved(fixture: &QaFixture, args: &[&str]) {
    let ran = fixture.qa_with(args, &[("MAX_QA_ITERATIONS", "2")]);
    assert_eq!(ran.code, 0, "{}{}\n{:#?}", ran.stdout, ran.stderr, fixture.issues());
    fixture.is_approved();
}
