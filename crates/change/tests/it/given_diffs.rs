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

#[test]
fn the_diff_of_a_commit_on_its_parent_is_the_change_of_the_commit() {
    let repository = repository();
    repository.write("src/a.txt", &CODE.replace("five", "cinq\nfünf"));
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
