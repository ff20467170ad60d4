//! Codex, `codex exec`: builds the command and parses its JSON events.

use assay_sandbox::Command;
use serde_json::Value;

use super::{AgentRequest, AgentRun, SchemaPlacement, is_login_error};
use crate::api_error::ApiError;
use crate::json::{count, text};
use crate::{Failure, FailureClass, Reply, Usage};

/// Variables that Codex needs to find its account and its provider.
pub(super) const VARIABLES: [&str; 6] =
    ["CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE"];

/// Arguments that restrict Codex to answering: no shell, no writes, no stored session, and no
/// instructions other than those of the prompt.
const ARGS: [&str; 13] = [
    "exec", "--json", "--skip-git-repo-check", "-s", "read-only", "--ephemeral",
    "--ignore-user-config", "--ignore-rules", "--disable", "shell_tool", "-c",
    "project_doc_max_bytes=0", "-c",
];

/// The value of the last `-c` in `ARGS`.
const NO_SEARCH: &str = "web_search=\"disabled\"";

pub(super) fn command(request: &AgentRequest<'_>) -> Result<Command, Failure> {
    let mut command = request.program("codex").args(ARGS).args([NO_SEARCH]);
    if let Some(model) = request.model() {
        command = command.args(["-m", model]);
    }
    if let Some(effort) = effort(request.prompt.thinking_tokens) {
        command = command.args(["-c", &format!("model_reasoning_effort=\"{effort}\"")]);
    }
    // Codex asks its provider for strict adherence to the schema. The provider rejects that for a
    // schema that is not strict.
    let schema = request.prompt.schema.as_ref().filter(|schema| is_strict(schema));
    let way = match schema {
        Some(schema) => {
            let file = request.write_file("schema.json", &schema.to_string())?;
            command = command.args(["--output-schema", &file]);
            SchemaPlacement::AsOption
        }
        None => SchemaPlacement::InPrompt,
    };
    // Codex could parse a prompt among the arguments as one of its own commands.
    Ok(command.args(request.extra_args()).args(["-"]).input(request.full_prompt(way).into_bytes()))
}

fn effort(thinking_tokens: u32) -> Option<&'static str> {
    match thinking_tokens {
        0 => None,
        1..4_000 => Some("low"),
        4_000..16_000 => Some("medium"),
        16_000.. => Some("high"),
    }
}

/// Returns true if each object in a schema is closed and requires all of its properties.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_closed = match fields.get("properties").and_then(Value::as_object) {
                None => fields.get("type").and_then(Value::as_str) != Some("object"),
                Some(properties) => {
                    let required = fields.get("required").and_then(Value::as_array);
                    let is_required = |name: &String| {
                        required.is_some_and(|names| names.iter().any(|other| other == name))
                    };
                    fields.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(is_required)
                }
            };
            is_closed && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

pub(super) fn reply(run: &AgentRun<'_>) -> Result<Reply, Failure> {
    let printed = run.stdout();
    let events: Vec<Value> =
        printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let last = |kind: &str| events.iter().rfind(|event| text(event, "/type") == kind);
    let messages = events.iter().filter(|event| {
        text(event, "/type") == "item.completed" && text(event, "/item/type") == "agent_message"
    });
    let mut before: Vec<&str> = messages.map(|message| text(message, "/item/text")).collect();
    let said = before.pop().unwrap_or_default();
    // Errors are also printed in successful runs: only this event and the exit status decide.
    if let Some(failed) = last("turn.failed") {
        return Err(failure(run, text(failed, "/error/message")).with_partial(run.scrub(said)));
    }
    if !run.finished.status.success() {
        let told = last("error").map(|error| failure(run, text(error, "/message")));
        return Err(told.unwrap_or_else(|| run.exit_failure()).with_partial(run.scrub(said)));
    }
    match last("turn.completed") {
        Some(turn) => {
            let aside = before.join("\n");
            Ok(Reply { aside, ..Reply::new(said, used(&turn["usage"])) })
        }
        None => Err(run.garbage_failure().with_partial(run.scrub(said))),
    }
}

fn used(usage: &Value) -> Usage {
    let number = |name: &str| count(usage, name).unwrap_or_default();
    // The input includes the tokens that were read from the cache.
    let cache_read = number("/cached_input_tokens");
    let input = number("/input_tokens").saturating_sub(cache_read);
    Usage { input, cache_read, cache_write: 0, output: number("/output_tokens") }
}

/// Creates a failure from an error message; its class follows from the HTTP status in the message,
/// if there is one.
fn failure(run: &AgentRun<'_>, words: &str) -> Failure {
    let nested: Option<ApiError> =
        serde_json::from_str(words).ok().as_ref().and_then(ApiError::parse);
    let api_error =
        nested.unwrap_or_else(|| ApiError { kind: String::new(), message: words.to_owned() });
    let class = match status_in(words) {
        Some(status) => api_error.class(Some(status)),
        None if is_login_error(words) => FailureClass::Authentication,
        None if words.contains("max_output_tokens") => FailureClass::CutOff,
        None if words.contains("context window") => FailureClass::TooLong,
        None if words.contains("usage limit") || words.contains("Quota exceeded") => {
            FailureClass::Budget
        }
        // Codex prints these words for any 5xx status.
        None if words.contains("high demand") || words.contains("at capacity") => {
            FailureClass::Overload
        }
        None if words.contains("disconnected") || words.contains("connection") => {
            FailureClass::Network
        }
        None => match api_error.kind.as_str() {
            "" => FailureClass::Program,
            _ => api_error.class(None),
        },
    };
    let failure = run.failure(class, &api_error.message);
    // A request that the provider rejected uses no tokens.
    let usage = status_in(words).map(|_| Usage::default());
    Failure { usage, ..failure }
}

/// Finds an HTTP status of 400 to 599 after the word `status`.
fn status_in(words: &str) -> Option<u16> {
    let (_, rest) = words.split_once("status")?;
    let digits = rest.trim_start_matches([' ', ':']).get(..3)?;
    digits.parse().ok().filter(|status| (400..600).contains(status))
}
