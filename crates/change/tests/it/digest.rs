//! The digest of a change: equal for equal changes, different for all others.

use assay_change::{Scope, Selection};
use assay_testkit::Repository;

fn digest(repository: &Repository) -> String {
    let selection = Selection { untracked: true, ..Selection::default() };
    assay_change::open(repository.path(), &Scope::Automatic, &selection).unwrap().digest()
}

#[test]
fn the_same_change_has_the_same_digest_and_any_byte_makes_another() {
    let repository = Repository::new();
    repository.write("README", "changed\n");
    repository.write("picture", b"\x00\x01\x02");
    let before = digest(&repository);
    assert_eq!(digest(&repository), before);
    repository.write("picture", b"\x00\x01\x03");
    let after_a_byte = digest(&repository);
    assert_ne!(after_a_byte, before, "also in what is no text");
    repository.write("new", "");
    let with_a_file = digest(&repository);
    assert_ne!(with_a_file, after_a_byte);
    repository.remove("new");
    assert_eq!(digest(&repository), after_a_byte);
}

#[test]
fn the_digest_of_a_link_depends_on_its_target() {
    let repository = Repository::new();
    std::os::unix::fs::symlink("README", repository.file("link")).unwrap();
    let before = digest(&repository);
    repository.remove("link");
    std::os::unix::fs::symlink("nowhere", repository.file("link")).unwrap();
    assert_ne!(digest(&repository), before);
}

#[test]
fn another_commit_has_another_digest() {
    let repository = Repository::new();
    repository.write("a", "1\n");
    repository.commit("one");
    let one = digest(&repository);
    assert_eq!(digest(&repository), one);
    repository.write("a", "2\n");
    repository.commit("two");
    assert_ne!(digest(&repository), one);
}
