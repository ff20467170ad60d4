//! Writing the loop's own keys into a plan, and nothing else: [`write_export`].
//!
//! The text is not written anew: the values of these keys are put in where they stand, or behind
//! the last key, so that whoever else reads or edits the plan finds every other letter as it was.

use std::ops::Range;
use std::path::Path;

use assay_store::disk::{self, Sure};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};

use super::{HistoryEntry, ImplementationPlan, LOOP_KEYS, PlanError, Signoff, Stats};

/// Writes the loop's keys into the plan at a path, as the plan is now.
///
/// A plan that cannot be read stays as it is.
pub fn write_export(
    path: &Path,
    signoff: &Signoff,
    history: &[HistoryEntry],
    stats: &Stats,
) -> Result<(), PlanError> {
    let plan = ImplementationPlan::read(path)?;
    let text = plan.with_export(signoff, history, stats);
    if text != plan.text() {
        disk::write(path, text.as_bytes(), Sure::OnDisk)?;
    }
    Ok(())
}

impl ImplementationPlan {
    /// Returns the plan's text with the loop's keys in it.
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

/// Where the members of the outermost object are.
struct Members {
    /// Each key with the place of its value.
    all: Vec<(String, Range<usize>)>,
    /// Where the object has begun, behind its brace.
    open: usize,
    /// Where the first key begins.
    first: usize,
    /// Where the last value ends, or the object has just begun.
    end: usize,
    /// Where the object is closed.
    close: usize,
}

impl Members {
    /// Finds the members in a text that is known to be an object in JSON.
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

/// Returns the first place from one on that is no blank.
fn next(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

/// Returns the place behind the text in quotes that begins at one.
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

/// Returns the place behind the value that begins at one.
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

/// Nobody indents by more.
const MAX_INDENT: usize = 16;

/// How a plan is laid out.
struct Form<'a> {
    /// The text before each member; nothing where the whole is on one line.
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
        // No text in JSON has a line break in it, so each of them is one between values.
        text.replace('\n', &format!("{}{indent}", self.line_end))
    }
}
