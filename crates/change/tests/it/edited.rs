//! The change of a work tree with unsaved texts is the change after saving them.

use std::collections::BTreeMap;

use assay_change::tree::UnsavedTexts;
use assay_change::{Change, EditedWorkTree, Scope, Selection};
use assay_testkit::Repository;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::path;

fn texts(files: &[(&str, &str)]) -> UnsavedTexts {
    files.iter().map(|(name, text)| (path(name), (*text).into())).collect()
}

/// Returns title, base, diff and texts of a change.
fn describe(change: &Change) -> String {
    let read = |name: &str| change.tree().read(&path(name)).unwrap();
    let texts: BTreeMap<&str, Option<String>> =
        change.files.iter().map(|file| (file.path(), read(file.path()))).collect();
    let base = change.base_revision();
    format!("{} {base:?} {:#?} {texts:#?} {:?}", change.title, change.files, change.untracked)
}

/// Checks that the change with unsaved texts is the change after they are saved.
fn check(repository: &Repository, base: Option<&str>, untracked: bool, unsaved: &UnsavedTexts) {
    let selection = Selection { untracked, ..Selection::default() };
    let mut edited = EditedWorkTree::open(repository.path(), base, &selection).unwrap();
    let before = describe(&edited.change(unsaved).unwrap());
    for (path, text) in unsaved {
        repository.write(path.as_str(), text.as_bytes());
    }
    let scope = Scope::on_top_of(base);
    let saved = assay_change::open(repository.path(), &scope, &selection).unwrap();
    assert_eq!(before, describe(&saved));
}

const CODE: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n";

fn repository() -> Repository {
    let repository = Repository::new();
    repository.write("a.txt", CODE);
    repository.write("b/c.txt", CODE);
    repository.commit("code");
    repository
}

#[test]
fn an_unsaved_text_changes_a_file_that_is_unchanged_on_disk() {
    check(&repository(), None, false, &texts(&[("a.txt", "one\n2\nthree\nfour\n")]));
}

#[test]
fn an_unsaved_text_replaces_the_diff_of_the_saved_one() {
    let repository = repository();
    repository.write("a.txt", CODE.replace("two", "2"));
    repository.write("b/c.txt", CODE.replace("five", "5"));
    check(&repository, None, false, &texts(&[("a.txt", &CODE.replace("seven", "7"))]));
}

#[test]
fn an_undone_edit_removes_its_file_from_the_change() {
    let repository = repository();
    repository.write("a.txt", CODE.replace("two", "2"));
    repository.write("b/c.txt", CODE.replace("five", "5"));
    check(&repository, None, false, &texts(&[("a.txt", CODE)]));
}

#[test]
fn the_last_undone_change_makes_the_last_commit_the_change() {
    let repository = repository();
    repository.write("a.txt", CODE.replace("two", "2"));
    check(&repository, None, false, &texts(&[("a.txt", CODE)]));
}

#[test]
fn a_branch_is_compared_with_the_place_where_it_left_the_default_branch() {
    let repository = repository();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("a.txt", CODE.replace("two", "2"));
    repository.commit("topic");
    check(&repository, None, false, &texts(&[("b/c.txt", "one\n")]));
    check(&repository, Some("HEAD"), false, &texts(&[("a.txt", "one\n")]));
}

#[test]
fn an_untracked_file_belongs_to_the_change_as_it_does_on_disk() {
    let repository = repository();
    repository.write("new.txt", "new\n");
    check(&repository, None, false, &texts(&[("new.txt", "new\nmore\n")]));
    check(&repository, None, true, &texts(&[("new.txt", "new\nmore\nlast")]));
    repository.write("a.txt", CODE.replace("two", "2"));
    check(&repository, None, false, &texts(&[("new.txt", "other\n")]));
}

#[test]
fn a_staged_new_file_and_a_deleted_one_have_their_unsaved_text() {
    let repository = repository();
    repository.write("new.txt", "new\n");
    repository.git(&["add", "new.txt"]);
    repository.remove("a.txt");
    check(&repository, None, false, &texts(&[("new.txt", "new\nmore\n"), ("a.txt", "one\n")]));
}

#[test]
fn a_deleted_file_with_its_old_text_is_not_in_the_change() {
    let repository = repository();
    repository.remove("a.txt");
    repository.write("b/c.txt", "one\n");
    check(&repository, None, false, &texts(&[("a.txt", CODE)]));
}

#[test]
fn an_executable_file_stays_executable() {
    let repository = repository();
    repository.write("run.sh", CODE);
    repository.git(&["add", "run.sh"]);
    repository.git(&["update-index", "--chmod=+x", "run.sh"]);
    repository.git(&["commit", "--quiet", "--message", "run"]);
    repository.git(&["checkout", "--force", "--quiet", "HEAD", "--", "run.sh"]);
    repository.git(&["reset", "--hard", "--quiet"]);
    check(&repository, None, false, &texts(&[("run.sh", "one\n")]));
}

#[test]
fn a_renamed_file_keeps_its_old_name() {
    let repository = repository();
    repository.git(&["mv", "a.txt", "z.txt"]);
    check(&repository, None, false, &texts(&[("z.txt", &CODE.replace("two", "2"))]));
}

#[test]
fn line_ends_that_git_converts_make_no_difference() {
    let repository = repository();
    repository.git(&["config", "core.autocrlf", "true"]);
    let text = CODE.replace("two", "2").replace('\n', "\r\n");
    check(&repository, None, false, &texts(&[("a.txt", &text)]));
}

#[test]
fn a_text_with_a_null_character_is_binary() {
    check(&repository(), None, false, &texts(&[("a.txt", "one\0two\n")]));
}

#[test]
fn all_files_are_new_without_a_commit() {
    let repository = Repository::empty(&[]);
    repository.write("a.txt", CODE);
    repository.git(&["add", "--all"]);
    check(&repository, None, false, &texts(&[("a.txt", "one\n")]));
}

#[test]
fn a_commit_and_a_staged_file_make_the_work_tree_stale() {
    let repository = repository();
    let open = || EditedWorkTree::open(repository.path(), None, &Selection::default()).unwrap();
    let tree = open();
    assert!(tree.is_current());
    repository.write("a.txt", "other\n");
    repository.git(&["add", "a.txt"]);
    assert!(!tree.is_current());
    let tree = open();
    repository.commit("other");
    assert!(!tree.is_current());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: assay_testenv::cases(12), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_unsaved_text_is_compared_as_a_saved_one(
        base in vec("[ab]{0,2}\r?", 0..12),
        saved in vec("[ab]{0,2}\r?", 0..12),
        unsaved in vec("[ab]{0,2}\r?", 0..12),
    ) {
        let repository = Repository::new();
        repository.write("a.txt", base.join("\n"));
        repository.commit("base");
        repository.write("a.txt", saved.join("\n"));
        check(&repository, None, false, &texts(&[("a.txt", &unsaved.join("\n"))]));
    }
}
