//! Correct answers in each dialect.

use assay_testkit::model::{Answer, FakeModel, FixedAnswer, PromptRequest, Usage};
use serde_json::{Value, json};

use crate::{ALL, CHAT, MESSAGES, RESPONSES, ask, body, connect, read, request};

const SAID: &str = r#"{"findings":[],"note":"ö and 漢字"}"#;

fn fixed() -> FakeModel {
    FakeModel::start(FixedAnswer(SAID.to_owned()))
}

/// Joins the texts at a pointer in the deltas of a stream.
fn joined(data: &[Value], pointer: &str) -> String {
    data.iter().filter_map(|data| data.pointer(pointer)?.as_str()).collect()
}

fn kinds(data: &[Value]) -> Vec<&str> {
    let mut kinds: Vec<&str> = data.iter().map(|data| data["type"].as_str().unwrap()).collect();
    kinds.dedup();
    kinds
}

#[test]
fn an_answer_without_streaming_is_one_json_document() {
    let server = fixed();
    for (path, pointer) in [
        (MESSAGES, "/content/0/text"),
        (CHAT, "/choices/0/message/content"),
        (RESPONSES, "/output/0/content/0/text"),
    ] {
        let got = ask(&server, path, &body(path, "hello", false));
        assert_eq!(got.status, 200);
        assert!(got.is_whole && got.head.contains("content-type: application/json"));
        assert_eq!(got.json().pointer(pointer).unwrap(), SAID);
    }
}

#[test]
fn messages_are_streamed_as_anthropic_does() {
    let got = ask(&fixed(), "/v1/messages?beta=true", &body(MESSAGES, "hello", true));
    assert!(got.is_whole && got.head.contains("content-type: text/event-stream"));
    assert!(got.body.starts_with("event: message_start\ndata: {\"type\":\"message_start\","));
    let data = got.data();
    assert_eq!(
        kinds(&data),
        [
            "message_start", "content_block_start", "ping", "content_block_delta",
            "content_block_stop", "message_delta", "message_stop",
        ]
    );
    assert_eq!(joined(&data, "/delta/text"), SAID);
    assert_eq!(data[data.len() - 2]["delta"]["stop_reason"], "end_turn");
}

#[test]
fn thinking_is_streamed_before_the_answer() {
    let mut body = body(MESSAGES, "hello", true);
    body["thinking"] = json!({ "type": "enabled", "budget_tokens": 2000 });
    let data = ask(&fixed(), MESSAGES, &body).data();
    assert_eq!(joined(&data, "/delta/thinking"), "Let me look at the change.");
    assert_eq!(data[1]["content_block"]["type"], "thinking");
    assert!(!joined(&data, "/delta/signature").is_empty());
    assert_eq!(joined(&data, "/delta/text"), SAID);

    body["thinking"]["display"] = json!("omitted");
    let data = ask(&fixed(), MESSAGES, &body).data();
    assert_eq!(joined(&data, "/delta/thinking"), "");
    assert!(!joined(&data, "/delta/signature").is_empty());
}

#[test]
fn the_report_tool_or_the_forced_tool_is_called_with_the_answer() {
    let server = fixed();
    let tool = json!({ "name": "report", "input_schema": { "type": "object" } });
    let mut body = body(MESSAGES, "hello", true);
    body["tools"] = json!([{ "name": "Bash", "input_schema": { "type": "object" } }, tool]);
    let data = ask(&server, MESSAGES, &body).data();
    assert_eq!(joined(&data, "/delta/partial_json"), SAID);
    assert_eq!(joined(&data, "/content_block/name"), "report");
    assert_eq!(joined(&data, "/delta/stop_reason"), "tool_use");

    body["stream"] = json!(false);
    body["tool_choice"] = json!({ "type": "tool", "name": "Bash" });
    let block = ask(&server, MESSAGES, &body).json()["content"][0].clone();
    assert_eq!(block["name"], "Bash");
    assert_eq!(block["input"]["findings"], json!([]));
}

#[test]
fn a_script_can_call_any_tool() {
    let input = json!({ "agent_id": "qa" });
    let server =
        FakeModel::start(move |_: &PromptRequest| Answer::call("mcp__queue__push", &input));
    let mut body = body(MESSAGES, "hello", false);
    body["tools"] = json!([{ "name": "mcp__queue__push", "input_schema": { "type": "object" } }]);
    let message = ask(&server, MESSAGES, &body).json();
    assert_eq!(message["stop_reason"], "tool_use");
    assert_eq!(message["content"][0]["name"], "mcp__queue__push");
    assert_eq!(message["content"][0]["input"], json!({ "agent_id": "qa" }));
}

#[test]
fn chat_is_streamed_as_openai_does() {
    let mut body = body(CHAT, "hello", true);
    body["stream_options"] = json!({ "include_usage": true });
    let got = ask(&fixed(), CHAT, &body);
    assert!(got.body.ends_with("\n\ndata: [DONE]\n\n"));
    let data = got.data();
    assert!(data.iter().all(|data| data["object"] == "chat.completion.chunk"));
    assert_eq!(joined(&data, "/choices/0/delta/content"), SAID);
    assert_eq!(joined(&data, "/choices/0/finish_reason"), "stop");
    assert!(data.last().unwrap()["usage"]["total_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn responses_are_streamed_as_openai_does() {
    let data = ask(&fixed(), RESPONSES, &body(RESPONSES, "hello", true)).data();
    assert_eq!(
        kinds(&data),
        [
            "response.created", "response.in_progress", "response.output_item.added",
            "response.content_part.added", "response.output_text.delta",
            "response.output_text.done", "response.content_part.done", "response.output_item.done",
            "response.completed",
        ]
    );
    assert_eq!(joined(&data, "/delta"), SAID);
    let numbers: Vec<_> = data.iter().map(|data| data["sequence_number"].as_u64()).collect();
    assert!(numbers.is_sorted());
    assert_eq!(data.last().unwrap()["response"]["output"][0]["content"][0]["text"], SAID);
}

#[test]
fn the_usage_of_the_script_is_reported_in_every_dialect() {
    let usage = Usage { input: 3, cache_read: 5, cache_write: 7, output: 11 };
    let server = FakeModel::start(move |_: &PromptRequest| Answer {
        usage: Some(usage),
        ..Answer::text("x")
    });
    let usage = |path| ask(&server, path, &body(path, "hello", false)).json()["usage"].clone();
    assert_eq!(usage(MESSAGES)["input_tokens"], 3);
    assert_eq!(usage(MESSAGES)["cache_read_input_tokens"], 5);
    assert_eq!(usage(MESSAGES)["cache_creation_input_tokens"], 7);
    assert_eq!(usage(CHAT)["prompt_tokens"], 15);
    assert_eq!(usage(CHAT)["prompt_tokens_details"]["cached_tokens"], 5);
    assert_eq!(usage(RESPONSES)["output_tokens"], 11);
}

#[test]
fn token_counting_does_not_run_the_script() {
    let server = FakeModel::start(|_: &PromptRequest| -> Answer { panic!("nothing is asked") });
    let body = json!({ "model": "m", "messages": [{ "role": "user", "content": "hello" }] });
    let got = ask(&server, "/v1/messages/count_tokens", &body);
    assert!(got.json()["input_tokens"].as_u64().unwrap() > 0);
}

#[test]
fn models_are_listed_and_unknown_paths_answer_404() {
    let server = fixed();
    let get = |line: &str| {
        read(connect(&server, &format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")))
    };
    assert_eq!(get("GET /v1/models").json()["object"], "list");
    assert_eq!(get("GET /").status, 404);
    let head = get("HEAD /");
    assert_eq!((head.status, head.body.as_str()), (404, ""));
    let nothing = read(connect(&server, &request("/v1/nothing", "{}")));
    assert_eq!(nothing.json()["error"]["type"], "not_found_error");
}

#[test]
fn every_dialect_is_parsed_to_the_same_prompt_request() {
    let server = FakeModel::start(|asked: &PromptRequest| {
        let PromptRequest { model, system, user, schema, number, .. } = asked;
        Answer::text(format!("{model}|{system}|{user}|{}|{number}", schema.is_some()))
    });
    let user = json!([{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }]);
    let schema = json!({
        "type": "object", "properties": {}, "required": [], "additionalProperties": false,
    });
    let mut messages = body(MESSAGES, "", false);
    messages["system"] = json!([{ "type": "text", "text": "sys" }]);
    messages["messages"] = json!([{ "role": "user", "content": user }]);
    messages["tools"] = json!([{ "name": "report", "input_schema": schema }]);
    let mut chat = body(CHAT, "", false);
    chat["messages"] =
        json!([{ "role": "system", "content": "sys" }, { "role": "user", "content": user }]);
    let format = json!({ "name": "r", "strict": true, "schema": schema });
    chat["response_format"] = json!({ "type": "json_schema", "json_schema": format });
    let mut responses = body(RESPONSES, "", false);
    responses["instructions"] = json!("sys");
    responses["input"] = json!([{ "type": "message", "role": "user", "content": user }]);
    responses["text"] = json!({ "format": format });
    responses["text"]["format"]["type"] = json!("json_schema");
    for (number, (path, body)) in (1..).zip(ALL.into_iter().zip([messages, chat, responses])) {
        let text = ask(&server, path, &body).body;
        assert!(text.contains(&format!("m|sys|one\\ntwo|true|{number}")), "{text}");
    }
}
