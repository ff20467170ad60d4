//! The findings of all reviews and their history: [`Ledger`], an SQLite database in one file, or
//! tables in PostgreSQL, which several machines share.
//!
//! [`record`] adds a review, [`query`] lists findings and their history, [`page`] lists runs and
//! findings page by page, [`known_finding`] returns the findings of given files,
//! [`branch_history`] returns the findings of a branch, [`facts`] returns the facts for statistics,
//! [`decision`] stores dismissals, [`copy`] copies a ledger, and [`prune`] removes old findings.
//! Only facts are written (a run reported a finding, a run checked and the finding was absent, a
//! user dismissed the finding). The [`FindingState`] of a finding is derived from the newest fact,
//! so neither the order nor the repetition of runs matters. The newest fact is the one with the
//! latest time of its run, not of its writing.
//!
//! Callers decide on the identity of a finding, and which review may report that a finding is gone:
//! the ledger gets a finding as a flat row and its JSON.
//!
//! The statements are the same for both databases; [`sql`] runs them, and [`schema`] creates the
//! tables.
//!
//! Reading opens a ledger in a file for writing: the readers of SQLite's write-ahead log share a
//! file that only a writer may remove. On a read-only file system, a ledger whose log is empty is
//! opened as an immutable file.

pub mod branch_history;
pub mod copy;
pub mod decision;
pub mod facts;
pub mod known_finding;
pub mod page;
pub mod prune;
pub mod query;
pub mod record;
mod schema;
mod sql;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_base::percent::encode_path;
use jiff::Timestamp;
use postgres::error::SqlState;
use rusqlite::config::DbConfig;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde::Serialize;

pub use self::sql::SqlError;
use self::sql::{PgConnection, SqlConnection, SqlResult};
use crate::postgres::{RetryMode, Server, is_unreachable};
use crate::task::Moment;

/// The maximum time to wait for another process that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The prefix of the temporary folder in which a new ledger is created.
const TEMP_PREFIX: &str = "ledger.db-new-";

/// The reason why a ledger could not be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The ledger cannot be opened, read or written.
    #[error("cannot access the ledger `{path}`")]
    Failed {
        /// The path of the ledger, or the address of its server.
        path: PathBuf,
        /// The error of the database.
        source: SqlError,
    },
    /// The server of the ledger cannot be reached.
    #[error("cannot reach the ledger `{path}`: {message}; check the server and its address")]
    Unreachable {
        /// The address of the server.
        path: PathBuf,
        /// The error of the connection.
        message: String,
    },
    /// The URL of the ledger is not valid.
    #[error("cannot use the URL of the ledger: {0}")]
    Url(String),
    /// The file of the ledger cannot be created.
    #[error("cannot create the ledger `{path}`")]
    Make {
        /// The path of the ledger.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another process holds the lock of the ledger.
    #[error("the ledger `{path}` is locked by another process; retry when that process has ended")]
    Busy {
        /// The path of the ledger.
        path: PathBuf,
    },
    /// The file is not a valid database.
    #[error(
        "the ledger `{path}` is damaged: {message}; move it away, and the next review creates a \
         new one"
    )]
    Damaged {
        /// The path of the ledger.
        path: PathBuf,
        /// The error of SQLite.
        message: String,
    },
    /// The file is a database of another program.
    #[error(
        "`{path}` is not a ledger of assay; move it away, and the next review creates a ledger"
    )]
    Foreign {
        /// The path of the file.
        path: PathBuf,
    },
    /// The schema in PostgreSQL has tables of another program.
    #[error(
        "the schema of the ledger `{path}` has tables of another program; name an own schema in \
         the URL of the ledger, such as `?options=-csearch_path%3Dassay_ledger`"
    )]
    ForeignTables {
        /// The address of the server.
        path: PathBuf,
    },
    /// An earlier version of assay wrote the ledger, and the ledger cannot be migrated because it
    /// cannot be written.
    #[error(
        "the ledger `{path}` has version {found}, and is not writable for the migration to version \
         {known}; run one review where it is writable"
    )]
    Older {
        /// The path of the ledger.
        path: PathBuf,
        /// The version of the ledger.
        found: i64,
        /// The version that this program needs.
        known: i64,
    },
    /// A later version of assay wrote the ledger.
    #[error(
        "the ledger `{path}` has version {found}, and this assay supports versions up to {known}; \
         update assay"
    )]
    Newer {
        /// The path of the ledger.
        path: PathBuf,
        /// The version of the ledger.
        found: i64,
        /// The newest version that this program supports.
        known: i64,
    },
}

/// The state of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingState {
    /// The finding was present in the last run that checked it.
    Open,
    /// The finding was absent in the last run that checked it.
    Gone,
    /// A user, the baseline or a comment in the code dismissed the finding.
    Dismissed,
}

impl FindingState {
    /// Returns the state as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            FindingState::Open => "open",
            FindingState::Gone => "gone",
            FindingState::Dismissed => "dismissed",
        }
    }
}

impl FromSql for FindingState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<FindingState> {
        let word = value.as_str()?;
        let known = [FindingState::Open, FindingState::Gone, FindingState::Dismissed];
        known.into_iter().find(|state| state.as_str() == word).ok_or(FromSqlError::InvalidType)
    }
}

/// The outcome of a finding in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingOutcome {
    /// The finding was present and reported.
    Raised,
    /// The finding was present, and the baseline or a comment in the code dismisses it.
    LeftAlone,
    /// The finding was present, and no reviewer was confident enough to report it.
    HeldBack,
    /// The finding was present, also before the change.
    PreExisting,
    /// The reviewers that had reported the finding checked again, and it was absent.
    Absent,
}

impl FindingOutcome {
    const ALL: [FindingOutcome; 5] = [
        FindingOutcome::Raised,
        FindingOutcome::LeftAlone,
        FindingOutcome::HeldBack,
        FindingOutcome::PreExisting,
        FindingOutcome::Absent,
    ];

    /// Returns the outcome as it is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            FindingOutcome::Raised => "raised",
            FindingOutcome::LeftAlone => "left_alone",
            FindingOutcome::HeldBack => "held_back",
            FindingOutcome::PreExisting => "pre_existing",
            FindingOutcome::Absent => "absent",
        }
    }
}

impl FindingOutcome {
    /// Returns an outcome by its stored word; `None` if there is no such outcome.
    fn from_word(word: &str) -> Option<FindingOutcome> {
        FindingOutcome::ALL.into_iter().find(|outcome| outcome.as_str() == word)
    }
}

impl ToSql for FindingOutcome {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for FindingOutcome {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<FindingOutcome> {
        FindingOutcome::from_word(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}

/// The fact that shows that a finding is absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AbsenceEvidence {
    /// The code that the finding quotes is no longer in the file, or the file is gone.
    CodeRemoved,
    /// The reviewers read the file again and did not report the finding. The code may be the same:
    /// a rule may have changed.
    NotReported,
}

impl AbsenceEvidence {
    const ALL: [AbsenceEvidence; 2] = [AbsenceEvidence::CodeRemoved, AbsenceEvidence::NotReported];

    fn as_str(self) -> &'static str {
        match self {
            AbsenceEvidence::CodeRemoved => "code_removed",
            AbsenceEvidence::NotReported => "not_reported",
        }
    }
}

impl ToSql for AbsenceEvidence {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for AbsenceEvidence {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<AbsenceEvidence> {
        let word = value.as_str()?;
        let found = AbsenceEvidence::ALL.into_iter().find(|evidence| evidence.as_str() == word);
        found.ok_or(FromSqlError::InvalidType)
    }
}

/// The key of a finding within its ledger.
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

// Timestamps are stored as milliseconds, so that they sort as numbers.
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
/// Several processes may use a ledger at a time. Each write is one transaction.
#[derive(Debug)]
pub struct Ledger {
    connection: SqlConnection,
    /// The path of the file, or the address of the server without user and password.
    path: PathBuf,
}

impl Ledger {
    /// Opens a ledger in PostgreSQL for writing, and creates its tables if they do not exist.
    /// Retries while the server restarts.
    pub fn open_database(url: &str) -> Result<Ledger, LedgerError> {
        let ledger = Ledger::connect_database(url, RetryMode::UntilRestarted)?;
        ledger.migrate()?;
        Ok(ledger)
    }

    /// Opens a ledger in PostgreSQL for reading. Returns `None` if there are no tables.
    pub fn open_database_to_read(url: &str) -> Result<Option<Ledger>, LedgerError> {
        let ledger = Ledger::connect_database(url, RetryMode::Never)?;
        match ledger.version()? {
            0 => Ok(None),
            _ => {
                ledger.migrate()?;
                Ok(Some(ledger))
            }
        }
    }

    fn connect_database(url: &str, mode: RetryMode) -> Result<Ledger, LedgerError> {
        let server = Server::parse(url).map_err(|error| LedgerError::Url(error.to_string()))?;
        let path = PathBuf::from(server.address());
        let connected = PgConnection::connect(server, mode);
        let connection = connected.map_err(|source| to_ledger_error(&path, source))?;
        Ok(Ledger { connection: SqlConnection::Postgres(Box::new(connection)), path })
    }

    /// Returns the number of changes of a ledger in PostgreSQL; `None` for a ledger in a file.
    pub fn revision(&self) -> Result<Option<i64>, LedgerError> {
        match &self.connection {
            SqlConnection::Sqlite(_) => Ok(None),
            SqlConnection::Postgres(_) => self.query(|connection| {
                let sql = "SELECT revision FROM assay_ledger";
                connection.query_row(sql, rusqlite::params![], |row| row.get(0)).map(Some)
            }),
        }
    }

    /// Opens a ledger for writing, and creates it if it does not exist.
    pub fn open(path: &Path) -> Result<Ledger, LedgerError> {
        if !path.exists() {
            create(path)?;
        }
        let ledger = Ledger::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_TIMEOUT)?;
        ledger.migrate()?;
        Ok(ledger)
    }

    /// Opens a ledger for reading. Returns `None` if there is none. No new file stays behind.
    pub fn open_to_read(path: &Path) -> Result<Option<Ledger>, LedgerError> {
        if !path.exists() {
            return Ok(None);
        }
        // Readers share memory in a file that the last reader removes, so they need write access.
        match Ledger::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_TIMEOUT) {
            Err(LedgerError::Failed { .. }) if is_log_empty(path) => {
                Ledger::connect_immutable(path).map(Some)
            }
            Err(error) => Err(error),
            Ok(ledger) if ledger.version()? == schema::VERSION => Ok(Some(ledger)),
            // The ledger has to be migrated before it can be read.
            Ok(_) => Ledger::open(path).map(Some),
        }
    }

    /// Opens a ledger for a server that reads while other processes write. The file and its log
    /// never change by this connection, neither while it is open nor when it is closed. Returns
    /// `None` if there is no ledger; fails if the ledger has to be migrated first.
    pub fn open_shared(path: &Path) -> Result<Option<Ledger>, LedgerError> {
        if !path.exists() {
            return Ok(None);
        }
        let ledger = Ledger::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, BUSY_TIMEOUT)?;
        ledger.query(|connection| match connection {
            SqlConnection::Sqlite(file) => {
                file.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
                Ok(file.pragma_update(None, "query_only", true)?)
            }
            SqlConnection::Postgres(_) => Ok(()),
        })?;
        match ledger.version()? {
            schema::VERSION => Ok(Some(ledger)),
            found => {
                let (path, known) = (path.to_owned(), schema::VERSION);
                Err(LedgerError::Older { path, found, known })
            }
        }
    }

    /// Opens a ledger as an immutable file, where no file can be written.
    fn connect_immutable(path: &Path) -> Result<Ledger, LedgerError> {
        let name = format!("file:{}?immutable=1", encode_path(path.as_os_str().as_encoded_bytes()));
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let ledger = Ledger::connect(Path::new(&name), flags, BUSY_TIMEOUT)?;
        match ledger.version()? {
            schema::VERSION => Ok(Ledger { path: path.to_owned(), ..ledger }),
            found => {
                let (path, known) = (path.to_owned(), schema::VERSION);
                Err(LedgerError::Older { path, found, known })
            }
        }
    }

    fn connect(
        path: &Path,
        mode: OpenFlags,
        busy_timeout: Duration,
    ) -> Result<Ledger, LedgerError> {
        let flags = mode | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let fail = |source: rusqlite::Error| to_ledger_error(path, source.into());
        let connection = Connection::open_with_flags(path, flags).map_err(fail)?;
        connection.busy_timeout(busy_timeout).map_err(fail)?;
        // Triggers and views in a manipulated file must not run.
        connection.pragma_update(None, "trusted_schema", false).map_err(fail)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(fail)?;
        let id = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        match connection.pragma_query_value(None, "application_id", id).map_err(fail)? {
            schema::APPLICATION => {
                Ok(Ledger { connection: SqlConnection::Sqlite(connection), path: path.to_owned() })
            }
            _ => Err(LedgerError::Foreign { path: path.to_owned() }),
        }
    }

    /// Returns the version of the tables; 0 if there are none. Fails if a later version of assay
    /// wrote them.
    fn version(&self) -> Result<i64, LedgerError> {
        let found = schema::version(&self.connection).map_err(|source| self.error(source))?;
        let known = schema::latest_version(&self.connection);
        match found > known {
            true => Err(LedgerError::Newer { path: self.path.clone(), found, known }),
            false => Ok(found),
        }
    }

    /// Migrates an older ledger.
    fn migrate(&self) -> Result<(), LedgerError> {
        if self.version()? == schema::latest_version(&self.connection) {
            return Ok(());
        }
        schema::migrate(&self.connection).map_err(|source| self.error(source))
    }

    fn error(&self, source: SqlError) -> LedgerError {
        to_ledger_error(&self.path, source)
    }

    fn query<T>(&self, query: impl Fn(&SqlConnection) -> SqlResult<T>) -> Result<T, LedgerError> {
        self.connection.read(query).map_err(|source| self.error(source))
    }

    /// Runs `work` in one transaction.
    fn write<T>(
        &mut self,
        work: impl Fn(&SqlConnection) -> SqlResult<T>,
    ) -> Result<T, LedgerError> {
        self.connection.write(work).map_err(|source| self.error(source))
    }
}

/// Returns true if the write-ahead log is empty, so that the file has the whole ledger.
fn is_log_empty(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    path.is_file() && !fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

/// Creates a new ledger in a temporary folder and links it into place as a whole. If two processes
/// create it, the first one wins.
fn create(path: &Path) -> Result<(), LedgerError> {
    let fail = |source| LedgerError::Make { path: path.to_owned(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    let draft = tempfile::Builder::new().prefix(TEMP_PREFIX).tempdir_in(folder).map_err(fail)?;
    let file = draft.path().join("ledger.db");
    schema::create(&file).map_err(|source| to_ledger_error(path, source.into()))?;
    match fs::hard_link(&file, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Not every file system supports hard links.
        Err(_) if !path.exists() => fs::rename(&file, path).map_err(fail),
        linked => linked.map_err(fail),
    }
}

fn to_ledger_error(path: &Path, source: SqlError) -> LedgerError {
    match source {
        SqlError::Sqlite(error) => file_error(path.to_owned(), error),
        SqlError::Postgres(error) => server_error(path.to_owned(), error),
        SqlError::Column { .. } | SqlError::Parameter(_) | SqlError::NoRow => {
            LedgerError::Failed { path: path.to_owned(), source }
        }
    }
}

fn server_error(path: PathBuf, error: postgres::Error) -> LedgerError {
    match error.code() {
        Some(&SqlState::LOCK_NOT_AVAILABLE) => LedgerError::Busy { path },
        Some(&SqlState::DUPLICATE_TABLE) => LedgerError::ForeignTables { path },
        _ if is_unreachable(&error) => {
            LedgerError::Unreachable { path, message: SqlError::from(error).to_string() }
        }
        _ => LedgerError::Failed { path, source: error.into() },
    }
}

fn file_error(path: PathBuf, source: rusqlite::Error) -> LedgerError {
    match source.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => LedgerError::Busy { path },
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            LedgerError::Damaged { path, message: source.to_string() }
        }
        None => LedgerError::Damaged { path, message: source.to_string() },
        Some(_) => LedgerError::Failed { path, source: source.into() },
    }
}

#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;
