//! `read_electron_logs`: the console output of a page and its uncaught exceptions.

use std::sync::Arc;

use assay_services::browser::ConsoleEntry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ElectronTools;
use crate::mcp::{Effect, Refusal, Tool};

/// The default number of entries in one answer.
const DEFAULT_ENTRIES: usize = 50;

/// The maximum number of characters of all entries in one answer.
const MAX_CHARS: usize = 50_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The maximum number of entries, 50 by default; the latest ones are returned.
    #[serde(default)]
    #[schemars(with = "u8", range(min = 1, max = 200))]
    limit: Option<usize>,
    /// Return only entries from this number on, such as the `next` of an earlier answer.
    #[serde(default)]
    since: u64,
    /// Return only errors.
    #[serde(default)]
    errors_only: bool,
    /// The id of the window; by default the window used last, or else the first one.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    window: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The entries, latest last.
    entries: Vec<LogLine>,
    /// The number of recorded entries that were left out before the first one.
    left_out: usize,
    /// The number of the next entry to come.
    next: u64,
}

#[derive(Serialize, JsonSchema)]
struct LogLine {
    /// The number of the entry, counted since the window was first used.
    number: u64,
    /// The kind of the entry: `debug`, `log`, `dialog`, `warning`, `error`, or `uncaught` for an
    /// exception.
    kind: String,
    /// The text of the entry.
    text: String,
    /// The source of the entry, as URL and line; empty if unknown.
    place: String,
}

impl From<ConsoleEntry> for LogLine {
    fn from(entry: ConsoleEntry) -> LogLine {
        let ConsoleEntry { number, kind, text, place } = entry;
        LogLine { number, kind: kind.to_string(), text, place: place.unwrap_or_default() }
    }
}

pub(super) fn tool(tools: &Arc<ElectronTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "read_electron_logs",
        "Returns the console output of a window since its first use, with uncaught exceptions and \
         answered dialogs.",
        Effect::Reads,
        move |input| read(&tools, &input),
    )
}

fn read(tools: &ElectronTools, input: &Input) -> Result<Output, Refusal> {
    let (mut entries, next) = tools.with_page(input.window.as_deref(), |page| {
        Ok((page.console_since(input.since), page.next_entry()))
    })?;
    entries.retain(|entry| !input.errors_only || entry.is_error());
    let all = entries.len();
    let mut left = MAX_CHARS;
    let fits = |entry: &ConsoleEntry| {
        left = left.saturating_sub(entry.text.len());
        left > 0
    };
    let last =
        entries.into_iter().rev().take(input.limit.unwrap_or(DEFAULT_ENTRIES)).take_while(fits);
    let mut entries: Vec<LogLine> = last.map(LogLine::from).collect();
    entries.reverse();
    Ok(Output { left_out: all - entries.len(), entries, next })
}
