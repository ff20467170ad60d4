//! Code on a page: [`CodeExcerpt`] has numbered lines, of which some are marked, added or removed.

use maud::{Markup, html};

/// The part of a line in a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodeLineKind {
    /// The line is the same before and after the change.
    Context,
    /// The change adds the line.
    Added,
    /// The change removes the line.
    Removed,
    /// The text says which lines are not shown; the line is no code.
    Gap,
}

impl CodeLineKind {
    fn class(self) -> &'static str {
        match self {
            CodeLineKind::Context => "ctx",
            CodeLineKind::Added => "add",
            CodeLineKind::Removed => "del",
            CodeLineKind::Gap => "gap",
        }
    }

    fn sign(self) -> &'static str {
        match self {
            CodeLineKind::Context | CodeLineKind::Gap => " ",
            CodeLineKind::Added => "+",
            CodeLineKind::Removed => "-",
        }
    }
}

/// A line of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLine {
    /// The part of the line in the change.
    pub kind: CodeLineKind,
    /// The number of the line: before the change for a removed line, else after the change.
    pub number: Option<u32>,
    /// The text, without its line end.
    pub text: String,
    /// True if the excerpt is about this line.
    pub is_marked: bool,
}

impl CodeLine {
    /// Creates a line that is not marked.
    pub fn new(kind: CodeLineKind, number: u32, text: impl Into<String>) -> CodeLine {
        CodeLine { kind, number: Some(number), text: text.into(), is_marked: false }
    }

    /// Creates a line that stands for lines that are not shown.
    pub fn gap(text: impl Into<String>) -> CodeLine {
        CodeLine { kind: CodeLineKind::Gap, number: None, text: text.into(), is_marked: false }
    }

    fn render(&self) -> Markup {
        let number = self.number.map(|number| number.to_string()).unwrap_or_default();
        // The line end is part of the line, so that copied code has the lines of the file.
        let text = html! { (self.text) "\n" };
        html! {
            span.l.(self.kind.class()).hit[self.is_marked] {
                span.n { (number) } span.s { (self.kind.sign()) }
                @if self.is_marked { mark { (text) } } @else { (text) }
            }
        }
    }
}

/// Lines of one file, with a caption.
pub struct CodeExcerpt<'a> {
    /// The caption, such as `src/a.rs:42`.
    pub caption: &'a str,
    /// The lines.
    pub lines: &'a [CodeLine],
}

impl CodeExcerpt<'_> {
    /// Renders the lines. Long lines can be scrolled, also with the keyboard.
    pub fn render(&self) -> Markup {
        html! {
            figure.code {
                figcaption { (self.caption) }
                pre tabindex="0" role="group" aria-label={ "Code of " (self.caption) } {
                    code { @for line in self.lines { (line.render()) } }
                }
            }
        }
    }
}

/// A replacement of lines of a file by other lines.
pub struct LineReplacement<'a> {
    /// The number of the first line that is replaced.
    pub first: u32,
    /// The lines before the replaced ones.
    pub before: &'a [&'a str],
    /// The lines that are replaced.
    pub removed: &'a [&'a str],
    /// The new lines; empty if the lines are deleted.
    pub added: &'a [&'a str],
    /// The lines after the replaced ones.
    pub after: &'a [&'a str],
}

impl LineReplacement<'_> {
    /// Returns the replacement as a hunk. Equal lines at the start and at the end of both sides are
    /// context.
    pub fn hunk(&self) -> Vec<CodeLine> {
        let head = common(self.removed.iter(), self.added.iter());
        let (removed, added) = (&self.removed[head..], &self.added[head..]);
        let tail = common(removed.iter().rev(), added.iter().rev());
        let (removed, same) = removed.split_at(removed.len() - tail);
        let added = &added[..added.len() - tail];
        let start = self.first.saturating_sub(count(self.before));
        let mut hunk = Numbering { old: start, new: start, lines: Vec::new() };
        hunk.push(CodeLineKind::Context, self.before);
        hunk.push(CodeLineKind::Context, &self.removed[..head]);
        hunk.push(CodeLineKind::Removed, removed);
        hunk.push(CodeLineKind::Added, added);
        hunk.push(CodeLineKind::Context, same);
        hunk.push(CodeLineKind::Context, self.after);
        hunk.lines
    }
}

/// The lines of a hunk, and the next numbers on both sides.
struct Numbering {
    old: u32,
    new: u32,
    lines: Vec<CodeLine>,
}

impl Numbering {
    fn push(&mut self, kind: CodeLineKind, texts: &[&str]) {
        for text in texts {
            let number = if kind == CodeLineKind::Removed { self.old } else { self.new };
            self.lines.push(CodeLine::new(kind, number, *text));
            self.old += u32::from(kind != CodeLineKind::Added);
            self.new += u32::from(kind != CodeLineKind::Removed);
        }
    }
}

fn common<'a>(a: impl Iterator<Item = &'a &'a str>, b: impl Iterator<Item = &'a &'a str>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

fn count(lines: &[&str]) -> u32 {
    u32::try_from(lines.len()).unwrap_or(u32::MAX)
}
