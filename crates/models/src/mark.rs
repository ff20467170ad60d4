//! Marks that are random in each run: [`Mark`] in the [`Piece`]s of a prompt, and the [`Nonce`]
//! with their values.
//!
//! A prompt contains marks and not their values. The random values of a run (the fence and the
//! canary) are filled in when a prompt is sent, and removed from everything that is stored. So a
//! prompt is the same in every run, and its stored reply is found again. No text of a change can be
//! mistaken for a mark, since a mark is not text until the prompt is sent.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// Text, or a mark that is filled in when the prompt is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Literal text. No part of it is ever interpreted as a mark.
    Text(String),
    /// A mark.
    Mark(Mark),
}

/// A value that is different in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// The delimiter around the untrusted part of a prompt.
    Fence,
    /// A word that occurs in a reply only if the model obeyed the untrusted part.
    Canary,
}

/// The values of the marks in one run. No author of a change can know them before the run begins.
/// They are stored with a run only while an agent has yet to answer its prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nonce {
    fence: String,
    canary: String,
}

/// The placeholders of the marks in stored prompts and replies, the same in every run.
const PLACEHOLDERS: [(Mark, &str); 2] =
    [(Mark::Fence, "\u{1}fence\u{1}"), (Mark::Canary, CANARY_PLACEHOLDER)];

/// The placeholder of the canary.
const CANARY_PLACEHOLDER: &str = "\u{1}canary\u{1}";

impl Nonce {
    /// Draws new random values.
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

    /// Returns the value of a mark in this run.
    pub fn value_of(&self, mark: Mark) -> &str {
        match mark {
            Mark::Fence => &self.fence,
            Mark::Canary => &self.canary,
        }
    }

    /// Replaces the values of the marks in a reply by placeholders, before the reply is stored. If
    /// a reply contains the canary in escaped form, the plain placeholder is appended, so that the
    /// next run sees it.
    pub fn replace_marks(&self, text: &str) -> String {
        let replace = |text: String, (mark, placeholder): &(Mark, &str)| {
            text.replace(self.value_of(*mark), placeholder)
        };
        let text = PLACEHOLDERS.iter().fold(text.to_owned(), replace);
        match contains_word(&text, &self.canary) {
            true => format!("{text} {CANARY_PLACEHOLDER}"),
            false => text,
        }
    }

    /// Returns a text without the values of the marks.
    pub fn without_marks(&self, text: &str) -> String {
        PLACEHOLDERS
            .iter()
            .fold(text.to_owned(), |text, (mark, _)| text.replace(self.value_of(*mark), ""))
    }

    /// Replaces the placeholders in a stored reply by the values of this run.
    pub fn restore_marks(&self, text: &str) -> String {
        PLACEHOLDERS.iter().fold(text.to_owned(), |text, (mark, placeholder)| {
            text.replace(placeholder, self.value_of(*mark))
        })
    }
}

/// Joins pieces to a text, with the values of the marks.
pub(crate) fn text_of(pieces: &[Piece], nonce: &Nonce) -> String {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Mark(mark) => nonce.value_of(*mark),
        })
        .collect()
}

/// Returns the number of bytes of pieces as they are sent.
pub(crate) fn bytes_of(pieces: &[Piece]) -> usize {
    let bytes = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Mark(_) => 16,
    });
    bytes.sum()
}

/// Returns true if a text contains a word, ignoring case, also if its letters are escaped as in
/// JSON.
pub fn contains_word(text: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    text.to_lowercase().contains(&word) || unescape(text).to_lowercase().contains(&word)
}

/// Replaces escapes such as `\u0061` by their letters, also if they are escaped several times.
fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (head, tail) = rest.split_at(at);
        plain.push_str(head);
        let after = tail.trim_start_matches('\\');
        let code = after.strip_prefix('u').and_then(|after| after.get(..4));
        let letter = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        match letter.and_then(char::from_u32) {
            Some(letter) => {
                plain.push(letter);
                rest = &after["u0000".len()..];
            }
            None => {
                plain.push_str(&tail[..tail.len() - after.len()]);
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain
}
