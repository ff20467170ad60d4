//! The name of a repository.

use assay_change::repository_name;
use assay_testkit::Repository;

#[test]
fn a_repository_has_the_name_of_its_remote() {
    let repository = Repository::new();
    repository.git(&["remote", "add", "origin", "x"]);
    for (url, name) in [
        ("https://example.org/team/shop.git", "shop"),
        ("git@example.org:team/shop.git", "shop"),
        ("git@example.org:shop", "shop"),
        ("https://ada:secret@example.org/team/shop/", "shop"),
        ("../elsewhere/shop.git/", "shop"),
    ] {
        repository.git(&["remote", "set-url", "origin", url]);
        assert_eq!(repository_name(repository.path()).unwrap(), name, "{url}");
    }
}

#[test]
fn a_repository_without_a_remote_has_the_name_of_its_folder_in_every_work_tree() {
    let repository = Repository::new();
    let folder = repository.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(repository_name(repository.path()).unwrap(), folder);
    repository.git(&["worktree", "add", "--quiet", "beside"]);
    assert_eq!(repository_name(&repository.path().join("beside")).unwrap(), folder);
}

#[test]
fn a_folder_without_a_repository_has_no_name() {
    let folder = tempfile::tempdir().unwrap();
    assert!(repository_name(folder.path()).is_err());
}
