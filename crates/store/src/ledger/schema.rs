//! The tables of the ledger and their migrations.

use std::path::Path;

use rusqlite::{Connection, Transaction};

/// The SQLite application id of a ledger: `assa` in ASCII.
pub(super) const APPLICATION: i64 = 0x6173_7361;

/// The migrations, one for each version of the schema.
const MIGRATIONS: [&str; 3] =
    [include_str!("schema/1.sql"), include_str!("schema/2.sql"), include_str!("schema/3.sql")];

/// The current version of the schema.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Creates an empty ledger in a new file.
pub(super) fn create(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    let transaction = connection.transaction()?;
    migrate(&transaction)?;
    transaction.commit()?;
    // With a write-ahead log, readers and a writer do not block each other. If the file system does
    // not support the log, the journal mode stays, and readers and a writer wait for each other.
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Returns the version of a ledger.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Runs the missing migrations. Another process may have run them meanwhile.
pub(super) fn migrate(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let has = version(transaction)?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(has).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)
}
