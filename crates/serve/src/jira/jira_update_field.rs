//! `jira_update_field`: a new value for a field of a ticket.

use std::sync::Arc;

use assay_rules::redact;
use assay_services::jira::FieldValue;
use assay_services::permit::Capability;
use assay_store::pulls::TicketKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::{JiraTools, TicketKeySchema};
use crate::mcp::{Effect, Refusal, Title, Tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The key of the ticket, such as PROJ-123.
    #[schemars(with = "TicketKeySchema")]
    issue_key: TicketKey,
    /// The name or id of the field, such as Story Points or customfield_10016.
    #[schemars(length(min = 1, max = 255))]
    field: String,
    /// The new value: a text, also for a choice, a day or a name; a number; a list of texts; or
    /// null to clear the field.
    value: NewValue,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum NewValue {
    Text(#[schemars(length(max = 28_000))] String),
    Number(#[schemars(with = "f64")] Number),
    List(#[schemars(length(max = 100), inner(length(min = 1, max = 255)))] Vec<String>),
    Nothing(()),
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The key of the ticket.
    issue_key: String,
    /// The name or id of the field.
    field: String,
    /// Always true: a failure is returned as an error.
    updated: bool,
}

pub(super) fn tool(tools: &Arc<JiraTools>) -> Tool {
    let tools = Arc::clone(tools);
    Tool::new(
        "jira_update_field",
        "Sets a field of a ticket. Change the status with jira_transition_issue.",
        Effect::Changes,
        move |input| update(&tools, input),
    )
}

fn update(tools: &JiraTools, input: Input) -> Result<Output, Refusal> {
    tools.check(Capability::WriteInJira)?;
    let Input { issue_key, field, value } = input;
    let value = match value {
        NewValue::Text(text) if field.trim().eq_ignore_ascii_case("summary") => {
            let title = Title::try_from(text).map_err(|error| Refusal::of(&error))?;
            FieldValue::Text(redact(title.as_str()).into_owned())
        }
        NewValue::Text(text) => FieldValue::Text(redact(&text).into_owned()),
        NewValue::Number(number) => FieldValue::Number(number),
        NewValue::List(words) => {
            FieldValue::List(words.iter().map(|word| redact(word).into_owned()).collect())
        }
        NewValue::Nothing(()) => FieldValue::Nothing,
    };
    let updated = tools.jira()?.update_field(&issue_key, &field, &value);
    updated.map_err(|error| Refusal::of(&error))?;
    Ok(Output { issue_key: issue_key.as_str().to_owned(), field, updated: true })
}
