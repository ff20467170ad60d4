//! A strict Markdown reader for the documents of a spec: [`blocks`], each with the line on which it
//! begins.
//!
//! The reader goes through the lines once, so it needs linear time for any text. Comments are left
//! out. Code and quotes are separate kinds of blocks.

use assay_base::text::single_spaced;

/// A heading, a paragraph, an item of a list, code or a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Block {
    /// The kind of the block.
    pub(crate) kind: Kind,
    /// The text: trimmed lines, or the unchanged lines of code.
    pub(crate) text: String,
    /// The line on which the block begins, from 1.
    pub(crate) line: u32,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A heading, with its level from 1.
    Heading(u8),
    /// Lines of text.
    Paragraph,
    /// A list item, with its nesting depth from 1, and its check box: open or ticked, or `None`
    /// without a box.
    Item { depth: usize, ticked: Option<bool> },
    /// Code in a fence, or indented.
    Code,
    /// A block quote.
    Quote,
}

impl Block {
    /// Returns the text of the block on one line.
    pub(crate) fn folded(&self) -> String {
        single_spaced(&self.text)
    }
}

/// Normalises a text for comparison: on one line, without case.
pub(crate) fn compared(text: &str) -> String {
    single_spaced(text).to_lowercase()
}

/// Replaces the comments of a text with empty lines, so that line numbers stay the same: no reader
/// of the rendered page sees them.
pub(crate) fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("<!--") {
        out.push_str(before);
        let (inner, after) = comment.split_once("-->").unwrap_or((comment, ""));
        out.extend(inner.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    out.push_str(rest);
    let is_comment = |line: &str| {
        let line = line.trim_start().to_ascii_lowercase();
        line.starts_with("[//]:") || line.starts_with("[comment]:") || line.starts_with("[_]:")
    };
    let lines = out.split_inclusive('\n');
    lines.map(|line| if is_comment(line) { "\n" } else { line }).collect()
}

/// Returns the blocks of a Markdown text.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (line, number) in text.split('\n').zip(1..) {
        reader.line(line.strip_suffix('\r').unwrap_or(line), number);
    }
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// The index of the paragraph, item or quote that the next line may continue.
    open: Option<usize>,
    /// The items around the next line: the indentation of the mark, and the index of the block.
    items: Vec<(usize, usize)>,
    fence: Option<Fence>,
    in_comment: bool,
}

/// The condition for the end of a fence: the same mark, at least as often.
struct Fence {
    mark: char,
    length: usize,
}

impl Reader {
    fn line(&mut self, line: &str, number: u32) {
        let said = line.trim();
        if self.fence.is_some() || self.in_comment {
            return self.in_something(line, said, number);
        }
        if said.is_empty() {
            self.open = None;
            return;
        }
        if said.starts_with("<!--") {
            self.open = None;
            // The text after a comment is part of the document.
            let rest = self.skip_comments(said);
            if !rest.is_empty() {
                self.line(rest, number);
            }
            return;
        }
        if let Some(fence) = Fence::opened_by(said) {
            self.fence = Some(fence);
            return self.push(Kind::Code, line, number);
        }
        if self.underlines(said) || is_rule(said) {
            self.items.clear();
            self.open = None;
            return;
        }
        let indent = indent(line);
        if let Some((level, title)) = heading(said).filter(|_| indent < 4) {
            self.items.clear();
            return self.push(Kind::Heading(level), title, number);
        }
        if said.starts_with('>') {
            return self.quote(said, number);
        }
        match item(said).filter(|(mark, _)| !self.goes_on_in_spite_of(mark)) {
            Some((_, rest)) => self.item(rest, indent, number),
            None => self.text(line, indent, number),
        }
    }

    /// Returns the rest of a line after the comments at its beginning.
    fn skip_comments<'a>(&mut self, mut said: &'a str) -> &'a str {
        while let Some(comment) = said.strip_prefix("<!--") {
            let Some((_, rest)) = comment.split_once("-->") else {
                self.in_comment = true;
                return "";
            };
            said = rest.trim();
        }
        said
    }

    /// Handles a line inside of a fence or a comment.
    fn in_something(&mut self, line: &str, said: &str, number: u32) {
        let Some(fence) = &self.fence else {
            if let Some((_, rest)) = said.split_once("-->") {
                self.in_comment = false;
                self.line(rest, number);
            }
            return;
        };
        if fence.is_closed_by(said) {
            self.fence = None;
        }
        self.go_on(self.blocks.len() - 1, line);
    }

    /// Turns the preceding paragraph into a heading if the line underlines it. Returns true if it
    /// does.
    fn underlines(&mut self, said: &str) -> bool {
        let level = match said.trim_matches('=').is_empty() {
            true => 1,
            false => 2,
        };
        if level == 2 && !said.trim_matches('-').is_empty() {
            return false;
        }
        match self.open.and_then(|open| self.blocks.get_mut(open)) {
            Some(block) if block.kind == Kind::Paragraph => {
                block.kind = Kind::Heading(level);
                true
            }
            _ => false,
        }
    }

    /// Returns true if a line that looks like a list item continues a paragraph: a line of a
    /// sentence may begin with a number.
    fn goes_on_in_spite_of(&self, mark: &str) -> bool {
        let is_number = mark.starts_with(|c: char| c.is_ascii_digit());
        let is_first = matches!(mark, "1." | "1)");
        is_number && !is_first && self.items.is_empty() && self.open.is_some()
    }

    fn quote(&mut self, said: &str, number: u32) {
        let text = said.trim_start_matches(['>', ' ']);
        match self.open {
            Some(at) if self.blocks[at].kind == Kind::Quote => self.go_on(at, text),
            _ => {
                self.push(Kind::Quote, text, number);
                self.open = Some(self.blocks.len() - 1);
            }
        }
    }

    fn item(&mut self, rest: &str, indent: usize, number: u32) {
        self.leave(indent);
        self.items.push((indent, self.blocks.len()));
        let (ticked, text) = tick(rest);
        self.push(Kind::Item { depth: self.items.len(), ticked }, text, number);
        self.open = Some(self.blocks.len() - 1);
    }

    fn text(&mut self, line: &str, indent: usize, number: u32) {
        if let Some(at) = self.open {
            return self.go_on(at, line.trim());
        }
        self.leave(indent);
        if let Some((_, at)) = self.items.last() {
            // A further paragraph of the item, after an empty line.
            let at = *at;
            self.go_on(at, "");
            self.go_on(at, line.trim());
            self.open = Some(at);
            return;
        }
        match indent {
            0..4 => {
                self.push(Kind::Paragraph, line.trim(), number);
                self.open = Some(self.blocks.len() - 1);
            }
            _ => self.push(Kind::Code, line, number),
        }
    }

    /// Closes the items that do not contain a line with this indentation.
    fn leave(&mut self, indent: usize) {
        while self.items.last().is_some_and(|(mark, _)| indent < mark + 2) {
            self.items.pop();
        }
    }

    fn push(&mut self, kind: Kind, text: &str, line: u32) {
        self.open = None;
        self.blocks.push(Block { kind, text: text.to_owned(), line });
    }

    fn go_on(&mut self, at: usize, line: &str) {
        let text = &mut self.blocks[at].text;
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(line);
    }
}

impl Fence {
    fn opened_by(said: &str) -> Option<Fence> {
        let mark = said.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let after = said.trim_start_matches(mark);
        let length = said.len() - after.len();
        // Three back-ticks with another one behind them are inline code.
        let opens = length >= 3 && !(mark == '`' && after.contains('`'));
        opens.then_some(Fence { mark, length })
    }

    fn is_closed_by(&self, said: &str) -> bool {
        said.len() >= self.length && said.trim_start_matches(self.mark).is_empty()
    }
}

/// Returns the column of the first letter of a line; a tab extends to a multiple of four.
fn indent(line: &str) -> usize {
    let mut columns = 0;
    for c in line.chars() {
        match c {
            ' ' => columns += 1,
            '\t' => columns += 4 - columns % 4,
            _ => break,
        }
    }
    columns
}

fn heading(said: &str) -> Option<(u8, &str)> {
    let title = said.trim_start_matches('#');
    let level = u8::try_from(said.len() - title.len()).ok().filter(|level| (1..=6).contains(level));
    if !title.is_empty() && !title.starts_with([' ', '\t']) {
        return None;
    }
    let closed = title.trim_end_matches('#');
    let title = if closed.ends_with([' ', '\t']) { closed } else { title };
    level.map(|level| (level, title.trim()))
}

/// Returns true if a line is a horizontal rule.
fn is_rule(said: &str) -> bool {
    let mark = said.chars().next().unwrap_or(' ');
    matches!(mark, '-' | '*' | '_')
        && said.chars().all(|c| c == mark || c == ' ' || c == '\t')
        && said.chars().filter(|c| *c == mark).count() >= 3
}

/// Returns the mark of a list item and the text behind it; `None` if the line is no item.
fn item(said: &str) -> Option<(&str, &str)> {
    let digits = said.bytes().take(10).take_while(u8::is_ascii_digit).count();
    let length = match said.as_bytes().get(digits)? {
        b'-' | b'*' | b'+' if digits == 0 => 1,
        b'.' | b')' if (1..10).contains(&digits) => digits + 1,
        _ => return None,
    };
    let (mark, rest) = said.split_at(length);
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (mark, rest.trim_start()))
}

/// Splits the check box off a list item.
pub(crate) fn tick(text: &str) -> (Option<bool>, &str) {
    let marks = [("[ ]", false), ("[]", false), ("[x]", true), ("[X]", true)];
    for (mark, is_ticked) in marks {
        let Some(rest) = text.strip_prefix(mark) else { continue };
        if rest.is_empty() || rest.starts_with([' ', '\t']) {
            return (Some(is_ticked), rest.trim_start());
        }
    }
    (None, text)
}
