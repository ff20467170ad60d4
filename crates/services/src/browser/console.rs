//! The console output of a page: [`Entry`], stored in a ring of bounded size.

use std::collections::VecDeque;
use std::fmt;

use assay_base::text::split_chars;
use assay_findings::write::escape::escape_hidden;
use serde::Serialize;
use serde_json::Value;

use super::untrusted::short;

/// The maximum number of stored entries.
const KEPT: usize = 1000;

/// The maximum length of one text, in characters.
const LONGEST: usize = 2000;

/// The maximum number of shown arguments of one call.
const ARGUMENTS: usize = 20;

/// The kind of a console entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
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

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Debug => "debug",
            Kind::Log => "log",
            Kind::Dialog => "dialog",
            Kind::Warning => "warning",
            Kind::Error => "error",
            Kind::Uncaught => "uncaught",
        })
    }
}

/// An entry of the console of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The number of the entry, counted from 0 since the page was attached to.
    pub number: u64,
    /// The kind of the entry.
    pub kind: Kind,
    /// The text of the message.
    pub text: String,
    /// The address and line of the code that logged it; `None` if they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl Entry {
    /// Returns true if the entry is an error or an uncaught exception.
    pub fn is_error(&self) -> bool {
        self.kind >= Kind::Error
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Entry { kind, text, place, .. } = self;
        match place {
            Some(place) => write!(f, "{kind}: {text} ({place})"),
            None => write!(f, "{kind}: {text}"),
        }
    }
}

/// The last entries of a page.
#[derive(Debug, Default)]
pub(super) struct Ring {
    entries: VecDeque<Entry>,
    /// The exceptions among the entries: the number that DevTools use, and the number of the entry.
    exceptions: VecDeque<(u64, u64)>,
    next: u64,
}

impl Ring {
    /// Records an event of DevTools, if the event belongs to the console.
    pub(super) fn take(&mut self, method: &str, params: &Value) {
        if method == "Runtime.exceptionRevoked" {
            return self.revoke(params["exceptionId"].as_u64());
        }
        let said = match method {
            "Runtime.consoleAPICalled" => Some(called(params)),
            "Runtime.exceptionThrown" => Some(thrown(&params["exceptionDetails"])),
            "Log.entryAdded" => logged(&params["entry"]),
            "Page.javascriptDialogOpening" => {
                let kind = text(&params["type"]);
                Some((Kind::Dialog, format!("{kind}: {}", text(&params["message"])), None))
            }
            _ => None,
        };
        let Some((kind, text, place)) = said else { return };
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        let number = self.next;
        self.next += 1;
        if let Some(id) = params["exceptionDetails"]["exceptionId"].as_u64() {
            self.exceptions.push_back((id, number));
            if self.exceptions.len() > KEPT {
                self.exceptions.pop_front();
            }
        }
        self.entries.push_back(Entry { number, kind, text, place });
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
    pub(super) fn since(&self, number: u64) -> Vec<Entry> {
        self.entries.iter().filter(|entry| entry.number >= number).cloned().collect()
    }

    /// Returns the number that the next entry will have.
    pub(super) fn next(&self) -> u64 {
        self.next
    }
}

type Said = (Kind, String, Option<String>);

fn called(params: &Value) -> Said {
    let kind = match params["type"].as_str().unwrap_or_default() {
        "error" | "assert" => Kind::Error,
        "warning" => Kind::Warning,
        "debug" => Kind::Debug,
        _ => Kind::Log,
    };
    let arguments = params["args"].as_array().map(Vec::as_slice).unwrap_or_default();
    let told: Vec<String> = arguments.iter().take(ARGUMENTS).map(told).collect();
    (kind, cut(&told.join(" ")), place(&params["stackTrace"]["callFrames"][0]))
}

fn thrown(details: &Value) -> Said {
    let exception = &details["exception"];
    let message = match exception["description"].as_str() {
        Some(description) => cut(description),
        None => cut(&format!("{} {}", text(&details["text"]), told(exception))),
    };
    (Kind::Uncaught, message, place(details))
}

fn logged(entry: &Value) -> Option<Said> {
    // The browser requests the icon by itself.
    if entry["url"].as_str().is_some_and(|url| url.ends_with("/favicon.ico")) {
        return None;
    }
    let kind = match entry["level"].as_str().unwrap_or_default() {
        "error" => Kind::Error,
        "warning" => Kind::Warning,
        "verbose" => Kind::Debug,
        _ => Kind::Log,
    };
    Some((kind, text(&entry["text"]), place(entry)))
}

/// Formats a value of the page as text.
pub(super) fn told(object: &Value) -> String {
    match (&object["value"], &object["unserializableValue"], &object["description"]) {
        (Value::String(text), _, _) => cut(text),
        (Value::Null, Value::String(text), _) | (Value::Null, _, Value::String(text)) => cut(text),
        (Value::Null, _, _) => object["type"].as_str().unwrap_or("null").to_owned(),
        (value, _, _) => cut(&value.to_string()),
    }
}

fn place(of: &Value) -> Option<String> {
    let url = of["url"].as_str().filter(|url| !url.is_empty())?;
    let line = of["lineNumber"].as_u64().map_or(0, |line| line.saturating_add(1));
    Some(format!("{}:{line}", short(url)))
}

fn text(value: &Value) -> String {
    cut(value.as_str().unwrap_or_default())
}

fn cut(text: &str) -> String {
    let (kept, rest) = split_chars(text, LONGEST);
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
        let mut ring = Ring::default();
        let endless = log(&"é".repeat(100_000));
        for _ in 0..KEPT + 7 {
            ring.take("Runtime.consoleAPICalled", &endless);
        }
        let kept = ring.since(0);
        assert_eq!((kept.len(), kept[0].number, ring.next()), (KEPT, 7, KEPT as u64 + 7));
        assert_eq!(kept[0].text.chars().count(), LONGEST + 1);
        assert_eq!(ring.since(KEPT as u64 + 6).len(), 1);
    }

    #[test]
    fn an_exception_that_is_caught_later_is_taken_back() {
        let mut ring = Ring::default();
        for id in [7, 8] {
            let details = json!({ "exceptionId": id, "text": format!("number {id}") });
            ring.take("Runtime.exceptionThrown", &json!({ "exceptionDetails": details }));
        }
        for id in [json!(7), json!(99), json!(null)] {
            ring.take("Runtime.exceptionRevoked", &json!({ "exceptionId": id }));
        }
        let left: Vec<u64> = ring.since(0).iter().map(|entry| entry.number).collect();
        assert_eq!((left, ring.next()), (vec![1], 2));
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        let mut ring = Ring::default();
        ring.take("Runtime.consoleAPICalled", &log("\u{1b}[31mred\u{202e}"));
        assert_eq!(ring.since(0)[0].text, "\\u{1b}[31mred\\u{202e}");
    }

    #[test]
    fn an_event_of_any_shape_is_taken() {
        let mut ring = Ring::default();
        for method in ["Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"] {
            for params in [json!(null), json!([]), json!({ "args": 7, "entry": { "url": 3 } })] {
                ring.take(method, &params);
            }
        }
        assert_eq!(ring.next(), 9);
    }
}
