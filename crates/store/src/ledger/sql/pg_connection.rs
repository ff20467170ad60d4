//! A connection to a ledger in PostgreSQL: [`PgConnection`].
//!
//! Each operation is a transaction. Writers run one after the other: each of them first updates the
//! row of `assay_ledger`, which counts the changes of the ledger. An operation whose connection
//! breaks before its end had no effect, and runs again on a new connection.

use std::cell::{RefCell, RefMut};
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use assay_base::clock::Stopwatch;
use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use rusqlite::types::Value;

use super::pg_value::PgParameter;
use super::translation::{TranslatedSql, translate};
use super::{ParameterValues, SqlError, SqlResult};
use crate::postgres::{CONNECT_BACKOFF, RETRY_TIMEOUT, RetryMode, Server, is_unreachable};

/// The settings of a connection. The timeout ends the wait for a writer that hangs.
const SESSION_SETTINGS: &str = "SET client_min_messages = warning; SET lock_timeout = '20s'";

/// The start of a transaction whose queries see one state of the ledger.
const BEGIN_READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

/// The start of a transaction that writes. Its lock is held until the end of the transaction.
const BEGIN_WRITE: &str = "BEGIN; UPDATE assay_ledger SET revision = revision + 1";

/// A connection to the server of a ledger.
pub(in super::super) struct PgConnection {
    server: Server,
    /// The mode of attempts to connect again.
    mode: RetryMode,
    session: RefCell<PgSession>,
}

struct PgSession {
    client: Client,
    prepared: HashMap<String, Arc<PreparedSql>>,
}

struct PreparedSql {
    statement: Statement,
    /// The names of the parameters, in the order of their numbers.
    names: Vec<String>,
}

impl PgConnection {
    /// Connects to a server.
    pub(in super::super) fn connect(server: Server, mode: RetryMode) -> SqlResult<PgConnection> {
        let since = Stopwatch::start();
        let session = RefCell::new(connect(&server, mode, &since)?);
        Ok(PgConnection { server, mode, session })
    }

    /// Runs `act` in a transaction that reads.
    pub(super) fn read<T>(&self, act: impl Fn() -> SqlResult<T>) -> SqlResult<T> {
        self.retry(|| {
            self.batch(BEGIN_READ)?;
            let done = self.or_roll_back(act())?;
            self.batch("COMMIT")?;
            Ok(done)
        })
    }

    /// Runs `act` in a transaction that writes. A commit whose reply is lost is not repeated.
    pub(super) fn write<T>(&self, act: impl Fn() -> SqlResult<T>) -> SqlResult<T> {
        let done = self.retry(|| {
            self.or_roll_back(self.batch(BEGIN_WRITE))?;
            self.or_roll_back(act())
        })?;
        self.batch("COMMIT")?;
        Ok(done)
    }

    /// Runs statements without parameters.
    pub(in super::super) fn batch(&self, sql: &str) -> SqlResult<()> {
        Ok(self.session().client.batch_execute(sql)?)
    }

    /// Runs `act` on the client of the connection.
    pub(in super::super) fn with_client<T>(
        &self,
        act: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> SqlResult<T> {
        Ok(act(&mut self.session().client)?)
    }

    /// Prepares a statement in the dialect of SQLite.
    pub(super) fn prepare(&self, sql: &str) -> SqlResult<PgStatement<'_>> {
        let mut session = self.session();
        if let Some(prepared) = session.prepared.get(sql) {
            return Ok(PgStatement { connection: self, prepared: Arc::clone(prepared) });
        }
        let TranslatedSql { sql: translated, names } = translate(sql);
        let statement = session.client.prepare(&translated)?;
        let prepared = Arc::new(PreparedSql { statement, names });
        session.prepared.insert(sql.to_owned(), Arc::clone(&prepared));
        Ok(PgStatement { connection: self, prepared })
    }

    fn session(&self) -> RefMut<'_, PgSession> {
        self.session.borrow_mut()
    }

    fn or_roll_back<T>(&self, result: SqlResult<T>) -> SqlResult<T> {
        if result.is_err() {
            // If the connection is broken, the server ends the transaction.
            let _ = self.batch("ROLLBACK");
        }
        result
    }

    /// Runs `act`, and again on a new connection while the connection breaks.
    fn retry<T>(&self, act: impl Fn() -> SqlResult<T>) -> SqlResult<T> {
        let since = Stopwatch::start();
        loop {
            let error = match act() {
                Err(SqlError::Postgres(error)) => error,
                done => return done,
            };
            let is_broken = self.session().client.is_closed() || is_unreachable(&error);
            if !is_broken || since.elapsed() > RETRY_TIMEOUT {
                return Err(error.into());
            }
            tracing::debug!("the connection to the ledger is broken, reconnecting");
            *self.session() = connect(&self.server, self.mode, &since)?;
        }
    }
}

/// Opens a connection. With [`RetryMode::UntilRestarted`], retries while the server cannot be
/// reached.
fn connect(server: &Server, mode: RetryMode, since: &Stopwatch) -> SqlResult<PgSession> {
    let mut retries = 0;
    loop {
        let opened = server.open().and_then(|mut client| {
            client.batch_execute(SESSION_SETTINGS)?;
            Ok(client)
        });
        let error = match opened {
            Ok(client) => return Ok(PgSession { client, prepared: HashMap::new() }),
            Err(error) => error,
        };
        let delay = CONNECT_BACKOFF.delay(retries);
        let is_late = since.elapsed() + delay > RETRY_TIMEOUT;
        if mode == RetryMode::Never || is_late || !is_unreachable(&error) {
            return Err(error.into());
        }
        tracing::warn!(attempt = retries + 1, ?delay, "PostgreSQL does not answer, retrying");
        wait(delay);
        retries += 1;
    }
}

#[expect(clippy::disallowed_methods, reason = "no event tells that a server is back")]
fn wait(delay: Duration) {
    thread::sleep(delay);
}

/// A prepared statement.
pub(in super::super) struct PgStatement<'c> {
    connection: &'c PgConnection,
    prepared: Arc<PreparedSql>,
}

impl PgStatement<'_> {
    pub(super) fn execute(&self, values: &ParameterValues) -> SqlResult<usize> {
        let values = self.in_order(values);
        let changed =
            self.connection.session().client.execute(&self.prepared.statement, &borrow(&values))?;
        Ok(usize::try_from(changed).unwrap_or(usize::MAX))
    }

    pub(super) fn query(&self, values: &ParameterValues) -> SqlResult<Vec<Row>> {
        let values = self.in_order(values);
        Ok(self.connection.session().client.query(&self.prepared.statement, &borrow(&values))?)
    }

    /// Returns the values in the order of their numbers. As in SQLite, a parameter without a value
    /// is null.
    fn in_order(&self, values: &ParameterValues) -> Vec<PgParameter> {
        match values {
            ParameterValues::Positional(values) => {
                values.iter().cloned().map(PgParameter).collect()
            }
            ParameterValues::Named(values) => {
                let find = |name: &String| {
                    let found = values.iter().find(|(known, _)| known == name);
                    PgParameter(found.map_or(Value::Null, |(_, value)| value.clone()))
                };
                self.prepared.names.iter().map(find).collect()
            }
        }
    }
}

fn borrow(values: &[PgParameter]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as &(dyn ToSql + Sync)).collect()
}
