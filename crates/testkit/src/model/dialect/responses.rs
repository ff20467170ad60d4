//! OpenAI's Responses API.

use serde_json::{Value, json};

use super::{ApiRefusal, CREATED, FinalAnswer, RequestContent, Stop, check_fields, event, openai};
use crate::model::request::{said_by, text_of};

const FIELDS: [&str; 29] = [
    "model", "input", "background", "conversation", "include", "instructions", "max_output_tokens",
    "max_tool_calls", "metadata", "parallel_tool_calls", "previous_response_id", "prompt",
    "prompt_cache_key", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier",
    "store", "stream", "stream_options", "temperature", "text", "tool_choice", "tools",
    "top_logprobs", "top_p", "truncation", "user", "client_metadata",
];

pub(super) fn check(body: &Value) -> Result<(), ApiRefusal> {
    check_fields(body, &FIELDS, unknown_field)?;
    openai::check_model(body)?;
    let is_missing = match &body["input"] {
        Value::String(text) => text.is_empty(),
        Value::Array(parts) => parts.is_empty(),
        _ => true,
    };
    if is_missing {
        return Err(ApiRefusal::invalid("Missing required parameter: 'input'.")
            .at("input")
            .code("missing_required_parameter"));
    }
    check_results(&body["input"])?;
    let most = &body["max_output_tokens"];
    if !most.is_null() && most.as_u64().unwrap_or(0) < 16 {
        return Err(ApiRefusal::invalid(format!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but \
             got {most} instead."
        ))
        .at("max_output_tokens")
        .code("integer_below_min_value"));
    }
    let is_reasoning = openai::is_reasoning(body["model"].as_str().unwrap_or_default());
    if is_reasoning && !body["temperature"].is_null() {
        return Err(ApiRefusal::invalid(
            "Unsupported parameter: 'temperature' is not supported with this model.",
        )
        .at("temperature"));
    }
    let format = &body["text"]["format"];
    match format["type"].as_str() {
        Some("json_schema") => openai::check_format(format, "text.format"),
        Some("text" | "json_object") => Ok(()),
        None if format.is_null() => Ok(()),
        _ => {
            Err(ApiRefusal::invalid("Invalid value for 'text.format.type'.").at("text.format.type"))
        }
    }
}

/// Fails unless every tool call has its result, and every result its call.
fn check_results(input: &Value) -> Result<(), ApiRefusal> {
    let items = || input.as_array().into_iter().flatten();
    let ids = |kind: &str| -> Vec<&str> {
        let items = items().filter(|item| item["type"] == kind);
        items.filter_map(|item| item["call_id"].as_str()).collect()
    };
    let (calls, outputs) = (ids("function_call"), ids("function_call_output"));
    if let Some(id) = calls.iter().find(|id| !outputs.contains(id)) {
        return Err(ApiRefusal::invalid(format!("No tool output found for function call {id}."))
            .at("input"));
    }
    match outputs.iter().find(|id| !calls.contains(id)) {
        None => Ok(()),
        Some(id) => Err(ApiRefusal::invalid(format!(
            "No tool call found for function call output with call_id {id}."
        ))
        .at("input")),
    }
}

fn unknown_field(name: &str) -> ApiRefusal {
    let moved = match name {
        "messages" => "input",
        "response_format" => "text.format",
        "max_tokens" | "max_completion_tokens" => "max_output_tokens",
        "reasoning_effort" => "reasoning.effort",
        _ => {
            return ApiRefusal::invalid(format!("Unknown parameter: '{name}'."))
                .at(name)
                .code("unknown_parameter");
        }
    };
    ApiRefusal::invalid(format!(
        "Unsupported parameter: '{name}'. In the Responses API, this parameter has moved to \
         '{moved}'."
    ))
    .at(name)
    .code("unsupported_parameter")
}

pub(super) fn read(body: &Value) -> RequestContent {
    let schema = &body["text"]["format"]["schema"];
    let instructions = text_of(&body["instructions"]);
    let system = said_by(&body["input"], &["system", "developer"]);
    RequestContent {
        system: format!("{instructions}\n{system}").trim().to_owned(),
        user: match &body["input"] {
            Value::String(text) => text.clone(),
            items => said_by(items, &["user", "tool"]),
        },
        schema: (!schema.is_null()).then(|| schema.clone()),
    }
}

/// The content of a message: a text or a refusal.
struct Part {
    kind: &'static str,
    field: &'static str,
}

impl Part {
    fn of(said: &FinalAnswer<'_>) -> Part {
        match said.stop {
            Stop::Refusal => Part { kind: "refusal", field: "refusal" },
            Stop::Done | Stop::CutOff => Part { kind: "output_text", field: "text" },
        }
    }

    fn value(&self, text: &str) -> Value {
        let mut part = json!({ "type": self.kind });
        if self.kind == "output_text" {
            part["annotations"] = json!([]);
            part["logprobs"] = json!([]);
        }
        part[self.field] = json!(text);
        part
    }
}

/// Returns the output items of an answer in their final state.
fn items(said: &FinalAnswer<'_>) -> Vec<Value> {
    let body = &said.asked.body;
    let mut items = Vec::new();
    if !body["reasoning"].is_null() {
        let mut item = json!({ "id": said.id("rs_"), "type": "reasoning", "summary": [] });
        let include = body["include"].as_array().map(Vec::as_slice).unwrap_or_default();
        if include.iter().any(|name| name == "reasoning.encrypted_content") {
            item["encrypted_content"] = json!("bm90aGluZyB0byBzZWU=");
        }
        items.push(item);
    }
    let status = if said.stop == Stop::CutOff { "incomplete" } else { "completed" };
    if let Some(tool) = said.tool.filter(|_| said.stop == Stop::Done) {
        items.push(json!({
            "id": said.id("fc_"),
            "type": "function_call",
            "status": status,
            "call_id": said.id("call_"),
            "name": tool,
            "arguments": said.text,
        }));
        return items;
    }
    items.push(json!({
        "id": said.id("msg_"),
        "type": "message",
        "status": status,
        "content": [Part::of(said).value(&said.text)],
        "role": "assistant",
    }));
    items
}

/// Returns the response object in one of its states.
fn response(said: &FinalAnswer<'_>, status: &str, output: Vec<Value>) -> Value {
    let body = &said.asked.body;
    let input = said.usage.input + said.usage.cache_read + said.usage.cache_write;
    let is_ended = matches!(status, "completed" | "incomplete");
    json!({
        "id": said.id("resp_"),
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "background": false,
        "error": match status {
            "failed" => json!({
                "code": "server_error",
                "message": openai::error_for(500).message,
            }),
            _ => Value::Null,
        },
        "incomplete_details": match status {
            "incomplete" => json!({ "reason": "max_output_tokens" }),
            _ => Value::Null,
        },
        "instructions": body["instructions"],
        "max_output_tokens": body["max_output_tokens"],
        "model": said.asked.model,
        "output": output,
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": body["reasoning"]["effort"], "summary": null },
        "store": body["store"],
        "temperature": 1.0,
        "text": { "format": match &body["text"]["format"] {
            Value::Null => json!({ "type": "text" }),
            format => format.clone(),
        } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": match is_ended {
            true => json!({
                "input_tokens": input,
                "input_tokens_details": { "cached_tokens": said.usage.cache_read },
                "output_tokens": said.usage.output,
                "output_tokens_details": { "reasoning_tokens": 0 },
                "total_tokens": input + said.usage.output,
            }),
            false => Value::Null,
        },
        "user": null,
        "metadata": {},
    })
}

fn status(said: &FinalAnswer<'_>) -> &'static str {
    match said.stop {
        Stop::Done | Stop::Refusal => "completed",
        Stop::CutOff => "incomplete",
    }
}

pub(super) fn whole(said: &FinalAnswer<'_>) -> Value {
    response(said, status(said), items(said))
}

pub(super) fn events(said: &FinalAnswer<'_>) -> Vec<Vec<u8>> {
    let running = response(said, "in_progress", Vec::new());
    let mut data = vec![
        json!({ "type": "response.created", "response": running }),
        json!({ "type": "response.in_progress", "response": running }),
    ];
    let items = items(said);
    for (index, item) in items.iter().enumerate() {
        let mut begun = item.clone();
        if item["type"] == "message" {
            begun["status"] = json!("in_progress");
            begun["content"] = json!([]);
        }
        if item["type"] == "function_call" {
            begun["status"] = json!("in_progress");
            begun["arguments"] = json!("");
        }
        data.push(json!({
            "type": "response.output_item.added", "output_index": index, "item": begun,
        }));
        match item["type"].as_str() {
            Some("message") => data.extend(message_events(said, item, index)),
            Some("function_call") => data.extend(call_events(said, item, index)),
            _ => {}
        }
        data.push(json!({
            "type": "response.output_item.done", "output_index": index, "item": item,
        }));
    }
    let ended = response(said, status(said), items);
    data.push(json!({ "type": format!("response.{}", status(said)), "response": ended }));
    numbered(data)
}

fn call_events(said: &FinalAnswer<'_>, item: &Value, index: usize) -> Vec<Value> {
    let of_call = |kind: &str, name: &str, text: &str| {
        let mut data = json!({
            "type": format!("response.function_call_arguments.{kind}"), "item_id": item["id"],
            "output_index": index,
        });
        data[name] = json!(text);
        data
    };
    let pieces = said.pieces(&said.text).into_iter();
    let deltas = pieces.map(|piece| of_call("delta", "delta", &piece));
    deltas.chain([of_call("done", "arguments", &said.text)]).collect()
}

fn message_events(said: &FinalAnswer<'_>, item: &Value, index: usize) -> Vec<Value> {
    let part = Part::of(said);
    let of_part = |kind: String, name: &str, value: Value| {
        let mut data = json!({
            "type": format!("response.{kind}"), "item_id": item["id"], "output_index": index,
            "content_index": 0,
        });
        data[name] = value;
        data
    };
    let mut data = vec![of_part("content_part.added".to_owned(), "part", part.value(""))];
    data.extend(
        said.pieces(&said.text)
            .into_iter()
            .map(|piece| of_part(format!("{}.delta", part.kind), "delta", json!(piece))),
    );
    data.push(of_part(format!("{}.done", part.kind), part.field, json!(said.text)));
    data.push(of_part("content_part.done".to_owned(), "part", part.value(&said.text)));
    data
}

/// Formats the events with sequence numbers.
fn numbered(data: Vec<Value>) -> Vec<Vec<u8>> {
    let number = |(at, mut data): (usize, Value)| {
        data["sequence_number"] = json!(at);
        event(data["type"].as_str(), &data)
    };
    data.into_iter().enumerate().map(number).collect()
}

/// Formats the event of a failed response.
pub(super) fn failed(said: &FinalAnswer<'_>) -> Vec<u8> {
    let failed = response(said, "failed", Vec::new());
    let data = json!({ "type": "response.failed", "sequence_number": 99, "response": failed });
    event(Some("response.failed"), &data)
}
