//! Marks that are random in each run: [`Mark`] in the [`Piece`]s of a prompt, and the [`Nonce`]
//! with their values.
//!
//! A prompt contains marks and not their values. The random values of a run (the fence and the
//! canary) are filled in when a prompt is sent, and taken out of everything that is kept. So a
//! question is the same in every run, and its kept answer is found again. Nothing in a change can
//! be taken for a mark, since a mark is no text until then.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

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

    /// Returns a text without the marks of the run.
    pub fn without_marks(&self, text: &str) -> String {
        KEPT.iter().fold(text.to_owned(), |text, (mark, _)| text.replace(self.of(*mark), ""))
    }

    /// Puts the run's marks into an answer that was kept.
    pub fn recall(&self, text: &str) -> String {
        KEPT.iter().fold(text.to_owned(), |text, (mark, kept)| text.replace(kept, self.of(*mark)))
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
pub(crate) fn bytes_of(pieces: &[Piece]) -> usize {
    let bytes = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.len(),
        Piece::Mark(_) => 16,
    });
    bytes.sum()
}

/// Returns true if a word stands in a text, in any case, also where letters of it are escaped as in JSON.
pub fn says(text: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    text.to_lowercase().contains(&word) || unescaped(text).to_lowercase().contains(&word)
}

/// Puts letters in place of their escapes, `\u0061`, however many times over they are escaped.
fn unescaped(text: &str) -> String {
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
