//! Parses Markdown of people and models into blocks: [`parse`] finds paragraphs, lists, code and
//! links.
//!
//! Markup for which JIRA has no block stays as it is written.

use assay_base::markdown::{self, Cell, Document, InlineKind, Kind, Span};
use assay_base::text::{first_chars, split_chars};

/// The maximum length of a text, in characters: JIRA accepts 32,767, including markup.
const MAX_TEXT_BYTES: usize = 28_000;

/// A block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkupBlock {
    /// The lines of a paragraph.
    Paragraph(Vec<Vec<Inline>>),
    /// A heading of a level from 1 to 6.
    Heading(u8, Vec<Inline>),
    /// The items of a list, one line each.
    Bullets(Vec<Vec<Inline>>),
    /// A code block.
    Code {
        /// The language; `None` if it is not stated.
        language: Option<String>,
        /// The code.
        text: String,
    },
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    /// Plain text.
    Text(String),
    /// Strong text.
    Strong(String),
    /// Inline code.
    Code(String),
    /// A link.
    Link {
        /// The text of the link.
        text: String,
        /// The address.
        url: String,
    },
}

/// Parses a text into blocks. A text that is too long is truncated, with a note.
pub fn parse(text: &str) -> Vec<MarkupBlock> {
    let clean: String =
        text.chars().filter(|c| *c == '\n' || *c == '\t' || !c.is_control()).collect();
    let (kept, rest) = split_chars(&clean, MAX_TEXT_BYTES);
    let mut blocks = blocks(kept);
    if !rest.is_empty() {
        let note = "… (truncated: the text is too long for JIRA)".to_owned();
        blocks.push(MarkupBlock::Paragraph(vec![vec![Inline::Text(note)]]));
    }
    blocks
}

/// The maximum number of `>` characters before a nested quote.
const MAX_QUOTES: usize = 3;

fn blocks(text: &str) -> Vec<MarkupBlock> {
    let page = markdown::read(text);
    let mut writer =
        Writer { text, page: &page, blocks: Vec::new(), item: None, is_numbered: false };
    page.blocks().iter().for_each(|block| writer.block(block));
    writer.blocks
}

struct Writer<'a> {
    text: &'a str,
    page: &'a Document<'a>,
    blocks: Vec<MarkupBlock>,
    /// The open list item, with its number, until its first line is written.
    item: Option<Option<u64>>,
    /// True if the last block is a paragraph of numbered items.
    is_numbered: bool,
}

impl Writer<'_> {
    fn block(&mut self, block: &markdown::Block<'_>) {
        match &block.kind {
            Kind::Item { number, .. } => return self.item = Some(*number),
            Kind::Quote => return,
            Kind::Heading(level) if !block.inlines.is_empty() && block.parent.is_none() => {
                let line = join_lines(self.lines(&block.inlines));
                self.blocks.push(MarkupBlock::Heading(*level, line));
            }
            Kind::Heading(_) if block.inlines.is_empty() => self.text(block, self.source(block)),
            Kind::Paragraph | Kind::Heading(_) => self.text(block, self.lines(&block.inlines)),
            Kind::Code(code) => {
                let language = code.info.as_deref().map(str::trim).unwrap_or("");
                let is_word = |c: char| c.is_ascii_alphanumeric() || "+#-_".contains(c);
                let language = Some(language.to_owned())
                    .filter(|language| !language.is_empty() && language.chars().all(is_word));
                let text = code.text.strip_suffix('\n').unwrap_or(&code.text).to_owned();
                self.blocks.push(MarkupBlock::Code { language, text });
            }
            Kind::Table(table) => {
                let mut lines = self.page.source_lines(block);
                // The line below the header contains no text.
                if lines.len() > 1 {
                    lines.remove(1);
                }
                // A table drops cells beyond its header, and fills up rows with too few.
                let is_even = lines.iter().all(|line| cells(line.text) == table.header.len());
                let rows = table.rows.iter().map(|row| &row.cells);
                let rows: Vec<Vec<Inline>> = match is_even {
                    true => std::iter::once(&table.header)
                        .chain(rows)
                        .map(|row| self.row(row))
                        .collect(),
                    false => lines.into_iter().map(|line| split_links(line.text)).collect(),
                };
                self.text(block, rows);
            }
            Kind::Html(_) | Kind::Rule | Kind::Definition => self.text(block, self.source(block)),
        }
        self.item = None;
    }

    /// Adds lines of text: those of an item without a number as a bullet, all others as a
    /// paragraph.
    fn text(&mut self, block: &markdown::Block<'_>, mut lines: Vec<Vec<Inline>>) {
        let item = self.item.filter(|_| block.parent.is_some());
        let quotes = self.page.around(block).filter(|it| it.kind == Kind::Quote).count();
        if item == Some(None) && quotes == 0 {
            let line = join_lines(lines);
            match self.blocks.last_mut() {
                Some(MarkupBlock::Bullets(items)) => items.push(line),
                _ => self.blocks.push(MarkupBlock::Bullets(vec![line])),
            }
            return;
        }
        let is_number = matches!(item, Some(Some(_)));
        let mark = match item {
            Some(Some(number)) => format!("{number}. "),
            Some(None) => "- ".to_owned(),
            None => String::new(),
        };
        for (line, at) in lines.iter_mut().zip(0..) {
            let mark = if at == 0 { mark.as_str() } else { "" };
            let before = "> ".repeat(quotes.min(MAX_QUOTES)) + mark;
            if !before.is_empty() {
                line.insert(0, Inline::Text(before));
            }
        }
        match self.blocks.last_mut() {
            Some(MarkupBlock::Paragraph(before)) if is_number && self.is_numbered => {
                before.extend(lines)
            }
            _ => self.blocks.push(MarkupBlock::Paragraph(lines)),
        }
        self.is_numbered = is_number;
    }

    /// Returns the lines of a block as they are written.
    fn source(&self, block: &markdown::Block<'_>) -> Vec<Vec<Inline>> {
        let lines = match block.kind {
            Kind::Heading(_) | Kind::Rule => vec![self.page.source(block).trim()],
            _ => self.page.source_lines(block).into_iter().map(|line| line.text).collect(),
        };
        lines.into_iter().map(split_links).collect()
    }

    fn row(&self, cells: &[Cell<'_>]) -> Vec<Inline> {
        let mut row = vec![Inline::Text("|".to_owned())];
        for cell in cells {
            row.push(Inline::Text(" ".to_owned()));
            row.extend(self.lines(cell).into_iter().flatten());
            row.push(Inline::Text(" |".to_owned()));
        }
        row
    }

    /// Splits inline elements into lines. Markup for which JIRA has no part stays as it is written.
    fn lines(&self, inlines: &[markdown::Inline<'_>]) -> Vec<Vec<Inline>> {
        let mut lines = Vec::new();
        let mut line = LineBuilder::default();
        let mut rest = inlines;
        while let Some((inline, after)) = rest.split_first() {
            rest = after;
            let source = &self.text[inline.range.clone()];
            match &inline.kind {
                InlineKind::Text(text) => line.plain.push_str(text),
                InlineKind::Code(code) => line.push(Inline::Code(code.to_string())),
                InlineKind::Html(_) => line.plain.push_str(source),
                InlineKind::CheckBox => line.plain.push_str(&format!("{source} ")),
                InlineKind::Break => lines.push(line.finish()),
                InlineKind::Open { span: Span::Strong, .. } => line.change_strong(1),
                InlineKind::Close(Span::Strong) => line.change_strong(-1),
                InlineKind::Open { span: Span::Link | Span::Image, target } => {
                    // The end of a span has the range of the whole span.
                    let end = after.iter().position(|it| it.range == inline.range);
                    let (inner, behind) = after.split_at(end.unwrap_or(after.len()));
                    rest = behind;
                    let words: String = inner.iter().map(markdown::Inline::words).collect();
                    let words = Some(words.trim()).filter(|words| !words.is_empty());
                    match is_url(target) {
                        true => line.push(Inline::Link {
                            text: words.unwrap_or(target).to_owned(),
                            url: target.to_string(),
                        }),
                        false => line.plain.push_str(source),
                    }
                }
                InlineKind::Close(Span::Link | Span::Image) => {}
                InlineKind::Open { span: Span::Emphasis, .. }
                | InlineKind::Close(Span::Emphasis) => line.plain.push_str(&source[..1]),
                InlineKind::Open { span: Span::Strikethrough, .. }
                | InlineKind::Close(Span::Strikethrough) => {
                    let mark = source.len() - source.trim_start_matches('~').len();
                    line.plain.push_str(&source[..mark.min(2)]);
                }
            }
        }
        lines.push(line.finish());
        lines
    }
}

/// Joins several lines into one.
fn join_lines(lines: Vec<Vec<Inline>>) -> Vec<Inline> {
    lines.join(&Inline::Text(" ".to_owned()))
}

/// A line that is being built.
#[derive(Default)]
struct LineBuilder {
    parts: Vec<Inline>,
    /// Text that is not in a part yet.
    plain: String,
    /// The number of open spans of strong text.
    strong: i32,
}

impl LineBuilder {
    fn push(&mut self, part: Inline) {
        self.flush();
        self.parts.push(part);
    }

    fn change_strong(&mut self, more: i32) {
        self.flush();
        self.strong += more;
    }

    /// Ends the line, and starts the next one.
    fn finish(&mut self) -> Vec<Inline> {
        self.flush();
        std::mem::take(&mut self.parts)
    }

    fn flush(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        match self.strong {
            _ if plain.is_empty() => {}
            0 => self.parts.extend(split_links(&plain)),
            _ => {
                // The markup of strong text must touch the text, so white space is moved outside.
                let words = plain.trim();
                let before = plain.len() - plain.trim_start().len();
                let parts = [
                    Inline::Text(plain[..before].to_owned()),
                    Inline::Strong(words.to_owned()),
                    Inline::Text(plain[before + words.len()..].to_owned()),
                ];
                let is_empty = |part: &Inline| matches!(part, Inline::Text(text) | Inline::Strong(text) if text.is_empty());
                self.parts.extend(parts.into_iter().filter(|part| !is_empty(part)));
            }
        }
    }
}

/// Returns the number of cells that a row of a table has in its source.
fn cells(row: &str) -> usize {
    let row = row.replace(r"\|", "");
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    row.strip_suffix('|').unwrap_or(row).split('|').count()
}

/// Splits text into plain parts and web addresses, in one pass.
fn split_links(words: &str) -> Vec<Inline> {
    let mut parts = Vec::new();
    let (mut from, mut at) = (0, 0);
    while let Some(start) = words[at..].find('h').map(|start| at + start) {
        let Some((link, length)) = bare_link(&words[start..]) else {
            at = start + 1;
            continue;
        };
        if from < start {
            parts.push(Inline::Text(words[from..start].to_owned()));
        }
        parts.push(link);
        at = start + length;
        from = at;
    }
    if from < words.len() {
        parts.push(Inline::Text(words[from..].to_owned()));
    }
    parts
}

/// The maximum length of an address, in characters; it bounds the time for a line.
const MAX_URL_CHARS: usize = 2_000;

fn bare_link(text: &str) -> Option<(Inline, usize)> {
    let reach = first_chars(text, MAX_URL_CHARS);
    let is_end = |c: char| c.is_whitespace() || "<>\"'`|{}[]".contains(c);
    let url = &reach[..reach.find(is_end).unwrap_or(reach.len())];
    // Punctuation at the end of a sentence is no part of an address.
    let url = url.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let link = || Inline::Link { text: url.to_owned(), url: url.to_owned() };
    is_url(url).then(|| (link(), url.len()))
}

/// Returns true if a text is a web address. Other schemes, such as `javascript`, are excluded.
fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_fit = |c: char| !c.is_whitespace() && !c.is_control() && !"<>\"|{}[]".contains(c);
    rest.is_some_and(|rest| rest.len() > 1 && rest.chars().all(is_fit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inlines(line: &str) -> Vec<Inline> {
        match blocks(line).as_slice() {
            [MarkupBlock::Paragraph(lines)] => lines.concat(),
            other => panic!("{line} is {other:?}"),
        }
    }

    #[test]
    fn unclosed_or_invalid_markup_is_plain_text() {
        for odd in
            ["**", "`", "[a](", "[a](javascript:alert(1))", "****", "http://", "h", "** a **"]
        {
            assert_eq!(inlines(odd), [Inline::Text(odd.to_owned())], "{odd}");
        }
        let long = "[".repeat(100_000);
        assert_eq!(inlines(&long), [Inline::Text(long.clone())]);
    }

    #[test]
    fn an_overlong_text_is_truncated_and_followed_by_a_notice() {
        let blocks = parse(&"ä".repeat(MAX_TEXT_BYTES + 1));
        assert_eq!(blocks.len(), 2);
        assert!(matches!(&blocks[1], MarkupBlock::Paragraph(lines) if lines.len() == 1));
        assert_eq!(parse(&"ä".repeat(MAX_TEXT_BYTES)).len(), 1);
    }
}
