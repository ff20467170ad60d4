//! `send_command_to_electron`: the actions of a user or a tester on a page.

use std::sync::Arc;

use assay_services::browser::PageCommand;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::ElectronTools;
use crate::mcp::{Effect, Refusal, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The command to run.
    command: String,
    /// The arguments of the command: click_by_text {text}; click_by_selector {selector}; fill_input
    /// {value} and one of {placeholder}, {label}, {selector}; select_option {text} or {value}, and
    /// {label} or {selector}; navigate_to_hash {hash}; send_keyboard_shortcut {keys}, such as
    /// Ctrl+N; debug_elements and verify_form_state optionally {selector}; get_page_structure none;
    /// eval, if it is offered, {code}.
    #[serde(default)]
    args: Map<String, Value>,
    /// The id of the window; by default the window used last, or else the first one.
    #[serde(default)]
    #[schemars(with = "String", length(min = 1, max = 200))]
    window: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The result of the command.
    result: Map<String, Value>,
}

pub(super) fn tool(tools: &Arc<ElectronTools>) -> Tool {
    let own = Arc::clone(tools);
    let tool = Tool::new(
        "send_command_to_electron",
        "Clicks, types, selects, navigates in the app, or inspects the page. A click waits until \
         the element exists, is visible, is not covered and does not move.",
        Effect::Changes,
        move |input| send(&own, input),
    );
    let offered = |name: &&str| tools.eval || *name != "eval";
    let names: Vec<&str> = PageCommand::NAMES.into_iter().filter(offered).collect();
    tool.with_choices("command", &names)
}

fn send(tools: &ElectronTools, input: Input) -> Result<Output, Refusal> {
    let Input { command: name, args, window } = input;
    let command = serde_json::from_value::<PageCommand>(json!({ name.as_str(): args }));
    let command = command.map_err(|error| {
        Refusal::new(format!("invalid `args` of `{name}`: {error}. Nothing was done."))
    })?;
    match tools.with_page(window.as_deref(), |page| page.perform(&command))? {
        Value::Object(result) => Ok(Output { result }),
        other => Ok(Output { result: Map::from_iter([("value".to_owned(), other)]) }),
    }
}
