//! Snapshots of the work tree: fingerprints, copies, and patches that are applied and reverted.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use assay_change::{GitError, ScratchWorktree, fingerprint};
use assay_testkit::Repository;
use tempfile::TempDir;

use crate::worktrees::plant;

fn fingerprint_of(repository: &Repository) -> String {
    let is_excluded = |path: &str| path.starts_with("logs/");
    let instead =
        |path: &str, _: &std::path::Path| (path == "plan.json").then(|| "plan".to_owned());
    fingerprint(repository.path(), &is_excluded, &instead).unwrap()
}

#[test]
fn the_fingerprint_changes_with_any_byte_mode_or_name_and_not_with_excluded_files() {
    let repository = Repository::new();
    repository.write(".gitignore", "target/\n");
    repository.write("a.bin", b"\x00\x01");
    let first = fingerprint_of(&repository);
    assert_eq!(fingerprint_of(&repository), first);
    repository.write("target/out", "x");
    repository.write("logs/run.log", "x");
    assert_eq!(fingerprint_of(&repository), first, "ignored, or left out");
    repository.write("plan.json", "{}");
    let with_plan = fingerprint_of(&repository);
    repository.write("plan.json", "{\"qa\": 1}");
    assert_eq!(fingerprint_of(&repository), with_plan, "something else stands for it");
    repository.write("a.bin", b"\x00\x02");
    let edited = fingerprint_of(&repository);
    assert_ne!(edited, with_plan);
    fs::set_permissions(repository.file("a.bin"), fs::Permissions::from_mode(0o755)).unwrap();
    let executable = fingerprint_of(&repository);
    assert_ne!(executable, edited);
    repository.commit("all of it");
    assert_eq!(
        fingerprint_of(&repository),
        executable,
        "whether it is committed makes no difference"
    );
    repository.remove("README");
    assert_ne!(fingerprint_of(&repository), executable);
}

/// Creates a scratch copy of a repository's work tree.
fn create_copy(repository: &Repository) -> (ScratchWorktree, TempDir) {
    let folder = TempDir::new().unwrap();
    (ScratchWorktree::create(repository.path(), &folder.path().join("bench")).unwrap(), folder)
}

fn read(repository: &Repository, name: &str) -> String {
    fs::read_to_string(repository.file(name)).unwrap()
}

const EXCLUDE_NONE: &dyn Fn(&str) -> bool = &|_| false;

#[test]
fn changes_on_a_copy_are_applied_as_one_patch() {
    let repository = Repository::new();
    repository.write("a.txt", "one\n");
    repository.commit("a");
    repository.write("a.txt", "one\ntwo\n");
    repository.write("new.txt", "not committed\n");
    let (status, head) =
        (repository.git(&["status", "--porcelain"]), repository.git(&["rev-parse", "HEAD"]));
    let (bench, _beside) = create_copy(&repository);
    assert_eq!(fs::read_to_string(bench.path().join("new.txt")).unwrap(), "not committed\n");
    assert_eq!(bench.patch().unwrap().files(repository.path()).unwrap(), [""; 0]);
    fs::write(bench.path().join("a.txt"), "one\nthree\n").unwrap();
    fs::write(bench.path().join("made.bin"), b"\x00\x01\x02").unwrap();
    fs::remove_file(bench.path().join("new.txt")).unwrap();
    assert_eq!(read(&repository, "a.txt"), "one\ntwo\n");
    let patch = bench.patch().unwrap();
    let folder = bench.path().to_owned();
    drop(bench);
    assert!(!folder.exists(), "the patch needs the bench no more");
    assert_eq!(patch.files(repository.path()).unwrap(), ["a.txt", "made.bin", "new.txt"]);
    patch.apply(repository.path(), EXCLUDE_NONE).unwrap();
    assert_eq!(read(&repository, "a.txt"), "one\nthree\n");
    assert_eq!(fs::read(repository.file("made.bin")).unwrap(), b"\x00\x01\x02");
    assert!(!repository.file("new.txt").exists());
    assert_eq!(repository.git(&["rev-parse", "HEAD"]), head, "nothing is committed");
    assert_ne!(repository.git(&["status", "--porcelain"]), status);
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn a_partly_applied_patch_can_be_applied_and_reverted_completely() {
    let repository = Repository::new();
    repository.write("a.txt", "one\n");
    repository.write("b.txt", "one\n");
    repository.commit("a");
    let before = fingerprint_of(&repository);
    let (bench, _beside) = create_copy(&repository);
    fs::write(bench.path().join("a.txt"), "two\n").unwrap();
    fs::write(bench.path().join("b.txt"), "two\n").unwrap();
    let patch = bench.patch().unwrap();
    // The process that applied the patch was killed after the first file.
    repository.write("a.txt", "two\n");
    patch.apply(repository.path(), EXCLUDE_NONE).unwrap();
    patch.apply(repository.path(), EXCLUDE_NONE).unwrap();
    assert_eq!(
        (read(&repository, "a.txt"), read(&repository, "b.txt")),
        ("two\n".into(), "two\n".into())
    );
    repository.write("a.txt", "one\n");
    patch.revert(repository.path(), EXCLUDE_NONE).unwrap();
    patch.revert(repository.path(), EXCLUDE_NONE).unwrap();
    assert_eq!(fingerprint_of(&repository), before);
}

#[test]
fn a_patch_replaces_a_folder_by_a_link_and_a_file_by_a_folder() {
    let repository = Repository::new();
    repository.write("folder/a.txt", "one\n");
    repository.write("file", "one\n");
    repository.commit("a");
    let before = fingerprint_of(&repository);
    let (bench, _beside) = create_copy(&repository);
    fs::remove_dir_all(bench.path().join("folder")).unwrap();
    std::os::unix::fs::symlink("/tmp", bench.path().join("folder")).unwrap();
    fs::remove_file(bench.path().join("file")).unwrap();
    fs::create_dir(bench.path().join("file")).unwrap();
    fs::write(bench.path().join("file/b.txt"), "two\n").unwrap();
    let patch = bench.patch().unwrap();
    patch.apply(repository.path(), EXCLUDE_NONE).unwrap();
    assert_eq!(fs::read_link(repository.file("folder")).unwrap().to_str(), Some("/tmp"));
    assert_eq!(read(&repository, "file/b.txt"), "two\n");
    patch.revert(repository.path(), EXCLUDE_NONE).unwrap();
    assert_eq!(fingerprint_of(&repository), before);
}

#[test]
fn files_excluded_from_a_patch_are_not_changed() {
    let repository = Repository::new();
    repository.write("a.txt", "one\n");
    repository.write("specs/001/spec.md", "one\n");
    let (bench, _beside) = create_copy(&repository);
    fs::write(bench.path().join("a.txt"), "two\n").unwrap();
    fs::write(bench.path().join("specs/001/spec.md"), "two\n").unwrap();
    let patch = bench.patch().unwrap();
    patch.apply(repository.path(), &|path| path.starts_with("specs/")).unwrap();
    assert_eq!(read(&repository, "a.txt"), "two\n");
    assert_eq!(read(&repository, "specs/001/spec.md"), "one\n");
}

#[test]
fn a_patch_is_refused_if_another_process_changed_one_of_its_files() {
    let repository = Repository::new();
    repository.write("a.txt", "one\n");
    repository.write("b.txt", "one\n");
    repository.commit("a");
    let (bench, _beside) = create_copy(&repository);
    fs::write(bench.path().join("a.txt"), "two\n").unwrap();
    fs::write(bench.path().join("b.txt"), "two\n").unwrap();
    repository.write("b.txt", "somebody else\n");
    let error =
        bench.patch().unwrap().apply(repository.path(), EXCLUDE_NONE).unwrap_err().to_string();
    assert_eq!(error, "another process changed `b.txt` meanwhile");
    assert_eq!(read(&repository, "a.txt"), "one\n");
}

#[test]
fn a_repository_without_a_commit_is_copied_too() {
    let repository = Repository::empty(&[]);
    repository.write("a.txt", "one\n");
    let (bench, _beside) = create_copy(&repository);
    assert_eq!(fs::read_to_string(bench.path().join("a.txt")).unwrap(), "one\n");
}

#[test]
fn leftovers_of_a_dead_process_do_not_block_a_new_copy() {
    let repository = Repository::new();
    let folder = TempDir::new().unwrap();
    let at = folder.path().join("bench");
    let bench = ScratchWorktree::create(repository.path(), &at).unwrap();
    fs::write(bench.path().join("left.txt"), "x").unwrap();
    // The copy is not cleaned up.
    std::mem::forget(bench);
    let bench = ScratchWorktree::create(repository.path(), &at).unwrap();
    assert!(!bench.path().join("left.txt").exists());
    fs::remove_dir_all(&at).unwrap();
    std::mem::forget(bench);
    ScratchWorktree::create(repository.path(), &at).unwrap();
}

#[test]
fn a_copy_with_a_replaced_git_folder_is_refused() {
    let repository = Repository::new();
    let (bench, _beside) = create_copy(&repository);
    fs::remove_file(bench.path().join(".git")).unwrap();
    plant(bench.path());
    assert!(matches!(bench.patch(), Err(GitError::Replaced { .. })));
    assert!(!bench.path().join("../ran").exists());
}

#[test]
fn a_repository_in_the_place_of_a_submodule_is_refused_and_none_of_its_programs_run() {
    let repository = Repository::new();
    let commit = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},sub")]);
    repository.git(&["commit", "--quiet", "-m", "with a submodule"]);
    fs::create_dir(repository.file("sub")).unwrap();
    let (bench, _beside) = create_copy(&repository);
    let files = bench.patch().unwrap().files(repository.path()).unwrap();
    assert_eq!(files, [""; 0], "an empty folder stands for a submodule");
    plant(&bench.path().join("sub"));
    assert!(matches!(bench.patch(), Err(GitError::Replaced { .. })));
    assert!(!bench.path().join("ran").exists());
}

#[test]
fn a_submodule_that_was_committed_on_a_copy_is_refused_too() {
    let repository = Repository::new();
    let (bench, _beside) = create_copy(&repository);
    plant(&bench.path().join("sub"));
    let entry = format!("160000,{},sub", repository.git(&["rev-parse", "HEAD"]));
    assay_testkit::git(bench.path(), &["update-index", "--add", "--cacheinfo", &entry]);
    assay_testkit::git(bench.path(), &["commit", "--quiet", "-m", "its own"]);
    // The commit of the test itself ran git in the folder, which left this file.
    let _ = fs::remove_file(bench.path().join("ran"));
    assert!(matches!(bench.patch(), Err(GitError::Replaced { .. })));
    assert!(!bench.path().join("ran").exists());
}

#[test]
fn the_files_of_a_nested_repository_are_part_of_the_fingerprint() {
    let repository = Repository::new();
    repository.write("nested/a.txt", "one\n");
    assay_testkit::git(&repository.file("nested"), &["init", "--quiet"]);
    let before = fingerprint_of(&repository);
    repository.write("nested/a.txt", "two\n");
    assert_ne!(fingerprint_of(&repository), before);
}

#[test]
fn a_patched_file_keeps_its_permissions() {
    let repository = Repository::new();
    repository.write("secret.sh", "one\n");
    fs::set_permissions(repository.file("secret.sh"), fs::Permissions::from_mode(0o600)).unwrap();
    let (bench, _beside) = create_copy(&repository);
    fs::write(bench.path().join("secret.sh"), "two\n").unwrap();
    bench.patch().unwrap().apply(repository.path(), EXCLUDE_NONE).unwrap();
    let mode = fs::metadata(repository.file("secret.sh")).unwrap().permissions().mode();
    assert_eq!((read(&repository, "secret.sh").as_str(), mode & 0o777), ("two\n", 0o600));
}

#[test]
fn other_work_trees_are_not_removed_even_if_they_are_unreachable() {
    let repository = Repository::new();
    let elsewhere = TempDir::new().unwrap();
    let folder = elsewhere.path().join("theirs");
    repository.git(&["worktree", "add", "--quiet", "--detach", folder.to_str().unwrap()]);
    fs::rename(&folder, elsewhere.path().join("unplugged")).unwrap();
    drop(create_copy(&repository));
    fs::rename(elsewhere.path().join("unplugged"), &folder).unwrap();
    assert_eq!(assay_testkit::git(&folder, &["status", "--porcelain"]), "");
}
