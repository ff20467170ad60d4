//! Prompts: [`Prompt`], with marks that no author of a change can know in advance.

use serde_json::Value;

use crate::mark::{Mark, Nonce, Piece, bytes_of, text_of};
use crate::tool::{Tool, Turn};

/// A request to a model. Two prompts are equal even if the marks of their runs have other values.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The system prompt: instructions for the whole conversation.
    pub system: String,
    /// The user message, in order. Blocks that many prompts share come first, so that a provider
    /// can cache them.
    pub blocks: Vec<PromptBlock>,
    /// The JSON Schema of the answer; `None` for free text.
    pub schema: Option<Value>,
    /// The maximum number of tokens of the answer, thinking included.
    pub max_output_tokens: u32,
    /// The maximum number of tokens for thinking, as part of the answer.
    pub thinking_tokens: u32,
    /// The tools that the model may call before it answers.
    pub tools: Vec<Tool>,
    /// The earlier turns of the conversation, the oldest first.
    pub turns: Vec<Turn>,
}

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PromptBlock {
    /// The text and the marks, in order.
    pub pieces: Vec<Piece>,
    /// True if other prompts of the run begin with the same blocks up to this one.
    pub shared: bool,
}

/// The bytes of a tool or a call in addition to its own texts: keys, braces and ids of the
/// dialects.
const FRAME_BYTES: usize = 200;

impl PromptBlock {
    /// Returns the text of the block, with the values of the marks.
    pub fn text(&self, nonce: &Nonce) -> String {
        text_of(&self.pieces, nonce)
    }
}

impl Prompt {
    /// Returns the hash by which a prompt is recognised in any run. A prompt without tools and
    /// turns has the hash that it had before these were introduced.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // Lengths separate the parts: no text can look like the end of one and the start of the
        // next.
        let mut put = |kind: u8, text: &str| {
            hasher.update(&[kind]);
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        };
        put(0, &self.system);
        for block in &self.blocks {
            put(1, "");
            put_pieces(&block.pieces, &mut put);
        }
        put(5, &self.schema.as_ref().map(Value::to_string).unwrap_or_default());
        put(6, &format!("{} {}", self.max_output_tokens, self.thinking_tokens));
        for tool in &self.tools {
            put(7, &tool.name);
            put(8, &tool.description);
            put(9, &tool.arguments.to_string());
        }
        for turn in &self.turns {
            put(10, "");
            for answered in &turn.calls {
                put(11, &answered.call.name);
                put(12, &answered.call.arguments);
                put_pieces(&answered.result, &mut put);
            }
        }
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Returns the number of bytes that are sent, an upper bound of the number of tokens.
    pub fn bytes(&self) -> usize {
        let text: usize = self.blocks.iter().map(|block| bytes_of(&block.pieces)).sum();
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        let tools = self.tools.iter().map(|tool| {
            tool.name.len()
                + tool.description.len()
                + tool.arguments.to_string().len()
                + FRAME_BYTES
        });
        let calls = self.turns.iter().flat_map(|turn| &turn.calls).map(|answered| {
            let call = &answered.call;
            call.name.len() + call.arguments.len() + bytes_of(&answered.result) + FRAME_BYTES
        });
        let thoughts = self.turns.iter().flat_map(|turn| &turn.thoughts);
        let thoughts = thoughts.map(|thought| thought.to_string().len());
        let turns = calls.sum::<usize>() + thoughts.sum::<usize>();
        self.system.len() + text + schema + tools.sum::<usize>() + turns
    }
}

/// Adds pieces to a hash.
fn put_pieces(pieces: &[Piece], put: &mut impl FnMut(u8, &str)) {
    for piece in pieces {
        match piece {
            Piece::Text(text) => put(2, text),
            Piece::Mark(Mark::Fence) => put(3, ""),
            Piece::Mark(Mark::Canary) => put(4, ""),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{CallResult, ToolCall};

    fn prompt() -> Prompt {
        let pieces = vec![Piece::Text("look".into()), Piece::Mark(Mark::Fence)];
        Prompt {
            system: "Be brief.".into(),
            blocks: vec![PromptBlock { pieces, shared: true }],
            schema: Some(json!({ "type": "object" })),
            max_output_tokens: 100,
            thinking_tokens: 7,
            tools: Vec::new(),
            turns: Vec::new(),
        }
    }

    fn tool(name: &str, description: &str, arguments: Value) -> Tool {
        Tool { name: name.into(), description: description.into(), arguments }
    }

    fn turn(name: &str, arguments: &str, result: &str) -> Turn {
        let call = ToolCall { name: name.into(), arguments: arguments.into() };
        let result = vec![Piece::Text(result.into())];
        Turn { calls: vec![CallResult { call, result }], thoughts: Vec::new() }
    }

    #[test]
    fn a_prompt_without_tools_and_turns_has_the_hash_of_earlier_versions() {
        assert_eq!(prompt().hash(), "b86a7baa0fb43795778b1899622c39ef");
    }

    #[test]
    fn every_part_of_tools_and_turns_is_part_of_the_hash() {
        let object = json!({ "type": "object" });
        let with_tool = |tool| Prompt { tools: vec![tool], ..prompt() };
        let with_turns = |turns| Prompt { turns, ..prompt() };
        let prompts = [
            prompt(),
            with_tool(tool("a", "b", object.clone())),
            with_tool(tool("ab", "", object.clone())),
            with_tool(tool("a", "c", object.clone())),
            with_tool(tool("a", "b", json!({ "type": "string" }))),
            with_turns(vec![turn("a", "{}", "x")]),
            with_turns(vec![turn("b", "{}", "x")]),
            with_turns(vec![turn("a", "{} ", "x")]),
            with_turns(vec![turn("a", "{}", "y")]),
            with_turns(vec![turn("a", "{}", "x"), turn("a", "{}", "x")]),
            with_turns(vec![Turn {
                calls: [turn("a", "{}", "x").calls, turn("a", "{}", "x").calls].concat(),
                thoughts: Vec::new(),
            }]),
        ];
        let hashes: std::collections::BTreeSet<String> = prompts.iter().map(Prompt::hash).collect();
        assert_eq!(hashes.len(), prompts.len());
        let sizes = prompts[1..].iter().map(Prompt::bytes);
        assert!(sizes.into_iter().all(|bytes| bytes > prompt().bytes()));
    }

    #[test]
    fn thoughts_are_no_part_of_the_hash() {
        let mut thinking = turn("a", "{}", "x");
        thinking.thoughts = vec![json!({ "type": "thinking", "signature": "s" })];
        let [plain, thinking] = [turn("a", "{}", "x"), thinking]
            .map(|turn| Prompt { turns: vec![turn], ..prompt() }.hash());
        assert_eq!(plain, thinking);
    }
}
