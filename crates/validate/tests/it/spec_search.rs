//! Tests of finding the folder of a spec by a prefix.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use assay_validate::plan::ImplementationPlan;
use assay_validate::spec::{self, Spec};
use expect_test::{Expect, expect};
use tempfile::TempDir;

fn tree(folders: &[&str]) -> TempDir {
    let root = TempDir::new().unwrap();
    for folder in folders {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    root
}

fn check(root: &Path, prefix: &str, expected: Expect) {
    expected.assert_eq(&match spec::find(root, prefix) {
        Ok(folder) => folder.display().to_string(),
        Err(error) => format!("error: {error}"),
    });
}

#[test]
fn a_spec_is_found_by_the_beginning_of_its_name() {
    let root = tree(&["specs/001-login", "specs/002-search", ".auto-claude/specs/010-export"]);
    check(root.path(), "001", expect!["specs/001-login"]);
    check(root.path(), "002-search", expect!["specs/002-search"]);
    check(root.path(), "01", expect![".auto-claude/specs/010-export"]);
}

#[test]
fn a_prefix_without_a_match_lists_all_specs() {
    let root = tree(&["specs/001-login", "specs/002-search", "specs/.hidden"]);
    fs::write(root.path().join("specs/003-file"), "").unwrap();
    check(
        root.path(),
        "003",
        expect!["error: unknown spec `003`; the specs are: `specs/001-login`, `specs/002-search`"],
    );
    check(
        tree(&[]).path(),
        "001",
        expect!["error: unknown spec `001`; there are no specs in `specs` or `.auto-claude/specs`"],
    );
}

#[test]
fn a_prefix_of_several_specs_lists_them() {
    let root = tree(&["specs/001-a", "specs/001-b", "specs/002-c", ".auto-claude/specs/001-a"]);
    check(
        root.path(),
        "001",
        expect![
            "error: ambiguous spec `001`: it matches `specs/001-a`, `specs/001-b`, `.auto-claude/specs/001-a`; write more of the name, or the whole path"
        ],
    );
    check(root.path(), "001-b", expect!["specs/001-b"]);
}

#[test]
fn a_name_that_is_a_prefix_of_another_spec_is_ambiguous() {
    let root = tree(&["specs/001", "specs/001-calc"]);
    check(
        root.path(),
        "001",
        expect![
            "error: ambiguous spec `001`: it matches `specs/001`, `specs/001-calc`; write more of the name, or the whole path"
        ],
    );
    check(root.path(), "001-calc", expect!["specs/001-calc"]);
    check(root.path(), "specs/001", expect!["specs/001"]);
}

#[test]
fn a_long_list_of_specs_is_truncated() {
    let names: Vec<String> = (100..130).map(|number| format!("specs/{number}-x")).collect();
    let root = tree(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let error = spec::find(root.path(), "1").unwrap_err().to_string();
    assert!(error.contains("`specs/119-x`, and 10 more"), "{error}");
}

#[test]
fn a_path_is_refused_as_a_spec_name() {
    let root = tree(&["specs/001-login", "outside"]);
    for path in ["", "..", "../outside", "001-login/..", "/etc", "a\\b", "001\n"] {
        let error = spec::find(root.path(), path).unwrap_err().to_string();
        assert!(error.contains("invalid spec `"), "{path:?}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn a_symlinked_spec_folder_is_refused() {
    let elsewhere = tree(&["001-login"]);
    let root = tree(&["specs"]);
    symlink(elsewhere.path().join("001-login"), root.path().join("specs/001-login")).unwrap();
    check(
        root.path(),
        "001",
        expect![
            "error: cannot use `specs/001-login`: it is a symbolic link, or is reached through one; a spec must be a folder of the repository"
        ],
    );

    let root = tree(&["kept/002-search", "specs"]);
    symlink("../kept/002-search", root.path().join("specs/002-search")).unwrap();
    check(
        root.path(),
        "002",
        expect![
            "error: cannot use `specs/002-search`: it is a symbolic link, or is reached through one; a spec must be a folder of the repository"
        ],
    );
}

fn check_read(root: &Path, expected: Expect) {
    let plan = ImplementationPlan::parse("{}".to_owned()).unwrap();
    expected.assert_eq(&match Spec::read(root, Path::new("specs/001-login"), &plan) {
        Ok(spec) => format!("{}: {:?}", spec.name, spec.criteria),
        Err(error) => format!("error: {error}"),
    });
}

#[test]
fn a_spec_is_read_from_its_folder() {
    let root = tree(&["specs/001-login"]);
    check_read(root.path(), expect!["error: missing file `specs/001-login/spec.md`"]);
    let file = root.path().join("specs/001-login/spec.md");
    fs::write(&file, "# Acceptance Criteria\n- [ ] a\n").unwrap();
    check_read(root.path(), expect![[r#"001-login: [Criterion { text: "a", line: Some(2) }]"#]]);
    fs::write(&file, b"# Acc\xff").unwrap();
    check_read(
        root.path(),
        expect!["error: `specs/001-login/spec.md` is not valid UTF-8 at byte 5"],
    );
}

#[test]
fn a_symlinked_spec_file_is_refused() {
    let elsewhere = tree(&[]);
    fs::write(elsewhere.path().join("secret"), "- [ ] x").unwrap();
    let root = tree(&["specs/001-login"]);
    let file = root.path().join("specs/001-login/spec.md");
    symlink(elsewhere.path().join("secret"), &file).unwrap();
    check_read(
        root.path(),
        expect![
            "error: cannot use `specs/001-login/spec.md`: it is a symbolic link, or is reached through one; a spec must be a folder of the repository"
        ],
    );
}
