//! Converts Markdown into a flat list of blocks, with their line numbers: [`read`].
//!
//! A quote is one block with all of its content, and so is a run of HTML: both count only where
//! criteria are announced.

use assay_base::markdown::{self, Code, Inline, InlineKind, Span};
use assay_base::text::first_chars;

use super::super::{Fence, Link};

/// A block of Markdown.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// The position at which the block begins, in bytes.
    pub(super) start: usize,
    /// The lines of the block. For a list item, those of nested items are not included.
    pub(super) lines: Vec<Line>,
    /// The line on which the block begins, from 1.
    pub(super) line: u32,
}

#[derive(Debug)]
pub(super) enum Kind {
    Heading(u8),
    Paragraph,
    /// A list item, with its nesting depth from 1.
    Item {
        depth: u32,
        has_items: bool,
    },
    Table {
        header: Vec<String>,
        rows: Vec<(Vec<String>, u32)>,
    },
    /// A code block, with the info string of its fence and the first line of its text.
    Code {
        info: String,
        text: String,
        text_line: u32,
        in_item: bool,
    },
    /// A quote; each of its items and paragraphs is a line.
    Quote {
        in_item: bool,
    },
    /// HTML, as it is written.
    Html {
        text: String,
    },
}

/// A line of text without Markdown marks, except for code in back-ticks.
#[derive(Debug, Default, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    /// The line number, from 1.
    pub(super) number: u32,
    /// The length of the bold or italic text at its beginning, in bytes.
    pub(super) lead: usize,
    /// True if the line begins a list item in a quote.
    pub(super) is_item: bool,
}

/// A document as a list of blocks.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
    pub(super) fences: Vec<Fence>,
    /// The front matter, as it is written.
    pub(super) metadata: String,
}

/// Maximum length of a link target, in characters; a longer one cannot be a file name.
const MAX_TARGET: usize = 2048;

/// Converts a Markdown text.
pub(super) fn read(text: &str) -> Document {
    let page = markdown::read_with_front_matter(text);
    let document = Document { metadata: page.front_matter().to_owned(), ..Document::default() };
    let mut reading = BlockReader { page: &page, document, places: Vec::new(), lead_from: None };
    for block in page.blocks() {
        reading.take(block);
    }
    reading.document
}

struct BlockReader<'a> {
    page: &'a markdown::Document<'a>,
    document: Document,
    /// The index in the document of each block of the page. Blocks in a quote have the index of the
    /// quote.
    places: Vec<usize>,
    /// The position in the line at which bold text began; `None` outside of such text.
    lead_from: Option<usize>,
}

impl BlockReader<'_> {
    fn take(&mut self, block: &markdown::Block<'_>) {
        let around = block.parent.and_then(|parent| self.places.get(parent)).copied();
        let place = match around {
            Some(at) if self.is_quote(at) => self.quoted(at, block),
            around => self.outside_quotes(around, block),
        };
        self.places.push(place);
    }

    fn is_quote(&self, at: usize) -> bool {
        matches!(self.document.blocks.get(at), Some(Block { kind: Kind::Quote { .. }, .. }))
    }

    /// Adds a block outside of quotes, in an item or at the top level, and returns its index.
    fn outside_quotes(&mut self, item: Option<usize>, block: &markdown::Block<'_>) -> usize {
        let in_item = item.is_some();
        match &block.kind {
            markdown::Kind::Heading(level) => {
                let at = self.push(Kind::Heading(*level), block);
                self.inlines(at, &block.inlines);
                self.end_line(item.unwrap_or(at));
                at
            }
            markdown::Kind::Paragraph => {
                let at = item.unwrap_or_else(|| self.push(Kind::Paragraph, block));
                self.end_line(at);
                self.inlines(at, &block.inlines);
                if in_item {
                    self.end_line(at);
                }
                at
            }
            markdown::Kind::Item { depth, .. } => {
                let parent = item.and_then(|at| self.document.blocks.get_mut(at));
                if let Some(Block { kind: Kind::Item { has_items, .. }, .. }) = parent {
                    *has_items = true;
                }
                self.push(Kind::Item { depth: *depth, has_items: false }, block)
            }
            markdown::Kind::Quote => self.push(Kind::Quote { in_item }, block),
            markdown::Kind::Code(code) => {
                let text_line = block.line + u32::from(code.info.is_some());
                self.fence(code, block);
                let info = code.info.as_deref().unwrap_or("").to_owned();
                self.push(Kind::Code { info, text: code.text.clone(), text_line, in_item }, block)
            }
            markdown::Kind::Table(table) => {
                let header = table.header.iter().map(|cell| self.cell(cell)).collect();
                let rows = table
                    .rows
                    .iter()
                    .map(|row| (row.cells.iter().map(|cell| self.cell(cell)).collect(), row.line));
                let rows = rows.collect();
                self.push(Kind::Table { header, rows }, block)
            }
            markdown::Kind::Html(text) => self.push(Kind::Html { text: text.clone() }, block),
            markdown::Kind::Rule | markdown::Kind::Definition => item.unwrap_or(0),
        }
    }

    /// Adds a block in a quote, which is one block with a line for each of them.
    fn quoted(&mut self, quote: usize, block: &markdown::Block<'_>) -> usize {
        match &block.kind {
            markdown::Kind::Item { .. } => self.begin_quoted(quote, block.line, true),
            markdown::Kind::Paragraph | markdown::Kind::Heading(_) => {
                self.begin_quoted(quote, block.line, false);
                self.quoted_inlines(quote, &block.inlines);
            }
            markdown::Kind::Code(code) => {
                self.fence(code, block);
                self.begin_quoted(quote, block.line, false);
                self.say_quoted(quote, &code.text);
            }
            markdown::Kind::Table(table) => {
                for cell in &table.header {
                    self.quoted_inlines(quote, cell);
                }
                for row in &table.rows {
                    self.begin_quoted(quote, row.line, false);
                    row.cells.iter().for_each(|cell| self.quoted_inlines(quote, cell));
                }
            }
            markdown::Kind::Html(text) => self.say_quoted(quote, text),
            markdown::Kind::Quote | markdown::Kind::Rule | markdown::Kind::Definition => {}
        }
        quote
    }

    fn push(&mut self, kind: Kind, block: &markdown::Block<'_>) -> usize {
        let (start, line) = (block.range.start, block.line);
        self.document.blocks.push(Block { kind, start, lines: Vec::new(), line });
        self.document.blocks.len() - 1
    }

    fn fence(&mut self, code: &Code<'_>, block: &markdown::Block<'_>) {
        let body = self.page.source(block).trim_end();
        let last = self.page.line_at(block.range.start + body.len().saturating_sub(1));
        let is_closed = code.is_closed;
        self.document.fences.push(Fence { first: block.line, last, is_closed });
    }

    fn link(&mut self, inline: &Inline<'_>) {
        if let InlineKind::Open { span: Span::Link | Span::Image, target } = &inline.kind {
            let line = self.page.line_at(inline.range.start);
            let target = first_chars(target, MAX_TARGET).to_owned();
            self.document.links.push(Link { target, line });
        }
    }

    /// Returns the text of a table cell.
    fn cell(&mut self, cell: &[Inline<'_>]) -> String {
        cell.iter().for_each(|inline| self.link(inline));
        cell.iter().filter_map(piece).collect()
    }

    /// Adds text to a heading, a paragraph or an item.
    fn inlines(&mut self, at: usize, inlines: &[Inline<'_>]) {
        for inline in inlines {
            self.link(inline);
            match &inline.kind {
                InlineKind::Break => self.end_line(at),
                InlineKind::Open { span: Span::Strong | Span::Emphasis, .. } => self.bold(at),
                InlineKind::Close(Span::Strong | Span::Emphasis) => self.end_bold(at),
                InlineKind::Text(_)
                | InlineKind::Code(_)
                | InlineKind::Html(_)
                | InlineKind::CheckBox
                | InlineKind::Open { .. }
                | InlineKind::Close(_) => {
                    let number = self.page.line_at(inline.range.start);
                    piece(inline).into_iter().for_each(|piece| self.say(at, &piece, number));
                }
            }
        }
    }

    fn say(&mut self, at: usize, piece: &str, number: u32) {
        let Some(block) = self.document.blocks.get_mut(at) else { return };
        match block.lines.last_mut() {
            Some(line) if !line.text.is_empty() => line.text.push_str(piece),
            Some(line) => *line = Line { text: piece.to_owned(), number, ..Line::default() },
            None => {
                block.lines.push(Line { text: piece.to_owned(), number, ..Line::default() });
            }
        }
    }

    fn end_line(&mut self, at: usize) {
        self.lead_from = None;
        if let Some(block) = self.document.blocks.get_mut(at)
            && block.lines.last().is_some_and(|line| !line.text.is_empty())
        {
            block.lines.push(Line::default());
        }
    }

    fn bold(&mut self, at: usize) {
        let line = self.document.blocks.get(at).and_then(|block| block.lines.last());
        self.lead_from = match line.map_or(0, |line| line.text.trim().len()) {
            0 => Some(0),
            // Bold within bold continues it.
            _ => self.lead_from,
        };
    }

    fn end_bold(&mut self, at: usize) {
        let block = self.document.blocks.get_mut(at);
        if self.lead_from.take().is_some()
            && let Some(line) = block.and_then(|block| block.lines.last_mut())
        {
            line.lead = line.text.len();
        }
    }

    /// Begins a new line of a quote for a block in it.
    fn begin_quoted(&mut self, quote: usize, number: u32, is_item: bool) {
        let Some(block) = self.document.blocks.get_mut(quote) else { return };
        match block.lines.last_mut() {
            Some(line) if line.text.trim().is_empty() => {
                *line = Line { number, is_item: line.is_item || is_item, ..Line::default() };
            }
            _ => block.lines.push(Line { number, is_item, ..Line::default() }),
        }
    }

    fn quoted_inlines(&mut self, quote: usize, inlines: &[Inline<'_>]) {
        for inline in inlines {
            self.link(inline);
            match inline.kind {
                InlineKind::Break => self.say_quoted(quote, " "),
                _ => piece(inline).into_iter().for_each(|piece| self.say_quoted(quote, &piece)),
            }
        }
    }

    fn say_quoted(&mut self, quote: usize, piece: &str) {
        let block = self.document.blocks.get_mut(quote);
        if let Some(line) = block.and_then(|block| block.lines.last_mut()) {
            line.text.push_str(piece);
        }
    }
}

/// Returns the text of a part of a line, with code in back-ticks; `None` for parts without text. A
/// comment is invisible; other text in angle brackets is not.
fn piece(inline: &Inline<'_>) -> Option<String> {
    match &inline.kind {
        InlineKind::Text(text) => Some(text.to_string()),
        InlineKind::Code(code) => Some(format!("`{code}`")),
        InlineKind::Html(html) => Some(html.to_string()).filter(|html| !html.starts_with("<!--")),
        InlineKind::CheckBox | InlineKind::Break => None,
        InlineKind::Open { .. } | InlineKind::Close(_) => None,
    }
}
