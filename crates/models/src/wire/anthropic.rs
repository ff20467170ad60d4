//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::partial_answer::CallPart;
use super::{ApiError, Fallback, PartialAnswer, REPORT, WireRequest, message};
use crate::json::{count, text};
use crate::tool::call_id;
use crate::{Tool, Turn, Usage};

/// The version of the API.
pub(super) const VERSION: &str = "2023-06-01";

/// The minimum number of thinking tokens that the provider accepts.
const MIN_THINKING_TOKENS: u32 = 1_024;

/// The minimum number of tokens that are left for the answer in addition to thinking.
const MIN_ANSWER_TOKENS: u32 = 1_024;

pub(super) fn request(asked: &WireRequest<'_>) -> Value {
    let thinking = thinking(asked);
    let mut request = json!({
        "model": asked.model,
        "max_tokens": asked.max_output_tokens,
        "stream": true,
        "messages": messages(asked),
    });
    let mut system = asked.system();
    let (schema, offers_tools) = (asked.schema(), !asked.tools().is_empty());
    let is_free = asked.fallbacks.contains(Fallback::FreeTool);
    let tool_choice = match (schema, &thinking) {
        _ if is_free => ToolChoice::None,
        (None, _) => ToolChoice::None,
        (Some(_), Some(_)) if offers_tools => ToolChoice::None,
        (Some(_), Some(_)) => ToolChoice::Once,
        (Some(_), None) if offers_tools => ToolChoice::Any,
        (Some(_), None) => ToolChoice::This,
    };
    if schema.is_some() || offers_tools {
        offer_tools(schema, asked.tools(), tool_choice, &mut request);
    }
    if schema.is_some() && tool_choice != ToolChoice::This {
        system.push_str("\n\nGive your answer by calling the tool `report`, once.");
    }
    if !system.is_empty() {
        request["system"] = json!([{ "type": "text", "text": system }]);
    }
    if let Some(thinking) = thinking {
        request["thinking"] = thinking;
    }
    request
}

/// The way in which a model is made to call the tool that takes the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ToolChoice {
    /// The model must call the tool. A model that thinks cannot be forced.
    This,
    /// The model must call any of the tools: look something up, or give its answer.
    Any,
    /// The model may call the tool, at most once.
    Once,
    /// The model may call the tools, without a limit.
    None,
}

fn offer_tools(
    schema: Option<&Value>,
    tools: &[Tool],
    tool_choice: ToolChoice,
    request: &mut Value,
) {
    let report = schema.map(|schema| {
        json!({ "name": REPORT, "description": "Takes the answer.", "input_schema": schema })
    });
    let tool = |tool: &Tool| {
        json!({
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.arguments,
        })
    };
    request["tools"] = report.into_iter().chain(tools.iter().map(tool)).collect();
    let once = |mut choice: Value| {
        choice["disable_parallel_tool_use"] = Value::Bool(true);
        choice
    };
    match tool_choice {
        ToolChoice::This => {
            request["tool_choice"] = once(json!({ "type": "tool", "name": REPORT }))
        }
        ToolChoice::Any => request["tool_choice"] = json!({ "type": "any" }),
        ToolChoice::Once => request["tool_choice"] = once(json!({ "type": "auto" })),
        ToolChoice::None => {}
    }
}

/// Returns the messages: the prompt and the earlier turns.
fn messages(asked: &WireRequest<'_>) -> Vec<Value> {
    let mut messages = vec![message("user", content(asked))];
    for (turn, number) in asked.turns().iter().zip(1..) {
        let uses = turn.calls.iter().zip(1..).map(|(answered, at)| {
            json!({
                "type": "tool_use",
                "id": call_id(number, at),
                "name": answered.call.name,
                "input": answered.call.input(),
            })
        });
        let uses: Vec<Value> = turn.thoughts.iter().cloned().chain(uses).collect();
        messages.push(message("assistant", uses));
        let results = turn.calls.iter().zip(1..).map(|(answered, at)| {
            json!({
                "type": "tool_result",
                "tool_use_id": call_id(number, at),
                "content": answered.text(asked.nonce),
            })
        });
        messages.push(message("user", results.collect::<Vec<_>>()));
    }
    messages
}

/// Returns the blocks. The last shared block is marked as the end of the part that the provider
/// caches.
fn content(asked: &WireRequest<'_>) -> Vec<Value> {
    let in_words = asked.turns_as_text().map(|text| (text, false));
    let blocks: Vec<(String, bool)> = asked.blocks().chain(in_words).collect();
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

fn thinking(asked: &WireRequest<'_>) -> Option<Value> {
    if asked.fallbacks.contains(Fallback::NoThinking) {
        return None;
    }
    let most = asked.max_output_tokens.saturating_sub(MIN_ANSWER_TOKENS);
    let tokens = asked.prompt.thinking_tokens.min(most);
    if tokens < MIN_THINKING_TOKENS {
        return None;
    }
    // A turn whose thoughts are unknown, such as one of a stored answer, may not be followed by
    // further thoughts.
    let lacks_thoughts = |turn: &Turn| turn.thoughts.is_empty();
    match asked.fallbacks.contains(Fallback::AdaptiveThinking) {
        true => Some(json!({ "type": "adaptive" })),
        false if asked.turns().iter().any(lacks_thoughts) => None,
        false => Some(json!({ "type": "enabled", "budget_tokens": tokens })),
    }
}

pub(super) fn fold(kind: &str, data: &Value, answer: &mut PartialAnswer) {
    let kind = match text(data, "/type") {
        "" => kind,
        kind => kind,
    };
    match kind {
        "message_start" => add_usage(&data["message"]["usage"], &mut answer.usage),
        "content_block_start" => {
            take_block(&data["content_block"], count(data, "/index"), answer);
        }
        "content_block_delta" => take_delta(data, answer),
        "message_delta" => {
            add_usage(&data["usage"], &mut answer.usage);
            answer.set_stop_reason(text(data, "/delta/stop_reason"));
        }
        "message_stop" => answer.ended = true,
        "error" => answer.api_error = ApiError::parse(data),
        // Pings, ends of blocks, and future kinds of events.
        _ => {}
    }
}

pub(super) fn fold_body(body: &Value, answer: &mut PartialAnswer) {
    for block in body["content"].as_array().into_iter().flatten() {
        take_block(block, None, answer);
    }
    add_usage(&body["usage"], &mut answer.usage);
    answer.set_stop_reason(text(body, "/stop_reason"));
}

/// Adds the initial content of a block; in a stream it is empty, as a rule.
fn take_block(block: &Value, index: Option<u64>, answer: &mut PartialAnswer) {
    match text(block, "/type") {
        "text" => answer.push_text(text(block, "/text")),
        "thinking" | "redacted_thinking" => {
            answer.count_chars(text(block, "/thinking"));
            answer.thoughts.push(block.clone());
        }
        "tool_use" => {
            let has_input = block["input"].as_object().is_some_and(|input| !input.is_empty());
            let input = if has_input { block["input"].to_string() } else { String::new() };
            let (id, name) = (text(block, "/id"), text(block, "/name"));
            answer.push_call(CallPart { index, id, name, arguments: &input });
        }
        _ => {}
    }
}

/// Adds the content of a delta to its block.
fn take_delta(data: &Value, answer: &mut PartialAnswer) {
    answer.push_text(text(data, "/delta/text"));
    let arguments = text(data, "/delta/partial_json");
    if !arguments.is_empty() {
        answer.push_call(CallPart {
            index: count(data, "/index"),
            arguments,
            ..CallPart::default()
        });
    }
    answer.count_chars(text(data, "/delta/thinking"));
    let Some(thought) = answer.thoughts.last_mut() else { return };
    for field in ["thinking", "signature"] {
        let more = text(&data["delta"], &format!("/{field}"));
        if !more.is_empty() {
            thought[field] = json!(format!("{}{more}", text(thought, &format!("/{field}"))));
        }
    }
}

/// Updates the usage with the numbers that are present; each is a total, not an increment.
pub(super) fn add_usage(usage: &Value, used: &mut Usage) {
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

    use super::super::tests::{answer, prompt, prompt_with_tools, request};
    use super::super::{Dialect, Fallbacks};
    use super::*;

    #[test]
    fn a_schema_becomes_a_tool_that_must_be_called() {
        let request = request(Dialect::Anthropic, &prompt(), &Fallbacks::default());
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
    fn with_thinking_the_report_tool_is_requested_and_not_forced() {
        let mut prompt = prompt();
        prompt.thinking_tokens = 16_000;
        let request = request(Dialect::Anthropic, &prompt, &Fallbacks::default());
        let request: Value = serde_json::from_str(&request).unwrap();
        // Tokens are left for the answer in addition to the thoughts.
        assert_eq!(request["thinking"], json!({ "type": "enabled", "budget_tokens": 2_976 }));
        assert_eq!(text(&request, "/tool_choice/type"), "auto");
        assert!(text(&request, "/system/0/text").ends_with("by calling the tool `report`, once."));
    }

    #[test]
    fn thinking_falls_back_to_adaptive_and_then_to_none() {
        let mut prompt = prompt();
        prompt.thinking_tokens = 2_000;
        let mut fallbacks = Fallbacks::default();
        let mut next = |concession| -> Value {
            fallbacks.insert(concession);
            let request = request(Dialect::Anthropic, &prompt, &fallbacks);
            serde_json::from_str(&request).unwrap()
        };
        let adaptive = json!({ "type": "adaptive" });
        assert_eq!(next(Fallback::AdaptiveThinking)["thinking"], adaptive);
        assert_eq!(next(Fallback::NoThinking)["thinking"], Value::Null);
    }

    fn asked(prompt: &crate::Prompt, fallbacks: &[Fallback]) -> Value {
        let mut made = Fallbacks::default();
        fallbacks.iter().for_each(|concession| made.insert(*concession));
        serde_json::from_str(&request(Dialect::Anthropic, prompt, &made)).unwrap()
    }

    #[test]
    fn tools_are_listed_after_the_report_and_one_of_them_must_be_called() {
        let asked = asked(&prompt_with_tools(), &[]);
        assert_eq!(text(&asked, "/tools/0/name"), "report");
        let look = json!({
            "name": "look",
            "description": "Looks.",
            "input_schema": { "type": "object", "properties": {} },
        });
        assert_eq!(asked["tools"][1], look);
        assert_eq!(asked["tool_choice"], json!({ "type": "any" }));
        let calls = json!([
            { "type": "tool_use", "id": "call01001", "name": "look", "input": { "at": "a" } },
            {
                "type": "tool_use", "id": "call01002", "name": "look",
                "input": { "arguments": "[" },
            },
        ]);
        assert_eq!(asked["messages"][1], json!({ "role": "assistant", "content": calls }));
        let results = json!([
            { "type": "tool_result", "tool_use_id": "call01001", "content": "found FENCE" },
            { "type": "tool_result", "tool_use_id": "call01002", "content": "error" },
        ]);
        assert_eq!(asked["messages"][2], json!({ "role": "user", "content": results }));
    }

    #[test]
    fn the_last_question_forces_the_report() {
        let prompt = crate::Prompt { tools: Vec::new(), ..prompt_with_tools() };
        let asked = asked(&prompt, &[]);
        assert_eq!(text(&asked, "/tool_choice/name"), "report");
        assert_eq!(asked["messages"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn a_server_without_tool_support_gets_the_results_as_text() {
        let asked = asked(&prompt_with_tools(), &[Fallback::NoTools, Fallback::NoSchema]);
        assert_eq!((&asked["tools"], &asked["tool_choice"]), (&Value::Null, &Value::Null));
        assert_eq!(asked["messages"].as_array().unwrap().len(), 1);
        let words = asked["messages"][0]["content"].as_array().unwrap().last().unwrap();
        let words = text(words, "/text");
        assert!(
            words.starts_with("You called `look` with {\"at\":\"a\"}. The result:\nfound FENCE")
        );
    }

    #[test]
    fn thoughts_are_sent_back_with_the_calls_and_thinking_is_off_without_them() {
        let mut prompt = prompt_with_tools();
        prompt.thinking_tokens = 2_000;
        assert_eq!(asked(&prompt, &[])["thinking"], Value::Null);
        let thought = json!({ "type": "thinking", "thinking": "hm", "signature": "s" });
        prompt.turns[0].thoughts = vec![thought.clone()];
        let asked = asked(&prompt, &[]);
        assert_eq!(text(&asked, "/thinking/type"), "enabled");
        assert_eq!(asked["tool_choice"], Value::Null);
        assert_eq!(asked["messages"][1]["content"][0], thought);
    }

    #[test]
    fn calls_are_read_from_a_stream_with_the_thoughts_before_them() {
        let stream = r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"at\":"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}

data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"t2","name":"look","input":{}}}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":3}}

data: {"type":"message_stop"}

"#;
        expect![[r#"
            call look "{\"at\":1}"
            call look ""
            thought {"type":"thinking","thinking":"hm","signature":"s"}
            tokens 0 read 0 written 0 out 3
            stop Some(Finished) ended true heard 10
        "#]]
        .assert_eq(&answer(Dialect::Anthropic, stream));
        let body = r#"{"content":[{"type":"tool_use","id":"t1","name":"look","input":{"at":1}},{"type":"tool_use","id":"t2","name":"look","input":{}}],"stop_reason":"tool_use"}"#;
        expect![[r#"
            call look "{\"at\":1}"
            call look ""
            tokens 0 read 0 written 0 out 0
            stop Some(Finished) ended true heard 8
        "#]]
        .assert_eq(&answer(Dialect::Anthropic, body));
    }

    #[test]
    fn a_stream_is_assembled_into_one_answer() {
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
    fn a_single_body_is_read_like_a_stream() {
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
    fn refusals_truncations_and_errors_are_reported() {
        let decoded = |data: &str| answer(Dialect::Anthropic, &format!("data: {data}\n\n"));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(Refused) ended false heard 0
        "#]]
        .assert_eq(&decoded(r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(CutOff) ended false heard 0
        "#]]
        .assert_eq(&decoded(r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            stop Some(Unknown("pause_turn")) ended false heard 0
        "#]]
        .assert_eq(&decoded(r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"}}"#));
        expect![[r#"
            tokens 0 read 0 written 0 out 0
            complaint overloaded_error "Overloaded"
            stop None ended false heard 0
        "#]]
        .assert_eq(&decoded(
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ));
    }
}
