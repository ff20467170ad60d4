//! Markdown: [`read`] parses a text into blocks, with their bytes and lines.
//!
//! The one Markdown parser of the workspace: CommonMark with tables, check boxes and strikethrough.
//! A caller decides the meaning of a heading or an item; this module decides where a block or a
//! code span begins and ends.
//!
//! No text is lost: all text but the marks of lists and quotes is in exactly one block, link
//! definitions included ([`Kind::Definition`]). A text whose lists and quotes are nested too deep
//! to be parsed in time is returned line by line, as paragraphs.

mod depth;
mod document_builder;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

pub use depth::{MAX_NESTING, first_too_deep};
pub use document_builder::{read, read_with_front_matter};

/// A parsed text: its blocks, in the order in which they begin.
#[derive(Debug)]
pub struct Document<'t> {
    source: &'t str,
    /// The offset at which each line begins, in bytes.
    line_starts: Vec<usize>,
    blocks: Vec<Block<'t>>,
    definitions: Vec<Definition<'t>>,
    front_matter: &'t str,
    /// True if each block is a mere line, since the text is nested too deep.
    is_flat: bool,
}

/// A block. An item or a quote precedes the blocks within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block<'t> {
    /// The kind of block.
    pub kind: Kind<'t>,
    /// The bytes of the block, with its marks.
    pub range: Range<usize>,
    /// The line on which the block begins, from 1.
    pub line: u32,
    /// The index of the innermost item or quote around the block; `None` at the top level.
    pub parent: Option<usize>,
    /// The text of a heading or paragraph.
    pub inlines: Vec<Inline<'t>>,
}

/// The kind of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind<'t> {
    /// A heading of a level from 1 to 6.
    Heading(u8),
    /// Lines of text, also those of an item.
    Paragraph,
    /// An item of a list.
    Item {
        /// The number of items around this item, itself included.
        depth: u32,
        /// The number of an item in an ordered list; `None` in other lists.
        number: Option<u64>,
        /// The state of the item's check box; `None` without a check box.
        is_ticked: Option<bool>,
    },
    /// A quote.
    Quote,
    /// A block of code.
    Code(Code<'t>),
    /// A table.
    Table(Table<'t>),
    /// HTML as it is written, without the marks of lists and quotes around it.
    Html(String),
    /// A thematic break.
    Rule,
    /// Link definitions, which no reader of the page sees.
    Definition,
}

/// A block of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code<'t> {
    /// The words behind the opening fence; `None` for indented code.
    pub info: Option<Cow<'t, str>>,
    /// The code, without its fences and indentation.
    pub text: String,
    /// True if a closing fence ends the code, and always true for indented code, which has no
    /// fence.
    pub is_closed: bool,
}

/// A table. Cells beyond those of the header are not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table<'t> {
    /// The cells of the header.
    pub header: Vec<Cell<'t>>,
    /// The rows below the header.
    pub rows: Vec<Row<'t>>,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'t> {
    /// The cells.
    pub cells: Vec<Cell<'t>>,
    /// The line of the row, from 1.
    pub line: u32,
}

/// The text of a cell of a table.
pub type Cell<'t> = Vec<Inline<'t>>;

/// A part of a line of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inline<'t> {
    /// The kind of part.
    pub kind: InlineKind<'t>,
    /// The bytes of the part; of the beginning and end of a span, those of the whole span.
    pub range: Range<usize>,
}

/// The kind of a part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InlineKind<'t> {
    /// Words, without escapes and entities.
    Text(Cow<'t, str>),
    /// The code of a code span.
    Code(Cow<'t, str>),
    /// A tag or a comment.
    Html(Cow<'t, str>),
    /// The check box of an item.
    CheckBox,
    /// The end of a line.
    Break,
    /// The beginning of a span.
    Open {
        /// The kind of span.
        span: Span,
        /// The target of a link or image; empty for other spans.
        target: Cow<'t, str>,
    },
    /// The end of a span.
    Close(Span),
}

/// The kind of a span around text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// `*text*`.
    Emphasis,
    /// `**text**`.
    Strong,
    /// `~~text~~`.
    Strikethrough,
    /// `[text](target)`, in any form.
    Link,
    /// `![text](target)`, in any form.
    Image,
}

/// A link definition, `[label]: target`. Of two with one label the first counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition<'t> {
    /// The label, as it is written.
    pub label: Cow<'t, str>,
    /// The target.
    pub target: Cow<'t, str>,
    /// The line on which the definition begins, from 1.
    pub line: u32,
}

/// A line of a block as it is written, without the marks of lists and quotes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceLine<'t> {
    /// The line, without whitespace around it.
    pub text: &'t str,
    /// The number of the line, from 1.
    pub number: u32,
}

impl<'t> Document<'t> {
    /// Returns the blocks, in the order in which they begin.
    pub fn blocks(&self) -> &[Block<'t>] {
        &self.blocks
    }

    /// Returns the link definitions, in their order.
    pub fn definitions(&self) -> &[Definition<'t>] {
        &self.definitions
    }

    /// Returns the front matter without the lines of `---` around it; empty if there is none.
    pub fn front_matter(&self) -> &'t str {
        self.front_matter
    }

    /// Returns the bytes of a block, with its marks.
    pub fn source(&self, block: &Block<'_>) -> &'t str {
        self.source.get(block.range.clone()).unwrap_or("")
    }

    /// Returns the number, from 1, of the line that contains a byte.
    pub fn line_at(&self, offset: usize) -> u32 {
        document_builder::line_at(&self.line_starts, offset)
    }

    /// Returns the blocks around a block, from the innermost outwards.
    pub fn around(&self, block: &Block<'t>) -> impl Iterator<Item = &Block<'t>> {
        std::iter::successors(self.parent(block), |around| self.parent(around))
    }

    fn parent(&self, block: &Block<'t>) -> Option<&Block<'t>> {
        self.blocks.get(block.parent?)
    }

    /// Returns the lines of a block as they are written, without the marks of lists and quotes
    /// before them. A heading is returned without its own marks as well; items, quotes and rules
    /// have no lines of their own.
    pub fn source_lines(&self, block: &Block<'t>) -> Vec<SourceLine<'t>> {
        let range = match (&block.kind, block.inlines.first(), block.inlines.last()) {
            (Kind::Heading(_), Some(first), Some(last)) => {
                let ends = block.inlines.iter().map(|inline| inline.range.end);
                let end = ends.max().unwrap_or(last.range.end);
                first.range.start.saturating_sub(self.escapes(first.range.start))..end
            }
            (Kind::Heading(_) | Kind::Item { .. } | Kind::Quote | Kind::Rule, ..) => {
                return Vec::new();
            }
            (Kind::Paragraph | Kind::Table(_) | Kind::Definition, ..) => block.range.clone(),
            (Kind::Code(_) | Kind::Html(_), ..) => block.range.clone(),
        };
        let is_quote = |around: &&Block<'_>| around.kind == Kind::Quote;
        let quotes = self.around(block).filter(is_quote).count();
        let first = self.line_at(range.start);
        let mut starts = block.inlines.iter().map(|inline| inline.range.start).peekable();
        let mut at = range.start;
        let mut lines = Vec::new();
        for (line, number) in self.source.get(range.clone()).unwrap_or("").split('\n').zip(first..)
        {
            while starts.next_if(|start| *start < at).is_some() {}
            let text_start = starts.peek().filter(|start| **start < at + line.len());
            let rest = match number == first {
                true => line,
                false => without_quotes(line, quotes, text_start.map(|start| start - at)),
            };
            lines.push(SourceLine { text: rest.trim(), number });
            at += line.len() + 1;
        }
        while lines.pop_if(|line| line.text.is_empty()).is_some() {}
        lines
    }

    /// Returns the number of back-slashes, 0 or 1, that escape the character at an offset.
    fn escapes(&self, at: usize) -> usize {
        usize::from(self.source.get(..at).is_some_and(|before| before.ends_with('\\')))
    }

    /// Returns the parts of all lines of text, tables included.
    pub fn inlines(&self) -> impl Iterator<Item = &Inline<'t>> {
        self.blocks.iter().flat_map(|block| {
            let table = match &block.kind {
                Kind::Table(table) => Some(table),
                _ => None,
            };
            let header = table.into_iter().flat_map(|table| &table.header);
            let rows = table.into_iter().flat_map(|table| &table.rows);
            let cells = header.chain(rows.flat_map(|row| &row.cells)).flatten();
            block.inlines.iter().chain(cells)
        })
    }

    /// Returns true if each block is a mere line, since the text is nested too deep to be parsed.
    pub fn is_flat(&self) -> bool {
        self.is_flat
    }

    /// Returns the bytes of the HTML comments, in their order.
    pub fn comments(&self) -> Vec<Range<usize>> {
        if self.is_flat {
            return comments_of(self.source);
        }
        let in_text = self.inlines().filter_map(|inline| match &inline.kind {
            InlineKind::Html(_) => Some(inline.range.clone()),
            _ => None,
        });
        let blocks = self.blocks.iter().filter(|block| matches!(block.kind, Kind::Html(_)));
        let html = in_text.chain(blocks.map(|block| block.range.clone()));
        let mut comments: Vec<Range<usize>> = html
            .flat_map(|range| {
                let found = comments_of(self.source.get(range.clone()).unwrap_or(""));
                found.into_iter().map(move |it| range.start + it.start..range.start + it.end)
            })
            .collect();
        comments.sort_by_key(|range| range.start);
        comments
    }
}

/// Removes up to `quotes` quote marks from the beginning of a line, but none at or behind
/// `text_start`, where the text begins.
fn without_quotes(line: &str, quotes: usize, text_start: Option<usize>) -> &str {
    let mut rest = line.trim_start();
    for _ in 0..quotes {
        let at = line.len() - rest.len();
        let is_mark = text_start.is_none_or(|start| at < start);
        match rest.strip_prefix('>').filter(|_| is_mark) {
            Some(after) => rest = after.trim_start(),
            None => break,
        }
    }
    rest
}

/// Returns the bytes of the comments in some HTML. A comment without an end extends to the end of
/// the text.
pub fn comments_of(html: &str) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find("<!--").map(|start| at + start) {
        // `<!-->` and `<!--->` are whole comments.
        let inner = start + "<!--".len();
        let end = match &html[inner..] {
            rest if rest.starts_with('>') => inner + 1,
            rest if rest.starts_with("->") => inner + 2,
            rest => rest.find("-->").map_or(html.len(), |end| inner + end + "-->".len()),
        };
        comments.push(start..end);
        at = end;
    }
    comments
}

impl<'t> Inline<'t> {
    /// Returns the words that a reader of the page sees: text and code, without marks.
    pub fn words(&self) -> &str {
        match &self.kind {
            InlineKind::Text(text) | InlineKind::Code(text) => text,
            InlineKind::Break => " ",
            InlineKind::Html(_)
            | InlineKind::CheckBox
            | InlineKind::Open { .. }
            | InlineKind::Close(_) => "",
        }
    }
}
