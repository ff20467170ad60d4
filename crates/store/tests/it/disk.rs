//! Durable file writes: atomic, by one writer at a time. Tests inject faults, which only
//! development builds support.

use std::fs;
use std::path::Path;
use std::sync::mpsc;
use std::thread;

use assay_store::disk::fault::{self, Fault};
use assay_store::disk::{self, DiskError, Sure};
use expect_test::{Expect, expect};

/// Checks the fault points that an operation passes.
#[track_caller]
fn check(what: impl FnOnce(&Path) -> Result<(), DiskError>, writes: Expect) {
    let folder = tempfile::tempdir().unwrap();
    fault::at(usize::MAX, Fault::Full);
    what(folder.path()).unwrap();
    writes.assert_eq(&fault::none().join(", "));
}

#[test]
fn a_file_that_is_to_survive_the_machine_waits_for_the_disk_and_others_do_not() {
    let write = |sure| move |folder: &Path| disk::write(&folder.join("state.json"), b"{}", sure);
    check(write(Sure::OnDisk), expect!["create, write, sync, rename, sync folder"]);
    check(write(Sure::InMemory), expect!["create, write, rename"]);
    check(|folder| disk::remove(&folder.join("state.json")), expect!["remove"]);
    check(|folder| disk::remove_surely(&folder.join("state.json")), expect!["remove, sync folder"]);
}

#[test]
fn every_folder_that_is_made_is_brought_to_the_disk() {
    check(
        |folder| disk::make_folder(&folder.join("a/b")),
        expect!["folder, sync folder, folder, sync folder"],
    );
    check(disk::make_folder, expect![""]);
}

#[test]
fn a_disk_that_takes_no_more_leaves_a_file_whole_and_names_what_it_could_not_use() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.json");
    for number in 1..=5 {
        disk::write(&path, b"before", Sure::OnDisk).unwrap();
        fault::at(number, Fault::ReadOnly);
        let told = disk::write(&path, b"after", Sure::OnDisk).unwrap_err();
        fault::none();
        assert!(told.path.starts_with(folder.path()), "{told}");
        let now = disk::read(&path).unwrap().unwrap();
        // Only the sync of the folder comes after the rename.
        let whole: &[u8] = if number < 5 { b"before" } else { b"after" };
        assert_eq!(now, whole, "at write {number}");
    }
}

#[test]
fn a_file_and_a_folder_that_are_not_there_are_nothing() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(disk::read(&folder.path().join("none")).unwrap(), None);
    assert_eq!(disk::names(&folder.path().join("none")).unwrap(), [""; 0]);
    disk::remove_surely(&folder.path().join("none")).unwrap();
}

#[test]
fn one_at_a_time_has_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    fs::write(&path, "what is in it").unwrap();
    let first = disk::lock(&path).unwrap();
    let (sender, locked) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(disk::lock(&path).map(|_| ())));
        assert!(fs::File::open(&path).unwrap().try_lock().is_err());
        assert!(locked.try_recv().is_err());
        drop(first);
        locked.recv().unwrap().unwrap();
    });
    drop(disk::lock(&path).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), "what is in it");
}
