//! Changes that are given as a diff, and all files as a change.

use assay_change::{Scope, Selection};
use assay_testkit::Repository;
use expect_test::{Expect, expect};

use crate::support::{commits, open, path, show};

const CODE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("src/a.txt", CODE);
    repository.write("b.txt", "b\n");
    repository.commit("second");
    repository
}

fn given(text: &str) -> Scope {
    Scope::Diff { text: text.as_bytes().to_vec(), base: None }
}

fn check(text: &str, expected: Expect) {
    let repository = repository();
    let opened = assay_change::open(repository.path(), &given(text), &Selection::default());
    expected.assert_eq(&match opened {
        Ok(change) => show(&change),
        Err(error) => format!("{error}\n"),
    });
    assert_eq!(repository.git(&["status", "--porcelain"]), "", "the work tree is as before");
}

#[test]
fn a_given_diff_is_applied_to_the_last_commit_and_not_to_the_work_tree() {
    check(
        "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,4 @@\n one\n+new\n two\n three\n",
        expect![[r#"
            the given diff
            "src/a.txt" +1 -0
        "#]],
    );
}

#[test]
fn names_without_prefixes_are_those_of_the_repository() {
    check(
        "--- src/a.txt\n+++ src/a.txt\n@@ -1,3 +1,4 @@\n one\n+new\n two\n three\n",
        expect![[r#"
            the given diff
            "src/a.txt" +1 -0
        "#]],
    );
}

#[test]
fn a_diff_without_context_is_applied_at_its_lines() {
    check(
        "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -3 +3 @@\n-three\n+3\n@@ -7 +7,2 @@\n-seven\n+7\n+7\n",
        expect![[r#"
            the given diff
            "src/a.txt" +3 -2
        "#]],
    );
}

#[test]
fn new_deleted_renamed_and_binary_files_of_a_diff_belong_to_the_change() {
    check(
        "diff --git a/new.txt b/new.txt\nnew file mode 100755\n--- /dev/null\n+++ b/new.txt\n\
         @@ -0,0 +1 @@\n+new\n\
         diff --git a/b.txt b/b.txt\ndeleted file mode 100644\n--- a/b.txt\n+++ /dev/null\n\
         @@ -1 +0,0 @@\n-b\n\
         diff --git a/src/a.txt b/src/c.txt\nsimilarity index 100%\nrename from src/a.txt\n\
         rename to src/c.txt\n\
         diff --git a/x[1].png b/x[1].png\nnew file mode 100644\nindex 0000000..1234567\n\
         Binary files /dev/null and b/x[1].png differ\n",
        expect![[r#"
            the given diff
            "b.txt" +0 -1
            "new.txt" +1 -0
            "src/c.txt" +0 -0 Renamed "src/a.txt"
            "x[1].png" +0 -0 Binary
        "#]],
    );
}

#[test]
fn a_diff_that_does_not_apply_is_an_error_with_file_hunk_and_line() {
    check(
        "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n one\n-zwei\n+2\n three\n",
        expect![[r#"
            the diff does not apply to `src/a.txt`, hunk at line 3 of the diff: line 2 of the file is `two`, and line 5 of the diff `zwei`; name the commit that the diff was made from with `--base`
        "#]],
    );
    check(
        "--- a/gone.txt\n+++ b/gone.txt\n@@ -1 +1 @@\n-one\n+2\n",
        expect![[r#"
            the diff does not apply to `gone.txt`, hunk at line 1 of the diff: there is no file `gone.txt`; name the commit that the diff was made from with `--base`
        "#]],
    );
}

#[test]
fn a_text_that_is_no_diff_is_an_error_and_an_empty_text_is_an_empty_change() {
    check(
        "hello\n",
        expect![[r#"
            cannot read the diff, line 1: the diff names no file; put `--- a/PATH` and `+++ b/PATH` above its hunks
        "#]],
    );
    check(
        "--- a/b.txt\n+++ b/b.txt\n@@ -1,4 +1,4 @@\n-b\n+c\n",
        expect![[r#"
            cannot read the diff, line 3: the hunk header states 4 lines before and 4 after, and the hunk has 1 and 1
        "#]],
    );
    check(
        "\n",
        expect![[r#"
            the given diff
        "#]],
    );
}

#[test]
fn a_diff_that_leaves_the_repository_is_refused() {
    for path in ["../out.txt", ".git/config", "/etc/passwd"] {
        let text = format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n");
        let repository = repository();
        let opened = assay_change::open(repository.path(), &given(&text), &Selection::default());
        assert!(opened.is_err(), "{path}");
        assert_eq!(repository.git(&["status", "--porcelain"]), "");
    }
}

/// A valid diff of `b.txt`.
const HUNK: &str = "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+c\n";

/// A header of git with a note that `b.txt` is binary.
const NOTE: &str = "diff --git a/b.txt b/b.txt\nindex 1234567..89abcde 100644\n\
                    Binary files a/b.txt and b/b.txt differ\n";

/// Opens each diff, and formats the results, one after another.
fn outcomes(diffs: &[(&str, String)]) -> String {
    let repository = repository();
    let mut text = String::new();
    for (name, diff) in diffs {
        let opened = assay_change::open(repository.path(), &given(diff), &Selection::default());
        let shown = match opened {
            Ok(change) => change
                .files
                .iter()
                .map(|file| {
                    format!("{} {:?} +{}\n", file.path(), file.content, file.added().count())
                })
                .collect(),
            Err(error) => format!("{error}\n"),
        };
        text += &format!("{name}: {shown}");
    }
    text
}

#[test]
fn a_note_on_a_binary_file_never_hides_text() {
    let both = "--- b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+c\n";
    expect![[r#"
        in a message: cannot read the diff, line 3: `b.txt` is both binary and text in the diff
        with a header before: cannot read the diff, line 3: `b.txt` is both binary and text in the diff
        with a header behind: cannot read the diff, line 8: `b.txt` is both binary and text in the diff
        other prefixes: the diff does not apply: error: b/b.txt: does not exist in index
        of a header with names: cannot read the diff, line 5: `b.txt` is both binary and text in the diff
        about another file: b.txt Text +1
        x Binary +0
        alone: b.txt Binary +0
        alone without a header: x Binary +0
        twice: b.txt Binary +0
    "#]]
    .assert_eq(&outcomes(&[
        (
            "in a message",
            format!("Subject: x\n\nBinary files a/b.txt and b/b.txt differ\n---\n{HUNK}"),
        ),
        ("with a header before", format!("{NOTE}{HUNK}")),
        ("with a header behind", format!("{HUNK}{NOTE}")),
        ("other prefixes", format!("{NOTE}{both}")),
        (
            "of a header with names",
            format!("{}{HUNK}", NOTE.replace("index", "old mode 100644\nnew mode 100755\nindex")),
        ),
        ("about another file", format!("Binary files a/x and b/x differ\n{HUNK}")),
        ("alone", NOTE.to_owned()),
        ("alone without a header", "Binary files a/x and b/x differ\n".to_owned()),
        ("twice", format!("{NOTE}{NOTE}")),
    ]));
}

#[test]
fn a_part_of_a_diff_that_git_skips_is_an_error() {
    let after = |text: &str| format!("{HUNK}{text}");
    expect![[r#"
        a merge: cannot read the diff, line 6: the file is not merged, or compared with several files
        a combined merge: cannot read the diff, line 6: the file is not merged, or compared with several files
        an unmerged path: cannot read the diff, line 6: the file is not merged, or compared with several files
        a hunk of a merge: cannot read the diff, line 7: the hunk is part of a merge diff with more than one parent
        names without a hunk: cannot read the diff, line 7: no hunk follows the names of the file
        names without a hunk at the start: cannot read the diff, line 2: no hunk follows the names of the file
        names at the end: cannot read the diff, line 7: no hunk follows the names of the file
        a mode and no hunk: cannot read the diff, line 10: no hunk follows the names of the file
        an invalid header: cannot read the diff, line 8: the hunk header is invalid
        an invalid second header: cannot read the diff, line 7: the hunk header is invalid
        a header with signs: cannot read the diff, line 7: the hunk header is invalid
        an invalid header after text: cannot read the diff, line 7: the hunk header is invalid
        an added line too many: cannot read the diff, line 6: the hunk has more lines than its header states
        a removed line too many: cannot read the diff, line 6: the hunk has more lines than its header states
        a removed comment too many: cannot read the diff, line 6: the hunk has more lines than its header states
        a removed comment in between: cannot read the diff, line 7: the hunk has more lines than its header states
        an added line after context: cannot read the diff, line 6: the hunk has more lines than its header states
        an added line after a blank line: cannot read the diff, line 8: the hunk has more lines than its header states
        a line too many without names: cannot read the diff, line 2: the hunk header states 1 lines before and 1 after, and the hunk has 1 and 2
        a hunk without a file: cannot read the diff, line 1: a hunk has no file; put `--- a/PATH` and `+++ b/PATH` above it
        a converted binary patch: cannot read the diff, line 9: the line ends of a binary patch were converted
    "#]]
    .assert_eq(&outcomes(&[
        ("a merge", after("diff --cc src/a.txt\nindex 1,2..3\n--- a/src/a.txt\n+++ b/src/a.txt\n@@@ -1,1 -1,1 +1,2 @@@\n  one\n++new\n")),
        ("a combined merge", after("diff --combined src/a.txt\nindex 1,2..3\n")),
        ("an unmerged path", after("* Unmerged path src/a.txt\n")),
        ("a hunk of a merge", after("\n@@@ -1,1 -1,1 +1,2 @@@\n  one\n++new\n")),
        ("names without a hunk", after("--- a/src/a.txt\n+++ b/src/a.txt\n+new\n")),
        ("names without a hunk at the start", format!("--- a/src/a.txt\n+++ b/src/a.txt\n{HUNK}")),
        ("names at the end", after("--- a/src/a.txt\n+++ b/src/a.txt\n")),
        ("a mode and no hunk", after("diff --git a/src/a.txt b/src/a.txt\nold mode 100644\nnew mode 100755\n--- a/src/a.txt\n+++ b/src/a.txt\n+new\n")),
        ("an invalid header", after("--- a/src/a.txt\n+++ b/src/a.txt\n@@ 1 +1,2 @@\n one\n+new\n")),
        ("an invalid second header", after("\n@@ -x +2 @@\n+new\n")),
        ("a header with signs", after("\n@@ -+1 +2 @@\n-c\n+new\n")),
        ("an invalid header after text", after("text\n@@ -x +2 @@\n+new\n")),
        ("an added line too many", after("+new\n")),
        ("a removed line too many", after("-new\n")),
        ("a removed comment too many", after("--- new\n")),
        ("a removed comment in between", after("--- new\n+new\n")),
        ("an added line after context", after(" context\n+new\n")),
        ("an added line after a blank line", after("\n \n+new\n")),
        ("a line too many without names", "diff --git a/b.txt b/b.txt\n@@ -1 +1 @@\n-b\n+c\n+new\n".to_owned()),
        ("a hunk without a file", format!("@@ -1 +1 @@\n-b\n+c\n{HUNK}")),
        ("a converted binary patch", after("diff --git a/n.txt b/n.txt\nnew file mode 100644\nindex 0000000..1234567\nGIT binary patch\r\nliteral 4\r\n")),
    ]));
}

#[test]
fn text_around_the_files_of_a_diff_is_allowed() {
    let other = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,4 @@\n one\n+new\n two\n three\n";
    let around = |text: &str| format!("{HUNK}{text}{other}");
    expect![[r#"
        mails: b.txt Text +1
        src/a.txt Text +1
        a log: b.txt Text +1
        src/a.txt Text +1
        subversion: b.txt Text +1
        src/a.txt Text +1
        diff -r: b.txt Text +1
        src/a.txt Text +1
        blank lines: b.txt Text +1
        src/a.txt Text +1
    "#]]
    .assert_eq(&outcomes(&[
        ("mails", around("-- \n2.47.3\n\nFrom 0123 Mon\nSubject: y\n\n- an item\n+ another\n@@ no hunk\n---\n a | 2 +-\n\n")),
        ("a log", around("\ncommit 0123\nAuthor: A\n\n    - an item\n\n")),
        ("subversion", around("Index: src/a.txt\n===================\n")),
        ("diff -r", around("diff -ru a/src/a.txt b/src/a.txt\n")),
        ("blank lines", around("\n\n")),
    ]));
}

#[test]
fn a_binary_patch_of_a_text_is_reviewed_as_text() {
    let repository = repository();
    repository.write(".gitattributes", "*.txt binary\n");
    repository.commit("attributes");
    repository.write("b.txt", "b\nnew\n");
    std::fs::write(repository.file("x.png"), b"\x89PNG\0\0").unwrap();
    repository.commit("Change\n\nBinary files a/x.png and b/x.png differ");
    let text = repository.git(&["format-patch", "--stdout", "-1"]);
    assert!(text.contains("GIT binary patch"), "{text}");
    let scope = Scope::Diff { text: text.into_bytes(), base: Some("HEAD^".to_owned()) };
    expect![[r#"
        the given diff
        "b.txt" +1 -0
        "x.png" +0 -0 Binary
    "#]]
    .assert_eq(&show(&open(repository.path(), scope)));
}

#[test]
fn paths_select_binary_files_from_the_folder_in_which_they_are_given() {
    let text = "Binary files a/src/x.py and b/src/x.py differ\n";
    let repository = repository();
    repository.write("src/sub/c.txt", "c\n");
    repository.commit("third");
    let root = repository.path().to_str().unwrap().to_owned();
    let count = |folder: &str, only: &str| {
        let selection = Selection { paths: vec![only.to_owned()], untracked: false };
        let folder = repository.path().join(folder);
        assay_change::open(&folder, &given(text), &selection).unwrap().files.len()
    };
    let selecting = [
        ("", "."),
        ("", "./src/"),
        ("", "src"),
        ("", "b.txt/../src"),
        ("", &root),
        ("src", "."),
        ("src", "../src"),
        ("src", ".."),
        ("src/sub", ".."),
        ("src/sub", "../"),
    ];
    for (folder, only) in selecting {
        assert_eq!(count(folder, only), 1, "{folder} {only}");
    }
    for (folder, only) in [("", "b.txt"), ("src", "sub"), ("src/sub", "."), ("src", "../b.txt")] {
        assert_eq!(count(folder, only), 0, "{folder} {only}");
    }
}

#[test]
fn the_diff_of_a_commit_on_its_parent_is_the_change_of_the_commit() {
    let repository = repository();
    repository.write("src/a.txt", CODE.replace("five", "cinq\nfünf"));
    std::fs::write(repository.file("latin.txt"), b"caf\xe9\n").unwrap();
    repository.commit("third");
    repository.git(&["show", "--format=", "--output=.git/given.diff", "HEAD"]);
    let text = std::fs::read(repository.file(".git/given.diff")).unwrap();
    let scope = Scope::Diff { text, base: Some("HEAD^".to_owned()) };
    let (own, other) = (open(repository.path(), scope), open(repository.path(), commits("HEAD")));
    assert_eq!(own.files, other.files);
    assert_eq!(own.tree().read(&path("src/a.txt")), other.tree().read(&path("src/a.txt")));
    assert!(own.messages().is_empty() && !own.is_in_work_tree());
    assert_eq!(own.renames().unwrap().len(), 0);
}

#[test]
fn the_paths_of_a_selection_limit_a_given_diff() {
    let text = "--- /dev/null\n+++ b/new/x.txt\n@@ -0,0 +1 @@\n+x\n\
                --- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+c\n";
    let repository = repository();
    let opened = |only: &str| {
        let selection = Selection { paths: vec![only.to_owned()], untracked: false };
        assay_change::open(repository.path(), &given(text), &selection)
    };
    let files = |only: &str| opened(only).unwrap().files.len();
    assert_eq!((files("new"), files("b.txt"), files("src")), (1, 1, 0));
    assert!(opened("absent").is_err());
}

#[test]
fn all_files_are_new_lines_before_the_last_commit() {
    let repository = repository();
    repository.write("b.txt", "b\nuncommitted\n");
    repository.write("untracked.txt", "u\n");
    let change = open(repository.path(), Scope::WholeTree);
    expect![[r#"
        all files
        "README" +1 -0
        "b.txt" +2 -0
        "src/a.txt" +8 -0
    "#]]
    .assert_eq(&show(&change));
    assert!(change.is_in_work_tree() && change.is_whole_tree);
    assert_eq!(change.untracked, ["untracked.txt"]);
    assert_eq!(change.base().read(&path("b.txt")).unwrap().as_deref(), Some("b\n"));
}

#[test]
fn all_files_of_some_paths_and_of_a_repository_without_commits_are_a_change() {
    let selection = Selection { paths: vec!["src".to_owned()], untracked: true };
    let repository = repository();
    let change = assay_change::open(repository.path(), &Scope::WholeTree, &selection).unwrap();
    assert_eq!(show(&change), "all files of the given paths\n\"src/a.txt\" +8 -0\n");
    let empty = Repository::empty(&[]);
    empty.write("new.txt", "n\n");
    assert_eq!(show(&open(empty.path(), Scope::WholeTree)), "all files\n\"new.txt\" +1 -0\n");
}
