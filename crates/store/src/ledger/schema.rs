//! The ledger's tables, and how an older ledger gets them.

use std::path::Path;

use rusqlite::{Connection, Transaction};

/// Tells a ledger from any other database: `assa`.
pub(super) const APPLICATION: i64 = 0x6173_7361;

/// What each version of the schema adds to the one before.
const MIGRATIONS: [&str; 1] = [include_str!("schema/1.sql")];

/// The version of the schema.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// Makes a ledger with nothing in it, in a file of its own.
pub(super) fn make(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    let transaction = connection.transaction()?;
    migrate(&transaction)?;
    transaction.commit()?;
    // Readers and a writer do not wait for each other. Where the file system cannot do that, the
    // journal stays as it is, and they do.
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Gives the version that a ledger has.
pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Adds what a ledger lacks; somebody else may have done so meanwhile.
pub(super) fn migrate(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let has = version(transaction)?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(has).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)
}
