//! OpenAI's Responses API.

use serde_json::{Value, json};

use super::partial_answer::CallPart;
use super::{ApiError, PartialAnswer, REPORT, WireRequest, message};
use crate::json::{count, text};
use crate::tool::call_id;

pub(super) fn request(asked: &WireRequest<'_>) -> Value {
    let mut request = json!({
        "model": asked.model,
        "input": input(asked),
        "max_output_tokens": asked.max_output_tokens,
        "stream": true,
        // The provider must not store any part of a change for later turns.
        "store": false,
    });
    let system = asked.system();
    if !system.is_empty() {
        request["instructions"] = json!(system);
    }
    if let Some(schema) = asked.schema() {
        request["text"] = json!({
            "format": { "type": "json_schema", "name": REPORT, "schema": schema, "strict": false },
        });
    }
    if !asked.tools().is_empty() {
        let tools = asked.tools().iter().map(|tool| {
            json!({
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.arguments,
                "strict": false,
            })
        });
        request["tools"] = tools.collect();
    }
    if let Some(effort) = asked.effort() {
        request["reasoning"] = json!({ "effort": effort });
    }
    request
}

/// Returns the input items: the prompt and the earlier turns.
fn input(asked: &WireRequest<'_>) -> Vec<Value> {
    let mut items = vec![message("user", asked.text())];
    for (turn, number) in asked.turns().iter().zip(1..) {
        items.extend(turn.calls.iter().zip(1..).map(|(answered, at)| {
            json!({
                "type": "function_call",
                "call_id": call_id(number, at),
                "name": answered.call.name,
                "arguments": answered.call.input().to_string(),
            })
        }));
        items.extend(turn.calls.iter().zip(1..).map(|(answered, at)| {
            json!({
                "type": "function_call_output",
                "call_id": call_id(number, at),
                "output": answered.text(asked.nonce),
            })
        }));
    }
    items
}

pub(super) fn fold(kind: &str, data: &Value, answer: &mut PartialAnswer) {
    let kind = match text(data, "/type") {
        "" => kind,
        kind => kind,
    };
    match kind {
        "response.output_text.delta" => answer.push_text(text(data, "/delta")),
        "response.output_item.added" | "response.output_item.done" => {
            take_call(&data["item"], count(data, "/output_index"), answer);
        }
        "response.function_call_arguments.delta" => answer.push_call(CallPart {
            index: count(data, "/output_index"),
            arguments: text(data, "/delta"),
            ..CallPart::default()
        }),
        "response.refusal.delta" => answer.push_refusal(text(data, "/delta")),
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            answer.count_chars(text(data, "/delta"));
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            answer.ended = true;
            // The response repeats this reason, as a rule.
            answer.set_stop_reason(kind.trim_start_matches("response."));
            end(&data["response"], answer);
        }
        "error" => {
            let (kind, message) = (text(data, "/code").into(), text(data, "/message").into());
            let flat = ApiError { kind, message };
            let nested = ApiError::parse(data).filter(|_| data["error"].is_object());
            answer.api_error = Some(nested.unwrap_or(flat));
        }
        // Starts and ends of parts, and future kinds of events.
        _ => {}
    }
}

pub(super) fn fold_body(body: &Value, answer: &mut PartialAnswer) {
    end(body, answer);
}

/// Adds an item if it is a call. Arguments that were received already are not added twice.
fn take_call(item: &Value, index: Option<u64>, answer: &mut PartialAnswer) {
    if text(item, "/type") != "function_call" {
        return;
    }
    let (id, name) = (text(item, "/call_id"), text(item, "/name"));
    let is_new = index.is_none() || answer.lacks_arguments(index);
    let arguments = if is_new { text(item, "/arguments") } else { "" };
    answer.push_call(CallPart { index, id, name, arguments });
}

/// Adds the response as it is at its end. Its text and its calls are used only if none were
/// received before.
fn end(response: &Value, answer: &mut PartialAnswer) {
    if answer.text.is_empty() && answer.refusal.is_empty() {
        let items = response["output"].as_array().into_iter().flatten();
        let parts = items.flat_map(|item| item["content"].as_array().into_iter().flatten());
        for part in parts {
            match text(part, "/type") {
                "output_text" => answer.push_text(text(part, "/text")),
                "refusal" => answer.push_refusal(text(part, "/refusal")),
                _ => {}
            }
        }
    }
    if answer.calls.is_empty() {
        for item in response["output"].as_array().into_iter().flatten() {
            take_call(item, None, answer);
        }
    }
    answer.set_stop_reason(match text(response, "/incomplete_details/reason") {
        "content_filter" => "content_filter",
        _ => text(response, "/status"),
    });
    if text(response, "/status") == "failed" || response["error"].is_object() {
        answer.api_error = Some(ApiError::parse(response).unwrap_or_default());
    }
    if let Some(input) = count(response, "/usage/input_tokens") {
        // The input includes the tokens that were read from the cache.
        let kept = count(response, "/usage/input_tokens_details/cached_tokens").unwrap_or_default();
        answer.usage.cache_read = kept.min(input);
        answer.usage.input = input - answer.usage.cache_read;
        answer.usage.output = count(response, "/usage/output_tokens").unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{answer, prompt, prompt_with_tools, request};
    use super::super::{Dialect, Fallback, Fallbacks};
    use super::*;

    #[test]
    fn a_prompt_becomes_instructions_and_input() {
        let mut prompt = prompt();
        prompt.thinking_tokens = 8_000;
        expect![[r#"
            {
              "model": "m",
              "input": [
                {
                  "role": "user",
                  "content": "rules\n\nchange\n\nlook FENCE"
                }
              ],
              "max_output_tokens": 4000,
              "stream": true,
              "store": false,
              "instructions": "Be brief.",
              "text": {
                "format": {
                  "type": "json_schema",
                  "name": "report",
                  "schema": {
                    "type": "object"
                  },
                  "strict": false
                }
              },
              "reasoning": {
                "effort": "medium"
              }
            }"#]]
        .assert_eq(&request(Dialect::Responses, &prompt, &Fallbacks::default()));
    }

    #[test]
    fn tools_and_turns_become_functions_and_items() {
        let asked = request(Dialect::Responses, &prompt_with_tools(), &Fallbacks::default());
        let asked: Value = serde_json::from_str(&asked).unwrap();
        let look = json!([{
            "type": "function",
            "name": "look",
            "description": "Looks.",
            "parameters": { "type": "object", "properties": {} },
            "strict": false,
        }]);
        assert_eq!(asked["tools"], look);
        let call = |id: &str, arguments: &str| json!({ "type": "function_call", "call_id": id, "name": "look", "arguments": arguments });
        let output = |id: &str, output: &str| json!({ "type": "function_call_output", "call_id": id, "output": output });
        let turns = [
            call("call01001", r#"{"at":"a"}"#),
            call("call01002", r#"{"arguments":"["}"#),
            output("call01001", "found FENCE"),
            output("call01002", "error"),
        ];
        assert_eq!(asked["input"].as_array().unwrap()[1..], turns);

        let mut fallbacks = Fallbacks::default();
        fallbacks.insert(Fallback::NoTools);
        let asked = request(Dialect::Responses, &prompt_with_tools(), &fallbacks);
        let asked: Value = serde_json::from_str(&asked).unwrap();
        assert_eq!((&asked["tools"], &asked["input"][1]), (&Value::Null, &Value::Null));
        assert!(text(&asked, "/input/0/content").ends_with("The result:\nerror"));
    }

    #[test]
    fn calls_are_read_in_pieces_and_whole() {
        let item = |arguments: &str| {
            format!(
                r#"{{"type":"function_call","call_id":"x","name":"look","arguments":"{arguments}"}}"#
            )
        };
        let (empty_item, whole) = (item(""), item(r#"{\"at\":1}"#));
        let event =
            |kind: &str, more: &str| format!("data: {{\"type\":\"response.{kind}\",{more}}}\n\n");
        let added =
            event("output_item.added", &format!("\"output_index\":1,\"item\":{empty_item}"));
        let delta = |text: &str| {
            let more = format!("\"output_index\":1,\"delta\":\"{text}\"");
            event("function_call_arguments.delta", &more)
        };
        let done = event("output_item.done", &format!("\"output_index\":1,\"item\":{whole}"));
        let response = format!(r#"{{"status":"completed","error":null,"output":[{whole}]}}"#);
        let end = event("completed", &format!("\"response\":{response}"));
        for stream in [
            [added.clone(), delta(r#"{\"at\""#), delta(":1}"), done.clone(), end.clone()].concat(),
            [added, done, end.clone()].concat(),
            end,
            response,
        ] {
            let read = answer(Dialect::Responses, &stream);
            expect![[r#"
                call look "{\"at\":1}"
                tokens 0 read 0 written 0 out 0
                stop Some(Finished) ended true heard 8
            "#]]
            .assert_eq(&read);
        }
    }

    #[test]
    fn a_stream_is_assembled_into_one_answer() {
        let stream = r#"event: response.created
data: {"type":"response.created","response":{"status":"in_progress"}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"hel"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","delta":"lo"}

event: response.completed
data: {"type":"response.completed","response":{"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":3}}}

"#;
        expect![[r#"
            text "hello"
            tokens 6 read 4 written 0 out 3
            stop Some(Finished) ended true heard 5
        "#]]
        .assert_eq(&answer(Dialect::Responses, stream));
    }

    #[test]
    fn a_single_body_is_read_like_a_stream() {
        let body = r#"{"status":"completed","error":null,"output":[{"type":"reasoning"},{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":10,"output_tokens":3}}"#;
        expect![[r#"
            text "hello"
            tokens 10 read 0 written 0 out 3
            stop Some(Finished) ended true heard 5
        "#]]
        .assert_eq(&answer(Dialect::Responses, body));
    }

    #[test]
    fn refusals_truncations_and_errors_are_reported() {
        let decoded = |data: &str| answer(Dialect::Responses, &format!("data: {data}\n\n"));
        expect![[r#"
            refusal "No."
            tokens 0 read 0 written 0 out 0
            stop Some(Refused) ended false heard 3
        "#]]
        .assert_eq(&decoded(r#"{"type":"response.refusal.delta","delta":"No."}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(CutOff) ended true heard 0
        "#]].assert_eq(&decoded(
            r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}"#,
        ));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(CutOff) ended true heard 0
        "#]]
        .assert_eq(&decoded(r#"{"type":"response.incomplete","response":{}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(Unknown("cancelled")) ended true heard 0
        "#]]
        .assert_eq(&decoded(r#"{"type":"response.completed","response":{"status":"cancelled"}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            complaint server_error "oops"
            stop Some(Unknown("failed")) ended true heard 0
        "#]].assert_eq(&decoded(
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}}"#,
        ));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            complaint rate_limit_exceeded "slow"
            stop None ended false heard 0
        "#]]
        .assert_eq(&decoded(r#"{"type":"error","code":"rate_limit_exceeded","message":"slow"}"#));
    }
}
