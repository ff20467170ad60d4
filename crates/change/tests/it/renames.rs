//! The renames of a change.

use assay_change::{Scope, Selection, open};
use assay_testkit::Repository;

const TEXT: &str = "one\ntwo\nthree\nfour\nfive\n";

fn check(repository: &Repository, scope: &Scope, paths: &[&str], expected: &[&str]) {
    let paths = paths.iter().map(ToString::to_string).collect();
    let selection = Selection { paths, ..Selection::default() };
    let renames = open(repository.path(), scope, &selection).unwrap().renames().unwrap();
    let found: Vec<String> = renames.iter().map(|(old, new)| format!("{old} > {new}")).collect();
    assert_eq!(found, expected, "{scope:?}");
}

fn renamed(repository: &Repository, from: &str, to: &str) {
    repository.git(&["mv", from, to]);
    repository.commit("renamed");
}

#[test]
fn renames_of_the_change_of_its_commits_and_of_uncommitted_files_are_found() {
    let repository = Repository::new();
    repository.write("old.py", TEXT);
    repository.write("away.py", TEXT.repeat(2).to_uppercase());
    repository.commit("before");
    renamed(&repository, "away.py", "merged.py");
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("new.py", TEXT.replace('o', "0"));
    repository.commit("a file of its own");
    renamed(&repository, "new.py", "newer.py");
    renamed(&repository, "newer.py", "n\u{e4}me \"x\".py");
    renamed(&repository, "old.py", "older.py");
    let committed =
        ["new.py > n\u{e4}me \"x\".py", "newer.py > n\u{e4}me \"x\".py", "old.py > older.py"];
    check(&repository, &Scope::Automatic, &[], &committed);
    check(&repository, &Scope::Automatic, &["older.py"], &committed);
    check(&repository, &Scope::Commits("HEAD".to_owned()), &[], &["old.py > older.py"]);
    repository.git(&["mv", "older.py", "oldest.py"]);
    let staged = ["older.py > oldest.py"];
    check(&repository, &Scope::Staged, &["oldest.py"], &staged);
    let all = [committed[0], committed[1], "old.py > oldest.py", staged[0]];
    check(&repository, &Scope::Against("main".to_owned()), &[], &all);
}

#[test]
fn a_deleted_file_is_not_the_source_of_a_later_rename() {
    let repository = Repository::new();
    repository.write("old.py", TEXT);
    repository.commit("before");
    repository.remove("old.py");
    repository.commit("gone");
    repository.write("new.py", TEXT);
    repository.commit("the same again");
    check(&repository, &Scope::Commits("HEAD".to_owned()), &[], &[]);
}
