//! `get_electron_window_info`: the running app and its windows.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ElectronTools;
use crate::mcp::{Effect, Refusal, Tool};

/// The maximum number of windows in an answer.
const MAX_WINDOWS: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The product name and version that the browser in the app reports.
    browser: String,
    /// The user agent that the app sends to web servers.
    user_agent: String,
    /// True if the other tools support this version: Chrome 83 (Electron 9) or newer.
    supported: bool,
    /// The windows of the app, at most 50.
    windows: Vec<WindowLine>,
    /// The number of windows that are not listed.
    left_out: usize,
}

#[derive(Serialize, JsonSchema)]
struct WindowLine {
    /// The id of the window, as the other tools expect it.
    id: String,
    /// The kind of the window: `page` or `webview`.
    kind: String,
    /// The title of the page.
    title: String,
    /// The URL of the page.
    url: String,
    /// True if the other tools use this window by default.
    in_use: bool,
}

pub(super) fn tool(tools: &Arc<ElectronTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "get_electron_window_info",
        "Returns the running app and its windows.",
        Effect::Reads,
        move |_: Input| info(&tools),
    )
}

fn info(tools: &ElectronTools) -> Result<Output, Refusal> {
    let product = tools.endpoint.product().map_err(|error| Refusal::of(&error))?;
    let windows = tools.endpoint.windows().map_err(|error| Refusal::of(&error))?;
    let used = tools.lock_page().as_ref().map(|page| page.window().id.clone());
    let used = used.filter(|used| windows.iter().any(|window| window.id == *used));
    let first = || windows.iter().find(|window| window.is_own()).map(|it| it.id.clone());
    let used = used.or_else(first);
    let lines = windows.iter().take(MAX_WINDOWS).map(|window| WindowLine {
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
        left_out: windows.len().saturating_sub(MAX_WINDOWS),
    })
}
