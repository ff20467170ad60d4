//! OpenAI's Chat Completions, and what others make of them.

use serde_json::{Value, json};

use super::{Answer, Asked, Complaint, Concession, REPORT, count, message, text};

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
    // Some servers give no reason, and end the stream as is due.
    answer.stopped(text(choice, "/finish_reason"));
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{answer, prompt, request};
    use super::super::{Concessions, Dialect};
    use super::*;

    #[test]
    fn a_prompt_becomes_two_messages() {
        let request = request(Dialect::Chat, &prompt(), &Concessions::default());
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
    fn what_a_server_does_not_take_is_said_otherwise() {
        let mut conceded = Concessions::default();
        conceded.insert(Concession::OldLimit);
        conceded.insert(Concession::NoSchema);
        conceded.insert(Concession::NoUsage);
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
            }"#]].assert_eq(&request(Dialect::Chat, &prompt(), &conceded));
    }

    #[test]
    fn a_stream_is_gathered() {
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
    fn one_body_is_as_good_as_a_stream() {
        let body = r#"{"choices":[{"message":{"role":"assistant","content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":2,"completion_tokens":1}}"#;
        expect![[r#"
            text "hello"
            tokens 2 read 0 written 0 out 1
            stop Some(Finished) ended true heard 5
        "#]]
        .assert_eq(&answer(Dialect::Chat, body));
    }

    #[test]
    fn refusals_cuts_and_errors_are_told() {
        let told = |data: &str| answer(Dialect::Chat, &format!("data: {data}\n\n"));
        expect![[r#"
            refusal "No."
            tokens 0 read 0 written 0 out 0
            stop Some(Refused) ended false heard 3
        "#]]
        .assert_eq(&told(r#"{"choices":[{"delta":{"refusal":"No."},"finish_reason":"stop"}]}"#));
        expect![[r#"
            text "hel"
            tokens 0 read 0 written 0 out 0
            stop Some(CutOff) ended false heard 3
        "#]]
        .assert_eq(&told(r#"{"choices":[{"delta":{"content":"hel"},"finish_reason":"length"}]}"#));
        expect![[r#"
            text "hel"
            tokens 0 read 0 written 0 out 0
            stop Some(Unknown("error")) ended false heard 3
        "#]]
        .assert_eq(&told(r#"{"choices":[{"delta":{"content":"hel"},"finish_reason":"error"}]}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            complaint 502 "upstream"
            stop None ended false heard 0
        "#]]
        .assert_eq(&told(r#"{"error":{"message":"upstream","code":502}}"#));
    }
}
