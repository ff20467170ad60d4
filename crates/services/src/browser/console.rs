//! The console output of a page: [`ConsoleEntry`], stored in a ring of bounded size.

use std::collections::VecDeque;
use std::fmt;

use assay_base::text::split_chars;
use assay_findings::write::escape::escape_hidden;
use serde::Serialize;
use serde_json::Value;

use super::untrusted::truncate_line;

/// The maximum number of stored entries.
const MAX_ENTRIES: usize = 1000;

/// The maximum length of one text, in characters.
const MAX_TEXT_CHARS: usize = 2000;

/// The maximum number of shown arguments of one call.
const MAX_ARGUMENTS: usize = 20;

/// The kind of a console entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A message for developers.
    Debug,
    /// A message.
    Log,
    /// A dialog that was answered: an alert is accepted, a question is cancelled.
    Dialog,
    /// A warning.
    Warning,
    /// An error that the page or the browser reported.
    Error,
    /// An uncaught exception.
    Uncaught,
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::Debug => "debug",
            EntryKind::Log => "log",
            EntryKind::Dialog => "dialog",
            EntryKind::Warning => "warning",
            EntryKind::Error => "error",
            EntryKind::Uncaught => "uncaught",
        })
    }
}

/// An entry of the console of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConsoleEntry {
    /// The number of the entry, counted from 0 since the page was attached to.
    pub number: u64,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The text of the message.
    pub text: String,
    /// The address and line of the code that logged it; `None` if they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl ConsoleEntry {
    /// Returns true if the entry is an error or an uncaught exception.
    pub fn is_error(&self) -> bool {
        self.kind >= EntryKind::Error
    }
}

impl fmt::Display for ConsoleEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ConsoleEntry { kind, text, place, .. } = self;
        match place {
            Some(place) => write!(f, "{kind}: {text} ({place})"),
            None => write!(f, "{kind}: {text}"),
        }
    }
}

/// The last entries of a page.
#[derive(Debug, Default)]
pub(super) struct ConsoleLog {
    entries: VecDeque<ConsoleEntry>,
    /// The exceptions among the entries: the number that DevTools use, and the number of the entry.
    exceptions: VecDeque<(u64, u64)>,
    next: u64,
}

impl ConsoleLog {
    /// Records an event of DevTools, if the event belongs to the console.
    pub(super) fn record(&mut self, method: &str, params: &Value) {
        if method == "Runtime.exceptionRevoked" {
            return self.revoke(params["exceptionId"].as_u64());
        }
        let parts = match method {
            "Runtime.consoleAPICalled" => Some(parse_console_call(params)),
            "Runtime.exceptionThrown" => Some(parse_exception(&params["exceptionDetails"])),
            "Log.entryAdded" => parse_log_entry(&params["entry"]),
            "Page.javascriptDialogOpening" => {
                let kind = text(&params["type"]);
                Some((EntryKind::Dialog, format!("{kind}: {}", text(&params["message"])), None))
            }
            _ => None,
        };
        let Some((kind, text, place)) = parts else { return };
        if self.entries.len() == MAX_ENTRIES {
            self.entries.pop_front();
        }
        let number = self.next;
        self.next += 1;
        if let Some(id) = params["exceptionDetails"]["exceptionId"].as_u64() {
            self.exceptions.push_back((id, number));
            if self.exceptions.len() > MAX_ENTRIES {
                self.exceptions.pop_front();
            }
        }
        self.entries.push_back(ConsoleEntry { number, kind, text, place });
    }

    /// Removes an exception that the page caught later, such as a rejection that is handled late.
    fn revoke(&mut self, id: Option<u64>) {
        let Some(at) = self.exceptions.iter().position(|(known, _)| Some(*known) == id) else {
            return;
        };
        if let Some((_, number)) = self.exceptions.remove(at) {
            self.entries.retain(|entry| entry.number != number);
        }
    }

    /// Returns the entries from a number on, if they are still stored.
    pub(super) fn since(&self, number: u64) -> Vec<ConsoleEntry> {
        self.entries.iter().filter(|entry| entry.number >= number).cloned().collect()
    }

    /// Returns the number that the next entry will have.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
}

type EntryParts = (EntryKind, String, Option<String>);

fn parse_console_call(params: &Value) -> EntryParts {
    let kind = match params["type"].as_str().unwrap_or_default() {
        "error" | "assert" => EntryKind::Error,
        "warning" => EntryKind::Warning,
        "debug" => EntryKind::Debug,
        _ => EntryKind::Log,
    };
    let arguments = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
    let arguments: Vec<String> = arguments.iter().take(MAX_ARGUMENTS).map(format_value).collect();
    (kind, truncate(&arguments.join(" ")), source_location(&params["stackTrace"]["callFrames"][0]))
}

fn parse_exception(details: &Value) -> EntryParts {
    let exception = &details["exception"];
    let message = match exception["description"].as_str() {
        Some(description) => truncate(description),
        None => truncate(&format!("{} {}", text(&details["text"]), format_value(exception))),
    };
    (EntryKind::Uncaught, message, source_location(details))
}

fn parse_log_entry(entry: &Value) -> Option<EntryParts> {
    // The browser requests the icon by itself.
    if entry["url"].as_str().is_some_and(|url| url.ends_with("/favicon.ico")) {
        return None;
    }
    let kind = match entry["level"].as_str().unwrap_or_default() {
        "error" => EntryKind::Error,
        "warning" => EntryKind::Warning,
        "verbose" => EntryKind::Debug,
        _ => EntryKind::Log,
    };
    Some((kind, text(&entry["text"]), source_location(entry)))
}

/// Formats a value of the page as text.
pub(super) fn format_value(object: &Value) -> String {
    match (&object["value"], &object["unserializableValue"], &object["description"]) {
        (Value::String(text), _, _) => truncate(text),
        (Value::Null, Value::String(text), _) | (Value::Null, _, Value::String(text)) => {
            truncate(text)
        }
        (Value::Null, _, _) => object["type"].as_str().unwrap_or("null").to_owned(),
        (value, _, _) => truncate(&value.to_string()),
    }
}

fn source_location(of: &Value) -> Option<String> {
    let url = of["url"].as_str().filter(|url| !url.is_empty())?;
    let line = of["lineNumber"].as_u64().map_or(0, |line| line.saturating_add(1));
    Some(format!("{}:{line}", truncate_line(url)))
}

fn text(value: &Value) -> String {
    truncate(value.as_str().unwrap_or_default())
}

fn truncate(text: &str) -> String {
    let (kept, rest) = split_chars(text, MAX_TEXT_CHARS);
    let more = if rest.is_empty() { "" } else { "…" };
    format!("{}{more}", escape_hidden(kept))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn log(text: &str) -> Value {
        json!({ "type": "log", "args": [{ "type": "string", "value": text }] })
    }

    #[test]
    fn only_the_last_entries_are_kept_and_each_is_cut() {
        let mut ring = ConsoleLog::default();
        let endless = log(&"é".repeat(100_000));
        for _ in 0..MAX_ENTRIES + 7 {
            ring.record("Runtime.consoleAPICalled", &endless);
        }
        let kept = ring.since(0);
        assert_eq!(
            (kept.len(), kept[0].number, ring.next()),
            (MAX_ENTRIES, 7, MAX_ENTRIES as u64 + 7)
        );
        assert_eq!(kept[0].text.chars().count(), MAX_TEXT_CHARS + 1);
        assert_eq!(ring.since(MAX_ENTRIES as u64 + 6).len(), 1);
    }

    #[test]
    fn an_exception_that_is_caught_later_is_removed() {
        let mut ring = ConsoleLog::default();
        for id in [7, 8] {
            let details = json!({ "exceptionId": id, "text": format!("number {id}") });
            ring.record("Runtime.exceptionThrown", &json!({ "exceptionDetails": details }));
        }
        for id in [json!(7), json!(99), json!(null)] {
            ring.record("Runtime.exceptionRevoked", &json!({ "exceptionId": id }));
        }
        let left: Vec<u64> = ring.since(0).iter().map(|entry| entry.number).collect();
        assert_eq!((left, ring.next()), (vec![1], 2));
    }

    #[test]
    fn invisible_characters_are_escaped() {
        let mut ring = ConsoleLog::default();
        ring.record("Runtime.consoleAPICalled", &log("\u{1b}[31mred\u{202e}"));
        assert_eq!(ring.since(0)[0].text, "\\u{1b}[31mred\\u{202e}");
    }

    #[test]
    fn malformed_events_are_recorded() {
        let mut ring = ConsoleLog::default();
        for method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"] {
            for params in [json!(null), json!([]), json!({ "args": 7, "entry": { "url": 3 } })] {
                ring.record(method, &params);
            }
        }
        assert_eq!(ring.next(), 9);
    }
}
