//! Work trees of branches in separate folders.

use std::fs;

use assay_change::{GitError, Worktree};
use assay_testkit::Repository;

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
fn a_commit_of_a_worktree_is_on_its_branch_only() {
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
fn nothing_is_committed_if_nothing_changed() {
    let repository = topic();
    let before = repository.git(&["rev-parse", "topic"]);
    assert_eq!(open(&repository, "topic", None).unwrap().commit("nothing").unwrap(), None);
    assert_eq!(repository.git(&["rev-parse", "topic"]), before);
}

#[test]
fn a_checked_out_branch_is_updated_unless_it_has_uncommitted_changes() {
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
fn a_new_branch_starts_at_the_given_revision() {
    let repository = topic();
    assert!(matches!(open(&repository, "new", None), Err(GitError::UnknownRevision { .. })));
    assert!(matches!(open(&repository, "--bad", None), Err(GitError::BadBranch { .. })));
    let worktree = open(&repository, "new", Some("topic")).unwrap();
    fs::write(worktree.path().join("a.txt"), "two\n").unwrap();
    worktree.commit("new").unwrap();
    assert_eq!(repository.git(&["rev-parse", "new^"]), repository.git(&["rev-parse", "topic"]));
}

#[test]
fn a_branch_without_a_new_commit_is_not_created() {
    let repository = topic();
    assert_eq!(open(&repository, "new", Some("topic")).unwrap().commit("new").unwrap(), None);
    assert!(!repository.try_git(&["rev-parse", "--verify", "new"]).status.success());
}

#[test]
fn changed_files_are_listed_whether_committed_or_not() {
    let repository = topic();
    let worktree = open(&repository, "topic", None).unwrap();
    fs::write(worktree.path().join("b.txt"), "new\n").unwrap();
    assay_testkit::git(worktree.path(), &["add", "b.txt"]);
    assay_testkit::git(worktree.path(), &["commit", "--quiet", "-m", "its own"]);
    fs::remove_file(worktree.path().join("a.txt")).unwrap();
    assert_eq!(worktree.changed_files().unwrap(), ["a.txt", "b.txt"]);
    let long = "x".repeat(1 << 20);
    let commit = worktree.commit(&format!("a\0b\n\n{long}")).unwrap().unwrap();
    assert_eq!(repository.git(&["log", "--format=%s", "main..topic"]), "ab\nits own\na");
    drop(worktree);
    let again = open(&repository, "topic", None).unwrap();
    assert_eq!(again.message().unwrap(), format!("ab\n\n{long}"));
    assert_eq!(repository.git(&["rev-parse", "topic"]), commit);
}

/// Creates a repository in a folder whose settings write a file as soon as git compares its `bait`
/// with the staged version.
pub(crate) fn plant(folder: &std::path::Path) {
    fs::create_dir_all(folder).unwrap();
    assay_testkit::git(folder, &["init", "--quiet"]);
    fs::write(folder.join("bait"), "one\n").unwrap();
    assay_testkit::git(folder, &["add", "bait"]);
    fs::write(folder.join("bait"), "two\n").unwrap();
    let command = "touch ../ran; cat";
    assay_testkit::git(folder, &["config", "filter.evil.clean", command]);
    assay_testkit::git(folder, &["config", "core.fsmonitor", command]);
    fs::create_dir_all(folder.join(".git/info")).unwrap();
    fs::write(folder.join(".git/info/attributes"), "* filter=evil\n").unwrap();
}

#[test]
fn a_worktree_with_a_replaced_git_folder_is_refused() {
    let repository = topic();
    let worktree = open(&repository, "topic", None).unwrap();
    fs::remove_file(worktree.path().join(".git")).unwrap();
    plant(worktree.path());
    fs::write(worktree.path().join("a.txt"), "two\n").unwrap();
    assert!(matches!(worktree.commit("evil"), Err(GitError::Replaced { .. })));
    let path = worktree.path().to_owned();
    drop(worktree);
    assert!(!path.exists());
    assert!(!repository.path().join(".git/ran").exists());
}

#[test]
fn a_filter_that_was_set_up_meanwhile_is_not_run() {
    let repository = topic();
    let worktree = open(&repository, "topic", None).unwrap();
    let marker = repository.path().join("ran");
    let command = format!("touch {}; cat", marker.display());
    repository.git(&["config", "filter.evil.clean", &command]);
    fs::create_dir_all(repository.path().join(".git/info")).unwrap();
    fs::write(repository.path().join(".git/info/attributes"), "* filter=evil\n").unwrap();
    fs::write(worktree.path().join("a.txt"), "two\n").unwrap();
    worktree.commit("two").unwrap().unwrap();
    assert!(!marker.exists());
}

#[test]
fn a_repository_in_the_place_of_a_submodule_is_refused() {
    let repository = topic();
    let commit = repository.git(&["rev-parse", "main"]);
    let entry = format!("160000,{commit},sub");
    repository.git(&["update-index", "--add", "--cacheinfo", &entry]);
    repository.git(&["commit", "--quiet", "-m", "with a submodule"]);
    let worktree = open(&repository, "new", Some("main")).unwrap();
    plant(&worktree.path().join("sub"));
    assert!(matches!(worktree.commit("evil"), Err(GitError::Replaced { .. })));
    assert!(!worktree.path().join("ran").exists());
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
