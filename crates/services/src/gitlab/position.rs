//! The position of a comment in a diff, as GitLab's API takes it.
//!
//! GitLab names an added line by its new number, a removed line by its old number, and an unchanged
//! line by both. The lines of a range are named by a code as well: a hash of the path, and both
//! numbers.

use std::fmt::Write as _;

use assay_findings::post::{DiffLine, DiffLineKind, DiffPosition};
use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::{Map, Value, json};

use super::DiffRefs;

/// Returns the position as the API takes it.
pub(super) fn to_json(position: &DiffPosition, refs: &DiffRefs) -> Value {
    let mut out = json!({
        "base_sha": refs.base_sha,
        "start_sha": refs.start_sha,
        "head_sha": refs.head_sha,
        "old_path": position.old_path.as_str(),
        "new_path": position.new_path.as_str(),
        "position_type": if position.last.is_some() { "text" } else { "file" },
    });
    let Some(last) = position.last else { return out };
    if let Value::Object(fields) = &mut out {
        fields.extend(numbers(last));
        if let Some(first) = position.first {
            let path = position.new_path.as_str();
            let range = json!({ "start": range_end(path, first), "end": range_end(path, last) });
            fields.insert("line_range".to_owned(), range);
        }
    }
    out
}

/// Returns the numbers by which GitLab names a line.
fn numbers(line: DiffLine) -> Map<String, Value> {
    let (old, new) = match line.kind {
        DiffLineKind::Added => (None, Some(line.new)),
        DiffLineKind::Removed => (Some(line.old), None),
        DiffLineKind::Context => (Some(line.old), Some(line.new)),
    };
    let named = [("old_line", old), ("new_line", new)];
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?)))).collect()
}

/// Returns the first or the last line of a range.
fn range_end(path: &str, line: DiffLine) -> Value {
    let kind = match line.kind {
        DiffLineKind::Added => "new",
        DiffLineKind::Removed | DiffLineKind::Context => "old",
    };
    let mut out = numbers(line);
    out.insert("line_code".to_owned(), json!(line_code(path, line)));
    out.insert("type".to_owned(), json!(kind));
    Value::Object(out)
}

/// Returns the code of a line: the SHA-1 of the path, and both numbers.
fn line_code(path: &str, line: DiffLine) -> String {
    let mut code = String::new();
    for byte in digest(&SHA1_FOR_LEGACY_USE_ONLY, path.as_bytes()).as_ref() {
        let _ = write!(code, "{byte:02x}");
    }
    let _ = write!(code, "_{}_{}", line.old, line.new);
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_named_by_the_numbers_of_the_sides_that_it_is_on() {
        let line = |kind| json!(numbers(DiffLine { kind, old: 4, new: 7 }));
        assert_eq!(line(DiffLineKind::Added), json!({ "new_line": 7 }));
        assert_eq!(line(DiffLineKind::Removed), json!({ "old_line": 4 }));
        assert_eq!(line(DiffLineKind::Context), json!({ "old_line": 4, "new_line": 7 }));
    }

    #[test]
    fn a_line_code_is_the_hash_of_the_path_and_both_numbers() {
        let line = DiffLine { kind: DiffLineKind::Added, old: 0, new: 34 };
        assert_eq!(line_code("abc", line), "a9993e364706816aba3e25717850c26c9cd0d89d_0_34");
    }
}
