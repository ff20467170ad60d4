//! Recorded changes, and the messages in them.

use std::collections::BTreeSet;
use std::path::PathBuf;

use assay_change::{RecordedChange, Scope, Selection, open};
use assay_findings::path::RepoPath;
use assay_testkit::Repository;

fn path(text: &str) -> RepoPath {
    RepoPath::exact(text).unwrap()
}

#[test]
fn a_recorded_change_opens_redacted_and_without_its_repository() {
    let repository = Repository::new();
    repository.write("a.txt", "one\ntwo\n");
    repository.write("helper.txt", "help\n");
    repository.write("gone.txt", "bye\n");
    repository.commit("before");
    repository.write("a.txt", "one\nsecret\n");
    repository.remove("gone.txt");
    repository.commit("replaces two\n\nIt was one too many.");
    let change =
        open(repository.path(), &Scope::Commits("HEAD".into()), &Selection::default()).unwrap();
    let clean = |text: &str| text.replace("secret", "[redacted]");
    let recorded = RecordedChange::record(&change, &BTreeSet::from([path("helper.txt")]), &clean);
    // The recording is serialized, as it would be for another machine.
    let text = serde_json::to_string(&recorded).unwrap();
    assert!(!text.contains("secret"), "{text}");
    drop(repository);
    let again = serde_json::from_str::<RecordedChange>(&text).unwrap().open(PathBuf::from("/none"));
    assert_eq!((&again.title, &again.files), (&change.title, &change.files));
    assert_eq!(again.messages(), ["replaces two\n\nIt was one too many."]);
    assert_eq!(again.tree().read(&path("a.txt")).unwrap().unwrap(), "one\n[redacted]\n");
    assert_eq!(again.base().read(&path("a.txt")).unwrap().unwrap(), "one\ntwo\n");
    assert_eq!(again.tree().read(&path("helper.txt")).unwrap().unwrap(), "help\n");
    assert!(
        !again.tree().exists(&path("gone.txt")).unwrap()
            && again.base().exists(&path("gone.txt")).unwrap()
    );
    assert!(again.checkout().is_err());
}

#[test]
fn a_change_has_the_messages_of_its_commits() {
    let repository = Repository::new();
    repository.git(&["switch", "--quiet", "--create", "topic"]);
    repository.write("a.txt", "one\n");
    repository.commit("adds one");
    repository.write("a.txt", "one\ntwo\n");
    repository.commit("adds two");
    let change = open(repository.path(), &Scope::Automatic, &Selection::default()).unwrap();
    assert_eq!(change.messages(), ["adds two", "adds one"]);
    repository.git(&["add", "--all"]);
    let staged = open(repository.path(), &Scope::Staged, &Selection::default()).unwrap();
    assert!(staged.messages().is_empty());
}
