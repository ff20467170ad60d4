//! The tables and their migrations: [`migrate`], [`check`].

use postgres::Client;
use postgres::error::SqlState;

use super::pool::{Conn, OperationError, to_queue_error};
use super::server::Server;
use crate::queue::QueueError;

/// The migrations. A released migration is never changed.
const MIGRATIONS: [&str; 1] = [include_str!("sql/1-tables.sql")];

/// The statement that creates the table of finished migrations.
const CREATE_MIGRATIONS_TABLE: &str = "CREATE TABLE IF NOT EXISTS assay_migrations (version integer PRIMARY KEY, \
                    done timestamptz NOT NULL DEFAULT now())";

const VERSION: &str = "SELECT COALESCE(max(version), 0) FROM assay_migrations";

/// Returns the version of the tables that this program needs.
fn latest_version() -> i32 {
    i32::try_from(MIGRATIONS.len()).expect("there are few steps")
}

/// Brings the tables up to date and returns the number of migrations that ran.
///
/// A concurrent call waits, and then has nothing to do. The first schema of the search path is
/// created if none of them exists.
pub(super) fn migrate(server: &Server) -> Result<usize, QueueError> {
    let unreachable = |error: postgres::Error| QueueError::Unreachable { source: error.into() };
    let mut client = server.connect().map_err(|error| match error.as_db_error() {
        Some(_) => to_queue_error(&error),
        None => unreachable(error),
    })?;
    create_schema(&mut client).map_err(|error| to_queue_error(&error))?;
    // Two concurrent creations of the same table conflict, and the second attempt finds the table.
    if client.batch_execute(CREATE_MIGRATIONS_TABLE).is_err() {
        client.batch_execute(CREATE_MIGRATIONS_TABLE).map_err(|error| to_queue_error(&error))?;
    }
    let done = run_migrations(&mut client).map_err(|error| to_queue_error(&error))?;
    done.ok_or_else(newer_tables_error)
}

/// Runs the missing migrations in one transaction. Returns `None` if the database has more
/// migrations than this program knows.
fn run_migrations(client: &mut Client) -> Result<Option<usize>, postgres::Error> {
    let mut transaction = client.transaction()?;
    transaction.batch_execute("LOCK TABLE assay_migrations IN ACCESS EXCLUSIVE MODE")?;
    let done: i32 = transaction.query_one(VERSION, &[])?.get(0);
    if done > latest_version() {
        return Ok(None);
    }
    let mut taken = 0;
    for (version, step) in (1..).zip(MIGRATIONS).skip_while(|(version, _)| *version <= done) {
        transaction.batch_execute(step)?;
        transaction.execute("INSERT INTO assay_migrations (version) VALUES ($1)", &[&version])?;
        taken += 1;
    }
    transaction.commit()?;
    Ok(Some(taken))
}

/// Creates the first schema of the search path if none of them exists.
pub(crate) fn create_schema(client: &mut Client) -> Result<(), postgres::Error> {
    let there: Option<String> = client.query_one("SELECT current_schema()::text", &[])?.get(0);
    if there.is_some() {
        return Ok(());
    }
    let path: String = client.query_one("SHOW search_path", &[])?.get(0);
    let first = path.split(',').next().unwrap_or_default().trim();
    let quoted = if first.starts_with('"') { first.to_owned() } else { format!("\"{first}\"") };
    let make = format!("CREATE SCHEMA IF NOT EXISTS {quoted}");
    client.batch_execute(&make).or_else(|_| client.batch_execute(&make))
}

/// Returns the version of the tables. Fails if it is not the one that this program needs.
pub(super) fn check(conn: &mut Conn) -> Result<i32, OperationError> {
    let version: i32 = match conn.query(VERSION, &[]) {
        Ok(rows) => rows.first().map_or(0, |row| row.get(0)),
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => 0,
        Err(error) => return Err(error.into()),
    };
    let latest_version = latest_version();
    let found = match version {
        version if version == latest_version => return Ok(version),
        0 => "missing".to_owned(),
        version if version > latest_version => return Err(newer_tables_error().into()),
        version => format!("at version {version}, expected {latest_version}"),
    };
    Err(QueueError::NotMigrated { found }.into())
}

fn newer_tables_error() -> QueueError {
    QueueError::Database {
        message: "the queue tables are from a newer version of assay; update assay".to_owned(),
    }
}
