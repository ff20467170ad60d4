//! Markdown as a row of blocks, with the lines on which they stand: [`read`].
//!
//! A quote is one block, whatever stands in it, and so is a run of HTML: only where criteria are announced
//! do they count.

use assay_base::text::first_chars;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::super::{Fence, Link};

/// The text of one block.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Its lines: of an item its own, without those of the items in it.
    pub(super) lines: Vec<Line>,
    /// The line on which it begins, from 1.
    pub(super) line: u32,
}

/// The kind of a block.
#[derive(Debug)]
pub(super) enum Kind {
    Heading(u8),
    Paragraph,
    /// An item of a list that is so deep, from 1.
    Item {
        depth: u32,
        has_items: bool,
    },
    Table {
        header: Vec<String>,
        rows: Vec<(Vec<String>, u32)>,
    },
    /// A block of code, with the word behind its fence and the line of its text.
    Code {
        info: String,
        text: String,
        text_line: u32,
        in_item: bool,
    },
    /// A quote; its items and paragraphs are lines.
    Quote {
        in_item: bool,
    },
    /// HTML as it is written.
    Html {
        text: String,
    },
}

/// A line of text without marks, but with its code in back-ticks.
#[derive(Debug, Default, Clone)]
pub(super) struct Line {
    pub(super) text: String,
    /// Where it stands, from 1.
    pub(super) number: u32,
    /// How much of its beginning is bold or slanted, in bytes.
    pub(super) lead: usize,
    /// Whether it begins an item of a list in a quote.
    pub(super) is_item: bool,
}

/// A document in blocks.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) blocks: Vec<Block>,
    pub(super) links: Vec<Link>,
    pub(super) fences: Vec<Fence>,
    /// The front matter, as it is written.
    pub(super) metadata: String,
}

/// No target is longer; what is cut off could not be a file's name.
const MAX_TARGET: usize = 2048;

/// Reads a text.
pub(super) fn read(text: &str) -> Document {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reading = Reading { text, starts: line_starts(text), ..Reading::default() };
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        reading.take(event, range);
    }
    reading.document
}

fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

#[derive(Default)]
struct Reading<'a> {
    text: &'a str,
    starts: Vec<usize>,
    document: Document,
    /// The items that are open, as numbers of their blocks.
    items: Vec<usize>,
    /// The heading, paragraph, table or code that is open.
    open: Option<usize>,
    /// The cells of the row that is open.
    cells: Vec<String>,
    in_header: bool,
    quotes: u32,
    /// The quote that is open, as the number of its block.
    quote: Option<usize>,
    /// How many front matters are open: what they say is no text.
    metadata: u32,
    /// Where in its line bold text began.
    lead_from: Option<usize>,
}

impl Reading<'_> {
    fn take(&mut self, event: Event<'_>, range: std::ops::Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, range.start),
            Event::Code(code) => self.text(&format!("`{code}`"), range.start),
            // A comment is not seen; anything else in angle brackets is.
            Event::InlineHtml(html) if !html.starts_with("<!--") => self.text(&html, range.start),
            Event::SoftBreak | Event::HardBreak if self.quotes > 0 => self.text(" ", range.start),
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Html(html) => self.html(&html, range.start),
            Event::InlineHtml(_) | Event::Rule | Event::TaskListMarker(_) => {}
            // These are not asked for.
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn line_of(&self, offset: usize) -> u32 {
        let lines = self.starts.partition_point(|start| *start <= offset);
        u32::try_from(lines).unwrap_or(u32::MAX)
    }

    fn start(&mut self, tag: Tag<'_>, range: std::ops::Range<usize>) {
        if self.quotes > 0 {
            self.end_quoted_line(&tag, range.start);
        }
        match tag {
            Tag::BlockQuote(_) => {
                if self.quotes == 0 {
                    self.quote = Some(self.document.blocks.len());
                    self.push(Kind::Quote { in_item: !self.items.is_empty() }, range.start);
                }
                self.quotes += 1;
            }
            Tag::HtmlBlock => self.open(Kind::Html { text: String::new() }, range.start),
            Tag::MetadataBlock(_) => self.metadata += 1,
            Tag::Heading { level, .. } => self.open(Kind::Heading(level as u8), range.start),
            Tag::Paragraph if self.items.is_empty() => self.open(Kind::Paragraph, range.start),
            Tag::Paragraph => self.end_line(),
            Tag::Item => self.item(range.start),
            Tag::Table(_) => {
                self.open(Kind::Table { header: Vec::new(), rows: Vec::new() }, range.start);
            }
            Tag::TableHead => self.in_header = true,
            Tag::TableCell => self.cells.push(String::new()),
            Tag::TableRow => self.row(range.start),
            Tag::CodeBlock(kind) => self.code(kind, range),
            Tag::Strong | Tag::Emphasis => self.bold(),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let line = self.line_of(range.start);
                let target = first_chars(&dest_url, MAX_TARGET).to_owned();
                self.document.links.push(Link { target, line });
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::MetadataBlock(_) => self.metadata = self.metadata.saturating_sub(1),
            TagEnd::Heading(_) | TagEnd::Table | TagEnd::CodeBlock | TagEnd::HtmlBlock
                if self.quotes == 0 =>
            {
                self.open = None;
                // Text that follows in the same item is a line of its own.
                self.end_line();
            }
            TagEnd::Paragraph if self.quotes > 0 => {}
            TagEnd::Paragraph if self.items.is_empty() => self.open = None,
            TagEnd::Paragraph => self.end_line(),
            TagEnd::Item if self.quotes == 0 => {
                self.items.pop();
            }
            TagEnd::TableHead => {
                self.in_header = false;
                let cells = std::mem::take(&mut self.cells);
                if let Some(Kind::Table { header, .. }) = self.open_kind() {
                    *header = cells;
                }
            }
            TagEnd::TableRow => {
                let cells = std::mem::take(&mut self.cells);
                if let Some(Kind::Table { rows, .. }) = self.open_kind()
                    && let Some(last) = rows.last_mut()
                {
                    last.0 = cells;
                }
            }
            TagEnd::Strong | TagEnd::Emphasis => self.end_bold(),
            _ => {}
        }
    }

    fn open_kind(&mut self) -> Option<&mut Kind> {
        let block = self.document.blocks.get_mut(self.open?)?;
        Some(&mut block.kind)
    }

    fn open(&mut self, kind: Kind, start: usize) {
        if self.quotes == 0 {
            self.open = Some(self.document.blocks.len());
            self.push(kind, start);
        }
    }

    fn push(&mut self, kind: Kind, start: usize) {
        let line = self.line_of(start);
        self.document.blocks.push(Block { kind, start, lines: Vec::new(), line });
    }

    fn item(&mut self, start: usize) {
        if self.quotes > 0 {
            return;
        }
        if let Some(parent) = self.items.last().copied()
            && let Some(Block { kind: Kind::Item { has_items, .. }, .. }) =
                self.document.blocks.get_mut(parent)
        {
            *has_items = true;
        }
        self.items.push(self.document.blocks.len());
        let depth = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        self.push(Kind::Item { depth, has_items: false }, start);
    }

    fn row(&mut self, start: usize) {
        let line = self.line_of(start);
        if let Some(Kind::Table { rows, .. }) = self.open_kind() {
            rows.push((Vec::new(), line));
        }
    }

    fn code(&mut self, kind: CodeBlockKind<'_>, range: std::ops::Range<usize>) {
        let first = self.line_of(range.start);
        let body = self.text.get(range.clone()).unwrap_or("");
        let last = self.line_of(range.start + body.trim_end().len().saturating_sub(1));
        let (info, is_closed) = match &kind {
            CodeBlockKind::Fenced(info) => (info.to_string(), is_closed(body)),
            CodeBlockKind::Indented => (String::new(), true),
        };
        self.document.fences.push(Fence { first, last, is_closed });
        let text_line = first + u32::from(matches!(kind, CodeBlockKind::Fenced(_)));
        let in_item = !self.items.is_empty();
        self.open(Kind::Code { info, text: String::new(), text_line, in_item }, range.start);
    }

    /// Begins another line of a quote where a block begins in it.
    fn end_quoted_line(&mut self, tag: &Tag<'_>, offset: usize) {
        let is_item = matches!(tag, Tag::Item);
        let begins = matches!(
            tag,
            Tag::Item | Tag::Paragraph | Tag::Heading { .. } | Tag::TableRow | Tag::CodeBlock(_)
        );
        let number = self.line_of(offset);
        let quote = self.quote.and_then(|at| self.document.blocks.get_mut(at));
        let Some(block) = quote.filter(|_| begins) else { return };
        match block.lines.last_mut() {
            Some(line) if line.text.trim().is_empty() => {
                *line = Line { number, is_item: line.is_item || is_item, ..Line::default() };
            }
            _ => block.lines.push(Line { number, is_item, ..Line::default() }),
        }
    }

    fn html(&mut self, html: &str, offset: usize) {
        if self.quotes > 0 {
            return self.text(html, offset);
        }
        if let Some(Kind::Html { text }) = self.open_kind() {
            text.push_str(html);
        }
    }

    /// Returns the block that text goes to.
    fn sink(&mut self) -> Option<&mut Block> {
        let at = self.open.or_else(|| self.items.last().copied())?;
        self.document.blocks.get_mut(at)
    }

    fn text(&mut self, piece: &str, offset: usize) {
        if self.metadata > 0 {
            self.document.metadata.push_str(piece);
            return;
        }
        let number = self.line_of(offset);
        if self.quotes > 0 {
            let quote = self.quote.and_then(|at| self.document.blocks.get_mut(at));
            if let Some(line) = quote.and_then(|block| block.lines.last_mut()) {
                line.text.push_str(piece);
            }
            return;
        }
        let cells = &mut self.cells;
        let at = self.open.or_else(|| self.items.last().copied());
        let Some(block) = at.and_then(|at| self.document.blocks.get_mut(at)) else { return };
        match &mut block.kind {
            Kind::Code { text, .. } | Kind::Html { text } => text.push_str(piece),
            Kind::Quote { .. } => {}
            Kind::Table { .. } => {
                if let Some(cell) = cells.last_mut() {
                    cell.push_str(piece);
                }
            }
            Kind::Heading(_) | Kind::Paragraph | Kind::Item { .. } => {
                match block.lines.last_mut() {
                    Some(line) if line.text.is_empty() => {
                        *line = Line { text: piece.to_owned(), number, ..Line::default() };
                    }
                    Some(line) => line.text.push_str(piece),
                    None => {
                        let text = piece.to_owned();
                        block.lines.push(Line { text, number, ..Line::default() });
                    }
                }
            }
        }
    }

    fn end_line(&mut self) {
        self.lead_from = None;
        if self.quotes > 0 {
            return;
        }
        if let Some(block) = self.sink()
            && block.lines.last().is_some_and(|line| !line.text.is_empty())
        {
            block.lines.push(Line::default());
        }
    }

    fn bold(&mut self) {
        let length =
            |block: &mut Block| block.lines.last().map_or(0, |line| line.text.trim().len());
        self.lead_from = match self.sink().map(length) {
            Some(0) => Some(0),
            // Bold within bold goes on.
            _ => self.lead_from,
        };
    }

    fn end_bold(&mut self) {
        if self.lead_from.take().is_some()
            && let Some(line) = self.sink().and_then(|block| block.lines.last_mut())
        {
            line.lead = line.text.len();
        }
    }
}

/// Returns true if a fence has its end: a last line of as many marks as the first, or more.
fn is_closed(body: &str) -> bool {
    let mark = if body.starts_with('~') { '~' } else { '`' };
    let opening = body.chars().take_while(|c| *c == mark).count();
    let Some((_, last)) = body.trim_end().rsplit_once('\n') else { return false };
    let last = last.trim_start_matches([' ', '\t', '>']);
    last.len() >= opening && last.chars().all(|c| c == mark)
}
