//! Writes the loop's own keys into a plan, and nothing else: [`write_export`].
//!
//! The plan is not reformatted: the values of these keys are replaced in place, or appended after
//! the last key. All other text stays byte for byte the same for other readers and editors of the
//! plan.

use std::ops::Range;
use std::path::Path;

use assay_store::durable_fs::{self, Durability};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::{HistoryEntry, ImplementationPlan, LOOP_KEYS, PlanError, Signoff, Stats};

/// Writes the loop's keys into the plan at a path, after reading the plan again.
///
/// A plan that cannot be parsed is not changed.
pub fn write_export(
    path: &Path,
    signoff: &Signoff,
    history: &[HistoryEntry],
    stats: &Stats,
) -> Result<(), PlanError> {
    let plan = ImplementationPlan::read(path)?;
    let text = plan.with_export(signoff, history, stats);
    if text != plan.text() {
        durable_fs::write(path, text.as_bytes(), Durability::Fsync)?;
    }
    Ok(())
}

impl ImplementationPlan {
    /// Returns the text of the plan with the loop's keys.
    pub fn with_export(
        &self,
        signoff: &Signoff,
        history: &[HistoryEntry],
        stats: &Stats,
    ) -> String {
        let text = self.text();
        let members = Members::of(text);
        let form = Form::of(text, &members);
        let values = [form.value(signoff), form.value(history), form.value(stats)];
        let exported: Vec<(&str, String)> = LOOP_KEYS.into_iter().zip(values).collect();
        let mut out = String::with_capacity(text.len() + 1024);
        let mut from = 0;
        for (key, value) in &members.all {
            if let Some((_, new)) = exported.iter().find(|(own, _)| own == key) {
                out.push_str(&text[from..value.start]);
                out.push_str(new);
                from = value.end;
            }
        }
        let end = members.end;
        out.push_str(&text[from..end]);
        let mut is_first = members.all.is_empty();
        for (key, value) in &exported {
            if members.all.iter().all(|(known, _)| known != key) {
                out.push_str(if is_first { "" } else { "," });
                out.push_str(&form.member(key, value));
                is_first = false;
            }
        }
        match members.all.is_empty() {
            true => out.push_str(&format!("{}{}", form.line_end, &text[members.close..])),
            false => out.push_str(&text[end..]),
        }
        out
    }
}

/// The byte positions of the members of the outermost object.
struct Members {
    /// The keys, each with the byte range of its value.
    all: Vec<(String, Range<usize>)>,
    /// The position after the opening brace of the object.
    open: usize,
    /// The position of the first key.
    first: usize,
    /// The position after the last value, or after the opening brace of an empty object.
    end: usize,
    /// The position of the closing brace.
    close: usize,
}

impl Members {
    /// Finds the members in a text that is a valid JSON object.
    fn of(text: &str) -> Members {
        let bytes = text.as_bytes();
        let open = text.find('{').map_or(0, |brace| brace + 1);
        let mut at = next(bytes, open);
        let mut found = Members { all: Vec::new(), open, first: at, end: open, close: at };
        while bytes.get(at) == Some(&b'"') {
            let key_end = string_end(bytes, at);
            let key = serde_json::from_str(&text[at..key_end]).unwrap_or_default();
            let start = next(bytes, next(bytes, key_end) + 1);
            let end = value_end(bytes, start);
            found.all.push((key, start..end));
            found.end = end;
            found.close = next(bytes, end);
            at = match bytes.get(found.close) {
                Some(b',') => next(bytes, found.close + 1),
                _ => break,
            };
        }
        found
    }
}

/// Returns the first position, from `from` on, that is not white space.
fn next(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the position after the JSON string that begins at `from`.
fn string_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from + 1;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => return at + 1,
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

/// Returns the position after the JSON value that begins at `from`.
fn value_end(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    let mut depth = 0usize;
    loop {
        match bytes.get(at) {
            None => return bytes.len(),
            Some(b'"') => at = string_end(bytes, at),
            Some(b'{' | b'[') => (depth, at) = (depth + 1, at + 1),
            Some(b'}' | b']') if depth > 0 => (depth, at) = (depth - 1, at + 1),
            Some(b',' | b'}' | b']') if depth == 0 => return at,
            Some(byte) if depth == 0 && byte.is_ascii_whitespace() => return at,
            Some(_) => at += 1,
        }
        let ends = matches!(bytes.get(at.wrapping_sub(1)), Some(b'}' | b']' | b'"'));
        if depth == 0 && ends {
            return at;
        }
    }
}

/// Maximum indentation, in bytes, that is taken over from a plan; a deeper one is replaced by two
/// blanks.
const MAX_INDENT: usize = 16;

/// The layout of a plan.
struct Form<'a> {
    /// The indentation of each member; `None` if the whole object is on one line.
    indent: Option<&'a str>,
    line_end: &'a str,
}

impl<'a> Form<'a> {
    fn of(text: &'a str, members: &Members) -> Form<'a> {
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let before = &text[members.open..members.first];
        let indent = match before.rsplit_once('\n') {
            _ if members.all.is_empty() => Some("  "),
            Some((_, indent)) if indent.len() > MAX_INDENT => Some("  "),
            Some((_, indent)) => Some(indent),
            None => None,
        };
        Form { indent, line_end }
    }

    fn member(&self, key: &str, value: &str) -> String {
        match self.indent {
            Some(indent) => format!("{}{indent}\"{key}\": {value}", self.line_end),
            None => format!("\"{key}\":{value}"),
        }
    }

    fn value<T: Serialize + ?Sized>(&self, value: &T) -> String {
        let Some(indent) = self.indent else {
            return serde_json::to_string(value).expect("the loop's keys are JSON");
        };
        let mut bytes = Vec::new();
        let pretty = PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = Serializer::with_formatter(&mut bytes, pretty);
        value.serialize(&mut serializer).expect("the loop's keys are JSON");
        let text = String::from_utf8(bytes).expect("JSON is text");
        // JSON strings contain no line breaks, so each line break is between values.
        text.replace('\n', &format!("{}{indent}", self.line_end))
    }
}
