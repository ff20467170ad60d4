//! What is asked: [`Prompt`], with marks in it that no change can know beforehand.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::says;

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

    /// Puts the run's marks into an answer that was kept.
    pub fn recall(&self, text: &str) -> String {
        KEPT.iter().fold(text.to_owned(), |text, (mark, kept)| text.replace(kept, self.of(*mark)))
    }
}

impl Block {
    /// Writes the block out with the marks of a run.
    pub fn text(&self, nonce: &Nonce) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.as_str(),
                Piece::Mark(mark) => nonce.of(*mark),
            })
            .collect()
    }
}

impl Prompt {
    /// Gives the hash by which a prompt is told again, in any run.
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
            for piece in &block.pieces {
                match piece {
                    Piece::Text(text) => put(2, text),
                    Piece::Mark(Mark::Fence) => put(3, ""),
                    Piece::Mark(Mark::Canary) => put(4, ""),
                }
            }
        }
        put(5, &self.schema.as_ref().map(Value::to_string).unwrap_or_default());
        put(6, &format!("{} {}", self.max_output_tokens, self.thinking_tokens));
        hasher.finalize().to_hex()[..32].to_owned()
    }

    /// Gives the bytes that are sent, which no tokeniser makes more tokens of.
    pub fn bytes(&self) -> usize {
        let pieces = self.blocks.iter().flat_map(|block| &block.pieces);
        let text = pieces.map(|piece| match piece {
            Piece::Text(text) => text.len(),
            Piece::Mark(_) => 16,
        });
        let schema = self.schema.as_ref().map_or(0, |schema| schema.to_string().len());
        self.system.len() + text.sum::<usize>() + schema
    }
}
