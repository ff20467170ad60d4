//! The connection pool, [`Pool`], which retries operations whose connection breaks or whose
//! transaction conflicts with another one.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::clock::{Clock, Stopwatch};
use jiff::Timestamp;
use postgres::error::SqlState;
use postgres::types::ToSql;
use postgres::{Client, Row, Statement};

use super::server::Server;
use crate::queue::QueueError;
use crate::task::Moment;

/// The maximum number of idle connections.
const MAX_IDLE: usize = 16;

/// The time after which an operation fails whose server cannot be reached, or whose transaction
/// conflicts with another one in each attempt.
pub(crate) const RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// Delays between attempts to reach a server.
pub(crate) const CONNECT_BACKOFF: Backoff =
    Backoff::new(Duration::from_millis(50), Duration::from_secs(2));

/// The error codes of a server that accepts no writes for a while: it is a standby, its disk is
/// full, or an operator limits the duration of statements.
const UNWRITABLE: [SqlState; 3] =
    [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::DISK_FULL, SqlState::QUERY_CANCELED];

/// The reason why an operation failed.
pub(super) enum OperationError {
    /// The server reported an error or cannot be reached.
    Server(postgres::Error),
    /// The operation itself rejected the request.
    Rejected(QueueError),
}

impl From<postgres::Error> for OperationError {
    fn from(error: postgres::Error) -> OperationError {
        OperationError::Server(error)
    }
}

impl From<QueueError> for OperationError {
    fn from(error: QueueError) -> OperationError {
        OperationError::Rejected(error)
    }
}

/// The retry mode for a server that cannot be reached. Conflicts of transactions are retried in
/// both modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryMode {
    /// Retries for as long as a restart of the server may take.
    UntilRestarted,
    /// No retries, except for an idle connection that turns out to be broken.
    Never,
}

/// The attempt of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OperationAttempt {
    First,
    /// An attempt after a lost reply: the earlier attempt may have taken effect.
    AfterLostReply,
}

/// A connection with its prepared statements.
pub(super) struct Conn {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
}

impl Conn {
    /// Runs a statement and returns its rows.
    pub(super) fn query(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, postgres::Error> {
        let statement = self.prepare(sql)?;
        self.client.query(&statement, values)
    }

    /// Runs a statement and returns the number of changed rows.
    pub(super) fn execute(
        &mut self,
        sql: &'static str,
        values: &[&(dyn ToSql + Sync)],
    ) -> Result<u64, postgres::Error> {
        let statement = self.prepare(sql)?;
        self.client.execute(&statement, values)
    }

    /// Runs statements without parameters.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), postgres::Error> {
        self.client.batch_execute(sql)
    }

    fn prepare(&mut self, sql: &'static str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// The connections to one server.
pub(super) struct Pool {
    server: Server,
    idle: Mutex<Vec<Conn>>,
    /// Notifies waiting operations that a connection succeeded.
    reached: Condvar,
    /// The time of the server at one moment, and the time since then.
    server_time: Mutex<Option<(Timestamp, Stopwatch)>>,
    clock: Clock,
}

impl Pool {
    /// Returns a pool without connections.
    pub(super) fn new(server: Server, clock: &Clock) -> Pool {
        let (idle, reached, server_time) = Default::default();
        Pool { server, idle, reached, server_time, clock: clock.clone() }
    }

    /// Opens a connection that is not part of the pool.
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        self.server.connect()
    }

    /// Runs `act` on a connection, and again if the attempt fails: on another connection, with a
    /// back-off, if the connection breaks or the server cannot be reached, and at once if two
    /// transactions conflict.
    ///
    /// `act` must be safe to repeat: its `OperationAttempt` says if an earlier attempt may have
    /// taken effect.
    pub(super) fn run<T>(
        &self,
        retry_mode: RetryMode,
        mut act: impl FnMut(&mut Conn, OperationAttempt) -> Result<T, OperationError>,
    ) -> Result<T, QueueError> {
        let since = Stopwatch::start();
        let mut retries = 0;
        let mut attempt = OperationAttempt::First;
        loop {
            let (error, was_idle) = match self.acquire() {
                Err(error) => (error, false),
                Ok((mut conn, was_idle)) => match act(&mut conn, attempt) {
                    Ok(done) => {
                        self.release(conn);
                        return Ok(done);
                    }
                    Err(OperationError::Rejected(error)) => {
                        self.release(conn);
                        return Err(error);
                    }
                    Err(OperationError::Server(error)) if is_conflict(&error) => {
                        self.release(conn);
                        if since.elapsed() < RETRY_TIMEOUT {
                            tracing::debug!("transaction conflict, retrying");
                            continue;
                        }
                        return Err(to_queue_error(&error));
                    }
                    Err(OperationError::Server(error))
                        if conn.client.is_closed() || is_unreachable(&error) =>
                    {
                        attempt = OperationAttempt::AfterLostReply;
                        self.lock().clear();
                        (error, was_idle)
                    }
                    Err(OperationError::Server(error)) => {
                        self.release(conn);
                        return Err(to_queue_error(&error));
                    }
                },
            };
            if error.as_db_error().is_some() && !is_unreachable(&error) {
                return Err(to_queue_error(&error));
            }
            // An idle connection may have been broken for a long time, so it says nothing about the
            // server.
            if was_idle {
                continue;
            }
            let delay = CONNECT_BACKOFF.delay(retries);
            if retry_mode == RetryMode::Never || since.elapsed() + delay > RETRY_TIMEOUT {
                return Err(QueueError::Unreachable { source: error.into() });
            }
            tracing::warn!(
                attempt = retries + 1,
                ?delay,
                elapsed = ?since.elapsed(),
                error = %assay_base::text::error_chain(&error),
                "PostgreSQL does not answer, retrying"
            );
            let idle = self.lock();
            drop(self.reached.wait_timeout(idle, delay).unwrap_or_else(PoisonError::into_inner));
            retries += 1;
        }
    }

    /// Returns the current time of the server, extrapolated without a request.
    pub(super) fn now(&self) -> Moment {
        let known = *self.server_time.lock().unwrap_or_else(PoisonError::into_inner);
        match known {
            Some((then, at)) => Moment(then.saturating_add(at.elapsed()).unwrap_or(then)),
            None => Moment::now(&self.clock),
        }
    }

    /// Records the time of the server.
    pub(super) fn set_server_time(&self, now: Timestamp) {
        *self.server_time.lock().unwrap_or_else(PoisonError::into_inner) =
            Some((now, Stopwatch::start()));
    }

    /// Returns a connection, and true if it was idle in the pool.
    fn acquire(&self) -> Result<(Conn, bool), postgres::Error> {
        if let Some(conn) = self.lock().pop() {
            return Ok((conn, true));
        }
        tracing::debug!("connecting to PostgreSQL");
        let started = Stopwatch::start();
        let mut client = self.server.connect()?;
        tracing::debug!(elapsed = ?started.elapsed(), "connected to PostgreSQL");
        let now = client.query_one("SELECT clock_timestamp()", &[])?;
        self.set_server_time(now.get(0));
        self.reached.notify_all();
        Ok((Conn { client, prepared: HashMap::new() }, false))
    }

    fn release(&self, conn: Conn) {
        let mut idle = self.lock();
        if idle.len() < MAX_IDLE && !conn.client.is_closed() {
            idle.push(conn);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Conn>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if two transactions conflicted, so that the statement can be repeated at once.
fn is_conflict(error: &postgres::Error) -> bool {
    let collisions = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    error.code().is_some_and(|code| collisions.contains(code))
}

/// Returns true if the server cannot be reached or is shutting down; false if it rejected the
/// statement.
pub(crate) fn is_unreachable(error: &postgres::Error) -> bool {
    let Some(code) = error.code() else {
        // An error that is neither from the server nor from the connection is a bug of this
        // program.
        return std::error::Error::source(error).is_none_or(|source| source.is::<std::io::Error>());
    };
    let going = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
    ];
    going.contains(code) || code.code().starts_with("08")
}

/// Converts an error to one line of text, which never contains a password.
pub(super) fn to_queue_error(error: &postgres::Error) -> QueueError {
    let message = match error.as_db_error() {
        Some(said) => said.message().to_owned(),
        None => error.to_string(),
    };
    match error.code() {
        Some(code) if UNWRITABLE.contains(code) => QueueError::Unwritable { message },
        Some(_) | None => QueueError::Database { message },
    }
}
