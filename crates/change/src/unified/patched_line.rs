//! Lines of a patched file, each with its origin: [`PatchedLine`].

use super::LineEnd;

/// A line of a file, with its line end.
#[derive(Debug, Clone)]
pub(super) struct PatchedLine {
    pub(super) whole: String,
    pub(super) origin: LineOrigin,
}

/// The origin of a line in a patched file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOrigin {
    /// A line of the file before the diffs, by its number.
    Before(u32),
    /// A line of a diff, by its number.
    Diff(u32),
}

/// The number of lines that may still be moved or compared.
#[derive(Debug)]
pub(super) struct Budget(pub(super) usize);

impl Budget {
    pub(super) fn spend(&mut self, lines: usize) {
        self.0 = self.0.saturating_sub(lines);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

impl PatchedLine {
    pub(super) fn new(text: &str, end: LineEnd, origin: LineOrigin) -> PatchedLine {
        let end = match end {
            LineEnd::Feed => "\n",
            LineEnd::ReturnFeed => "\r\n",
            LineEnd::None => "",
        };
        PatchedLine { whole: [text, end].concat(), origin }
    }

    /// Returns the text without the line end.
    pub(super) fn text(&self) -> &str {
        match self.whole.strip_suffix('\n') {
            Some(text) => text.strip_suffix('\r').unwrap_or(text),
            None => &self.whole,
        }
    }

    pub(super) fn has_end(&self) -> bool {
        self.whole.ends_with('\n')
    }
}
