//! All kinds of repositories that a folder can belong to.

use std::os::unix::fs::chown;

use assay_change::{Scope, Selection};
use expect_test::{Expect, expect};

use crate::support::{against, commits, open, path, show};
use assay_testkit::{Repository, git};

fn check(repository: &Repository, scope: Scope, expected: Expect) {
    expected.assert_eq(&show(&open(repository.path(), scope)));
}

fn error(folder: &std::path::Path) -> String {
    let error = assay_change::open(folder, &Scope::Automatic, &Selection::default()).unwrap_err();
    error.to_string().replace(folder.to_str().unwrap(), "FOLDER")
}

#[test]
fn a_branch_is_compared_with_its_merge_base() {
    let repository = Repository::new();
    repository.git(&["checkout", "--quiet", "-b", "topic"]);
    repository.write("a", "1\n2\n");
    repository.commit("topic");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write("b", "1\n");
    repository.commit("main goes on");
    repository.git(&["checkout", "--quiet", "topic"]);
    repository.write("README", "uncommitted\n");
    check(
        &repository,
        Scope::Automatic,
        expect![[r#"
        working tree against main
        "README" +1 -1
        "a" +2 -0
    "#]],
    );
    check(
        &repository,
        commits("main..topic"),
        expect![[r#"
        commits main..topic
        "a" +2 -0
    "#]],
    );
    let change = open(repository.path(), against("main"));
    assert_eq!(change.base().read(&path("README")).unwrap().as_deref(), Some("nothing to see\n"));
    assert_eq!(change.tree().read(&path("README")).unwrap().as_deref(), Some("uncommitted\n"));
    assert!(!change.base().exists(&path("b")).unwrap());
}

#[test]
fn staged_changes_are_compared_with_the_last_commit() {
    let repository = Repository::new();
    repository.write("README", "staged\n");
    repository.git(&["add", "README"]);
    repository.write("README", "not staged\n");
    check(
        &repository,
        Scope::Staged,
        expect![[r#"
        staged changes
        "README" +1 -1
    "#]],
    );
    let change = open(repository.path(), Scope::Staged);
    assert_eq!(change.base().read(&path("README")).unwrap().as_deref(), Some("nothing to see\n"));
    assert_eq!(change.tree().read(&path("README")).unwrap().as_deref(), Some("staged\n"));
}

#[test]
fn a_staged_conflict_is_marked_as_unread() {
    let repository = Repository::new();
    repository.git(&["checkout", "--quiet", "-b", "topic"]);
    repository.write("README", "theirs\n");
    repository.commit("theirs");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.write("README", "ours\n");
    repository.commit("ours");
    let merge = repository.try_git(&["merge", "--quiet", "topic"]);
    assert!(!merge.status.success());
    check(
        &repository,
        Scope::Staged,
        expect![[r#"
        staged changes
        "README" +0 -0 Unread(Merge)
    "#]],
    );
    check(
        &repository,
        against("HEAD"),
        expect![[r#"
        working tree against HEAD
        "README" +4 -0
    "#]],
    );
}

#[test]
fn a_repository_without_commits_is_all_new() {
    let repository = Repository::empty(&[]);
    repository.write("a", "1\n");
    repository.git(&["add", "a"]);
    let title = |title: &str| format!("{title}\n\"a\" +1 -0\n");
    for (scope, name) in [
        (Scope::Automatic, "all files, since nothing is committed yet"),
        (Scope::Staged, "staged changes"),
    ] {
        let change = open(repository.path(), scope);
        assert_eq!(show(&change), title(name));
        assert!(change.base().paths().unwrap().is_empty());
        assert_eq!(change.tree().read(&path("a")).unwrap().as_deref(), Some("1\n"));
    }
}

#[test]
fn a_worktree_is_a_repository_of_its_own() {
    let repository = Repository::new();
    let folder = tempfile::tempdir().unwrap();
    let worktree = folder.path().join("tree");
    repository.git(&["worktree", "add", "--quiet", "-b", "topic", worktree.to_str().unwrap()]);
    std::fs::write(worktree.join("README"), "edited\n").unwrap();
    let change = open(&worktree, Scope::Automatic);
    assert_eq!(show(&change), "working tree against main\n\"README\" +1 -1\n");
    assert_eq!(change.root, worktree.canonicalize().unwrap());
    assert_eq!(change.tree().read(&path("README")).unwrap().as_deref(), Some("edited\n"));
    assert_eq!(change.base().read(&path("README")).unwrap().as_deref(), Some("nothing to see\n"));
}

#[test]
fn a_sub_folder_opens_the_whole_repository() {
    let repository = Repository::new();
    repository.write("sub/a", "1\n");
    repository.write(".gitattributes", "a linguist-generated\n");
    repository.commit("second");
    repository.git(&["config", "diff.relative", "true"]);
    repository.write("sub/a", "2\n");
    repository.write("README", "edited\n");
    let change = open(&repository.path().join("sub"), against("HEAD"));
    expect![[r#"
        working tree against HEAD
        "README" +1 -1
        "sub/a" +1 -1 generated
    "#]]
    .assert_eq(&show(&change));
    for tree in [change.base(), change.tree()] {
        assert!(tree.exists(&path("sub/a")).unwrap());
        assert!(tree.paths().unwrap().contains(&path("README")));
    }
    let selection = Selection { paths: vec!["a".to_owned()], ..Selection::default() };
    let folder = repository.path().join("sub");
    let change = assay_change::open(&folder, &against("HEAD"), &selection).unwrap();
    assert_eq!(show(&change), "working tree against HEAD\n\"sub/a\" +1 -1 generated\n");
}

#[test]
fn a_shallow_clone_without_the_needed_commits_is_reported() {
    let repository = Repository::new();
    repository.git(&["checkout", "--quiet", "-b", "topic"]);
    repository.write("a", "1\n");
    repository.commit("topic");
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let url = format!("file://{}", repository.path().display());
    git(folder.path(), &["clone", "--quiet", "--depth=1", "--no-single-branch", &url, "clone"]);
    let error = |scope| {
        let error = assay_change::open(&clone, &scope, &Selection::default()).unwrap_err();
        error.to_string()
    };
    assert!(error(commits("HEAD")).contains("shallow clone: the parent of "));
    assert!(error(against("origin/main")).contains("`git fetch --unshallow`"));
    git(&clone, &["fetch", "--quiet", "--unshallow"]);
    let change = open(&clone, against("origin/main"));
    assert_eq!(show(&change), "working tree against origin/main\n\"a\" +1 -0\n");
}

#[test]
fn a_repository_with_sha_256_object_names_is_read() {
    let repository = Repository::empty(&["--object-format=sha256"]);
    repository.write(".gitattributes", "a linguist-generated\n");
    repository.write("a", "1\n");
    repository.commit("first");
    check(
        &repository,
        Scope::Automatic,
        expect![[r#"
        the last commit
        ".gitattributes" +1 -0
        "a" +1 -0
    "#]],
    );
    repository.write("a", "2\n");
    let change = open(repository.path(), Scope::Automatic);
    assert_eq!(show(&change), "uncommitted changes\n\"a\" +1 -1 generated\n");
    assert_eq!(change.base().read(&path("a")).unwrap().as_deref(), Some("1\n"));
}

#[test]
fn untracked_files_are_included_on_request() {
    let repository = Repository::new();
    repository.write("text", "1\n2");
    repository.write("binary", b"a\0b");
    repository.write("empty", "");
    std::os::unix::fs::symlink("/etc/passwd", repository.file("link")).unwrap();
    let nested = repository.file("nested/x");
    git(nested.parent().unwrap(), &["init", "--quiet"]);
    let selection = Selection { untracked: true, ..Selection::default() };
    let change = assay_change::open(repository.path(), &against("HEAD"), &selection).unwrap();
    expect![[r#"
        working tree against HEAD
        "binary" +0 -0 Binary
        "empty" +0 -0
        "link" +1 -0 Link
        "nested" +0 -0 Submodule
        "text" +2 -0
    "#]]
    .assert_eq(&show(&change));
    assert!(change.untracked.is_empty());
    assert_eq!(open(repository.path(), against("HEAD")).untracked.len(), 5);
}

#[test]
fn folders_without_a_usable_work_tree_give_different_errors() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(error(folder.path()), "`FOLDER` is not in a git repository");
    assert_eq!(error(&folder.path().join("gone")), "`FOLDER` is not in a git repository");
    git(folder.path(), &["init", "--quiet", "--bare"]);
    let no_work_tree = "`FOLDER` has no work tree: it is a bare repository, or git's own folder";
    assert_eq!(error(folder.path()), no_work_tree);
    assert_eq!(error(&Repository::new().path().join(".git")), no_work_tree);
    let stray = Repository::new();
    stray.git(&["config", "core.worktree", "/"]);
    assert_eq!(
        error(stray.path()),
        "the repository of `FOLDER` has its work tree at `/`, which has no `.git`; check \
         `core.worktree`"
    );
    let broken = Repository::new();
    broken.write(".git/config", "[");
    assert!(error(broken.path()).contains("bad config line"), "{}", error(broken.path()));
}

#[test]
fn a_repository_of_another_user_is_not_opened() {
    let repository = Repository::new();
    let others = [repository.path().to_owned(), repository.path().join(".git")];
    if others.iter().any(|path| chown(path, Some(12_345), None).is_err()) {
        println!("only root can give files away");
        return;
    }
    assert_eq!(
        error(repository.path()),
        "`FOLDER` belongs to another user; to trust only this repository, run `git config --global \
         --add safe.directory FOLDER`"
    );
}
