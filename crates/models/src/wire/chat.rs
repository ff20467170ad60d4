//! OpenAI's Chat Completions API, and the variations of other servers.

use serde_json::{Value, json};

use super::partial_answer::CallPart;
use super::{ApiError, Fallback, PartialAnswer, REPORT, WireRequest, message};
use crate::json::{count, text};
use crate::tool::call_id;

pub(super) fn request(asked: &WireRequest<'_>) -> Value {
    let mut messages = Vec::new();
    let system = asked.system();
    if !system.is_empty() {
        messages.push(message("system", system));
    }
    messages.push(message("user", asked.text()));
    messages.extend(turns(asked));
    let mut request = json!({ "model": asked.model, "messages": messages, "stream": true });
    if !asked.fallbacks.contains(Fallback::NoUsage) {
        request["stream_options"] = json!({ "include_usage": true });
    }
    let limit = match asked.fallbacks.contains(Fallback::OldLimit) {
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
    if !asked.tools().is_empty() {
        let tools = asked.tools().iter().map(|tool| {
            json!({
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.arguments,
                },
            })
        });
        request["tools"] = tools.collect();
    }
    if let Some(effort) = asked.effort() {
        request["reasoning_effort"] = json!(effort);
    }
    request
}

/// Returns the messages of the earlier turns.
fn turns(asked: &WireRequest<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    for (turn, number) in asked.turns().iter().zip(1..) {
        let calls = turn.calls.iter().zip(1..).map(|(answered, at)| {
            let (name, arguments) = (&answered.call.name, answered.call.input().to_string());
            json!({
                "id": call_id(number, at),
                "type": "function",
                "function": { "name": name, "arguments": arguments },
            })
        });
        let calls: Vec<Value> = calls.collect();
        messages.push(json!({ "role": "assistant", "content": null, "tool_calls": calls }));
        messages.extend(turn.calls.iter().zip(1..).map(|(answered, at)| {
            let mut result = message("tool", answered.text(asked.nonce));
            result["tool_call_id"] = json!(call_id(number, at));
            result
        }));
    }
    messages
}

/// Adds an event, or a whole body: the two differ in the name of one field.
pub(super) fn fold(data: &Value, answer: &mut PartialAnswer) {
    if let Some(api_error) = ApiError::parse(data) {
        answer.api_error = Some(api_error);
    }
    let choice = &data["choices"][0];
    for said in [&choice["delta"], &choice["message"]] {
        take(said, answer);
    }
    // Some servers give no reason, and end the stream properly.
    answer.set_stop_reason(text(choice, "/finish_reason"));
    if let Some(input) = count(data, "/usage/prompt_tokens") {
        // The input includes the tokens that were read from the cache.
        let kept = count(data, "/usage/prompt_tokens_details/cached_tokens").unwrap_or_default();
        answer.usage.cache_read = kept.min(input);
        answer.usage.input = input - answer.usage.cache_read;
        answer.usage.output = count(data, "/usage/completion_tokens").unwrap_or_default();
    }
}

fn take(said: &Value, answer: &mut PartialAnswer) {
    match &said["content"] {
        Value::String(text) => answer.push_text(text),
        Value::Array(parts) => parts.iter().for_each(|part| answer.push_text(text(part, "/text"))),
        _ => {}
    }
    for call in said["tool_calls"].as_array().into_iter().flatten() {
        answer.push_call(CallPart {
            index: count(call, "/index"),
            id: text(call, "/id"),
            name: text(call, "/function/name"),
            arguments: text(call, "/function/arguments"),
        });
    }
    answer.count_chars(text(said, "/reasoning_content"));
    answer.count_chars(text(said, "/reasoning"));
    match text(said, "/refusal") {
        "" => {}
        refusal => answer.push_refusal(refusal),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{answer, prompt, prompt_with_tools, request};
    use super::super::{Dialect, Fallbacks};
    use super::*;

    #[test]
    fn a_prompt_becomes_two_messages() {
        let request = request(Dialect::Chat, &prompt(), &Fallbacks::default());
        expect![[r#"
            {
              "model": "m",
              "messages": [
                {
                  "role": "system",
                  "content": "Be brief."
                },
                {
                  "role": "user",
                  "content": "rules\n\nchange\n\nlook FENCE"
                }
              ],
              "stream": true,
              "stream_options": {
                "include_usage": true
              },
              "max_completion_tokens": 4000,
              "response_format": {
                "type": "json_schema",
                "json_schema": {
                  "name": "report",
                  "schema": {
                    "type": "object"
                  },
                  "strict": false
                }
              }
            }"#]]
        .assert_eq(&request);
    }

    #[test]
    fn fallbacks_replace_unsupported_request_fields() {
        let mut fallbacks = Fallbacks::default();
        fallbacks.insert(Fallback::OldLimit);
        fallbacks.insert(Fallback::NoSchema);
        fallbacks.insert(Fallback::NoUsage);
        expect![[r#"
            {
              "model": "m",
              "messages": [
                {
                  "role": "system",
                  "content": "Be brief.\n\nAnswer with one JSON value that this JSON Schema accepts, and with nothing else:\n{\"type\":\"object\"}"
                },
                {
                  "role": "user",
                  "content": "rules\n\nchange\n\nlook FENCE"
                }
              ],
              "stream": true,
              "max_tokens": 4000
            }"#]].assert_eq(&request(Dialect::Chat, &prompt(), &fallbacks));
    }

    #[test]
    fn tools_and_turns_become_functions_and_messages() {
        let asked = request(Dialect::Chat, &prompt_with_tools(), &Fallbacks::default());
        let asked: Value = serde_json::from_str(&asked).unwrap();
        let look = json!({
            "name": "look",
            "description": "Looks.",
            "parameters": { "type": "object", "properties": {} },
        });
        assert_eq!(asked["tools"], json!([{ "type": "function", "function": look }]));
        let call = |id: &str, arguments: &str| {
            json!({
                "id": id,
                "type": "function",
                "function": { "name": "look", "arguments": arguments },
            })
        };
        let calls = [call("call01001", r#"{"at":"a"}"#), call("call01002", r#"{"arguments":"["}"#)];
        let turns = json!([
            { "role": "assistant", "content": null, "tool_calls": calls },
            { "role": "tool", "content": "found FENCE", "tool_call_id": "call01001" },
            { "role": "tool", "content": "error", "tool_call_id": "call01002" },
        ]);
        assert_eq!(asked["messages"].as_array().unwrap()[2..], *turns.as_array().unwrap());

        let mut fallbacks = Fallbacks::default();
        fallbacks.insert(Fallback::NoTools);
        let asked = request(Dialect::Chat, &prompt_with_tools(), &fallbacks);
        let asked: Value = serde_json::from_str(&asked).unwrap();
        assert_eq!((&asked["tools"], &asked["messages"][2]), (&Value::Null, &Value::Null));
        assert!(text(&asked, "/messages/1/content").ends_with("The result:\nerror"));
    }

    #[test]
    fn calls_are_read_whether_or_not_they_are_numbered() {
        let calls = "call look \"{\\\"at\\\":1}\"\ncall find \"{}\"\n";
        let piece = |call: &str| {
            format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{call}]}}}}]}}\n\n")
        };
        let numbered = [
            r#"{"index":0,"id":"x","type":"function","function":{"name":"look","arguments":""}}"#,
            r#"{"index":0,"function":{"arguments":"{\"at\""}}"#,
            r#"{"index":0,"id":"","function":{"name":"look","arguments":":1}"}}"#,
            r#"{"index":1,"id":"y","function":{"name":"find","arguments":"{}"}}"#,
        ];
        // Some servers give every call the same number.
        let same = numbered.map(|call| call.replace("\"index\":1", "\"index\":0"));
        let unnumbered = [
            r#"{"id":"x","function":{"name":"look","arguments":"{\"at\":1}"}}"#,
            r#"{"id":"y","function":{"name":"find","arguments":"{}"}}"#,
        ];
        for pieces in [
            numbered.map(str::to_owned).to_vec(),
            same.to_vec(),
            unnumbered.map(str::to_owned).to_vec(),
        ] {
            let stream: String = pieces.iter().map(|call| piece(call)).collect();
            let read = answer(Dialect::Chat, &stream);
            assert!(read.starts_with(calls), "{read}");
        }
        let body = format!(
            r#"{{"choices":[{{"message":{{"content":null,"tool_calls":[{}]}},"finish_reason":"tool_calls"}}]}}"#,
            unnumbered.join(",")
        );
        let read = answer(Dialect::Chat, &body);
        assert!(read.starts_with(calls) && read.contains("Finished"), "{read}");
    }

    #[test]
    fn a_stream_is_assembled_into_one_answer() {
        let stream = r#": keep-alive

data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"choices":[{"index":0,"delta":{"content":"{\"a\""}}]}

data: {"choices":[{"index":0,"delta":{"content":":1}"},"finish_reason":null}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":20,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":8}}}

data: [DONE]

"#;
        expect![[r#"
            text "{\"a\":1}"
            tokens 12 read 8 written 0 out 9
            stop Some(Finished) ended true heard 7
        "#]]
        .assert_eq(&answer(Dialect::Chat, stream));
    }

    #[test]
    fn a_single_body_is_read_like_a_stream() {
        let body = r#"{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":1}}"#;
        expect![[r#"
            text "hello"
            tokens 2 read 0 written 0 out 1
            stop Some(Finished) ended true heard 5
        "#]]
        .assert_eq(&answer(Dialect::Chat, body));
    }

    #[test]
    fn refusals_truncations_and_errors_are_reported() {
        let decoded = |data: &str| answer(Dialect::Chat, &format!("data: {data}\n\n"));
        expect![[r#"
            refusal "No."
            tokens 0 read 0 written 0 out 0
            stop Some(Refused) ended false heard 3
        "#]]
        .assert_eq(&decoded(r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#));
        expect![[r#"
            text "hel"
            tokens 0 read 0 written 0 out 0
            stop Some(CutOff) ended false heard 3
        "#]]
        .assert_eq(&decoded(
            r#"{"choices":[{"delta":{"content":"hel"},"finish_reason":"length"}]}"#,
        ));
        expect![[r#"
            text "hel"
            tokens 0 read 0 written 0 out 0
            stop Some(Unknown("error")) ended false heard 3
        "#]]
        .assert_eq(&decoded(
            r#"{"choices":[{"delta":{"content":"hel"},"finish_reason":"error"}]}"#,
        ));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            complaint 502 "upstream"
            stop None ended false heard 0
        "#]]
        .assert_eq(&decoded(r#"{"error":{"message":"upstream","code":502}}"#));
    }
}
