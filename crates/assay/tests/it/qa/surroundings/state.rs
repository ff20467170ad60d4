//! State of another repository that is, or was, at the same path.

use std::fs;

use super::{CALC, MORE, PLAN, is_approved, is_refused, python};

const STRICT: &str = "# Work\n\n## Acceptance Criteria\n\n- [ ] `test_sub` passes\n- [ ] The function `mul` exists in `calc.py`\n\n## Verification\n\n**Unit Tests:**\n- `python3 -m unittest discover` - All pass\n";

#[test]
fn a_new_repository_at_an_old_path_starts_without_earlier_state() {
    let fixture = python(&[(".gitignore", "__pycache__/\n")]);
    let repository = &fixture.repository;
    let lenient = fs::read_to_string(repository.file("specs/001-work/spec.md")).unwrap();
    repository.write("specs/001-work/spec.md", STRICT);
    repository.write("calc.py", format!("{CALC}\n\nONE = 1\n"));
    is_refused(&fixture, &[], "1", "Not met: The function `mul`", "");
    // Another repository with another history, and a spec of the same name.
    fs::remove_dir_all(repository.path().join(".git")).unwrap();
    fs::remove_dir_all(repository.path().join("specs")).unwrap();
    repository.git(&["init", "--quiet", "--initial-branch=main"]);
    repository.git(&["config", "user.name", "tester"]);
    repository.git(&["config", "user.email", "tester@localhost"]);
    repository.write("calc.py", CALC);
    repository.commit("another history");
    repository.git(&["switch", "--quiet", "--create", "work"]);
    repository.write("specs/001-work/spec.md", lenient);
    repository.write("specs/001-work/implementation_plan.json", PLAN);
    repository.write("calc.py", MORE);
    is_approved(&fixture, &[]);
}

#[test]
fn a_repository_that_lost_its_id_keeps_its_requirements() {
    let fixture = python(&[(".gitignore", "__pycache__/\n")]);
    let repository = &fixture.repository;
    let lenient = fs::read_to_string(repository.file("specs/001-work/spec.md")).unwrap();
    repository.write("specs/001-work/spec.md", STRICT);
    repository.write("calc.py", format!("{CALC}\n\nONE = 1\n"));
    is_refused(&fixture, &[], "1", "Not met: The function `mul`", "");
    fs::remove_file(repository.path().join(".git/assay-repository")).unwrap();
    fs::remove_file(repository.path().join("specs/001-work/qa_journal.jsonl")).unwrap();
    repository.write("specs/001-work/spec.md", lenient);
    is_refused(&fixture, &["--resume"], "1", "Criterion was removed: The function `mul`", "");
}
