//! OpenAI's Chat Completions, and what others make of them.

use serde_json::{Value, json};

use super::{Answer, Asked, Complaint, Concession, REPORT, Stop, count, message, text};

pub(super) fn request(asked: &Asked<'_>) -> Value {
    let mut messages = Vec::new();
    let system = asked.system();
    if !system.is_empty() {
        messages.push(message("system", system));
    }
    messages.push(message("user", asked.text()));
    let mut request = json!({ "model": asked.model, "messages": messages, "stream": true });
    if !asked.conceded.contains(Concession::NoUsage) {
        request["stream_options"] = json!({ "include_usage": true });
    }
    let limit = match asked.conceded.contains(Concession::OldLimit) {
        true => "max_tokens",
        false => "max_completion_tokens",
    };
    request[limit] = json!(asked.max_output_tokens);
    if let Some(schema) = asked.schema() {
        request["response_format"] = json!({
            "type": "json_schema",
            "json_schema": { "name": REPORT, "schema": schema, "strict": false },
        });
    }
    if let Some(effort) = asked.effort() {
        request["reasoning_effort"] = json!(effort);
    }
    request
}

/// Adds an event, or a whole body: they differ in one word.
pub(super) fn fold(data: &Value, answer: &mut Answer) {
    if let Some(complaint) = Complaint::read(data) {
        answer.complaint = Some(complaint);
    }
    let choice = &data["choices"][0];
    for said in [&choice["delta"], &choice["message"]] {
        take(said, answer);
    }
    match text(choice, "/finish_reason") {
        "" => {}
        "length" => answer.stopped(Stop::CutOff),
        "content_filter" => answer.stopped(Stop::Refused),
        _ => answer.stopped(Stop::Finished),
    }
    if let Some(input) = count(data, "/usage/prompt_tokens") {
        // The input includes what was kept.
        let kept = count(data, "/usage/prompt_tokens_details/cached_tokens").unwrap_or_default();
        answer.usage.cache_read = kept.min(input);
        answer.usage.input = input - answer.usage.cache_read;
        answer.usage.output = count(data, "/usage/completion_tokens").unwrap_or_default();
    }
}

fn take(said: &Value, answer: &mut Answer) {
    match &said["content"] {
        Value::String(text) => answer.say(text),
        Value::Array(parts) => parts.iter().for_each(|part| answer.say(text(part, "/text"))),
        _ => {}
    }
    for call in said["tool_calls"].as_array().into_iter().flatten() {
        answer.call(text(call, "/function/arguments"));
    }
    answer.hear(text(said, "/reasoning_content"));
    answer.hear(text(said, "/reasoning"));
    match text(said, "/refusal") {
        "" => {}
        refusal => answer.refuse(refusal),
    }
}
