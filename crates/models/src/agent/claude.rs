//! Claude Code, `claude -p`: builds the command and parses its JSON result.

use std::time::Duration;

use assay_sandbox::Command;
use serde_json::Value;

use super::{AgentRequest, AgentRun, is_login_error};
use crate::api_error::ApiError;
use crate::json::{count, text};
use crate::wire::{StopReason, anthropic_usage};
use crate::{Failure, FailureClass, Reply};

/// Variables that Claude Code needs to find its account and its provider.
pub(super) const VARIABLES: [&str; 12] = [
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "HTTPS_PROXY",
    "NO_PROXY", "NODE_EXTRA_CA_CERTS", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
];

/// Arguments that restrict Claude Code to answering: no tools, no MCP servers, no stored session,
/// and no instructions other than those of the prompt.
const ARGS: [&str; 10] = [
    "-p", "--output-format", "json", "--tools", "", "--strict-mcp-config", "--setting-sources",
    "user", "--no-session-persistence", "--disable-slash-commands",
];

pub(super) fn command(request: &AgentRequest<'_>) -> Result<Command, Failure> {
    let prompt = request.prompt;
    let mut command = request.program("claude").args(ARGS);
    if !prompt.system.is_empty() {
        let file = request.write_file("system.txt", &prompt.system)?;
        command = command.args(["--system-prompt-file", &file]);
    }
    if let Some(schema) = &prompt.schema {
        command = command.args(["--json-schema", &schema.to_string()]);
    }
    if let Some(model) = request.model() {
        command = command.args(["--model", model]);
    }
    let output = request.agent.about.max_output_for(prompt);
    Ok(command
        .args(request.extra_args())
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        // Without this, `@` and a path in a change would attach that file to the request.
        .env("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1")
        // Hooks, plugins and memories of the user are not meant for a reviewer.
        .env("CLAUDE_CODE_SAFE_MODE", "1")
        // The caller retries by itself.
        .env("CLAUDE_CODE_MAX_RETRIES", "1")
        .env("API_TIMEOUT_MS", timeout(request.time).to_string())
        .env("CLAUDE_CODE_MAX_OUTPUT_TOKENS", output.to_string())
        .env("MAX_THINKING_TOKENS", prompt.thinking_tokens.min(output).to_string())
        .input(input(request.text()).into_bytes()))
}

/// Returns a time in milliseconds, bounded by the largest number that the agent's timer takes: a
/// larger one would expire at once.
fn timeout(time: Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}

/// Prefixes a prompt that the agent would otherwise parse as one of its own commands.
fn input(text: String) -> String {
    match text.trim_start().starts_with(['/', '!', '#']) {
        true => format!("The task:\n\n{text}"),
        false => text,
    }
}

pub(super) fn reply(run: &AgentRun<'_>) -> Result<Reply, Failure> {
    let printed = run.stdout();
    let Some(result) = find_result(&printed) else {
        return Err(match run.finished.status.success() {
            true => run.garbage_failure(),
            false => run.exit_failure(),
        });
    };
    let usage = anthropic_usage(&result["usage"]);
    let micro_usd = result["total_cost_usd"].as_f64().map(micro);
    let said = text(&result, "/result");
    // The `subtype` is always `success`, even for an error.
    if result["is_error"].as_bool().unwrap_or_default() || !run.finished.status.success() {
        let failure = failure(run, &result, said);
        // A request that the provider rejected uses no tokens.
        let is_known = usage.total() > 0 || status(&result).is_some();
        return Err(Failure { usage: is_known.then_some(usage), ..failure });
    }
    let (text, aside) = match &result["structured_output"] {
        Value::Null => (said.to_owned(), String::new()),
        structured => (structured.to_string(), said.to_owned()),
    };
    // The agent reports an answer that was cut off or refused as a success.
    let stopped = match StopReason::parse(self::text(&result, "/stop_reason")) {
        Some(StopReason::CutOff) => Some((FailureClass::CutOff, "the answer was cut off")),
        Some(StopReason::Refused) => Some((FailureClass::Refusal, "the model refused to answer")),
        Some(StopReason::Finished | StopReason::Unknown(_)) | None => None,
    };
    match stopped {
        Some((class, words)) => {
            let usage = Some(usage).filter(|usage| usage.total() > 0);
            Err(Failure { usage, ..run.failure(class, words) }.with_partial(run.scrub(&text)))
        }
        None => Ok(Reply { aside, micro_usd, ..Reply::new(text, usage) }),
    }
}

/// Finds the result in the output: one object, or the last of a list if the agent is configured to
/// be verbose.
fn find_result(printed: &str) -> Option<Value> {
    let result = match serde_json::from_str(printed.trim()).ok()? {
        Value::Array(events) => {
            events.into_iter().rfind(|event| text(event, "/type") == "result")?
        }
        result => result,
    };
    (text(&result, "/type") == "result").then_some(result)
}

fn failure(run: &AgentRun<'_>, result: &Value, said: &str) -> Failure {
    let words = match said {
        "" => text(result, "/errors/0"),
        said => said,
    };
    let class = match (text(result, "/stop_reason"), status(result)) {
        ("refusal", _) => FailureClass::Refusal,
        ("max_tokens", _) => FailureClass::CutOff,
        (_, Some(status)) => {
            ApiError { kind: String::new(), message: words.to_owned() }.class(Some(status))
        }
        (_, None) if is_login_error(words) => FailureClass::Authentication,
        (_, None) if words.contains("output token maximum") => FailureClass::CutOff,
        (_, None) if words.to_lowercase().contains("prompt is too long") => FailureClass::TooLong,
        (_, None) if text(result, "/terminal_reason") == "api_error" => FailureClass::Network,
        (_, None) => FailureClass::Program,
    };
    run.failure(class, words)
}

/// Returns the HTTP status with which the provider rejected the request, if it did.
fn status(result: &Value) -> Option<u16> {
    count(result, "/api_error_status").and_then(|status| status.try_into().ok())
}

/// Converts dollars to millionths of a dollar, rounded up.
fn micro(dollars: f64) -> u64 {
    // A negative or too large number becomes the nearest valid one.
    (dollars * 1_000_000.0).ceil() as u64
}
