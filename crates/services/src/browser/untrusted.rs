//! Makes text and values of a page safe to show: truncates them, and escapes invisible characters.

use assay_base::text::first_chars;
use assay_findings::write::escape::{escape_hidden, one_line};
use serde_json::Value;

/// The maximum length of a shown address or title, in characters.
const MAX_SHOWN_CHARS: usize = 300;

/// Returns untrusted text as one line of at most [`MAX_SHOWN_CHARS`] characters.
pub(super) fn truncate_line(text: &str) -> String {
    one_line(first_chars(text, MAX_SHOWN_CHARS))
}

/// Escapes invisible characters in every text of a value.
pub(super) fn escape_invisible(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(escape_hidden(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(escape_invisible).collect(),
        Value::Object(fields) => {
            let shown = |(name, value): (String, Value)| {
                (escape_hidden(&name).into_owned(), escape_invisible(value))
            };
            fields.into_iter().map(shown).collect()
        }
        plain @ (Value::Null | Value::Bool(_) | Value::Number(_)) => plain,
    }
}
