//! `read_electron_logs`: what a page said in its console, and what nobody caught.

use std::sync::Arc;

use assay_services::browser::Entry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::App;
use crate::mcp::{Effect, Refusal, Tool};

/// So many entries are told unless more are asked for.
const TOLD: usize = 50;

/// The most characters of entries in one answer.
const MOST: usize = 50_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// So many at the most, the last ones; 50 where it is left out.
    #[serde(default)]
    #[schemars(with = "u8", range(min = 1, max = 200))]
    limit: Option<usize>,
    /// Only what was said from this entry on: the next of an answer before.
    #[serde(default)]
    since: u64,
    /// Only errors.
    #[serde(default)]
    errors_only: bool,
    /// The window, by its id; the one that was used before, or the first, where it is left out.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    window: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// What was said, the latest last.
    entries: Vec<Line>,
    /// How much of what is kept was left out before that.
    left_out: usize,
    /// The number that the next entry will have.
    next: u64,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    /// Which one it is, counted from when the window was first used.
    number: u64,
    /// `debug`, `log`, `dialog`, `warning`, `error`, or `uncaught` for an exception.
    kind: String,
    /// What was said.
    text: String,
    /// Where, as address and line.
    place: String,
}

impl From<Entry> for Line {
    fn from(entry: Entry) -> Line {
        let Entry { number, kind, text, place } = entry;
        Line { number, kind: kind.to_string(), text, place: place.unwrap_or_default() }
    }
}

pub(super) fn tool(app: &Arc<App>) -> Tool {
    let app = Arc::clone(app);
    Tool::new(
        "read_electron_logs",
        "Tells what a window said in its console since it was first used, with exceptions that \
         nobody caught and dialogs that were answered.",
        Effect::Reads,
        move |input| read(&app, &input),
    )
}

fn read(app: &App, input: &Input) -> Result<Output, Refusal> {
    let (mut entries, next) = app.with_page(input.window.as_deref(), |page| {
        Ok((page.console_since(input.since), page.next_entry()))
    })?;
    entries.retain(|entry| !input.errors_only || entry.is_error());
    let all = entries.len();
    let mut left = MOST;
    let fits = |entry: &Entry| {
        left = left.saturating_sub(entry.text.len());
        left > 0
    };
    let last = entries.into_iter().rev().take(input.limit.unwrap_or(TOLD)).take_while(fits);
    let mut told: Vec<Line> = last.map(Line::from).collect();
    told.reverse();
    Ok(Output { left_out: all - told.len(), entries: told, next })
}
