//! Escapes text from outside and truncates it to a readable length.

use assay_base::text::split_chars;
use assay_findings::write::escape;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 300;

/// Maximum length of a text, in characters.
const MAX_TEXT: usize = 4_000;

/// Maximum number of lines of a command's output, and maximum length of each, in characters.
const MAX_TAIL: (usize, usize) = (40, 400);

/// The indentation of further lines of a text: so deep that Markdown in them has no effect.
const INDENT: &str = "        ";

/// Truncates a text and appends the number of characters that are left out.
pub(super) fn cut(text: &str, max: usize) -> String {
    match split_chars(text, max) {
        (whole, "") => whole.to_owned(),
        (kept, rest) => format!("{kept} … ({} more characters)", rest.chars().count()),
    }
}

/// Returns a text on one line, truncated.
pub(super) fn line(text: &str) -> String {
    cut(&escape::one_line(text), MAX_TITLE)
}

/// Returns a text on one line of Markdown, without links, truncated.
pub(super) fn title(text: &str) -> String {
    escape::disable_links(&line(text))
}

/// Returns a text on one line of Markdown, without links, truncated to the length of a long text.
pub(super) fn long_title(text: &str) -> String {
    escape::disable_links(&cut(&escape::one_line(text), MAX_TEXT))
}

/// Returns a text with indented lines, for a list item in Markdown.
pub(super) fn text(text: &str) -> String {
    escape::indent(&escape::disable_links(&cut(text.trim(), MAX_TEXT)), INDENT)
}

/// Escapes a text for a cell of a Markdown table.
pub(super) fn cell(text: &str) -> String {
    without_bars(&escape::escape_markdown(&cut(text.trim(), MAX_TITLE)))
}

/// Formats a command as code in a cell of a Markdown table.
pub(super) fn command_cell(command: &str) -> String {
    let command = line(command);
    match command.contains('`') || command.is_empty() {
        true => cell(&command),
        false => format!("`{}`", without_bars(&command)),
    }
}

/// Escapes vertical bars, which end a cell even within code.
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

/// Returns the last lines of a command's output, in a fence.
pub(super) fn tail(said: &str) -> String {
    let (max, max_line) = MAX_TAIL;
    let said = said.trim_end();
    let lines = said.lines().count();
    let shown = said.lines().skip(lines.saturating_sub(max)).map(|line| cut(line, max_line));
    let mut shown: Vec<String> = shown.collect();
    if lines > max {
        shown.insert(0, format!("… ({} more lines)", lines - max));
    }
    escape::to_code_block(&shown.join("\n"))
}
