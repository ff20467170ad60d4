//! Branches in folders of their own.

use std::fs;

use assay_change::{GitError, Worktree};
use assay_fakes::Repository;

fn topic() -> Repository {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("a.txt", "one\n");
    repository.commit("a");
    repository.git(&["switch", "--quiet", "main"]);
    repository
}

fn open(repository: &Repository, branch: &str, from: Option<&str>) -> Result<Worktree, GitError> {
    let root = repository.path();
    Worktree::open(root, &root.join(".git/assay-worktree"), branch, from)
}

#[test]
fn what_is_committed_is_on_the_branch_and_nowhere_else() {
    let repository = topic();
    let worktree = open(&repository, "topic", None).unwrap();
    fs::write(worktree.path().join("a.txt"), "two\n").unwrap();
    fs::write(worktree.path().join("b.txt"), "new\n").unwrap();
    let commit = worktree.commit("Mend a\n\nand b").unwrap().unwrap();
    let path = worktree.path().to_owned();
    drop(worktree);
    assert!(!path.exists());
    assert_eq!(repository.git(&["rev-parse", "topic"]), commit);
    assert_eq!(
        repository.git(&["show", "--format=%an", "--name-only", "topic"]),
        "assay\n\na.txt\nb.txt"
    );
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn nothing_is_committed_where_nothing_changed() {
    let repository = topic();
    let before = repository.git(&["rev-parse", "topic"]);
    assert_eq!(open(&repository, "topic", None).unwrap().commit("nothing").unwrap(), None);
    assert_eq!(repository.git(&["rev-parse", "topic"]), before);
}

#[test]
fn a_branch_that_somebody_has_before_them_follows_unless_they_work_on_it() {
    let repository = topic();
    repository.git(&["switch", "--quiet", "topic"]);
    let change = |text: &str| {
        let worktree = open(&repository, "topic", None).unwrap();
        fs::write(worktree.path().join("a.txt"), text).unwrap();
        worktree.commit("change")
    };
    change("two\n").unwrap();
    assert_eq!(fs::read_to_string(repository.path().join("a.txt")).unwrap(), "two\n");
    repository.write("a.txt", "my own\n");
    assert!(matches!(change("three\n"), Err(GitError::BusyBranch { .. })));
    assert_eq!(fs::read_to_string(repository.path().join("a.txt")).unwrap(), "my own\n");
}

#[test]
fn a_branch_that_is_not_there_begins_where_it_is_told_to() {
    let repository = topic();
    assert!(matches!(open(&repository, "new", None), Err(GitError::UnknownRevision { .. })));
    assert!(matches!(open(&repository, "--bad", None), Err(GitError::BadBranch { .. })));
    drop(open(&repository, "new", Some("topic")).unwrap());
    assert_eq!(repository.git(&["rev-parse", "new"]), repository.git(&["rev-parse", "topic"]));
}

#[test]
fn a_folder_that_a_crash_left_behind_is_taken_over() {
    let repository = topic();
    let first = open(&repository, "topic", None).unwrap();
    fs::write(first.path().join("a.txt"), "half done\n").unwrap();
    std::mem::forget(first);
    let second = open(&repository, "topic", None).unwrap();
    assert_eq!(fs::read_to_string(second.path().join("a.txt")).unwrap(), "one\n");
}
