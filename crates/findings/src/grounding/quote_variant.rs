//! A reading of quoted code: [`QuoteVariant`].

use crate::claim_similarity::squeeze;

/// The minimum number of characters of a quote that proves anything.
const MIN_QUOTE_CHARS: usize = 8;

/// The marks of left-out code.
const ELLIPSES: [&str; 2] = ["...", "…"];

/// A reading of a quote: its lines, and its pieces if it leaves out code.
pub(super) struct QuoteVariant {
    /// The lines without their whitespace; at least one.
    pub(super) lines: Vec<String>,
    /// True if the quote is one name and nothing else, such as `handle_request` or `user.save`.
    pub(super) is_name: bool,
    /// The pieces between marks of left-out code; empty without such marks, or if no piece proves
    /// anything by itself.
    pub(super) pieces: Vec<Piece>,
}

/// A piece of a quote that leaves out code.
pub(super) struct Piece {
    /// The text without whitespace.
    pub(super) text: String,
    /// True if code may be left out before the piece; otherwise the piece begins the next line.
    pub(super) is_after_gap: bool,
}

impl QuoteVariant {
    /// Reads a text; returns `None` if the text is too short to prove anything.
    pub(super) fn of(text: &str) -> Option<QuoteVariant> {
        let lines: Vec<String> =
            text.lines().map(squeeze).filter(|line| !line.is_empty()).collect();
        let size: usize = lines.iter().map(|line| line.chars().count()).sum();
        let is_name = is_name(text);
        (size >= MIN_QUOTE_CHARS).then(|| QuoteVariant { lines, is_name, pieces: pieces(text) })
    }

    pub(super) fn first_line(&self) -> &str {
        self.lines.first().expect("a quote has a line")
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let is_of_name =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '-' | '$' | '@');
    text.trim().chars().all(is_of_name)
}

/// Returns the pieces of a text between marks of left-out code.
fn pieces(text: &str) -> Vec<Piece> {
    if !ELLIPSES.iter().any(|mark| text.contains(mark)) {
        return Vec::new();
    }
    let text = text.replace(ELLIPSES[0], ELLIPSES[1]);
    let (mut pieces, mut is_after_gap, mut proves) = (Vec::new(), false, false);
    for line in text.lines() {
        for (at, part) in line.split(ELLIPSES[1]).enumerate() {
            is_after_gap |= at > 0;
            let squeezed = squeeze(part);
            if squeezed.is_empty() {
                continue;
            }
            proves |= squeezed.chars().count() >= MIN_QUOTE_CHARS && !is_name(part);
            pieces.push(Piece { text: squeezed, is_after_gap });
            is_after_gap = false;
        }
    }
    if proves { pieces } else { Vec::new() }
}
