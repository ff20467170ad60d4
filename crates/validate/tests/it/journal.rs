//! Tests of the journal: it is append-only, and every other change is noticed.

use std::fs;

use assay_store::durable_fs::fault::{self, Fault};
use assay_validate::event::{EpochReason, Event};
use assay_validate::file_names::JOURNAL;
use assay_validate::journal::{Journal, JournalError};
use assay_validate::tree_hash::TreeHash;
use tempfile::TempDir;

fn event(round: u32) -> Event {
    Event::ReviewBegun { round, tree: TreeHash(format!("tree {round}")) }
}

fn first_event() -> Event {
    Event::EpochBegun { why: EpochReason::First, base: None }
}

fn open(folder: &TempDir) -> Result<Journal, JournalError> {
    Journal::open(folder.path(), &folder.path().join("elsewhere/seal"))
}

/// Returns a folder whose journal has three lines.
fn written() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut journal = open(&folder).unwrap();
    journal.add("2026-01-01T00:00:00Z", first_event()).unwrap();
    journal.add("2026-01-01T00:00:01Z", event(1)).unwrap();
    journal.add("2026-01-01T00:00:02Z", event(2)).unwrap();
    folder
}

fn events(folder: &TempDir) -> Vec<Event> {
    Journal::read(folder.path()).unwrap().into_iter().map(|entry| entry.event).collect()
}

#[test]
fn written_events_are_read_back() {
    let folder = written();
    assert_eq!(events(&folder), [first_event(), event(1), event(2)]);
    let mut journal = open(&folder).unwrap();
    journal.add("2026-01-01T00:00:03Z", event(3)).unwrap();
    drop(journal);
    assert_eq!(events(&folder).len(), 4);
}

#[test]
fn a_truncated_last_line_is_discarded() {
    let folder = written();
    let path = folder.path().join(JOURNAL);
    let whole = fs::read(&path).unwrap();
    let two = whole.iter().rposition(|byte| *byte == b'\n').unwrap();
    let two = whole[..two].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for length in two..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        assert_eq!(events(&folder).len(), 2, "{length}");
        let mut journal = open(&folder).unwrap();
        journal.add("2026-01-01T00:00:03Z", event(7)).unwrap();
        drop(journal);
        assert_eq!(events(&folder)[2], event(7), "{length}");
    }
}

#[test]
fn an_edited_journal_is_refused_and_left_unchanged() {
    let folder = written();
    let path = folder.path().join(JOURNAL);
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let edits = [
        whole.replace("tree 1", "tree 9"),
        whole.replace("00:00:01Z", "00:00:09Z"),
        format!("{}\n{}\n", lines[0], lines[2]),
        format!("{}\n{}\n{}\n", lines[0], lines[2], lines[1]),
        format!("{}\n{}\n{}\n", lines[0], lines[1], lines[1]),
        whole.replacen('{', "", 1),
    ];
    for edited in edits {
        fs::write(&path, &edited).unwrap();
        assert!(matches!(open(&folder), Err(JournalError::Edited { .. })), "{edited}");
        assert_eq!(fs::read_to_string(&path).unwrap(), edited, "it is left as it is");
    }
}

#[test]
fn a_disk_that_fails_at_any_write_leaves_earlier_events_intact() {
    for (number, fault) in (1..=8).flat_map(|n| [(n, Fault::Full), (n, Fault::ReadOnly)]) {
        let folder = written();
        let mut journal = open(&folder).unwrap();
        fault::inject(number, fault);
        let failed = journal.add("2026-01-01T00:00:03Z", event(3));
        fault::clear();
        assert!(matches!(failed, Err(JournalError::Disk(_))), "{number}");
        journal.add("2026-01-01T00:00:04Z", event(4)).unwrap();
        drop(journal);
        assert_eq!(events(&folder).last(), Some(&event(4)), "{number}");
        assert_eq!(events(&folder).len(), 4, "{number}");
    }
}
