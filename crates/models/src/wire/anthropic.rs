//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Answer, Asked, Complaint, Concession, REPORT, count, message, text};
use crate::Usage;

/// The version of the protocol.
pub(super) const VERSION: &str = "2023-06-01";

/// The least that the provider takes for thinking.
const LEAST_THINKING: u32 = 1_024;

/// What is left for the answer itself, beside thinking.
const LEAST_ANSWER: u32 = 1_024;

pub(super) fn request(asked: &Asked<'_>) -> Value {
    let thinking = thinking(asked);
    let mut request = json!({
        "model": asked.model,
        "max_tokens": asked.max_output_tokens,
        "stream": true,
        "messages": [message("user", content(asked))],
    });
    let mut system = asked.system();
    if let Some(schema) = asked.schema() {
        let force = match (asked.conceded.contains(Concession::FreeTool), &thinking) {
            (true, _) => Force::None,
            (false, Some(_)) => Force::Once,
            (false, None) => Force::This,
        };
        offer_tool(schema, force, &mut request);
        if force != Force::This {
            system.push_str("\n\nGive your answer by calling the tool `report`, once.");
        }
    }
    if !system.is_empty() {
        request["system"] = json!([{ "type": "text", "text": system }]);
    }
    if let Some(thinking) = thinking {
        request["thinking"] = thinking;
    }
    request
}

/// How a model is brought to call the tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Force {
    /// It must. One that thinks cannot be forced.
    This,
    /// It may, once.
    Once,
    /// It may.
    None,
}

fn offer_tool(schema: &Value, force: Force, request: &mut Value) {
    request["tools"] = json!([{
        "name": REPORT,
        "description": "Takes the answer.",
        "input_schema": schema,
    }]);
    let once = |mut choice: Value| {
        choice["disable_parallel_tool_use"] = Value::Bool(true);
        choice
    };
    match force {
        Force::This => request["tool_choice"] = once(json!({ "type": "tool", "name": REPORT })),
        Force::Once => request["tool_choice"] = once(json!({ "type": "auto" })),
        Force::None => {}
    }
}

/// Gives the blocks, the last shared of which ends what the provider keeps.
fn content(asked: &Asked<'_>) -> Vec<Value> {
    let blocks: Vec<(String, bool)> = asked.blocks().collect();
    let last_shared = blocks.iter().rposition(|(_, shared)| *shared);
    let block = |(at, (text, _)): (usize, (String, bool))| {
        let mut block = json!({ "type": "text", "text": text });
        if Some(at) == last_shared {
            block["cache_control"] = json!({ "type": "ephemeral" });
        }
        block
    };
    blocks.into_iter().enumerate().map(block).collect()
}

fn thinking(asked: &Asked<'_>) -> Option<Value> {
    if asked.conceded.contains(Concession::NoThinking) {
        return None;
    }
    let most = asked.max_output_tokens.saturating_sub(LEAST_ANSWER);
    let tokens = asked.prompt.thinking_tokens.min(most);
    if tokens < LEAST_THINKING {
        return None;
    }
    Some(match asked.conceded.contains(Concession::AdaptiveThinking) {
        true => json!({ "type": "adaptive" }),
        false => json!({ "type": "enabled", "budget_tokens": tokens }),
    })
}

pub(super) fn fold(kind: &str, data: &Value, answer: &mut Answer) {
    let kind = match text(data, "/type") {
        "" => kind,
        kind => kind,
    };
    match kind {
        "message_start" => used(&data["message"]["usage"], &mut answer.usage),
        "content_block_start" => take_block(&data["content_block"], answer),
        "content_block_delta" => {
            answer.say(text(data, "/delta/text"));
            answer.call(text(data, "/delta/partial_json"));
            answer.hear(text(data, "/delta/thinking"));
        }
        "message_delta" => {
            used(&data["usage"], &mut answer.usage);
            answer.stopped(text(data, "/delta/stop_reason"));
        }
        "message_stop" => answer.ended = true,
        "error" => answer.complaint = Complaint::read(data),
        // Pings, ends of blocks, and what is yet to be invented.
        _ => {}
    }
}

pub(super) fn whole(body: &Value, answer: &mut Answer) {
    for block in body["content"].as_array().into_iter().flatten() {
        take_block(block, answer);
    }
    used(&body["usage"], &mut answer.usage);
    answer.stopped(text(body, "/stop_reason"));
}

/// Takes what stands in a block from its start: in a stream nothing, as a rule.
fn take_block(block: &Value, answer: &mut Answer) {
    match text(block, "/type") {
        "text" => answer.say(text(block, "/text")),
        "tool_use" if block["input"].as_object().is_some_and(|input| !input.is_empty()) => {
            answer.call(&block["input"].to_string());
        }
        _ => {}
    }
}

/// Takes the numbers that are there; each says what it is so far, not what is new.
pub(super) fn used(usage: &Value, used: &mut Usage) {
    let put = |name: &str, count_so_far: &mut u64| {
        *count_so_far = count(usage, name).unwrap_or(*count_so_far);
    };
    put("/input_tokens", &mut used.input);
    put("/cache_read_input_tokens", &mut used.cache_read);
    put("/cache_creation_input_tokens", &mut used.cache_write);
    put("/output_tokens", &mut used.output);
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{answer, prompt, request};
    use super::super::{Concessions, Dialect};
    use super::*;

    #[test]
    fn a_schema_becomes_a_tool_that_must_be_called() {
        let request = request(Dialect::Anthropic, &prompt(), &Concessions::default());
        expect![[r#"
            {
              "model": "m",
              "max_tokens": 4000,
              "stream": true,
              "messages": [
                {
                  "role": "user",
                  "content": [
                    {
                      "type": "text",
                      "text": "rules"
                    },
                    {
                      "type": "text",
                      "text": "change",
                      "cache_control": {
                        "type": "ephemeral"
                      }
                    },
                    {
                      "type": "text",
                      "text": "look FENCE"
                    }
                  ]
                }
              ],
              "tools": [
                {
                  "name": "report",
                  "description": "Takes the answer.",
                  "input_schema": {
                    "type": "object"
                  }
                }
              ],
              "tool_choice": {
                "type": "tool",
                "name": "report",
                "disable_parallel_tool_use": true
              },
              "system": [
                {
                  "type": "text",
                  "text": "Be brief."
                }
              ]
            }"#]]
        .assert_eq(&request);
    }

    #[test]
    fn a_model_that_thinks_is_asked_for_the_tool() {
        let mut prompt = prompt();
        prompt.thinking_tokens = 16_000;
        let request = request(Dialect::Anthropic, &prompt, &Concessions::default());
        let request: Value = serde_json::from_str(&request).unwrap();
        // Room for the answer is left beside the thoughts.
        assert_eq!(request["thinking"], json!({ "type": "enabled", "budget_tokens": 2_976 }));
        assert_eq!(text(&request, "/tool_choice/type"), "auto");
        assert!(text(&request, "/system/0/text").ends_with("by calling the tool `report`, once."));
    }

    #[test]
    fn thinking_is_left_to_the_model_and_then_left_out() {
        let mut prompt = prompt();
        prompt.thinking_tokens = 2_000;
        let mut conceded = Concessions::default();
        let mut next = |concession| -> Value {
            conceded.insert(concession);
            let request = request(Dialect::Anthropic, &prompt, &conceded);
            serde_json::from_str(&request).unwrap()
        };
        let adaptive = json!({ "type": "adaptive" });
        assert_eq!(next(Concession::AdaptiveThinking)["thinking"], adaptive);
        assert_eq!(next(Concession::NoThinking)["thinking"], Value::Null);
    }

    #[test]
    fn a_stream_is_gathered() {
        let stream = r#"event: message_start
data: {"type":"message_start","message":{"usage":{"input_tokens":12,"cache_read_input_tokens":5,"cache_creation_input_tokens":7,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"report","input":{}}}

event: ping
data: {"type":"ping"}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":30}}

data: {"type":"message_stop"}

"#;
        expect![[r#"
            tool "{\"a\":1}"
            tokens 12 read 5 written 7 out 30
            stop Some(Finished) ended true heard 9
        "#]]
        .assert_eq(&answer(Dialect::Anthropic, stream));
    }

    #[test]
    fn one_body_is_as_good_as_a_stream() {
        let body = r#"{"type":"message","content":[{"type":"text","text":"Here:"},{"type":"tool_use","name":"report","input":{"a":1}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"output_tokens":4}}"#;
        expect![[r#"
            text "Here:"
            tool "{\"a\":1}"
            tokens 3 read 0 written 0 out 4
            stop Some(Finished) ended true heard 12
        "#]]
        .assert_eq(&answer(Dialect::Anthropic, body));
    }

    #[test]
    fn refusals_cuts_and_errors_are_told() {
        let told = |data: &str| answer(Dialect::Anthropic, &format!("data: {data}\n\n"));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(Refused) ended false heard 0
        "#]]
        .assert_eq(&told(r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(CutOff) ended false heard 0
        "#]]
        .assert_eq(&told(r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(Unknown("pause_turn")) ended false heard 0
        "#]]
        .assert_eq(&told(r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            complaint overloaded_error "Overloaded"
            stop None ended false heard 0
        "#]]
        .assert_eq(&told(
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ));
    }
}
