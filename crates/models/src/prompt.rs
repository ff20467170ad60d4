//! What is asked: [`Prompt`], with marks in it that no change can know beforehand.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Tool, Turn, says};

/// What is asked of a model. Two equal prompts ask the same, whatever the marks of their runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// What holds for the whole conversation.
    pub system: String,
    /// What is said, in order. Blocks that many prompts share come first, so that a provider can
    /// keep them.
    pub blocks: Vec<Block>,
    /// The JSON Schema that the answer is to have.
    pub schema: Option<Value>,
    /// The most tokens that may come back, thinking included.
    pub max_output_tokens: u32,
    /// The tokens of these that may be spent on thinking.
    pub thinking_tokens: u32,
    /// The tools that the model may call before it answers.
    pub tools: Vec<Tool>,
    /// The earlier turns of the conversation, the oldest first.
    pub turns: Vec<Turn>,
}

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block {
    /// Its text and marks, in order.
    pub pieces: Vec<Piece>,
    /// Whether other prompts of the run begin with the same blocks up to here.
    pub shared: bool,
}

/// Text, or a mark that is filled in when the prompt is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text as it stands. Nothing in it is ever taken for a mark.
    Text(String),
    /// A mark.
    Mark(Mark),
}

/// What is different in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// What the untrusted part stands between.
    Fence,
    /// What only an answer has that obeys the untrusted part.
    Canary,
}

/// The marks of a run. Nobody can have written them into a change before the run began. They are
/// kept with a run only while somebody else is still to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nonce {
    fence: String,
    canary: String,
}

/// How marks are written where a prompt or an answer is kept, whatever they were in its run.
const KEPT: [(Mark, &str); 2] = [(Mark::Fence, "\u{1}fence\u{1}"), (Mark::Canary, CANARY_KEPT)];

/// The bytes of a tool or a call besides its own texts: keys, braces and ids of the dialects.
const FRAME: usize = 200;

/// How the canary is written there.
const CANARY_KEPT: &str = "\u{1}canary\u{1}";

impl Nonce {
    /// Draws new marks.
    pub fn draw() -> std::io::Result<Nonce> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(std::io::Error::from)?;
        let hex = |bytes: &[u8]| {
            bytes.iter().fold(String::new(), |mut text, byte| {
                write!(text, "{byte:02x}").expect("writing to a string works");
                text
            })
        };
        Ok(Nonce { fence: hex(&bytes[..8]), canary: hex(&bytes[8..]) })
    }

    /// Gives what a mark is in this run.
    pub fn of(&self, mark: Mark) -> &str {
        match mark {
            Mark::Fence => &self.fence,
            Mark::Canary => &self.canary,
        }
    }

    /// Takes the run's marks out of an answer that is to be kept. One that says the canary in
    /// disguise says it in plain as well afterwards, so that the next run sees it.
    pub fn forget(&self, text: &str) -> String {
        let forget = |text: String, (mark, kept): &(Mark, &str)| text.replace(self.of(*mark), kept);
        let text = KEPT.iter().fold(text.to_owned(), forget);
        match says(&text, &self.canary) {
            true => format!("{text} {CANARY_KEPT}"),
            false => text,
        }
    }

    /// Returns a text without the marks of the run.
    pub fn without_marks(&self, text: &str) -> String {
        KEPT.iter().fold(text.to_owned(), |text, (mark, _)| text.replace(self.of(*mark), ""))
    }

    /// Puts the run's marks into an answer that was kept.
    pub fn recall(&self, text: &str) -> String {
        KEPT.iter().fold(text.to_owned(), |text, (mark, kept)| text.replace(kept, self.of(*mark)))
    }
}

impl Block {
    /// Writes the block out with the marks of a run.
    pub fn text(&self, nonce: &Nonce) -> String {
        text_of(&self.pieces, nonce)
    }
}

/// Writes pieces out with the marks of a run.
pub(crate) fn text_of(pieces: &[Piece], nonce: &Nonce) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Mark(mark) => nonce.of(*mark),
        })
        .collect()
}

/// Returns the bytes of pieces as they are sent.
fn bytes_of(pieces: &[Piece]) -> usize {
    let bytes = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Mark(_) => 16,
    });
    bytes.sum()
}

impl Prompt {
    /// Returns the hash by which a prompt is told again, in any run. A prompt without tools and turns has
    /// the hash that it had before there were any.
    pub fn hash(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        // Lengths keep parts apart: no text can pose as the end of one and the start of the next.
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

    /// Gives the bytes that are sent, which no tokeniser makes more tokens of.
    pub fn bytes(&self) -> usize {
        let text: usize = self.blocks.iter().map(|block| bytes_of(&block.pieces)).sum();
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        let tools = self.tools.iter().map(|tool| {
            tool.name.len() + tool.description.len() + tool.arguments.to_string().len() + FRAME
        });
        let calls = self.turns.iter().flat_map(|turn| &turn.calls).map(|answered| {
            let call = &answered.call;
            call.name.len() + call.arguments.len() + bytes_of(&answered.result) + FRAME
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
    use crate::{AnsweredCall, ToolCall};

    fn prompt() -> Prompt {
        let pieces = vec![Piece::Text("look".into()), Piece::Mark(Mark::Fence)];
        Prompt {
            system: "Be brief.".into(),
            blocks: vec![Block { pieces, shared: true }],
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
        Turn { calls: vec![AnsweredCall { call, result }], thoughts: Vec::new() }
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
