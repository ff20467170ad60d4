//! Lookups in JSON values by pointer.

use serde_json::Value;

/// Returns the number at `pointer`; `None` if no number is there.
pub(crate) fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Returns the text at `pointer`; an empty one if no text is there.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
