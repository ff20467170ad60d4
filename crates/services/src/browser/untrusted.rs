//! Text and values of a page, made safe to show: cut to a size, with invisible characters escaped.

use assay_base::text::first_chars;
use assay_findings::write::plain::{one_line, visible};
use serde_json::Value;

/// The most characters of an address or a title that are shown.
const MAX_SHOWN: usize = 300;

/// Returns untrusted text as one line of at most [`MAX_SHOWN`] characters.
pub(super) fn short(text: &str) -> String {
    one_line(first_chars(text, MAX_SHOWN))
}

/// Escapes invisible characters in every text of a value.
pub(super) fn escape_invisible(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(visible(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(escape_invisible).collect(),
        Value::Object(fields) => {
            let shown = |(name, value): (String, Value)| {
                (visible(&name).into_owned(), escape_invisible(value))
            };
            fields.into_iter().map(shown).collect()
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}
