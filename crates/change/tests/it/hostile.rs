//! Repositories with hostile content: nothing outside of them is read, and their content is never
//! mistaken for anything else.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use assay_change::diff::{changed_lines, parse};
use assay_change::tree::DirTree;
use assay_change::{Scope, Selection};
use assay_findings::grounding::ChangedLines;
use expect_test::expect;

use crate::support::{against, commits, open, path, show};
use assay_testkit::Repository;

#[test]
fn links_out_of_the_tree_are_not_followed() {
    let repository = Repository::new();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret\n").unwrap();
    symlink(outside.path().join("secret"), repository.file("file")).unwrap();
    symlink(outside.path(), repository.file("folder")).unwrap();
    symlink("README", repository.file("inside")).unwrap();
    symlink("loop", repository.file("loop")).unwrap();
    repository.git(&["add", "--all"]);
    let change = open(repository.path(), against("HEAD"));
    expect![[r#"
        working tree against HEAD
        "file" +1 -0 Link
        "folder" +1 -0 Link
        "inside" +1 -0 Link
        "loop" +1 -0 Link
    "#]]
    .assert_eq(&show(&change));
    for name in ["file", "folder", "folder/secret", "loop"] {
        assert_eq!(change.tree().read(&path(name)).unwrap(), None, "{name}");
        assert!(!change.tree().exists(&path(name)).unwrap(), "{name}");
    }
    assert_eq!(change.tree().read(&path("inside")).unwrap().as_deref(), Some("nothing to see\n"));
    let staged = open(repository.path(), Scope::Staged);
    assert_eq!(staged.tree().read(&path("folder/secret")).unwrap(), None);
    let names: Vec<_> = change.tree().paths().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["README"]);
}

#[test]
fn paths_in_a_submodule_or_behind_a_link_count_as_tracked() {
    let inner = Repository::new();
    inner.write("runs/1/synthesis.json", "{}\n");
    inner.commit("state");
    let outer = Repository::new();
    outer.write("linked/real/file", "1\n");
    symlink("linked/real", outer.file("link")).unwrap();
    outer.commit("a link");
    let url = inner.path().to_str().unwrap();
    let add = ["-c", "protocol.file.allow=always", "submodule", "add", "--quiet", url, "sub"];
    outer.git(&add);
    outer.write("own/file", "1\n");
    for stage in ["staged", "committed"] {
        if stage == "committed" {
            outer.git(&["commit", "--quiet", "--message", "a submodule"]);
        }
        for folder in ["sub", "sub/runs", "sub/runs/1", "link", "link/file", "linked/real"] {
            assert!(assay_change::is_tracked(outer.path(), folder), "{stage}: {folder}");
        }
        for folder in ["own", "own/file", "linked/other", "su", "sub2/runs"] {
            assert!(!assay_change::is_tracked(outer.path(), folder), "{stage}: {folder}");
        }
    }
    for (name, is_foreign) in [("sub", true), ("link", true), ("own", false), ("none", false)] {
        assert_eq!(assay_change::is_foreign(&outer.path().join(name)), is_foreign, "{name}");
    }
}

#[test]
fn a_path_that_leads_out_of_the_tree_names_no_file() {
    let diff = "--- a/../../etc/passwd\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-a\n+b\n\
                diff --git \"a/../x\\377\" \"b/../x\\377\"\nnew file mode 100644\n";
    let files = parse(diff.as_bytes());
    assert_eq!(files[0].path(), "../../etc/passwd");
    assert_eq!(changed_lines(&files[..1]), ChangedLines::default());
    // In quotes, the second name is an ordinary path until a tree resolves it.
    let quoted = path(files[1].path());
    assert_eq!(quoted.as_str(), r#""../x\377""#);
    let repository = Repository::new();
    repository.write(OsStr::from_bytes(b"x\xff"), "1\n");
    repository.write("sub/y", "1\n");
    repository.commit("names");
    let change = open(repository.path(), commits("HEAD"));
    let sub = DirTree::new(repository.path().join("sub"));
    for tree in [change.base(), change.tree(), &sub] {
        assert!(!tree.exists(&quoted).unwrap());
        assert_eq!(tree.read(&quoted).unwrap(), None);
    }
}

#[test]
fn names_with_line_breaks_and_escapes_are_kept_apart_from_the_diff() {
    let repository = Repository::new();
    for name in ["x\n+++ b/README\n@@ -1 +1 @@\n+y", "\u{1b}[2J", "\r", "a\u{202e}b"] {
        repository.write(name, "1\n");
    }
    repository.commit("names");
    expect![[r#"
        commits HEAD
        "\r" +1 -0
        "\u{1b}[2J" +1 -0
        "a\u{202e}b" +1 -0
        "x\n+++ b/README\n@@ -1 +1 @@\n+y" +1 -0
    "#]]
    .assert_eq(&show(&open(repository.path(), commits("HEAD"))));
}

#[test]
fn content_with_null_bytes_is_binary_and_other_invalid_text_is_read_lossily() {
    let repository = Repository::new();
    repository.write("nul", b"a\0b\n");
    repository.write("latin", b"caf\xe9\n\xff\xfe\n");
    repository.write("windows", "a\r\nb\r\n");
    repository.write("no end", "a\nb");
    repository.commit("contents");
    let change = open(repository.path(), commits("HEAD"));
    expect![[r#"
        commits HEAD
        "latin" +2 -0
        "no end" +2 -0
        "nul" +0 -0 Binary
        "windows" +2 -0
    "#]]
    .assert_eq(&show(&change));
    assert_eq!(change.tree().read(&path("nul")).unwrap(), None);
    assert_eq!(
        change.tree().read(&path("latin")).unwrap().as_deref(),
        Some("caf\u{fffd}\n\u{fffd}\u{fffd}\n")
    );
}

#[test]
fn a_line_of_any_length_is_one_line() {
    let repository = Repository::new();
    repository.write("line", vec![b'x'; 50 << 20]);
    repository.write("lines", "0123456789abcdef\n".repeat(1 << 20));
    let selection = Selection { untracked: true, ..Selection::default() };
    let new = assay_change::open(repository.path(), &against("HEAD"), &selection).unwrap();
    repository.git(&["-c", "core.compression=0", "add", "--all"]);
    for change in
        [new, open(repository.path(), against("HEAD")), open(repository.path(), Scope::Staged)]
    {
        let files: String = show(&change).split_inclusive('\n').skip(1).collect();
        assert_eq!(files, "\"line\" +1 -0\n\"lines\" +1048576 -0\n");
        assert_eq!(change.tree().read(&path("line")).unwrap(), None);
        assert!(change.tree().exists(&path("line")).unwrap());
    }
}
