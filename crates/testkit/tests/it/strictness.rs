//! Requests that the providers refuse are refused.

use assay_testkit::model::{FakeModel, FixedAnswer};
use serde_json::{Value, json};

use crate::{ALL, CHAT, MESSAGES, RESPONSES, ask, body, connect, read, request};

/// Adds fields to a valid request, and checks that the error contains a text.
#[track_caller]
fn check(path: &str, fields: Value, expected: &str) {
    let server = FakeModel::start(FixedAnswer("x".to_owned()));
    let mut body = body(path, "hello", false);
    for (name, value) in fields.as_object().unwrap() {
        body[name] = value.clone();
    }
    let got = ask(&server, path, &body);
    let error = &got.json()["error"];
    match expected {
        "" => assert_eq!(got.status, 200, "{error}"),
        _ => {
            assert_eq!(got.status, 400);
            assert_eq!(error["type"], "invalid_request_error");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(expected), "{message}");
            assert_eq!(server.requests()[0].refused.as_deref(), Some(message));
        }
    }
}

#[test]
fn unknown_fields_are_refused() {
    check(MESSAGES, json!({ "prompt": 1 }), "prompt: Extra inputs are not permitted");
    check(CHAT, json!({ "prompt": 1 }), "Unrecognized request argument supplied: prompt");
    check(RESPONSES, json!({ "promt": 1 }), "Unknown parameter: 'promt'.");
    check(RESPONSES, json!({ "messages": [] }), "moved to 'input'");
}

#[test]
fn invalid_json_a_wrong_content_type_and_a_missing_version_are_refused() {
    let server = FakeModel::start(FixedAnswer("x".to_owned()));
    for path in ALL {
        let sent = request(path, "{\"model\":");
        assert_eq!(read(connect(&server, &sent)).status, 400);
        let sent = request(path, &body(path, "hello", false).to_string());
        let sent = sent.replace("application/json", "text/plain");
        assert!(read(connect(&server, &sent)).body.contains("content type"));
    }
    let sent = request(MESSAGES, &body(MESSAGES, "hello", false).to_string());
    let got = read(connect(&server, &sent.replace("anthropic-version", "x-version")));
    assert!(got.body.contains("anthropic-version: header is required"));
}

#[test]
fn anthropic_requires_a_positive_max_tokens() {
    check(MESSAGES, json!({ "max_tokens": null }), "max_tokens: Field required");
    check(MESSAGES, json!({ "max_tokens": 0 }), "greater than or equal to 1");
}

#[test]
fn thinking_restricts_temperature_budget_and_tool_choice() {
    let with = |mut fields: Value, budget: u32| {
        fields["thinking"] = json!({ "type": "enabled", "budget_tokens": budget });
        fields
    };
    check(MESSAGES, with(json!({}), 2000), "");
    check(MESSAGES, with(json!({ "temperature": 1 }), 2000), "");
    check(MESSAGES, with(json!({ "temperature": 0 }), 2000), "`temperature` may only be set to 1");
    check(MESSAGES, with(json!({}), 9000), "`max_tokens` must be greater");
    check(MESSAGES, with(json!({}), 1000), "greater than or equal to 1024");
    let tools = json!([{ "name": "report", "input_schema": { "type": "object" } }]);
    let forced = json!({ "tools": tools, "tool_choice": { "type": "tool", "name": "report" } });
    check(MESSAGES, forced.clone(), "");
    check(MESSAGES, with(forced, 2000), "Thinking may not be enabled when tool_choice forces");
}

#[test]
fn invalid_tools_and_tool_choices_are_refused() {
    let tool = |name: &str| json!({ "name": name, "input_schema": { "type": "object" } });
    check(MESSAGES, json!({ "tools": [tool("a b")] }), "tools.0.custom.name");
    check(MESSAGES, json!({ "tools": [{ "name": "a", "input_schema": {} }] }), "input_schema.type");
    let other = json!({ "tools": [tool("a")], "tool_choice": { "type": "tool", "name": "b" } });
    check(MESSAGES, other, "Tool \"b\" not found");
}

#[test]
fn at_most_four_blocks_are_cached() {
    let block = json!({ "type": "text", "text": "x", "cache_control": { "type": "ephemeral" } });
    let user = json!([{ "role": "user", "content": [block, block, block] }]);
    check(MESSAGES, json!({ "messages": user, "system": [block] }), "");
    check(MESSAGES, json!({ "messages": user, "system": [block, block] }), "Found 5.");
}

#[test]
fn empty_and_misplaced_messages_are_refused() {
    check(MESSAGES, json!({ "messages": [] }), "at least one message");
    let message =
        |role: &str, content: Value| json!({ "messages": [{ "role": role, "content": content }] });
    check(MESSAGES, message("system", json!("x")), "Unexpected role");
    check(MESSAGES, message("assistant", json!("x")), "first message must use the \"user\" role");
    check(MESSAGES, message("user", json!("")), "non-empty content");
    let blank = json!([{ "type": "text", "text": "" }]);
    check(MESSAGES, message("user", blank), "text content blocks must be non-empty");
    check(CHAT, json!({ "messages": [] }), "empty array");
    check(RESPONSES, json!({ "input": null }), "Missing required parameter: 'input'.");
}

#[test]
fn beta_fields_require_the_anthropic_beta_header() {
    let server = FakeModel::start(FixedAnswer("x".to_owned()));
    let mut body = body(MESSAGES, "hello", false);
    body["context_management"] = json!({ "edits": [] });
    body["messages"] = json!([
        { "role": "user", "content": "hello" }, { "role": "system", "content": [] },
    ]);
    let sent = request(MESSAGES, &body.to_string());
    assert_eq!(read(connect(&server, &sent)).status, 400);
    let betas = "claude-code-20250219,context-management-2025-06-27";
    let sent = sent.replace("host: x", &format!("host: x\r\nanthropic-beta: {betas}"));
    assert_eq!(read(connect(&server, &sent)).status, 200);
}

#[test]
fn a_strict_schema_must_require_every_field_and_forbid_others() {
    let format = |schema: Value| json!({ "name": "r", "strict": true, "schema": schema });
    let whole = json!({
        "type": "object", "required": ["a"], "additionalProperties": false,
        "properties": { "a": { "type": "string" } },
    });
    let mut open = whole.clone();
    open["additionalProperties"] = json!(true);
    let mut inner = whole.clone();
    inner["properties"]["a"] = json!({
        "type": "array",
        "items": { "type": "object", "properties": { "b": {} }, "additionalProperties": false },
    });
    let chat = |schema: &Value| {
        json!({ "response_format": {
            "type": "json_schema", "json_schema": format(schema.clone()),
        } })
    };
    check(CHAT, chat(&whole), "");
    check(CHAT, chat(&open), "'additionalProperties' is required to be supplied and to be false");
    check(CHAT, chat(&inner), "Missing 'b'");
    let mut format = format(inner);
    format["type"] = json!("json_schema");
    check(RESPONSES, json!({ "text": { "format": format } }), "Missing 'b'");
}

#[test]
fn openai_refuses_unsupported_and_conflicting_options() {
    check(CHAT, json!({ "max_tokens": 5, "max_completion_tokens": 5 }), "at the same time");
    check(CHAT, json!({ "model": "gpt-5-mini", "max_tokens": 5 }), "'max_completion_tokens'");
    check(CHAT, json!({ "model": "o3", "temperature": 0 }), "'temperature' does not support");
    check(CHAT, json!({ "stream_options": {} }), "only allowed when 'stream' is enabled");
    check(CHAT, json!({ "response_format": { "type": "json_object" } }), "the word 'json'");
    check(RESPONSES, json!({ "max_output_tokens": 5 }), "Expected a value >= 16, but got 5");
}
