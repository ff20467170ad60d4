//! The files before and after a change.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use assay_change::tree::DirTree;
use assay_change::{Change, Scope};
use assay_findings::grounding::Tree;

use crate::support::{against, commits, open, path};
use assay_testkit::Repository;

/// Names that are hard to address.
const ODD_NAMES: [&[u8]; 11] = [
    b"a b",
    b"tab\there",
    b"line\nbreak",
    b"return\r",
    b"\"quoted\"",
    b"back\\slash",
    b"1:stage",
    b"-option",
    "\u{e4}\u{2603}".as_bytes(),
    b"latin-\xe9",
    b"latin-\xe8",
];

fn is_shared_by_threads<T: Sync>(_: &T) {}

#[test]
fn every_file_is_read_whatever_its_name() {
    let repository = Repository::new();
    for name in ODD_NAMES {
        repository.write(OsStr::from_bytes(name), name);
    }
    repository.commit("odd names");
    for name in ODD_NAMES {
        repository.write(OsStr::from_bytes(name), [name, b"\nmore"].concat());
    }
    let change = open(repository.path(), against("HEAD"));
    assert_eq!(change.files.len(), ODD_NAMES.len());
    repository.git(&["add", "--all"]);
    let staged = open(repository.path(), Scope::Staged);
    let text = |name: &[u8], more: &str| format!("{}{more}", String::from_utf8_lossy(name));
    let mut found = BTreeSet::new();
    for file in &change.files {
        let at = path(file.path());
        let before = change.base().read(&at).unwrap().unwrap();
        let name = ODD_NAMES.into_iter().find(|name| text(name, "") == before).unwrap();
        let after = text(name, "\nmore");
        assert_eq!(change.tree().read(&at).unwrap().as_deref(), Some(after.as_str()), "{at:?}");
        assert_eq!(staged.tree().read(&at).unwrap().as_deref(), Some(after.as_str()), "{at:?}");
        for tree in [change.base(), change.tree(), staged.tree()] {
            assert!(tree.exists(&at).unwrap(), "{at:?}");
            assert!(tree.paths().unwrap().contains(&at), "{at:?}");
        }
        found.insert(file.path());
    }
    assert_eq!(found.len(), ODD_NAMES.len(), "no two names look alike");
}

#[test]
fn a_path_that_is_no_file_of_the_tree_does_not_exist() {
    let repository = Repository::new();
    repository.write("folder/x", "1\n");
    repository.commit("folder");
    let change = open(repository.path(), commits("HEAD"));
    for name in ["folder", "gone", "README/x", "x\0y", "README\0", "gone\nx", "folder\n", ".."] {
        let Ok(at) = assay_findings::path::RepoPath::exact(name) else { continue };
        assert!(!change.tree().exists(&at).unwrap(), "{name:?}");
        assert_eq!(change.tree().read(&at).unwrap(), None, "{name:?}");
    }
    // The process still answers.
    assert_eq!(change.tree().read(&path("folder/x")).unwrap().as_deref(), Some("1\n"));
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let repository = Repository::new();
    repository.write("large", vec![b'x'; (16 << 20) + 1]);
    repository.write("largest", vec![b'x'; 16 << 20]);
    repository.commit("large");
    for change in
        [open(repository.path(), commits("HEAD")), open(repository.path(), against("HEAD^"))]
    {
        assert_eq!(change.tree().read(&path("large")).unwrap(), None);
        assert!(change.tree().exists(&path("large")).unwrap());
        assert_eq!(
            change.tree().read(&path("largest")).unwrap().map(|text| text.len()),
            Some(16 << 20)
        );
        assert_eq!(
            change.tree().read(&path("README")).unwrap().as_deref(),
            Some("nothing to see\n")
        );
    }
}

#[test]
fn trees_answer_several_threads_at_once() {
    let repository = Repository::new();
    for number in 0..20 {
        repository.write(format!("{number}"), format!("{number}\n"));
    }
    repository.commit("many");
    let change: Change = open(repository.path(), commits("HEAD"));
    is_shared_by_threads(&change);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let tree: &dyn Tree = change.tree();
                for number in 0..20 {
                    let at = path(&number.to_string());
                    assert_eq!(tree.read(&at).unwrap(), Some(format!("{number}\n")));
                    assert!(!change.base().exists(&at).unwrap());
                }
            });
        }
    });
}

#[test]
fn a_work_tree_lists_tracked_files_and_untracked_files_that_are_not_ignored() {
    let repository = Repository::new();
    repository.write(".gitignore", "built/\n*.log\n");
    repository.write("gone", "1\n");
    repository.write("kept.log", "1\n");
    repository.git(&["add", "--force", "kept.log"]);
    repository.commit("first");
    repository.remove("gone");
    repository.write("built/a", "1\n");
    repository.write("other.log", "1\n");
    repository.write("new/b", "1\n");
    let change = open(repository.path(), against("HEAD"));
    let listed: Vec<String> =
        change.tree().paths().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!(listed, [".gitignore", "README", "kept.log", "new/b"]);
    assert!(change.tree().exists(&path("built/a")).unwrap());
    let folder = DirTree::new(repository.path().join("built"));
    assert_eq!(folder.paths().unwrap(), [path("a")]);
}
