//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::{ApiRefusal, FinalAnswer, RequestContent, Stop, check_fields, event};
use crate::http::Request;
use crate::model::request::{said_by, text_of};

const FIELDS: [&str; 21] = [
    "model", "messages", "max_tokens", "system", "metadata", "stop_sequences", "stream",
    "temperature", "top_p", "top_k", "thinking", "tools", "tool_choice", "service_tier",
    "container", "mcp_servers", "context_management", "cache_control", "output_config",
    "output_format", "inference_geo",
];

/// Fields of a request for an answer that a token count must not have.
const ANSWER_ONLY: [&str; 7] =
    ["max_tokens", "metadata", "stop_sequences", "stream", "temperature", "top_p", "top_k"];

/// Fields that require a beta header, each with the prefix of its name.
const BETAS: [(&str, &str); 3] = [
    ("context_management", "context-management-"),
    ("mcp_servers", "mcp-client-"),
    ("output_format", "structured-outputs-"),
];

/// Tools that are called even if the request does not force it.
const CALLED: [&str; 2] = ["report", "StructuredOutput"];

pub(super) fn check(request: &Request, body: &Value) -> Result<(), ApiRefusal> {
    if request.header("anthropic-version").is_none() {
        return Err(ApiRefusal::invalid("anthropic-version: header is required"));
    }
    let counts = request.path().ends_with("/count_tokens");
    let is_known = |name: &&str| {
        let beta = BETAS.iter().find(|(field, _)| field == name);
        !(counts && ANSWER_ONLY.contains(name))
            && beta.is_none_or(|(_, beta)| has_beta(request, beta))
    };
    let known: Vec<&str> = FIELDS.into_iter().filter(is_known).collect();
    check_fields(body, &known, |name| {
        ApiRefusal::invalid(format!("{name}: Extra inputs are not permitted"))
    })?;
    if body["model"].as_str().unwrap_or_default().is_empty() {
        return Err(ApiRefusal::invalid("model: Field required"));
    }
    if !counts {
        check_numbers(body)?;
    }
    check_messages(&body["messages"], has_beta(request, "claude-code-"))?;
    check_tools(body)?;
    check_thinking(body)?;
    let cached = count_cached(body);
    if cached > 4 {
        return Err(ApiRefusal::invalid(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {cached}."
        )));
    }
    Ok(())
}

fn has_beta(request: &Request, beta: &str) -> bool {
    let named = request.header("anthropic-beta").unwrap_or_default();
    named.split(',').any(|name| name.trim().starts_with(beta))
}

fn check_numbers(body: &Value) -> Result<(), ApiRefusal> {
    match &body["max_tokens"] {
        Value::Null => return Err(ApiRefusal::invalid("max_tokens: Field required")),
        number if number.as_u64().unwrap_or(0) == 0 => {
            let message = "max_tokens: Input should be greater than or equal to 1";
            return Err(ApiRefusal::invalid(message));
        }
        _ => {}
    }
    match &body["temperature"] {
        Value::Null => Ok(()),
        number if number.as_f64().is_some_and(|number| (0.0..=1.0).contains(&number)) => Ok(()),
        _ => Err(ApiRefusal::invalid("temperature: range: 0..1")),
    }
}

/// Validates the messages. Some models accept a system message right after one of the user, most do
/// not; `claude` alone is trusted to know which.
fn check_messages(messages: &Value, is_claude: bool) -> Result<(), ApiRefusal> {
    let Some(messages) = messages.as_array() else {
        return Err(ApiRefusal::invalid("messages: Field required"));
    };
    if messages.is_empty() {
        return Err(ApiRefusal::invalid("messages: at least one message is required"));
    }
    for (at, message) in messages.iter().enumerate() {
        match message["role"].as_str() {
            Some("user" | "assistant") => {}
            Some("system") if is_claude && at > 0 && messages[at - 1]["role"] == "user" => {}
            Some(role) => {
                return Err(ApiRefusal::invalid(format!(
                    "messages: Unexpected role \"{role}\". The Messages API accepts a top-level \
                     `system` parameter, not \"system\" as an input message role."
                )));
            }
            None => return Err(ApiRefusal::invalid(format!("messages.{at}.role: Field required"))),
        }
        let is_last = at + 1 == messages.len();
        let is_empty = match &message["content"] {
            Value::String(text) => text.is_empty(),
            Value::Array(parts) => parts.is_empty(),
            _ => return Err(ApiRefusal::invalid(format!("messages.{at}.content: Field required"))),
        };
        // A system message without text may change the settings of the next turn.
        let may_be_empty = message["role"] == "system" || is_last && message["role"] == "assistant";
        if is_empty && !may_be_empty {
            return Err(ApiRefusal::invalid(format!(
                "messages.{at}: all messages must have non-empty content except for the optional \
                 final assistant message"
            )));
        }
        let parts = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        for (part_at, part) in parts.iter().enumerate() {
            if !part["type"].is_string() {
                let message = format!("messages.{at}.content.{part_at}.type: Field required");
                return Err(ApiRefusal::invalid(message));
            }
            if part["type"] == "text" && part["text"].as_str().unwrap_or_default().is_empty() {
                return Err(ApiRefusal::invalid("messages: text content blocks must be non-empty"));
            }
        }
    }
    if messages[0]["role"] != "user" {
        return Err(ApiRefusal::invalid("messages: first message must use the \"user\" role"));
    }
    check_results(messages)
}

/// Fails unless every tool call has its result in the next message, and there are no other results.
fn check_results(messages: &[Value]) -> Result<(), ApiRefusal> {
    let ids = |message: &Value, kind: &str, field: &str| -> Vec<String> {
        let parts = message["content"].as_array().into_iter().flatten();
        let parts = parts.filter(|part| part["type"] == kind);
        parts.filter_map(|part| Some(part[field].as_str()?.to_owned())).collect()
    };
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let results = ids(message, "tool_result", "tool_use_id");
        if let Some(id) = results.iter().find(|id| !open.contains(id)) {
            return Err(ApiRefusal::invalid(format!(
                "messages.{at}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. \
                 Each `tool_result` block must have a corresponding `tool_use` block in the previous \
                 message."
            )));
        }
        if let Some(id) = open.iter().find(|id| !results.contains(id)) {
            return Err(ApiRefusal::invalid(format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately \
                 after: {id}."
            )));
        }
        open = ids(message, "tool_use", "id");
    }
    Ok(())
}

fn check_tools(body: &Value) -> Result<(), ApiRefusal> {
    for (at, tool) in tools(body).iter().enumerate() {
        let name = tool["name"].as_str().unwrap_or_default();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if name.is_empty() || name.len() > 128 || !name.bytes().all(is_name) {
            return Err(ApiRefusal::invalid(format!(
                "tools.{at}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            )));
        }
        let is_ours = matches!(tool["type"].as_str(), None | Some("custom"));
        if is_ours && tool["input_schema"]["type"] != "object" {
            return Err(ApiRefusal::invalid(format!(
                "tools.{at}.custom.input_schema.type: Input should be 'object'"
            )));
        }
    }
    let choice = &body["tool_choice"];
    match choice["type"].as_str() {
        None if choice.is_null() => Ok(()),
        Some("auto" | "any" | "none") if !tools(body).is_empty() => Ok(()),
        Some("auto" | "any" | "none") => {
            Err(ApiRefusal::invalid("tool_choice may only be specified while providing tools"))
        }
        Some("tool") => {
            let name = &choice["name"];
            if tools(body).iter().any(|tool| &tool["name"] == name) {
                return Ok(());
            }
            Err(ApiRefusal::invalid(format!("Tool {name} not found in provided tools")))
        }
        _ => Err(ApiRefusal::invalid(
            "tool_choice: Input tag does not match any of the expected tags",
        )),
    }
}

fn check_thinking(body: &Value) -> Result<(), ApiRefusal> {
    let thinking = &body["thinking"];
    match thinking["type"].as_str() {
        None if thinking.is_null() => return Ok(()),
        Some("disabled") => return Ok(()),
        Some("adaptive") => {}
        Some("enabled") => {
            let Some(budget) = thinking["budget_tokens"].as_u64() else {
                let message = "thinking.enabled.budget_tokens: Field required";
                return Err(ApiRefusal::invalid(message));
            };
            if budget < 1024 {
                return Err(ApiRefusal::invalid(
                    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
                ));
            }
            if body["max_tokens"].as_u64().is_some_and(|most| budget >= most) {
                return Err(ApiRefusal::invalid(
                    "`max_tokens` must be greater than `thinking.budget_tokens`.",
                ));
            }
        }
        _ => {
            return Err(ApiRefusal::invalid(
                "thinking: Input tag does not match the expected tags",
            ));
        }
    }
    if body["temperature"].as_f64().is_some_and(|number| number != 1.0) {
        return Err(ApiRefusal::invalid(
            "`temperature` may only be set to 1 when thinking is enabled.",
        ));
    }
    if !body["top_k"].is_null() {
        return Err(ApiRefusal::invalid("`top_k` must be unset when thinking is enabled."));
    }
    let mut spoken = body["messages"].as_array().into_iter().flatten();
    let last = spoken.rfind(|message| message["role"] == "assistant");
    let first = last.map(|last| &last["content"][0]["type"]);
    if thinking["type"] == "enabled" && first.is_some_and(|kind| kind == "tool_use") {
        return Err(ApiRefusal::invalid(
            "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found \
             `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a \
             thinking block.",
        ));
    }
    if matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool")) {
        return Err(ApiRefusal::invalid(
            "Thinking may not be enabled when tool_choice forces tool use.",
        ));
    }
    Ok(())
}

/// Returns the number of blocks with a cache mark. Words of a schema do not count.
fn count_cached(value: &Value) -> usize {
    match value {
        Value::Array(values) => values.iter().map(count_cached).sum(),
        Value::Object(fields) => {
            let own = usize::from(fields.get("cache_control").is_some_and(|mark| !mark.is_null()));
            let inner = ["tools", "system", "messages", "content"];
            own + inner.iter().filter_map(|name| fields.get(*name)).map(count_cached).sum::<usize>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn tools(body: &Value) -> &[Value] {
    body["tools"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the tool that the answer calls. A tool that was called already is called again only if
/// the request forces it.
fn wanted_tool(body: &Value) -> Option<&Value> {
    let choice = &body["tool_choice"];
    let named = |name: &str| tools(body).iter().find(|tool| tool["name"] == name);
    match choice["type"].as_str() {
        Some("tool") => return named(choice["name"].as_str()?),
        Some("any") => return CALLED.iter().find_map(|name| named(name)).or(tools(body).first()),
        Some("none") => return None,
        _ => {}
    }
    let last = body["messages"].as_array()?.last()?;
    let is_result = |part: &Value| part["type"] == "tool_result";
    if last["content"].as_array().is_some_and(|parts| parts.iter().any(is_result)) {
        return None;
    }
    CALLED.iter().find_map(|name| named(name))
}

pub(super) fn read(body: &Value) -> RequestContent {
    let schema = wanted_tool(body).map(|tool| &tool["input_schema"]);
    let formats = [&body["output_config"]["format"], &body["output_format"]];
    let formats = formats.into_iter().map(|format| &format["schema"]).filter(|it| !it.is_null());
    RequestContent {
        system: format!(
            "{}\n{}",
            text_of(&body["system"]),
            said_by(&body["messages"], &["system"])
        )
        .trim()
        .to_owned(),
        user: said_by(&body["messages"], &["user"]),
        schema: schema.into_iter().chain(formats).next().cloned(),
    }
}

/// Returns the blocks of an answer, as in a whole message.
fn blocks(said: &FinalAnswer<'_>) -> Vec<Value> {
    let body = &said.asked.body;
    let mut blocks = Vec::new();
    if matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive")) {
        let is_shown = body["thinking"]["display"] != "omitted";
        blocks.push(json!({
            "type": "thinking",
            "thinking": if is_shown { said.thinking } else { "" },
            "signature": "c2lnbmVkIGJ5IG5vYm9keQ==",
        }));
    }
    if said.text.is_empty() {
        return blocks;
    }
    let input = serde_json::from_str::<Value>(&said.text).ok().filter(Value::is_object);
    let wanted = || wanted_tool(body)?["name"].as_str();
    blocks.push(match (said.tool.or_else(wanted), input) {
        (Some(tool), Some(input)) => json!({
            "type": "tool_use", "id": said.id("toolu_"), "name": tool, "input": input,
        }),
        _ => json!({ "type": "text", "text": said.text }),
    });
    blocks
}

fn stop_reason(said: &FinalAnswer<'_>, blocks: &[Value]) -> &'static str {
    match said.stop {
        Stop::CutOff => "max_tokens",
        Stop::Refusal => "refusal",
        Stop::Done if blocks.iter().any(|block| block["type"] == "tool_use") => "tool_use",
        Stop::Done => "end_turn",
    }
}

fn usage(said: &FinalAnswer<'_>, output: u64) -> Value {
    json!({
        "input_tokens": said.usage.input,
        "cache_creation_input_tokens": said.usage.cache_write,
        "cache_read_input_tokens": said.usage.cache_read,
        "output_tokens": output,
        "service_tier": "standard",
    })
}

pub(super) fn whole(said: &FinalAnswer<'_>) -> Value {
    let blocks = blocks(said);
    json!({
        "model": said.asked.model,
        "id": said.id("msg_"),
        "type": "message",
        "role": "assistant",
        "stop_reason": stop_reason(said, &blocks),
        "content": blocks,
        "stop_sequence": null,
        "usage": usage(said, said.usage.output),
    })
}

pub(super) fn events(said: &FinalAnswer<'_>) -> Vec<Vec<u8>> {
    let blocks = blocks(said);
    let mut data = vec![json!({
        "type": "message_start",
        "message": {
            "model": said.asked.model, "id": said.id("msg_"), "type": "message",
            "role": "assistant", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": usage(said, 1),
        },
    })];
    for (index, block) in blocks.iter().enumerate() {
        data.push(json!({
            "type": "content_block_start", "index": index, "content_block": begun(block),
        }));
        if index == 0 {
            data.push(json!({ "type": "ping" }));
        }
        data.extend(
            deltas(said, block).into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        data.push(json!({ "type": "content_block_stop", "index": index }));
    }
    data.push(json!({
        "type": "message_delta",
        "delta": { "stop_reason": stop_reason(said, &blocks), "stop_sequence": null },
        "usage": {
            "input_tokens": said.usage.input,
            "cache_creation_input_tokens": said.usage.cache_write,
            "cache_read_input_tokens": said.usage.cache_read,
            "output_tokens": said.usage.output,
        },
    }));
    data.push(json!({ "type": "message_stop" }));
    data.iter().map(|data| event(data["type"].as_str(), data)).collect()
}

/// Returns a block without content, as at its start in a stream.
fn begun(block: &Value) -> Value {
    let mut begun = block.clone();
    for (name, nothing) in [
        ("text", json!("")),
        ("thinking", json!("")),
        ("signature", json!("")),
        ("input", json!({})),
    ] {
        if let Some(field) = begun.get_mut(name) {
            *field = nothing;
        }
    }
    begun
}

/// Returns the deltas that complete a block.
fn deltas(said: &FinalAnswer<'_>, block: &Value) -> Vec<Value> {
    match block["type"].as_str() {
        Some("thinking") => {
            let pieces = said.pieces(block["thinking"].as_str().unwrap_or_default()).into_iter();
            let signed = json!({ "type": "signature_delta", "signature": block["signature"] });
            pieces
                .map(|piece| json!({ "type": "thinking_delta", "thinking": piece }))
                .chain([signed])
                .collect()
        }
        Some("tool_use") => {
            let pieces = said.pieces(&said.text).into_iter();
            [String::new()]
                .into_iter()
                .chain(pieces)
                .map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }))
                .collect()
        }
        _ => {
            let pieces = said.pieces(&said.text).into_iter();
            pieces.map(|piece| json!({ "type": "text_delta", "text": piece })).collect()
        }
    }
}

pub(super) fn error(refused: &ApiRefusal) -> Value {
    let kind = match refused.status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    };
    json!({
        "type": "error",
        "error": { "type": kind, "message": refused.message },
        "request_id": "req_011CfakeFakeFakeFakeFake",
    })
}

pub(super) fn error_for(status: u16) -> ApiRefusal {
    let message = match status {
        401 => "invalid x-api-key",
        403 => "Your API key does not have permission to use the specified resource.",
        404 => "model: fake-model",
        413 => "Request exceeds the maximum size",
        429 => {
            "This request would exceed your organization's rate limit of 50 requests per minute. \
             For details, refer to: https://docs.claude.com/en/api/rate-limits."
        }
        529 => "Overloaded",
        500.. => "Internal server error",
        _ => "messages: the request is not in order",
    };
    ApiRefusal::new(status, message)
}
