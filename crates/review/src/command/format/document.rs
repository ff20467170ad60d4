//! Finds the JSON document in the output of an analyser: [`document`].

use assay_findings::read;
use serde_json::Value;

use super::FormatError;
use crate::command::report_builder::ReportBuilder;

/// The maximum number of positions that are tried as the start of the document.
const MAX_STARTS: usize = 16;

/// Returns the first document that matches, past other output around it. A truncated document is
/// repaired, and counted as one lost finding.
pub(super) fn document(
    text: &str,
    fits: fn(&Value) -> bool,
    builder: &mut ReportBuilder<'_>,
) -> Result<Value, FormatError> {
    let starts: Vec<usize> = starts(text).take(MAX_STARTS).collect();
    for start in &starts {
        let mut values = serde_json::Deserializer::from_str(&text[*start..]).into_iter::<Value>();
        let Some(Ok(value)) = values.next() else { continue };
        if fits(&value) {
            let around = [&text[..*start], &text[start + values.byte_offset()..]];
            if around.iter().any(|part| !part.trim().is_empty()) {
                builder.note("there is other text around the JSON");
            }
            return Ok(value);
        }
    }
    let start = *starts.first().ok_or(FormatError::NotThisForm)?;
    let broken = &text[start..];
    let mended = read::repair_json(broken).filter(fits).ok_or(FormatError::NotThisForm)?;
    let why = match serde_json::from_str::<Value>(broken) {
        Err(error) => format!("the JSON is invalid: {error}"),
        Ok(_) => "the JSON is invalid".to_owned(),
    };
    let tail = broken.char_indices().rev().nth(200).map_or(0, |(at, _)| at);
    builder.reject(why, &broken[tail..]);
    Ok(mended)
}

/// Returns the starts of lines that may begin a document.
fn starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = at + (line.len() - line.trim_start().len());
        at += line.len();
        line.trim_start().starts_with(['{', '[']).then_some(start)
    })
}

/// Returns the entries of the list at a key; empty if there is no such list.
pub(super) fn entries<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
