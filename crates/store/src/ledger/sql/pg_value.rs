//! Values of PostgreSQL as those of SQLite: [`PgColumn`] and [`PgParameter`].

use std::error::Error;

use postgres::types::private::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use rusqlite::types::{Value, ValueRef};

/// A column of a row.
pub(super) struct PgColumn<'a>(pub(super) ValueRef<'a>);

impl<'a> FromSql<'a> for PgColumn<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<PgColumn<'a>, Box<dyn Error + Sync + Send>> {
        let value = match *kind {
            Type::INT8 => ValueRef::Integer(i64::from_sql(kind, raw)?),
            Type::INT4 => ValueRef::Integer(i32::from_sql(kind, raw)?.into()),
            Type::FLOAT8 => ValueRef::Real(f64::from_sql(kind, raw)?),
            _ => ValueRef::Text(<&str>::from_sql(kind, raw)?.as_bytes()),
        };
        Ok(PgColumn(value))
    }

    fn from_sql_null(_: &Type) -> Result<PgColumn<'a>, Box<dyn Error + Sync + Send>> {
        Ok(PgColumn(ValueRef::Null))
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::INT4, Type::FLOAT8].contains(kind) || <&str as FromSql>::accepts(kind)
    }
}

/// The value of a parameter.
#[derive(Debug)]
pub(super) struct PgParameter(pub(super) Value);

impl ToSql for PgParameter {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(number), &Type::INT4) => i32::try_from(*number)?.to_sql(kind, out),
            (Value::Integer(number), &Type::INT8) => number.to_sql(kind, out),
            (Value::Real(number), &Type::FLOAT8) => number.to_sql(kind, out),
            // PostgreSQL does not store the character NUL.
            (Value::Text(text), _) if <&str as ToSql>::accepts(kind) => {
                text.replace('\0', "\u{fffd}").to_sql(kind, out)
            }
            (value, kind) => {
                Err(format!("{:?} is no value of type {kind}", value.data_type()).into())
            }
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
