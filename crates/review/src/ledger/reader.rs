//! The ledger for a server that reads it for a long time: [`LedgerReader`].
//!
//! A lock for the whole time would keep reviews from recording, and a check of the seal for each
//! request would read the whole file each time. So the seal is checked when the ledger is opened,
//! and again after each change of its files; between two changes, the open connection is used. A
//! ledger in a database has no seal, and counts its changes itself.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use assay_change::state::State;
use assay_store::ledger::{Ledger, LedgerError};

use super::{LedgerUseError, STATE_KIND, open};

/// The size, identity and time of change of a ledger's files, or the number of changes of a ledger
/// in a database. A program that changes a file can reset the time of its modification, and not the
/// time of its change.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct LedgerStamp {
    database: Option<FileStamp>,
    log: Option<FileStamp>,
    /// The number of changes; `None` for a ledger in a file.
    revision: Option<i64>,
}

type FileStamp = (u64, u64, u64, i64, i64);

impl LedgerStamp {
    /// Returns the stamp of the files of a repository's ledger now, without a check of their seal.
    pub fn of_state(state: &State) -> LedgerStamp {
        LedgerStamp::of(&state.path(STATE_KIND))
    }

    fn of(path: &Path) -> LedgerStamp {
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        // An open connection leaves an empty log, which has no content.
        let log = fs::symlink_metadata(PathBuf::from(log)).ok().filter(|log| log.len() > 0);
        let database = fs::symlink_metadata(path).ok();
        let (database, log) = (database.as_ref().map(stamp), log.as_ref().map(stamp));
        LedgerStamp { database, log, revision: None }
    }
}

#[cfg(unix)]
fn stamp(file: &Metadata) -> FileStamp {
    use std::os::unix::fs::MetadataExt as _;
    (file.dev(), file.ino(), file.len(), file.ctime(), file.ctime_nsec())
}

#[cfg(not(unix))]
fn stamp(file: &Metadata) -> FileStamp {
    let since = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).ok();
    let time = file.modified().ok().and_then(since).unwrap_or_default();
    (0, 0, file.len(), time.as_secs() as i64, i64::from(time.subsec_nanos()))
}

/// A reader of a repository's ledger. Other processes can write while the reader is open.
#[derive(Debug)]
pub struct LedgerReader {
    state: State,
    open: Option<OpenFile>,
}

#[derive(Debug)]
struct OpenFile {
    stamp: LedgerStamp,
    /// The connection; `None` if there is no ledger.
    ledger: Option<Ledger>,
    /// The second connection; `None` once it is taken.
    second: Option<Ledger>,
}

impl LedgerReader {
    /// Creates a reader. The ledger is opened by the first access.
    pub fn new(state: State) -> LedgerReader {
        LedgerReader { state, open: None }
    }

    /// Returns the stamp of the ledger now, without a check of a seal. The stamp of a database that
    /// is not open or cannot be read is that of an absent ledger.
    pub fn stamp(&self) -> LedgerStamp {
        if self.state.ledger_url().is_none() {
            return LedgerStamp::of_state(&self.state);
        }
        let ledger = self.open.as_ref().and_then(|open| open.ledger.as_ref());
        let revision = ledger.and_then(|ledger| ledger.revision().ok().flatten());
        LedgerStamp { revision, ..LedgerStamp::default() }
    }

    /// Returns true if the files have not changed since their seal was checked, or if the database
    /// is open.
    pub fn is_current(&self) -> bool {
        let is_database = self.state.ledger_url().is_some();
        self.open.as_ref().is_some_and(|open| is_database || open.stamp == self.stamp())
    }

    /// Returns the ledger, whose seal was checked after the last change of its files; `None` if
    /// there is no ledger. Waits while another process writes.
    pub fn ledger(&mut self) -> Result<Option<&Ledger>, LedgerUseError> {
        if self.state.ledger_url().is_some() {
            // A database may get its tables at any time.
            if self.open.as_ref().is_none_or(|open| open.ledger.is_none()) {
                self.open = Some(self.open_database()?);
            }
        } else if !self.is_current() {
            // The old connection is closed first, so that a failure does not leave it in use.
            self.open = None;
            self.open = Some(self.open_checked()?);
        }
        Ok(self.open.as_ref().and_then(|open| open.ledger.as_ref()))
    }

    /// Returns a second connection to the ledger, for a long read beside others. It is returned once
    /// after each check; `None` if it is taken, or if there is no ledger.
    pub fn take_second(&mut self) -> Option<Ledger> {
        self.open.as_mut().and_then(|open| open.second.take())
    }

    fn open_checked(&self) -> Result<OpenFile, LedgerUseError> {
        match self.open_locked() {
            Err(LedgerUseError::Ledger(LedgerError::Older { .. })) => {
                drop(open(&self.state)?);
                self.open_locked()
            }
            opened => opened,
        }
    }

    fn open_database(&self) -> Result<OpenFile, LedgerUseError> {
        let open = || self.state.ledger_url().map_or(Ok(None), Ledger::open_database_to_read);
        let (ledger, second) = (open()?, open()?);
        Ok(OpenFile { stamp: LedgerStamp::default(), ledger, second })
    }

    /// Opens the ledger while no other process can write, and so as its seal describes it.
    fn open_locked(&self) -> Result<OpenFile, LedgerUseError> {
        let held = self.state.open(STATE_KIND)?.lock_unit("")?;
        let open = || match held.has_existed() {
            true => Ledger::open_shared(held.path()),
            false => Ok(None),
        };
        let (ledger, second) = (open()?, open()?);
        // SQLite sets the owner of the log when root opens the log, which changes its stamp. So the
        // stamp is read after all connections are open.
        Ok(OpenFile { stamp: self.stamp(), ledger, second })
    }
}

#[cfg(test)]
mod tests {
    use assay_store::ledger::record::{RunCost, RunRecord};
    use assay_testkit::Repository;

    use super::*;

    fn record(state: &State, id: &str) {
        let run = RunRecord {
            id: id.to_owned(),
            at: "2026-05-01T08:00:00Z".parse().unwrap(),
            change: "staged changes".into(),
            branch: None,
            head: None,
            verdict: "ready".into(),
            complete: true,
            cost: RunCost::default(),
            reports: Vec::new(),
            models: Vec::new(),
        };
        open(state).unwrap().record(&run, &[], &[]).unwrap();
    }

    fn runs(reader: &mut LedgerReader) -> Option<u64> {
        reader.ledger().unwrap().map(|ledger| ledger.runs().unwrap())
    }

    #[test]
    fn a_reader_sees_every_run_that_is_recorded_later_and_keeps_the_seal_valid() {
        let (repository, home) = (Repository::new(), tempfile::tempdir().unwrap());
        let state = State::new(repository.path(), Some(home.path()));
        let mut reader = LedgerReader::new(state.clone());
        assert_eq!(runs(&mut reader), None);
        for (count, id) in (1..).zip(["a", "b", "c"]) {
            record(&state, id);
            assert_eq!(runs(&mut reader), Some(count));
            assert_eq!(
                super::super::open_read_only(&state).unwrap().unwrap().runs().unwrap(),
                count
            );
        }
        drop(reader);
        assert_eq!(super::super::open_read_only(&state).unwrap().unwrap().runs().unwrap(), 3);
    }

    #[test]
    fn a_reader_stays_current_until_the_ledger_changes() {
        let (repository, home) = (Repository::new(), tempfile::tempdir().unwrap());
        let state = State::new(repository.path(), Some(home.path()));
        let mut reader = LedgerReader::new(state.clone());
        assert!(!reader.is_current());
        for (count, id) in (1..).zip(["a", "b", "c"]) {
            // The reader is open while the run is recorded, so that the log keeps its content.
            record(&state, id);
            assert!(!reader.is_current());
            assert_eq!(runs(&mut reader), Some(count));
            assert!(reader.is_current());
            assert_eq!(reader.take_second().unwrap().runs().unwrap(), count);
            assert!(reader.take_second().is_none());
            assert!(reader.is_current());
        }
    }

    #[test]
    fn a_ledger_that_another_program_changed_is_refused() {
        let (repository, home) = (Repository::new(), tempfile::tempdir().unwrap());
        let state = State::new(repository.path(), Some(home.path()));
        record(&state, "a");
        let mut reader = LedgerReader::new(state.clone());
        assert_eq!(runs(&mut reader), Some(1));
        let path = state.path(STATE_KIND);
        let mut bytes = fs::read(&path).unwrap();
        bytes.push(0);
        fs::write(&path, bytes).unwrap();
        let error = reader.ledger().unwrap_err().to_string();
        assert!(error.contains("another program changed the state"), "{error}");
    }
}
