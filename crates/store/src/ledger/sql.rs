//! The interface to the databases of ledgers: [`SqlConnection`], on SQLite or PostgreSQL.
//!
//! The statements of a ledger are written once, in the dialect of SQLite, and with the names and
//! signatures of `rusqlite`. For PostgreSQL, [`translation`] translates the parameters and removes
//! hints for the planner, and the schema of the ledger has functions for the few functions of
//! SQLite that PostgreSQL does not have. Values are converted by the traits of `rusqlite` on both.
//!
//! A statement must be valid on both: no alias of a result column in `WHERE`, a name for each
//! subquery in `FROM`, `NULLS FIRST` where a sorted column may be null, and
//! `CAST(:name AS …) IS NULL` for a parameter without another use before it.

mod pg_connection;
mod pg_value;
mod translation;

use std::error::Error;
use std::fmt;
use std::vec;

use rusqlite::types::{FromSql, FromSqlError, ToSql, ToSqlOutput, Value, ValueRef};
use rusqlite::{CachedStatement, Connection, Transaction, TransactionBehavior};

pub(super) use self::pg_connection::PgConnection;
use self::pg_connection::PgStatement;
use self::pg_value::PgColumn;

/// The result of a statement.
pub(super) type SqlResult<T> = Result<T, SqlError>;

/// The reason why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// SQLite reported an error.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL reported an error.
    #[error("{}", describe(.0))]
    Postgres(postgres::Error),
    /// A value has another type than the ledger writes.
    #[error("cannot read the column `{column}`")]
    Column {
        /// The name or the position of the column.
        column: String,
        /// The conversion that failed.
        source: Box<dyn Error + Send + Sync>,
    },
    /// A value of a parameter cannot be stored.
    #[error("cannot store a value")]
    Parameter(#[source] Box<dyn Error + Send + Sync>),
    /// A query for one row returned none.
    #[error("the query returned no row")]
    NoRow,
}

impl SqlError {
    /// Returns the error of a column that could not be converted.
    pub(super) fn column(
        column: impl fmt::Display,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> SqlError {
        SqlError::Column { column: column.to_string(), source: source.into() }
    }
}

impl From<postgres::Error> for SqlError {
    fn from(error: postgres::Error) -> SqlError {
        SqlError::Postgres(error)
    }
}

/// Formats an error of PostgreSQL as one line, which never contains a password.
fn describe(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => error.message().to_owned(),
        None => assay_base::text::error_chain(error),
    }
}

impl From<FromSqlError> for SqlError {
    fn from(error: FromSqlError) -> SqlError {
        SqlError::column("?", error)
    }
}

/// A result that is `None` if there is no row.
pub(super) trait OptionalRow<T> {
    /// Returns `None` if the query returned no row.
    fn optional(self) -> SqlResult<Option<T>>;
}

impl<T> OptionalRow<T> for SqlResult<T> {
    fn optional(self) -> SqlResult<Option<T>> {
        match self {
            Ok(row) => Ok(Some(row)),
            Err(SqlError::NoRow | SqlError::Sqlite(rusqlite::Error::QueryReturnedNoRows)) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

/// The values of a statement's parameters.
pub(super) enum ParameterValues {
    /// The values of `?1`, `?2` and so on.
    Positional(Vec<Value>),
    /// The values by name, such as `:today`.
    Named(Vec<(String, Value)>),
}

/// The parameters of a statement, as `rusqlite` accepts them.
pub(super) trait SqlParameters: rusqlite::Params {
    /// Returns the values of the parameters.
    fn values(&self) -> SqlResult<ParameterValues>;
}

impl SqlParameters for &[&dyn ToSql] {
    fn values(&self) -> SqlResult<ParameterValues> {
        let values = self.iter().map(|value| to_value(*value));
        values.collect::<SqlResult<_>>().map(ParameterValues::Positional)
    }
}

impl SqlParameters for &[(&str, &dyn ToSql)] {
    fn values(&self) -> SqlResult<ParameterValues> {
        let values = self.iter().map(|(name, value)| Ok(((*name).to_owned(), to_value(*value)?)));
        values.collect::<SqlResult<_>>().map(ParameterValues::Named)
    }
}

impl<T: ToSql, const N: usize> SqlParameters for [T; N]
where
    [T; N]: rusqlite::Params,
{
    fn values(&self) -> SqlResult<ParameterValues> {
        let values = self.iter().map(|value| to_value(value));
        values.collect::<SqlResult<_>>().map(ParameterValues::Positional)
    }
}

fn to_value(value: &dyn ToSql) -> SqlResult<Value> {
    let wrong = |error: rusqlite::Error| SqlError::Parameter(error.into());
    match value.to_sql().map_err(wrong)? {
        ToSqlOutput::Borrowed(value) => {
            Value::try_from(value).map_err(|error| SqlError::Parameter(error.into()))
        }
        ToSqlOutput::Owned(value) => Ok(value),
        other => Err(SqlError::Parameter(format!("unsupported value {other:?}").into())),
    }
}

/// A connection to the database of a ledger.
pub(super) enum SqlConnection {
    /// A connection to a file.
    Sqlite(Connection),
    /// A connection to a server.
    Postgres(Box<PgConnection>),
}

impl fmt::Debug for SqlConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SqlConnection::Sqlite(connection) => connection.fmt(f),
            // An address may hold a password.
            SqlConnection::Postgres(_) => f.write_str("PgConnection(…)"),
        }
    }
}

impl SqlConnection {
    /// Returns the connection to the file of a ledger.
    #[cfg(test)]
    pub(super) fn file(&self) -> &Connection {
        match self {
            SqlConnection::Sqlite(connection) => connection,
            SqlConnection::Postgres(_) => panic!("the ledger is in PostgreSQL"),
        }
    }

    /// Runs queries that see one state of the ledger, if the database is a server. The queries
    /// run again if the connection breaks.
    pub(super) fn read<T>(&self, query: impl Fn(&SqlConnection) -> SqlResult<T>) -> SqlResult<T> {
        match self {
            SqlConnection::Sqlite(_) => query(self),
            SqlConnection::Postgres(server) => server.read(|| query(self)),
        }
    }

    /// Runs `work` in one transaction, after those of other writers. The transaction runs again
    /// if the connection breaks before its end.
    pub(super) fn write<T>(&self, work: impl Fn(&SqlConnection) -> SqlResult<T>) -> SqlResult<T> {
        match self {
            SqlConnection::Sqlite(connection) => {
                // A writer takes the write lock at the start, where waiting cannot cause a
                // deadlock.
                let begin = TransactionBehavior::Immediate;
                let transaction = Transaction::new_unchecked(connection, begin)?;
                let done = work(self)?;
                transaction.commit()?;
                Ok(done)
            }
            SqlConnection::Postgres(server) => server.write(|| work(self)),
        }
    }

    /// Prepares a statement.
    pub(super) fn prepare(&self, sql: &str) -> SqlResult<SqlStatement<'_>> {
        match self {
            SqlConnection::Sqlite(connection) => {
                Ok(SqlStatement::Sqlite(connection.prepare_cached(sql)?))
            }
            SqlConnection::Postgres(server) => server.prepare(sql).map(SqlStatement::Postgres),
        }
    }

    /// Prepares a statement, and retains its plan for the next call.
    pub(super) fn prepare_cached(&self, sql: &str) -> SqlResult<SqlStatement<'_>> {
        self.prepare(sql)
    }

    /// Runs a statement and returns the number of changed rows.
    pub(super) fn execute(&self, sql: &str, values: impl SqlParameters) -> SqlResult<usize> {
        self.prepare(sql)?.execute(values)
    }

    /// Returns the first row of a query. Fails if there is none.
    pub(super) fn query_row<T>(
        &self,
        sql: &str,
        values: impl SqlParameters,
        read: impl FnOnce(&SqlRow<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.prepare(sql)?.query_row(values, read)
    }
}

/// A prepared statement.
pub(super) enum SqlStatement<'c> {
    Sqlite(CachedStatement<'c>),
    Postgres(PgStatement<'c>),
}

impl SqlStatement<'_> {
    /// Runs the statement and returns the number of changed rows.
    pub(super) fn execute(&mut self, values: impl SqlParameters) -> SqlResult<usize> {
        match self {
            SqlStatement::Sqlite(statement) => Ok(statement.execute(values)?),
            SqlStatement::Postgres(statement) => statement.execute(&values.values()?),
        }
    }

    /// Runs the query and returns its rows.
    pub(super) fn query(&mut self, values: impl SqlParameters) -> SqlResult<SqlRows<'_>> {
        match self {
            SqlStatement::Sqlite(statement) => Ok(SqlRows::Sqlite(statement.query(values)?)),
            SqlStatement::Postgres(statement) => {
                let rows = statement.query(&values.values()?)?.into_iter();
                Ok(SqlRows::Postgres { rows, current: None })
            }
        }
    }

    /// Runs the query and converts its rows.
    pub(super) fn query_map<T>(
        &mut self,
        values: impl SqlParameters,
        mut read: impl FnMut(&SqlRow<'_>) -> SqlResult<T>,
    ) -> SqlResult<vec::IntoIter<SqlResult<T>>> {
        let mut rows = self.query(values)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next()? {
            all.push(read(&row));
        }
        Ok(all.into_iter())
    }

    /// Returns the first row of the query. Fails if there is none.
    pub(super) fn query_row<T>(
        &mut self,
        values: impl SqlParameters,
        read: impl FnOnce(&SqlRow<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        match self.query(values)?.next()? {
            Some(row) => read(&row),
            None => Err(SqlError::NoRow),
        }
    }
}

/// The rows of a query.
pub(super) enum SqlRows<'s> {
    Sqlite(rusqlite::Rows<'s>),
    Postgres { rows: vec::IntoIter<postgres::Row>, current: Option<postgres::Row> },
}

impl SqlRows<'_> {
    /// Returns the next row; `None` after the last one.
    pub(super) fn next(&mut self) -> SqlResult<Option<SqlRow<'_>>> {
        match self {
            SqlRows::Sqlite(rows) => Ok(rows.next()?.map(SqlRow::Sqlite)),
            SqlRows::Postgres { rows, current } => {
                *current = rows.next();
                Ok(current.as_ref().map(SqlRow::Postgres))
            }
        }
    }
}

/// A row of a query.
pub(super) enum SqlRow<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
}

/// The name or the position of a column.
pub(super) trait ColumnIndex:
    rusqlite::RowIndex + postgres::row::RowIndex + fmt::Display + Copy
{
}

impl ColumnIndex for &str {}
impl ColumnIndex for usize {}

impl SqlRow<'_> {
    /// Returns the value of a column.
    pub(super) fn get<I: ColumnIndex, T: FromSql>(&self, column: I) -> SqlResult<T> {
        T::column_result(self.get_ref(column)?).map_err(|error| SqlError::column(column, error))
    }

    /// Returns the value of a column without a copy.
    pub(super) fn get_ref<I: ColumnIndex>(&self, column: I) -> SqlResult<ValueRef<'_>> {
        match self {
            SqlRow::Sqlite(row) => Ok(row.get_ref(column)?),
            SqlRow::Postgres(row) => {
                let value: PgColumn<'_> = row.try_get(column)?;
                Ok(value.0)
            }
        }
    }
}
