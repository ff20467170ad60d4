//! OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::{ApiRefusal, CREATED, FinalAnswer, RequestContent, Stop, check_fields, event, openai};
use crate::model::request::said_by;

const FIELDS: [&str; 33] = [
    "model", "messages", "audio", "frequency_penalty", "function_call", "functions", "logit_bias",
    "logprobs", "max_completion_tokens", "max_tokens", "metadata", "modalities", "n",
    "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
    "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed",
    "service_tier", "stop", "store", "stream", "stream_options", "temperature", "tool_choice",
    "tools", "top_logprobs", "top_p", "user",
];

pub(super) fn check(body: &Value) -> Result<(), ApiRefusal> {
    check_fields(body, &FIELDS, |name| {
        ApiRefusal::invalid(format!("Unrecognized request argument supplied: {name}"))
    })?;
    openai::check_model(body)?;
    check_messages(&body["messages"])?;
    if body["stream"] != true && !body["stream_options"].is_null() {
        return Err(ApiRefusal::invalid(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        )
        .at("stream_options"));
    }
    check_limits(body)?;
    let format = &body["response_format"];
    match format["type"].as_str() {
        Some("json_schema") => {
            openai::check_format(&format["json_schema"], "response_format.json_schema")
        }
        Some("json_object") if !body["messages"].to_string().to_lowercase().contains("json") => {
            Err(ApiRefusal::invalid(
                "'messages' must contain the word 'json' in some form, to use 'response_format' of \
                 type 'json_object'.",
            )
            .at("messages"))
        }
        Some("json_object" | "text") => Ok(()),
        None if format.is_null() => Ok(()),
        _ => Err(ApiRefusal::invalid("Invalid value for 'response_format.type'.")
            .at("response_format.type")),
    }
}

fn check_messages(messages: &Value) -> Result<(), ApiRefusal> {
    let Some(messages) = messages.as_array() else {
        return Err(ApiRefusal::invalid("Missing required parameter: 'messages'.")
            .at("messages")
            .code("missing_required_parameter"));
    };
    if messages.is_empty() {
        return Err(ApiRefusal::invalid(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an \
             empty array instead.",
        )
        .at("messages")
        .code("empty_array"));
    }
    let roles = ["system", "developer", "user", "assistant", "tool", "function"];
    for (at, message) in messages.iter().enumerate() {
        if !roles.contains(&message["role"].as_str().unwrap_or_default()) {
            let at = format!("messages[{at}].role");
            return Err(ApiRefusal::invalid(format!("Invalid value for '{at}'."))
                .at(&at)
                .code("invalid_value"));
        }
    }
    check_results(messages)
}

/// Fails unless every tool call has its result right after the message of the call, and there are
/// no other results.
fn check_results(messages: &[Value]) -> Result<(), ApiRefusal> {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            let Some(at) = open.iter().position(|it| *it == id) else {
                return Err(ApiRefusal::invalid(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                     message with 'tool_calls'.",
                )
                .at("messages"));
            };
            open.remove(at);
            continue;
        }
        if !open.is_empty() {
            break;
        }
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open.extend(calls.filter_map(|call| call["id"].as_str()));
    }
    match open.is_empty() {
        true => Ok(()),
        false => Err(ApiRefusal::invalid(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to \
             each 'tool_call_id'.",
        )
        .at("messages")),
    }
}

/// Returns the tool call of an answer; `None` if it calls no tool.
fn call(said: &FinalAnswer<'_>) -> Option<Value> {
    let tool = said.tool.filter(|_| said.stop == Stop::Done)?;
    let function = json!({ "name": tool, "arguments": said.text });
    Some(json!({ "id": said.id("call_"), "type": "function", "function": function }))
}

fn check_limits(body: &Value) -> Result<(), ApiRefusal> {
    if !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null() {
        return Err(ApiRefusal::invalid(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        ));
    }
    for name in ["max_tokens", "max_completion_tokens"] {
        if !body[name].is_null() && body[name].as_u64().unwrap_or(0) == 0 {
            return Err(ApiRefusal::invalid(format!(
                "Invalid '{name}': integer below minimum value."
            ))
            .at(name)
            .code("integer_below_min_value"));
        }
    }
    if !openai::is_reasoning(body["model"].as_str().unwrap_or_default()) {
        return Ok(());
    }
    if !body["max_tokens"].is_null() {
        return Err(ApiRefusal::invalid(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
             'max_completion_tokens' instead.",
        )
        .at("max_tokens")
        .code("unsupported_parameter"));
    }
    if body["temperature"].as_f64().is_some_and(|number| number != 1.0) {
        return Err(ApiRefusal::invalid(
            "Unsupported value: 'temperature' does not support this value with this model. Only \
             the default (1) value is supported.",
        )
        .at("temperature")
        .code("unsupported_value"));
    }
    Ok(())
}

pub(super) fn read(body: &Value) -> RequestContent {
    let schema = &body["response_format"]["json_schema"]["schema"];
    RequestContent {
        system: said_by(&body["messages"], &["system", "developer"]),
        user: said_by(&body["messages"], &["user", "tool"]),
        schema: (!schema.is_null()).then(|| schema.clone()),
    }
}

/// Returns true if the refusal is in a separate field, as for requests with a schema.
fn has_refusal_field(said: &FinalAnswer<'_>) -> bool {
    said.stop == Stop::Refusal && said.asked.schema.is_some()
}

fn finish_reason(said: &FinalAnswer<'_>) -> &'static str {
    match said.stop {
        Stop::Done if call(said).is_some() => "tool_calls",
        Stop::Done => "stop",
        Stop::CutOff => "length",
        Stop::Refusal if has_refusal_field(said) => "stop",
        Stop::Refusal => "content_filter",
    }
}

fn usage(said: &FinalAnswer<'_>) -> Value {
    let prompt = said.usage.input + said.usage.cache_read + said.usage.cache_write;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": said.usage.output,
        "total_tokens": prompt + said.usage.output,
        "prompt_tokens_details": { "cached_tokens": said.usage.cache_read, "audio_tokens": 0 },
        "completion_tokens_details": {
            "reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    })
}

pub(super) fn whole(said: &FinalAnswer<'_>) -> Value {
    let (content, refusal) = match has_refusal_field(said) {
        true => (Value::Null, json!(said.text)),
        false if call(said).is_some() => (Value::Null, Value::Null),
        false => (json!(said.text), Value::Null),
    };
    let mut whole = json!({
        "id": said.id("chatcmpl-"),
        "object": "chat.completion",
        "created": CREATED,
        "model": said.asked.model,
        "choices": [{
            "index": 0,
            "message": {
                "role": "assistant", "content": content, "refusal": refusal, "annotations": [],
            },
            "logprobs": null,
            "finish_reason": finish_reason(said),
        }],
        "usage": usage(said),
        "service_tier": "default",
        "system_fingerprint": "fp_fake",
    });
    if let Some(call) = call(said) {
        whole["choices"][0]["message"]["tool_calls"] = json!([call]);
    }
    whole
}

/// Returns the deltas of an answer.
fn deltas(said: &FinalAnswer<'_>) -> Vec<Value> {
    let pieces = said.pieces(&said.text).into_iter();
    let Some(mut call) = call(said) else {
        let field = if has_refusal_field(said) { "refusal" } else { "content" };
        return pieces.map(|piece| json!({ field: piece })).collect();
    };
    call["index"] = json!(0);
    call["function"]["arguments"] = json!("");
    let more = pieces
        .map(|piece| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": piece } }] }));
    [json!({ "tool_calls": [call] })].into_iter().chain(more).collect()
}

pub(super) fn events(said: &FinalAnswer<'_>) -> Vec<Vec<u8>> {
    let with_usage = said.asked.body["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value| {
        let mut chunk = json!({
            "id": said.id("chatcmpl-"),
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": said.asked.model,
            "service_tier": "default",
            "system_fingerprint": "fp_fake",
            "choices": choices,
        });
        if with_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    };
    let choice = |delta: Value, reason: Value| {
        chunk(json!([{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": reason }]))
    };
    let first = json!({ "role": "assistant", "content": "", "refusal": null });
    let mut data = vec![choice(first, Value::Null)];
    data.extend(deltas(said).into_iter().map(|delta| choice(delta, Value::Null)));
    data.push(choice(json!({}), json!(finish_reason(said))));
    if with_usage {
        let mut last = chunk(json!([]));
        last["usage"] = usage(said);
        data.push(last);
    }
    let done = b"data: [DONE]\n\n".to_vec();
    data.iter().map(|data| event(None, data)).chain([done]).collect()
}
