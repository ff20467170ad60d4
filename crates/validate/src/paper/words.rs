//! Text from outside, made harmless and cut to a length that somebody reads.

use assay_base::text::split_chars;
use assay_findings::write::plain;

/// How long a title may be, in letters.
const MAX_TITLE: usize = 300;

/// How long a text may be, in letters.
const MAX_TEXT: usize = 4_000;

/// How many lines of what a command said are shown, and how long each may be.
const MAX_TAIL: (usize, usize) = (40, 400);

/// Further lines of a text stand so far to the right that nothing in them is more than text.
const INDENT: &str = "        ";

/// Returns the beginning of a text, and says how much is left out.
pub(super) fn cut(text: &str, max: usize) -> String {
    match split_chars(text, max) {
        (whole, "") => whole.to_owned(),
        (kept, rest) => format!("{kept} … ({} more letters)", rest.chars().count()),
    }
}

/// Puts a text on one line.
pub(super) fn line(text: &str) -> String {
    cut(&plain::one_line(text), MAX_TITLE)
}

/// Puts a text on one line of Markdown.
pub(super) fn title(text: &str) -> String {
    plain::without_links(&line(text))
}

/// Puts a long text on one line of Markdown.
pub(super) fn long_title(text: &str) -> String {
    plain::without_links(&cut(&plain::one_line(text), MAX_TEXT))
}

/// Keeps the lines of a text, below the item that it stands in.
pub(super) fn text(text: &str) -> String {
    plain::indented(&plain::without_links(&cut(text.trim(), MAX_TEXT)), INDENT)
}

/// Puts a text into a cell of a table.
pub(super) fn cell(text: &str) -> String {
    without_bars(&plain::markdown(&cut(text.trim(), MAX_TITLE)))
}

/// Puts a command into a cell of a table.
pub(super) fn command_cell(command: &str) -> String {
    let command = line(command);
    match command.contains('`') || command.is_empty() {
        true => cell(&command),
        false => format!("`{}`", without_bars(&command)),
    }
}

/// Escapes what would end a cell; a table looks for it in code as well.
fn without_bars(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        if c == '|' && before != '\\' {
            out.push('\\');
        }
        out.push(c);
        before = c;
    }
    out
}

/// Returns the last lines of what a command said, in a fence.
pub(super) fn tail(said: &str) -> String {
    let (max, max_line) = MAX_TAIL;
    let said = said.trim_end();
    let lines = said.lines().count();
    let shown = said.lines().skip(lines.saturating_sub(max)).map(|line| cut(line, max_line));
    let mut shown: Vec<String> = shown.collect();
    if lines > max {
        shown.insert(0, format!("… ({} more lines)", lines - max));
    }
    plain::fenced(&shown.join("\n"))
}
