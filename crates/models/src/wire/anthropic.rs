//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{Answer, Asked, Complaint, Concession, REPORT, Stop, count, message, text};
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
    let free = thinking.is_some() || asked.conceded.contains(Concession::FreeTool);
    let mut system = asked.system();
    if let Some(schema) = asked.schema() {
        request["tools"] = json!([{
            "name": REPORT,
            "description": "Takes the answer.",
            "input_schema": schema,
        }]);
        request["tool_choice"] = match free {
            // A model that thinks cannot be forced, so it is asked.
            true => json!({ "type": "auto" }),
            false => json!({ "type": "tool", "name": REPORT }),
        };
        if free {
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
            stop(text(data, "/delta/stop_reason"), answer);
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
    stop(text(body, "/stop_reason"), answer);
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

fn stop(reason: &str, answer: &mut Answer) {
    match reason {
        "" => {}
        "max_tokens" | "model_context_window_exceeded" => answer.stopped(Stop::CutOff),
        "refusal" => answer.stopped(Stop::Refused),
        _ => answer.stopped(Stop::Finished),
    }
}

/// Takes the numbers that are there; each says what it is so far, not what is new.
fn used(usage: &Value, used: &mut Usage) {
    let put = |name: &str, count_so_far: &mut u64| {
        *count_so_far = count(usage, name).unwrap_or(*count_so_far);
    };
    put("/input_tokens", &mut used.input);
    put("/cache_read_input_tokens", &mut used.cache_read);
    put("/cache_creation_input_tokens", &mut used.cache_write);
    put("/output_tokens", &mut used.output);
}
