//! What reviews found, over time: [`Ledger`], an embedded SQL store in one file.
//!
//! [`record`] adds a review to it, [`query`] asks what became of findings, [`known`] what is known of
//! some files, [`decision`] holds what somebody decided about them. What is written are facts (a run saw this, a run looked and it was
//! not there, somebody dismissed it); a finding's [`State`] is read off the newest of them, so
//! neither order nor repetition of runs matters.
//!
//! What a finding is, and which review may say that one is gone, is left to others: a finding comes
//! here as a flat row and its own JSON.
//!
//! The newest fact is the one with the latest time of its run, not of its writing.
//!
//! Reading opens the ledger for writing: the readers of SQLite's log share a file that only a
//! writer may remove. Where nothing may be written, a ledger whose log is empty is read as it lies.

pub mod decision;
pub mod known;
pub mod query;
pub mod record;
mod schema;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_base::percent::encode_path;
use jiff::Timestamp;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use serde::Serialize;

use crate::task::Moment;

/// So long a process waits for another one that writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a new ledger is called until it is whole.
const DRAFT: &str = "ledger.db-new-";

/// Why a ledger could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It cannot be opened, read or written.
    #[error("could not use the ledger `{path}`")]
    Failed {
        /// The file.
        path: PathBuf,
        /// Why.
        source: rusqlite::Error,
    },
    /// Its file cannot be made.
    #[error("could not make the ledger `{path}`")]
    Make {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process holds it.
    #[error("the ledger `{path}` is held by another process; try again when that is done")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// It is broken.
    #[error(
        "the ledger `{path}` is damaged: {message}; move it away, and the next review begins a new \
         one"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// It is somebody else's.
    #[error("`{path}` is no ledger of assay; move it away, and the next review begins one")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// An earlier version of assay wrote it, and it cannot be brought up to date where it lies.
    #[error(
        "the ledger `{path}` has version {found}, and it cannot be written to bring it to {known}; \
         review once where it can"
    )]
    Older {
        /// The file.
        path: PathBuf,
        /// The version that it has.
        found: i64,
        /// The version that is needed.
        known: i64,
    },
    /// A later version of assay wrote it.
    #[error(
        "the ledger `{path}` has version {found}, and this assay knows versions up to {known}; use \
         a newer assay"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version that it has.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
}

/// Where a finding stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It was there when somebody last looked.
    Open,
    /// Somebody looked again, and it was not there.
    Gone,
    /// Somebody decided to leave it.
    Dismissed,
}

impl State {
    /// Gives the state its word.
    pub fn as_str(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Gone => "gone",
            State::Dismissed => "dismissed",
        }
    }
}

/// What a run made of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was there, and was told.
    Raised,
    /// It was there, and the baseline or a comment in the code says to leave it.
    LeftAlone,
    /// It was there, and nobody was sure enough of it.
    HeldBack,
    /// It was there, and had been before the change.
    PreExisting,
    /// Those who had found it looked, and it was not there.
    Absent,
}

impl Outcome {
    const ALL: [Outcome; 5] = [
        Outcome::Raised,
        Outcome::LeftAlone,
        Outcome::HeldBack,
        Outcome::PreExisting,
        Outcome::Absent,
    ];

    /// Gives the outcome its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Raised => "raised",
            Outcome::LeftAlone => "left_alone",
            Outcome::HeldBack => "held_back",
            Outcome::PreExisting => "pre_existing",
            Outcome::Absent => "absent",
        }
    }
}

impl ToSql for Outcome {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for Outcome {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Outcome> {
        let word = value.as_str()?;
        let found = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == word);
        found.ok_or(FromSqlError::InvalidType)
    }
}

/// Names a finding within its ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FindingKey(i64);

impl ToSql for FindingKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for FindingKey {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<FindingKey> {
        value.as_i64().map(FindingKey)
    }
}

// Moments are kept as milliseconds, so that they are ordered as numbers are.
impl ToSql for Moment {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_millisecond().into())
    }
}

impl FromSql for Moment {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Moment> {
        let millis = value.as_i64()?;
        let moment = Timestamp::from_millisecond(millis).map(Moment);
        moment.map_err(|_| FromSqlError::OutOfRange(millis))
    }
}

/// The history of a repository's findings.
///
/// Several processes may use one at a time; each writes in one transaction, or not at all.
#[derive(Debug)]
pub struct Ledger {
    connection: Connection,
    path: PathBuf,
}

impl Ledger {
    /// Opens a ledger for writing; where there is none, a new one.
    pub fn open(path: &Path) -> Result<Ledger, LedgerError> {
        if !path.exists() {
            make(path)?;
        }
        let mut ledger = Ledger::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, PATIENCE)?;
        ledger.migrate()?;
        Ok(ledger)
    }

    /// Opens a ledger for reading, if there is one. Nothing stays behind that was not there.
    pub fn open_to_read(path: &Path) -> Result<Option<Ledger>, LedgerError> {
        if !path.exists() {
            return Ok(None);
        }
        // Readers share a little memory in a file, which the last one clears away; so they are
        // allowed to write.
        match Ledger::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, PATIENCE) {
            Err(LedgerError::Failed { .. }) if is_at_rest(path) => {
                Ledger::connect_at_rest(path).map(Some)
            }
            Err(error) => Err(error),
            Ok(ledger) if ledger.version()? == schema::VERSION => Ok(Some(ledger)),
            // It has to be written once before it can be read.
            Ok(_) => Ledger::open(path).map(Some),
        }
    }

    /// Opens a ledger where nothing may be written, not even for a moment.
    fn connect_at_rest(path: &Path) -> Result<Ledger, LedgerError> {
        let name = format!("file:{}?immutable=1", encode_path(path.as_os_str().as_encoded_bytes()));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let ledger = Ledger::connect(Path::new(&name), flags, PATIENCE)?;
        match ledger.version()? {
            schema::VERSION => Ok(Ledger { path: path.to_owned(), ..ledger }),
            found => {
                let (path, known) = (path.to_owned(), schema::VERSION);
                Err(LedgerError::Older { path, found, known })
            }
        }
    }

    fn connect(path: &Path, mode: OpenFlags, patience: Duration) -> Result<Ledger, LedgerError> {
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fail = |source| in_words(path, source);
        let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        connection.busy_timeout(patience).map_err(fail)?;
        // Whatever may stand in the file besides our tables is not run.
        connection.pragma_update(None, "trusted_schema", false).map_err(fail)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(fail)?;
        let ledger = Ledger { connection, path: path.to_owned() };
        ledger.check_owner()?;
        Ok(ledger)
    }

    fn check_owner(&self) -> Result<(), LedgerError> {
        let id = self.ask(|connection| {
            connection.pragma_query_value(None, "application_id", |row| row.get::<_, i64>(0))
        })?;
        match id {
            schema::APPLICATION => Ok(()),
            _ => Err(LedgerError::Foreign { path: self.path.clone() }),
        }
    }

    fn version(&self) -> Result<i64, LedgerError> {
        let found = self.ask(schema::version)?;
        match found > schema::VERSION {
            true => {
                let (path, known) = (self.path.clone(), schema::VERSION);
                Err(LedgerError::Newer { path, found, known })
            }
            false => Ok(found),
        }
    }

    /// Brings an older ledger up to date.
    fn migrate(&mut self) -> Result<(), LedgerError> {
        match self.version()? {
            schema::VERSION => Ok(()),
            _ => self.write(schema::migrate),
        }
    }

    fn ask<T>(
        &self,
        question: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, LedgerError> {
        question(&self.connection).map_err(|source| in_words(&self.path, source))
    }

    /// Writes all of something, or nothing.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, LedgerError> {
        let all = || {
            // Whoever means to write waits at the start, where waiting cannot lock anybody out.
            let begin = TransactionBehavior::Immediate;
            let transaction = self.connection.transaction_with_behavior(begin)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        all().map_err(|source| in_words(&self.path, source))
    }
}

/// Says whether all of a ledger is in its file, since nobody writes just now.
fn is_at_rest(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    path.is_file() && !fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// Makes a new ledger beside its place, and puts it there whole. Whoever comes second takes what the
/// first one made.
fn make(path: &Path) -> Result<(), LedgerError> {
    let fail = |source| LedgerError::Make { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    let draft = tempfile::Builder::new().prefix(DRAFT).tempdir_in(folder).map_err(fail)?;
    let file = draft.path().join("ledger.db");
    schema::make(&file).map_err(|source| in_words(path, source))?;
    match fs::hard_link(&file, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Not every file system has links.
        Err(_) if !path.exists() => fs::rename(&file, path).map_err(fail),
        linked => linked.map_err(fail),
    }
}

fn in_words(path: &Path, source: rusqlite::Error) -> LedgerError {
    let path = path.to_owned();
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Busy { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            LedgerError::Damaged { path, message: source.to_string() }
        }
        None => LedgerError::Damaged { path, message: source.to_string() },
        Some(_) => LedgerError::Failed { path, source },
    }
}

#[cfg(test)]
mod tests;
