//! Files whose bytes in the work tree differ from those in git.

use std::fs;
use std::time::{Duration, SystemTime};

use super::{BROKEN, MORE, is_approved, is_refused, python};

const IGNORE: (&str, &str) = (".gitignore", "__pycache__/\n");

#[test]
fn a_file_that_git_converts_needs_a_person() {
    let title = "Work tree and commit have different bytes: calc.py";
    let fixture = python(&[IGNORE]);
    let repository = &fixture.repository;
    repository.git(&["config", "filter.x.clean", "sed 's/a - b/a + b/'"]);
    repository.write(".gitattributes", "calc.py filter=x\n");
    repository.write("calc.py", MORE);
    // Git reads a file again that is as new as the index.
    let file = fs::File::options().append(true).open(repository.file("calc.py")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000)).unwrap();
    repository.commit("work");
    assert!(repository.git(&["show", "HEAD:calc.py"]).contains("a + b"), "the filter did its work");
    let reason = "git converts `calc.py` (`filter=x`), so the content in a commit differs from \
                  the work tree";
    is_refused(&fixture, &[], "1", title, reason);
    // Without the filter, the file stays as it was committed.
    repository.git(&["config", "--remove-section", "filter.x"]);
    is_refused(
        &fixture,
        &["--resume"],
        "1",
        title,
        "so the content in a commit differs from the work tree",
    );
}

#[test]
fn a_file_that_git_assumes_unchanged_needs_a_person() {
    for mark in ["--assume-unchanged", "--skip-worktree"] {
        let fixture = python(&[IGNORE]);
        let repository = &fixture.repository;
        repository.write("calc.py", BROKEN);
        repository.commit("work");
        repository.git(&["update-index", mark, "calc.py"]);
        repository.write("calc.py", MORE);
        let title = "Work tree and commit have different bytes: calc.py";
        is_refused(&fixture, &[], "1", title, "git assumes that `calc.py` is unchanged");
    }
}

#[test]
fn usual_conversions_are_no_issue() {
    let attributes = "*.dat filter=upper\n*.txt text eol=crlf\n";
    let fixture = python(&[IGNORE, (".gitattributes", attributes), ("a.txt", "a\nb\n")]);
    let repository = &fixture.repository;
    repository.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    repository.git(&[
        "config",
        "filter.lfs.clean",
        "printf 'version https://git-lfs.github.com/spec/v1\\n'",
    ]);
    repository.write(".gitattributes", format!("{attributes}*.bin filter=lfs\n"));
    repository.write("calc.py", MORE);
    repository.write("a.txt", "a\r\nb\r\nc\r\n");
    repository.write("a.bin", "large\n");
    repository.commit("work");
    assert!(
        repository.git(&["show", "HEAD:a.bin"]).starts_with("version"),
        "a pointer is committed"
    );
    is_approved(&fixture, &[]);
    let fixture = python(&[IGNORE, (".gitattributes", attributes)]);
    let repository = &fixture.repository;
    repository.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    repository.write("calc.py", MORE);
    repository.write("a.dat", "small\n");
    repository.commit("work");
    assert_eq!(repository.git(&["show", "HEAD:a.dat"]).trim(), "SMALL");
    is_approved(&fixture, &[]);
}
