//! Application of fixes: as a whole or not at all, and only if they still fit.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use assay_findings::path::RepoPath;
use assay_findings::vote::{AutofixClass, LineRange, Replacement};
use assay_review::fix::FixPlan;
use assay_review::runs::StoredFix;

/// Returns a fix for a file as it is now, which replaces lines by a text.
fn fix(root: &Path, file: &str, (from, to): (u32, u32), text: &str) -> StoredFix {
    let bytes = fs::read(root.join(file)).unwrap();
    StoredFix {
        finding: format!("{file}:{from}"),
        title: "a flaw".into(),
        file: RepoPath::exact(file).unwrap(),
        content: blake3::hash(&bytes).to_hex().to_string(),
        class: AutofixClass::SafeAuto,
        replacement: Replacement::new(LineRange::range(from, to).unwrap(), text),
    }
}

/// Applies fixes, and returns the reasons of refusals.
fn apply(root: &Path, fixes: Vec<StoredFix>) -> Vec<String> {
    let plan = FixPlan::new(root, fixes);
    plan.apply(root).unwrap();
    plan.refused.into_iter().map(|(fix, why)| format!("{}: {why}", fix.finding)).collect()
}

fn read(root: &Path, file: &str) -> String {
    fs::read_to_string(root.join(file)).unwrap()
}

#[test]
fn several_fixes_of_one_file_are_applied_together() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.py"), "a = 1\nb = 2\nc = 3\nd = 4\n").unwrap();
    let refused =
        apply(root, vec![fix(root, "a.py", (4, 4), "d = 5\n"), fix(root, "a.py", (2, 2), "")]);
    assert_eq!((refused, read(root, "a.py").as_str()), (vec![], "a = 1\nc = 3\nd = 5\n"));
}

#[test]
fn line_endings_and_file_modes_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.py"), "a = 1\r\nb = 2\r\nc = 3\r\n").unwrap();
    fs::set_permissions(root.join("a.py"), fs::Permissions::from_mode(0o755)).unwrap();
    apply(root, vec![fix(root, "a.py", (2, 2), "b = 3\nx = 4\n")]);
    assert_eq!(read(root, "a.py"), "a = 1\r\nb = 3\r\nx = 4\r\nc = 3\r\n");
    assert_eq!(fs::metadata(root.join("a.py")).unwrap().permissions().mode() & 0o777, 0o755);
}

#[test]
fn a_fix_that_does_not_parse_is_refused_and_the_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.py"), "a = 1\nb = 2\n").unwrap();
    let refused = apply(
        root,
        vec![fix(root, "a.py", (1, 1), "a = (\n"), fix(root, "a.py", (2, 2), "b = 3\n")],
    );
    assert_eq!(refused, ["a.py:1: the file would not parse after the fix"]);
    assert_eq!(read(root, "a.py"), "a = 1\nb = 3\n");
}

#[test]
fn of_two_overlapping_fixes_only_the_first_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.py"), "a = 1\nb = 2\nc = 3\n").unwrap();
    let refused = apply(
        root,
        vec![fix(root, "a.py", (1, 2), "ab = 3\n"), fix(root, "a.py", (2, 3), "bc = 5\n")],
    );
    assert_eq!(
        refused,
        ["a.py:2: the fix overlaps another fix; apply that fix, then review again"]
    );
    assert_eq!(read(root, "a.py"), "ab = 3\nc = 3\n");
}

#[test]
fn a_file_that_changed_since_the_review_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.py"), "a = 1\nb = 2\n").unwrap();
    let stale = fix(root, "a.py", (1, 1), "");
    fs::write(root.join("a.py"), "import os\na = 1\nb = 2\n").unwrap();
    let refused = apply(root, vec![stale]);
    assert_eq!(refused, ["a.py:1: the file has changed since the review; review it again"]);
    assert_eq!(read(root, "a.py"), "import os\na = 1\nb = 2\n");
}

#[test]
fn nothing_is_written_through_a_link() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.py"), "a = 1\n").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    symlink(outside.path().join("a.py"), root.join("a.py")).unwrap();
    symlink(outside.path(), root.join("sub")).unwrap();
    let refused = apply(
        root,
        vec![fix(root, "a.py", (1, 1), "a = 2\n"), fix(root, "sub/a.py", (1, 1), "a = 2\n")],
    );
    assert_eq!(
        refused,
        [
            "a.py:1: the path contains a symbolic link",
            "sub/a.py:1: the path contains a symbolic link",
        ]
    );
    assert_eq!(read(outside.path(), "a.py"), "a = 1\n");
}

#[test]
fn if_one_file_cannot_be_written_none_is() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("sub")).unwrap();
    fs::write(root.join("a.py"), "a = 1\n").unwrap();
    fs::write(root.join("sub/b.py"), "b = 1\n").unwrap();
    let plan = FixPlan::new(
        root,
        vec![fix(root, "a.py", (1, 1), "a = 2\n"), fix(root, "sub/b.py", (1, 1), "b = 2\n")],
    );
    fs::remove_dir_all(root.join("sub")).unwrap();
    let error = plan.apply(root).unwrap_err();
    assert!(error.to_string().contains("no file was changed"), "{error}");
    assert_eq!(read(root, "a.py"), "a = 1\n");
    assert_eq!(fs::read_dir(root).unwrap().count(), 1, "no draft is left behind");
}

#[test]
fn applied_fixes_can_be_undone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::write(root.join("a.py"), "a = 1\nb = 2\n").unwrap();
    let plan = FixPlan::new(root, vec![fix(root, "a.py", (2, 2), "b = 3\n")]);
    plan.apply(root).unwrap();
    assert_eq!(read(root, "a.py"), "a = 1\nb = 3\n");
    plan.undo(root);
    assert_eq!(read(root, "a.py"), "a = 1\nb = 2\n");
}
