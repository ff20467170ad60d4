//! Durable file writes: atomic, by one writer at a time. Tests inject faults, which only
//! development builds support.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use assay_store::durable_fs::fault::{self, Fault};
use assay_store::durable_fs::{self, DiskError, Durability};
use expect_test::{Expect, expect};

/// Checks the fault points that an operation passes.
#[track_caller]
fn check(what: impl FnOnce(&Path) -> Result<(), DiskError>, writes: Expect) {
    let folder = tempfile::tempdir().unwrap();
    fault::inject(usize::MAX, Fault::Full);
    what(folder.path()).unwrap();
    writes.assert_eq(&fault::clear().join(", "));
}

#[test]
fn only_durable_writes_and_removals_are_synced_to_the_disk() {
    let write = |durability| {
        move |folder: &Path| durable_fs::write(&folder.join("state.json"), b"{}", durability)
    };
    check(write(Durability::Fsync), expect!["create, write, sync, rename, sync folder"]);
    check(write(Durability::PageCache), expect!["create, write, rename"]);
    check(|folder| durable_fs::remove(&folder.join("state.json")), expect!["remove"]);
    check(
        |folder| durable_fs::remove_synced(&folder.join("state.json")),
        expect!["remove, sync folder"],
    );
}

#[test]
fn every_created_folder_is_synced_to_the_disk() {
    check(
        |folder| durable_fs::make_folder(&folder.join("a/b")),
        expect!["folder, sync folder, folder, sync folder"],
    );
    check(durable_fs::make_folder, expect![""]);
}

#[test]
fn a_failed_write_leaves_the_file_complete_and_its_error_names_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    for number in 1..=5 {
        durable_fs::write(&path, b"before", Durability::Fsync).unwrap();
        fault::inject(number, Fault::ReadOnly);
        let error = durable_fs::write(&path, b"after", Durability::Fsync).unwrap_err();
        fault::clear();
        assert!(error.path.starts_with(folder.path()), "{error}");
        let now = durable_fs::read(&path).unwrap().unwrap();
        // Only the sync of the folder comes after the rename.
        let whole: &[u8] = if number < 5 { b"before" } else { b"after" };
        assert_eq!(now, whole, "at write {number}");
    }
}

#[test]
fn a_missing_file_or_folder_is_not_an_error() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(durable_fs::read(&folder.path().join("none")).unwrap(), None);
    assert_eq!(durable_fs::list_dir(&folder.path().join("none")).unwrap(), [""; 0]);
    durable_fs::remove_synced(&folder.path().join("none")).unwrap();
}

#[test]
fn a_lock_has_one_holder_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    fs::write(&path, "what is in it").unwrap();
    let first = durable_fs::lock(&path).unwrap();
    let (sender, locked) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(durable_fs::lock(&path).map(|_| ())));
        assert!(fs::File::open(&path).unwrap().try_lock().is_err());
        assert!(locked.try_recv().is_err());
        drop(first);
        locked.recv().unwrap().unwrap();
    });
    drop(durable_fs::lock(&path).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "what is in it");
}
