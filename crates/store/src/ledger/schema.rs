//! The tables of the ledger and their migrations, for SQLite and for PostgreSQL.

use std::path::Path;

use postgres::Client;
use rusqlite::Connection;

use super::sql::{PgConnection, SqlConnection, SqlResult};
use crate::postgres::create_schema;

/// The SQLite application id of a ledger: `assa` in ASCII.
pub(super) const APPLICATION: i64 = 0x6173_7361;

/// The migrations of SQLite, one for each version of the schema.
const MIGRATIONS: [&str; 5] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
];

/// The current version of the schema of SQLite.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

/// The migrations of PostgreSQL, one for each version of the schema.
const SERVER_MIGRATIONS: [&str; 3] = [
    include_str!("schema/postgres/1.sql"),
    include_str!("schema/postgres/2.sql"),
    include_str!("schema/postgres/3.sql"),
];

/// The lock of the migrations in a database, which is held until the end of the transaction.
const LOCK_MIGRATIONS: &str = "SELECT pg_advisory_xact_lock(hashtext('assay ledger'))::text";

/// The query for the table of the version. The catalog is read as it is now: `to_regclass` may
/// return an answer from before the wait for a lock.
const FIND_TABLE: &str = "SELECT count(*) FROM pg_tables
    WHERE tablename = 'assay_ledger' AND schemaname = current_schema()";

/// Creates an empty ledger in a new file.
pub(super) fn create(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    let transaction = connection.transaction()?;
    migrate_file(&transaction)?;
    transaction.commit()?;
    // With a write-ahead log, readers and a writer do not block each other. If the file system does
    // not support the log, the journal mode stays, and readers and a writer wait for each other.
    connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Returns the current version of the schema.
pub(super) fn latest_version(connection: &SqlConnection) -> i64 {
    match connection {
        SqlConnection::Sqlite(_) => VERSION,
        SqlConnection::Postgres(_) => SERVER_MIGRATIONS.len() as i64,
    }
}

/// Returns the version of a ledger; 0 if PostgreSQL has no tables of a ledger.
pub(super) fn version(connection: &SqlConnection) -> SqlResult<i64> {
    match connection {
        SqlConnection::Sqlite(file) => Ok(file_version(file)?),
        SqlConnection::Postgres(server) => server.with_client(server_version),
    }
}

/// Runs the missing migrations. Another process may have run them meanwhile.
pub(super) fn migrate(connection: &SqlConnection) -> SqlResult<()> {
    match connection {
        SqlConnection::Sqlite(_) => connection.write(|connection| match connection {
            SqlConnection::Sqlite(file) => Ok(migrate_file(file)?),
            SqlConnection::Postgres(_) => Ok(()),
        }),
        SqlConnection::Postgres(server) => migrate_server(server),
    }
}

fn file_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn migrate_file(transaction: &Connection) -> rusqlite::Result<()> {
    let has = file_version(transaction)?;
    for migration in MIGRATIONS.iter().skip(usize::try_from(has).unwrap_or(0)) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)
}

fn server_version(client: &mut Client) -> Result<i64, postgres::Error> {
    match client.query_one(FIND_TABLE, &[])?.get::<_, i64>(0) {
        0 => Ok(0),
        _ => {
            let version: i32 = client.query_one("SELECT version FROM assay_ledger", &[])?.get(0);
            Ok(version.into())
        }
    }
}

/// Runs the missing migrations of PostgreSQL in one transaction, after those of other processes.
fn migrate_server(server: &PgConnection) -> SqlResult<()> {
    server.with_client(|client| {
        create_schema(client)?;
        client.batch_execute("BEGIN")?;
        let done = run_server_migrations(client);
        client.batch_execute(if done.is_ok() { "COMMIT" } else { "ROLLBACK" })?;
        done
    })
}

fn run_server_migrations(client: &mut Client) -> Result<(), postgres::Error> {
    client.query_one(LOCK_MIGRATIONS, &[])?;
    let has = usize::try_from(server_version(client)?).unwrap_or(0);
    for migration in SERVER_MIGRATIONS.iter().skip(has) {
        client.batch_execute(migration)?;
    }
    let version = SERVER_MIGRATIONS.len() as i32;
    client.execute("UPDATE assay_ledger SET version = $1 WHERE version < $1", &[&version])?;
    Ok(())
}
