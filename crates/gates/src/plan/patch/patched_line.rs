//! Lines of a patched file, each with its origin, and the hunks that do not fit or that moved.

use super::{End, Spot};

/// A line of a file.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// With its end.
    pub(super) text: String,
    pub(super) came: LineOrigin,
}

/// Where a line comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOrigin {
    /// From this line of the file before.
    Before(u32),
    /// From here in the plan.
    Plan(Spot),
}

/// A hunk or a file that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where it stands.
    pub line: Spot,
    /// The reason.
    pub why: String,
}

/// A hunk that fits elsewhere than it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Where it stands.
    pub line: Spot,
    /// The line of the file that it says.
    pub stated: u32,
    /// The line where it fits.
    pub fits: u32,
}

/// How much more may be done.
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

impl Written {
    pub(super) fn new(text: &str, end: End, came: LineOrigin) -> Written {
        let end = match end {
            End::Feed => "\n",
            End::ReturnFeed => "\r\n",
            End::None => "",
        };
        Written { text: [text, end].concat(), came }
    }

    /// Returns what it says, without its end.
    pub(super) fn said(&self) -> &str {
        let text = self.text.strip_suffix('\n').unwrap_or(&self.text);
        text.strip_suffix('\r').filter(|_| self.has_end()).unwrap_or(text)
    }

    pub(super) fn has_end(&self) -> bool {
        self.text.ends_with('\n')
    }
}
