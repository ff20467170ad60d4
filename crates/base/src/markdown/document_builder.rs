//! The conversion of parser events to blocks: [`read`].

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd};

use super::depth;
use super::{Block, Cell, Code, Definition, Document, Inline, InlineKind, Kind, Row, Span, Table};

/// Parses a text. A byte order mark at its beginning is ignored.
pub fn read(text: &str) -> Document<'_> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    read_from(text, start, "")
}

/// Parses a text that may begin with front matter between two lines of `---`.
pub fn read_with_front_matter(text: &str) -> Document<'_> {
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    match front_matter(&text[start..]) {
        Some((inner, end)) => read_from(text, start + end, inner),
        None => read_from(text, start, ""),
    }
}

/// Returns the front matter at the beginning of a text, and the offset behind its closing line.
fn front_matter(text: &str) -> Option<(&str, usize)> {
    let mut lines = text.split_inclusive('\n');
    let opening = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut end = opening.len();
    for (at, line) in lines.enumerate() {
        let is_end = matches!(line.trim_end(), "---" | "...");
        if at == 0 && (is_end || line.trim().is_empty()) {
            return None;
        }
        if is_end {
            return Some((&text[opening.len()..end], end + line.len()));
        }
        end += line.len();
    }
    None
}

fn read_from<'t>(source: &'t str, start: usize, front_matter: &'t str) -> Document<'t> {
    let line_ends = source.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let line_starts = std::iter::once(0).chain(line_ends.map(|(at, _)| at + 1)).collect();
    let document = Document {
        source,
        line_starts,
        blocks: Vec::new(),
        definitions: Vec::new(),
        front_matter,
        is_flat: depth::is_too_slow(&source[start..]),
    };
    let mut reading = DocumentBuilder {
        document,
        around: Vec::new(),
        items: 0,
        lists: Vec::new(),
        leaf: None,
        cell: None,
        seen: start,
    };
    if reading.document.is_flat {
        reading.lines(start);
    } else {
        reading.events(start);
    }
    reading.document
}

/// Returns the number, from 1, of the line that contains a byte.
pub(super) fn line_at(line_starts: &[usize], offset: usize) -> u32 {
    let lines = line_starts.partition_point(|start| *start <= offset);
    u32::try_from(lines).unwrap_or(u32::MAX)
}

struct DocumentBuilder<'t> {
    document: Document<'t>,
    /// The indices of the open items and quotes, the innermost last.
    around: Vec<usize>,
    /// The number of items in `around`.
    items: u32,
    /// The open lists, each with the number of its next item; `None` for an unordered list.
    lists: Vec<Option<u64>>,
    /// The index of the block that receives text.
    leaf: Option<usize>,
    /// The open cell of a table.
    cell: Option<Cell<'t>>,
    /// The offset before which all text is in a block.
    seen: usize,
}

impl<'t> DocumentBuilder<'t> {
    fn events(&mut self, start: usize) {
        let source = self.document.source;
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_STRIKETHROUGH;
        let events = Parser::new_ext(&source[start..], options).into_offset_iter();
        let mut definitions: Vec<(usize, Definition<'t>)> = events
            .reference_definitions()
            .iter()
            .map(|(label, definition)| {
                let at = start + definition.span.start;
                let label = Cow::Owned(label.to_owned());
                let target = definition.dest.to_string().into();
                (at, Definition { label, target, line: self.document.line_at(at) })
            })
            .collect();
        definitions.sort_by_key(|(at, _)| *at);
        self.document.definitions = definitions.into_iter().map(|(_, it)| it).collect();
        for (event, range) in events {
            self.take(event, start + range.start..start + range.end);
        }
        self.see(source.len());
    }

    /// Adds each line as a paragraph.
    fn lines(&mut self, start: usize) {
        let source = self.document.source;
        let mut at = start;
        for line in source[start..].split_inclusive('\n') {
            let from = at + line.len() - line.trim_start().len();
            at += line.len();
            let text = line.trim();
            if !text.is_empty() {
                let range = from..from + text.len();
                self.push(Kind::Paragraph, range.clone());
                self.inline(InlineKind::Text(text.into()), range);
                self.leaf = None;
            }
        }
    }

    fn take(&mut self, event: Event<'t>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(tag) => self.end(tag, range),
            Event::Text(text) => self.text(text.into(), range),
            Event::Code(code) => self.inline(InlineKind::Code(code.into()), range),
            Event::InlineHtml(html) => self.inline(InlineKind::Html(html.into()), range),
            Event::Html(html) => self.text(html.into(), range),
            Event::SoftBreak | Event::HardBreak => self.inline(InlineKind::Break, range),
            Event::TaskListMarker(ticked) => {
                if let Some(Kind::Item { is_ticked, .. }) = self.innermost() {
                    *is_ticked = Some(ticked);
                }
                self.inline(InlineKind::CheckBox, range);
            }
            Event::Rule => {
                self.push(Kind::Rule, range);
                self.leaf = None;
            }
            // The parser options enable none of these.
            Event::FootnoteReference(_) | Event::InlineMath(_) | Event::DisplayMath(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'t>, range: Range<usize>) {
        match tag {
            Tag::Paragraph => self.push(Kind::Paragraph, range),
            Tag::Heading { level, .. } => self.push(Kind::Heading(level as u8), range),
            Tag::BlockQuote(_) => self.contain(Kind::Quote, range),
            Tag::List(first) => self.lists.push(first),
            Tag::Item => {
                let number = self.lists.last_mut().and_then(|next| {
                    let number = *next;
                    *next = number.map(|number| number.saturating_add(1));
                    number
                });
                self.items = self.items.saturating_add(1);
                let depth = self.items;
                self.contain(Kind::Item { depth, number, is_ticked: None }, range);
            }
            Tag::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => Some(info.into()),
                    CodeBlockKind::Indented => None,
                };
                let is_closed = info.is_none();
                self.push(Kind::Code(Code { info, text: String::new(), is_closed }), range);
            }
            Tag::HtmlBlock => self.push(Kind::Html(String::new()), range),
            Tag::Table(_) => self.push(Kind::Table(Table::default()), range),
            Tag::TableRow => {
                let line = self.document.line_at(range.start);
                if let Some(Kind::Table(table)) = self.open_kind() {
                    table.rows.push(Row { cells: Vec::new(), line });
                }
            }
            Tag::TableCell => self.cell = Some(Vec::new()),
            Tag::Emphasis => self.open(Span::Emphasis, "".into(), range),
            Tag::Strong => self.open(Span::Strong, "".into(), range),
            Tag::Strikethrough => self.open(Span::Strikethrough, "".into(), range),
            Tag::Link { link_type: LinkType::Email, dest_url, .. } => {
                self.open(Span::Link, format!("mailto:{dest_url}").into(), range);
            }
            Tag::Link { dest_url, .. } => self.open(Span::Link, dest_url.into(), range),
            Tag::Image { dest_url, .. } => self.open(Span::Image, dest_url.into(), range),
            Tag::TableHead => {}
            // The parser options enable none of these.
            Tag::MetadataBlock(_)
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript => {}
        }
    }

    fn end(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::CodeBlock => {
                self.close_fence();
                self.leaf = None;
            }
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock | TagEnd::Table => {
                self.leaf = None;
            }
            TagEnd::BlockQuote(_) => self.leave(range.end),
            TagEnd::Item => {
                self.leave(range.end);
                self.items = self.items.saturating_sub(1);
            }
            TagEnd::List(_) => {
                self.lists.pop();
            }
            TagEnd::TableCell => {
                let cell = self.cell.take().unwrap_or_default();
                if let Some(Kind::Table(table)) = self.open_kind() {
                    match table.rows.last_mut() {
                        Some(row) => row.cells.push(cell),
                        None => table.header.push(cell),
                    }
                }
            }
            TagEnd::Emphasis => self.inline(InlineKind::Close(Span::Emphasis), range),
            TagEnd::Strong => self.inline(InlineKind::Close(Span::Strong), range),
            TagEnd::Strikethrough => self.inline(InlineKind::Close(Span::Strikethrough), range),
            TagEnd::Link => self.inline(InlineKind::Close(Span::Link), range),
            TagEnd::Image => self.inline(InlineKind::Close(Span::Image), range),
            TagEnd::TableHead | TagEnd::TableRow => {}
            // The parser options enable none of these.
            TagEnd::MetadataBlock(_)
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript => {}
        }
    }

    fn open(&mut self, span: Span, target: Cow<'t, str>, range: Range<usize>) {
        self.inline(InlineKind::Open { span, target }, range);
    }

    /// Returns the kind of the innermost open item or quote.
    fn innermost(&mut self) -> Option<&mut Kind<'t>> {
        let at = *self.around.last()?;
        Some(&mut self.document.blocks.get_mut(at)?.kind)
    }

    fn open_kind(&mut self) -> Option<&mut Kind<'t>> {
        Some(&mut self.document.blocks.get_mut(self.leaf?)?.kind)
    }

    /// Adds an item or a quote, and opens it.
    fn contain(&mut self, kind: Kind<'t>, range: Range<usize>) {
        self.see(range.start);
        self.add(kind, range);
        self.leaf = None;
        self.around.push(self.document.blocks.len() - 1);
    }

    /// Closes the innermost open item or quote, which ends at `end`.
    fn leave(&mut self, end: usize) {
        self.leaf = None;
        self.see(end);
        self.around.pop();
    }

    /// Adds a block that is no item or quote, and opens it for text.
    fn push(&mut self, kind: Kind<'t>, range: Range<usize>) {
        self.see(range.start);
        self.seen = self.seen.max(range.end);
        self.add(kind, range);
        self.leaf = Some(self.document.blocks.len() - 1);
    }

    fn add(&mut self, kind: Kind<'t>, range: Range<usize>) {
        // The parser counts a tab as several bytes of indentation, so that an item behind a tab can
        // begin before the quote around it.
        let before = self.document.blocks.last().map_or(0, |block| block.range.start);
        let start = range.start.max(before);
        let range = start..range.end.max(start);
        let line = self.document.line_at(range.start);
        let parent = self.around.last().copied();
        self.document.blocks.push(Block { kind, range, line, parent, inlines: Vec::new() });
    }

    /// Adds a part of a line to the open cell or block. The text of an item without blank lines has
    /// no paragraph around it in the events, so a paragraph is added.
    fn inline(&mut self, kind: InlineKind<'t>, range: Range<usize>) {
        if let Some(cell) = &mut self.cell {
            cell.push(Inline { kind, range });
            return;
        }
        if self.leaf.is_none() {
            self.push(Kind::Paragraph, range.clone());
        }
        self.seen = self.seen.max(range.end);
        let Some(block) = self.leaf.and_then(|at| self.document.blocks.get_mut(at)) else { return };
        // The parser reports that a paragraph begins behind its check box.
        block.range = block.range.start.min(range.start)..block.range.end.max(range.end);
        block.inlines.push(Inline { kind, range });
    }

    fn text(&mut self, piece: Cow<'t, str>, range: Range<usize>) {
        match self.open_kind() {
            Some(Kind::Code(code)) => code.text.push_str(&piece),
            Some(Kind::Html(text)) => text.push_str(&piece),
            _ => self.inline(InlineKind::Text(piece), range),
        }
    }

    /// Sets whether the open code block has a closing fence: a line of fence marks alone, below the
    /// opening fence, that is no line of the code.
    fn close_fence(&mut self) {
        let source = self.document.source;
        let Some(block) = self.leaf.and_then(|at| self.document.blocks.get_mut(at)) else { return };
        let body = source.get(block.range.clone()).unwrap_or("").trim_end();
        let Kind::Code(code) = &mut block.kind else { return };
        if code.info.is_none() {
            return;
        }
        let mark = body.chars().next().unwrap_or('`');
        let Some((above, last)) = body.rsplit_once('\n') else { return };
        let last = last.trim_start_matches([' ', '\t', '>']);
        let opening = body.chars().take_while(|c| *c == mark).count();
        // `str::lines` drops an empty last line, with which the code may end.
        let is_cut = !code.text.is_empty() && !code.text.ends_with('\n');
        let lines = code.text.matches('\n').count() + usize::from(is_cut);
        code.is_closed = last.len() >= opening
            && last.chars().all(|c| c == mark)
            && above.matches('\n').count() >= lines;
    }

    /// Adds a definition for the text before a byte that is in no block.
    fn see(&mut self, to: usize) {
        let from = self.seen;
        if to <= from {
            return;
        }
        self.seen = to;
        let gap = self.document.source.get(from..to).unwrap_or("");
        let mut at = from;
        let mut found: Option<Range<usize>> = None;
        for line in gap.split_inclusive('\n') {
            let text = without_marks(line);
            let start = at + line.len() - text.len();
            at += line.len();
            let text = text.trim_end();
            // A check box belongs to the paragraph behind it.
            if !matches!(text, "" | "[ ]" | "[x]" | "[X]") {
                let end = start + text.len();
                found = Some(found.map_or(start, |it| it.start)..end);
            }
        }
        if let Some(range) = found {
            self.add(Kind::Definition, range);
        }
    }
}

/// Removes the marks of lists and quotes from the beginning of a line.
fn without_marks(line: &str) -> &str {
    let mut rest = line.trim_start();
    loop {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = match rest.as_bytes().get(digits) {
            Some(b'>') if digits == 0 => &rest[1..],
            Some(b'-' | b'*' | b'+') if digits == 0 => &rest[1..],
            Some(b'.' | b')') if (1..10).contains(&digits) => &rest[digits + 1..],
            _ => return rest,
        };
        let is_quote = rest.starts_with('>');
        if !is_quote && !after.is_empty() && !after.starts_with([' ', '\t', '\r', '\n']) {
            return rest;
        }
        rest = after.trim_start();
    }
}
