//! Parses the feedback that a person wrote into `QA_FIX_REQUEST.md`: [`read`].

use assay_base::text::first_chars;

use crate::artifacts::is_form;
use crate::markdown::{Block, Kind, blocks};

/// An item of a person's feedback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedFeedbackItem {
    /// The text of the item, as the person wrote it.
    pub text: String,
    /// The headings and lead-in lines above the item, joined by ` / `; `None` if there are none.
    pub about: Option<String>,
    /// The line on which the item begins, from 1.
    pub line: u32,
    /// True if the person ticked the item off.
    pub is_ticked: bool,
}

/// Parses the items of a person's feedback.
///
/// An item is each list item with the blocks below it, and each paragraph, except a paragraph that
/// introduces a list. Everything below a numbered heading is one item. A heading without content
/// below it is an item itself. Text of the form that the engine writes is no item.
pub fn read(text: &str) -> Vec<ParsedFeedbackItem> {
    let blocks = blocks(text);
    let mut reader = Reader::default();
    for (at, block) in blocks.iter().enumerate() {
        reader.take(block, blocks.get(at + 1));
    }
    reader.leave(0);
    reader.items
}

/// The level of a paragraph that introduces a list: deeper than any heading.
const LEAD: u8 = 7;

/// Maximum number of characters of each heading that is stored with an item.
const MAX_ABOUT: usize = 200;

/// Maximum nesting depth in the text of an item; deeper list items are shown at this depth.
const MAX_DEPTH: usize = 8;

#[derive(Default)]
struct Reader {
    items: Vec<ParsedFeedbackItem>,
    /// The headings above the next block, and the paragraph that introduces the list below it.
    above: Vec<HeadingScope>,
    /// The level of the numbered heading above the next block; `None` if there is none.
    numbered: Option<u8>,
    /// True if continuation blocks belong to the last item.
    is_open: bool,
}

struct HeadingScope {
    level: u8,
    text: String,
    line: u32,
    /// True if an item is below the heading or paragraph.
    is_used: bool,
}

impl Reader {
    fn take(&mut self, block: &Block, next: Option<&Block>) {
        if let Kind::Heading(level) = block.kind {
            return self.heading(block, level);
        }
        if self.numbered.is_some() {
            return self.add(block);
        }
        match block.kind {
            _ if is_form(&block.folded()) => self.is_open = false,
            Kind::Item { depth: 2.., .. } if self.is_open => self.add(block),
            Kind::Code | Kind::Quote if self.is_open => self.add(block),
            Kind::Paragraph if leads_up(block, next) => self.go_below(block, LEAD),
            Kind::Item { .. } => self.begin(block),
            Kind::Heading(_) | Kind::Paragraph | Kind::Code | Kind::Quote => {
                self.leave(LEAD);
                self.begin(block);
            }
        }
    }

    fn heading(&mut self, block: &Block, level: u8) {
        if self.numbered.is_some_and(|around| level > around) {
            return self.add(block);
        }
        self.numbered = Some(level).filter(|_| has_number(&block.text));
        match self.numbered {
            Some(_) => {
                self.leave(level);
                self.begin(block);
            }
            None => self.go_below(block, level),
        }
    }

    fn go_below(&mut self, block: &Block, level: u8) {
        self.leave(level);
        let text = block.folded();
        if !text.is_empty() && !is_form(&text) {
            self.above.push(HeadingScope { level, text, line: block.line, is_used: false });
        }
    }

    /// Removes the headings and lead-ins of this level or deeper. One without an item below it
    /// becomes an item itself.
    fn leave(&mut self, level: u8) {
        self.is_open = false;
        while let Some(above) = self.above.pop_if(|above| above.level >= level) {
            if !above.is_used {
                self.push(above.text, above.line, false);
            }
        }
    }

    fn begin(&mut self, block: &Block) {
        let is_ticked = matches!(block.kind, Kind::Item { ticked: Some(true), .. });
        self.is_open = !block.text.trim().is_empty();
        if self.is_open {
            self.push(block.text.clone(), block.line, is_ticked);
        }
    }

    fn push(&mut self, text: String, line: u32, is_ticked: bool) {
        let mut about = Vec::new();
        for above in &mut self.above {
            above.is_used = true;
            about.push(first_chars(&above.text, MAX_ABOUT).to_owned());
        }
        let about = Some(about.join(" / ")).filter(|about| !about.is_empty());
        self.items.push(ParsedFeedbackItem { text, about, line, is_ticked });
    }

    fn add(&mut self, block: &Block) {
        let Some(item) = self.items.last_mut() else { return };
        item.text.push('\n');
        if let Kind::Item { depth, .. } = block.kind {
            item.text.push_str(&"  ".repeat(depth.min(MAX_DEPTH) - 1));
            item.text.push_str("- ");
        }
        item.text.push_str(&block.text);
    }
}

fn leads_up(block: &Block, next: Option<&Block>) -> bool {
    let is_list = next.is_some_and(|next| matches!(next.kind, Kind::Item { .. }));
    block.text.trim_end().ends_with(':') && is_list
}

/// Returns true if a heading has a number, such as `1. Login fails` or `Issue 2: it is slow`.
fn has_number(title: &str) -> bool {
    let is_number = |word: &str| {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < word.len() && matches!(rest, "." | ")" | ":")
    };
    title.split_whitespace().take(2).any(is_number)
}
