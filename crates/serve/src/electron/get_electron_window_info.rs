//! `get_electron_window_info`: what runs, and its windows.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::App;
use crate::mcp::{Effect, Refusal, Tool};

/// So many windows are told.
const MOST: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// What the browser in the app calls itself.
    browser: String,
    /// What the app calls itself to web servers.
    user_agent: String,
    /// Whether the other tools work with this version: Chrome 83 (Electron 9) or newer.
    supported: bool,
    /// The windows.
    windows: Vec<Line>,
    /// How many more there are.
    left_out: usize,
}

#[derive(Serialize, JsonSchema)]
struct Line {
    /// What the other tools call it.
    id: String,
    /// What is in it: `page` or `webview`.
    kind: String,
    /// The title of its page.
    title: String,
    /// The address of its page.
    url: String,
    /// Whether it is the one that the other tools use unless told otherwise.
    in_use: bool,
}

pub(super) fn tool(app: &Arc<App>) -> Tool {
    let app = Arc::clone(app);
    Tool::new(
        "get_electron_window_info",
        "Says what app runs and which windows it has.",
        Effect::Reads,
        move |_: Input| info(&app),
    )
}

fn info(app: &App) -> Result<Output, Refusal> {
    let product = app.endpoint.product().map_err(|error| Refusal::of(&error))?;
    let windows = app.endpoint.windows().map_err(|error| Refusal::of(&error))?;
    let used = app.kept().as_ref().map(|page| page.window().id.clone());
    let used = used.filter(|used| windows.iter().any(|window| window.id == *used));
    let first = || windows.iter().find(|window| window.is_own()).map(|it| it.id.clone());
    let used = used.or_else(first);
    let lines = windows.iter().take(MOST).map(|window| Line {
        id: window.id.clone(),
        kind: window.kind.clone(),
        title: window.title.clone(),
        url: window.url.clone(),
        in_use: Some(&window.id) == used.as_ref(),
    });
    Ok(Output {
        supported: product.is_supported(),
        browser: product.browser,
        user_agent: product.user_agent,
        windows: lines.collect(),
        left_out: windows.len().saturating_sub(MOST),
    })
}
