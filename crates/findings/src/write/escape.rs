//! Escaping of text: invisible characters are shown, line breaks joined or indented, markup
//! escaped.

use std::borrow::Cow;
use std::fmt::Write;

pub use assay_base::text::error_chain as chain;

/// Replaces invisible characters with visible escapes: control characters, direction marks,
/// characters without width. Line breaks and tabs stay.
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Escapes the invisible characters of a JSON text. The JSON stays the same, since these characters
/// can only be inside of its strings.
pub fn escape_json(text: String) -> String {
    if !text.chars().any(is_hidden) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns true if a character is invisible, or changes the direction of writing: controls other
/// than line feeds and tabs, direction marks, characters without width, tags.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{2028}' | '\u{2029}' => true,
        // Direction marks make text look like other text.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' => true,
        // Characters without width hide text from people that models still read. Joiners stay: some
        // scripts and emoji are written with them.
        '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' => true,
        '\u{180e}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' => true,
        '\u{fff9}'..='\u{fffb}' => true,
        '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}' => true,
        c => c.is_control(),
    }
}

/// Returns a text on one line, with single spaces, and with invisible characters shown.
pub fn one_line(text: &str) -> String {
    assay_base::text::single_spaced(&escape_hidden(text))
}

/// Indents the second and further lines of a text, so that none of them begins like a line of the
/// format.
pub fn indent(text: &str, indent: &str) -> String {
    let text = escape_hidden(text.trim_end());
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or("").to_owned();
    for line in lines {
        out.push('\n');
        if !line.trim().is_empty() {
            out.push_str(indent);
            out.push_str(line);
        }
    }
    out
}

/// Prevents images, links and tags in a text from being rendered, and leaves the rest readable as
/// it is: for lists that people and agents read as text.
pub fn disable_links(text: &str) -> String {
    map_outside_code(text, |part| {
        let part = part.replace("](", "]\\(").replace("![", "!\\[");
        escape_tags(&part)
    })
}

fn escape_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let opens = chars.peek().is_some_and(|n| n.is_ascii_alphabetic() || matches!(n, '/' | '!'));
        if c == '<' && opens {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Escapes all Markdown, on one line; code in back-ticks stays code.
pub fn escape_markdown(text: &str) -> String {
    let escaped = map_outside_code(&one_line(text), |part| {
        let mut out = String::with_capacity(part.len());
        for c in part.chars() {
            match c {
                '<' => out.push_str("&lt;"),
                '@' => out.push_str("&#64;"),
                '\\' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '`' => {
                    out.push('\\');
                    out.push(c);
                }
                c => out.push(c),
            }
        }
        out
    });
    without_block_mark(escaped)
}

/// Escapes the same as [`escape_markdown`], for a service that acts on text: no mention notifies a
/// user, no reference links to another page, and no address becomes a link.
pub fn escape_comment(text: &str) -> String {
    without_block_mark(map_outside_code(&one_line(text), defuse))
}

/// The separator between a mark and the text that it would act on: it has no width, and ends the
/// word.
const ZERO_WIDTH_SPACE: &str = "&#8203;";

fn defuse(part: &str) -> String {
    let mut out = String::with_capacity(part.len() + 16);
    for (at, c) in part.char_indices() {
        let (before, after) = (&part[..at], &part[at + c.len_utf8()..]);
        match c {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '`' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
        let is_reference = c == '-' && ends_with_any_case(before, "gh");
        let is_address = c == ':' && after.starts_with("//");
        let is_host =
            matches!(c, 'w' | 'W') && after.starts_with('.') && ends_with_any_case(before, "ww");
        if matches!(c, '@' | '#') || is_reference || is_address || is_host {
            out.push_str(ZERO_WIDTH_SPACE);
        }
    }
    out
}

fn ends_with_any_case(text: &str, end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    start.and_then(|start| text.get(start..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Formats a text as code on one line.
pub fn to_code_span(text: &str) -> String {
    let text = one_line(text).replace('`', "'");
    if text.is_empty() { text } else { format!("`{text}`") }
}

/// Returns a text with a capital first letter.
pub fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    first + chars.as_str()
}

/// Prevents a text from starting a quote, a list or a rule, wherever it is inserted.
fn without_block_mark(text: String) -> String {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let after = &text[digits..];
    if digits > 0 && after.starts_with(['.', ')']) {
        return format!("{}\\{after}", &text[..digits]);
    }
    if text.starts_with(['>', '-', '+', '=']) { format!("\\{text}") } else { text }
}

/// Changes the text outside of code. Code is enclosed in single back-ticks, with none in between;
/// any other back-tick is escaped, since Markdown parsers pair them in different ways.
fn map_outside_code(text: &str, change: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(at) = rest.find('`') {
        let (before, from) = rest.split_at(at);
        out.push_str(&change(before));
        let escaped = before.ends_with('\\');
        match code_span(from).filter(|_| !escaped) {
            Some(span) => {
                out.push_str(span);
                rest = &from[span.len()..];
            }
            None => {
                // A run is escaped as a whole, so that no part of it opens code.
                let run = from.len() - from.trim_start_matches('`').len();
                out.push_str(&"\\`".repeat(run));
                rest = &from[run..];
            }
        }
    }
    out.push_str(&change(rest));
    out
}

/// Returns the code that a text starts with, between two single back-ticks.
fn code_span(text: &str) -> Option<&str> {
    let inner = &text[1..];
    let end = inner.find('`').filter(|end| *end > 0)?;
    let single = !inner[end + 1..].starts_with('`');
    single.then(|| &text[..end + 2])
}

/// Encloses code in a fence that no line of the code ends.
pub fn to_code_block(code: &str) -> String {
    let fence = fence_around(code);
    format!("{fence}\n{}\n{fence}", escape_hidden(code.trim_end()))
}

/// Returns a fence that is longer than any in some code.
pub(crate) fn fence_around(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat((longest + 1).max(3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_direction_marks_are_shown() {
        assert_eq!(escape_hidden("a\u{1b}[31mb\u{202e}c"), "a\\u{1b}[31mb\\u{202e}c");
    }

    #[test]
    fn invisible_characters_are_escaped_visibly() {
        assert_eq!(escape_hidden("a\u{200b}b\u{e0041}"), "a\\u{200b}b\\u{e0041}");
        let text = "\"a\u{e0041}\"".to_owned();
        assert_eq!(serde_json::from_str::<String>(&escape_json(text)).unwrap(), "a\u{e0041}");
        assert_eq!(escape_hidden("👨\u{200d}👩"), "👨\u{200d}👩");
    }

    #[test]
    fn continuation_lines_of_a_finding_are_indented() {
        assert_eq!(
            indent("x\n### 2. forged\n\n**Issue**: y", "    "),
            "x\n    ### 2. forged\n\n    **Issue**: y"
        );
    }

    #[test]
    fn markup_is_shown_and_not_rendered() {
        assert_eq!(
            escape_markdown("![x](http://e) <b> @me `a*b`"),
            "\\!\\[x\\](http://e) &lt;b> &#64;me `a*b`"
        );
        assert_eq!(
            disable_links("![x](u) <img> Vec<T> `<b>`"),
            "!\\[x]\\(u) \\<img> Vec\\<T> `<b>`"
        );
        assert_eq!(escape_markdown("one ` tick"), "one \\` tick");
        assert_eq!(escape_markdown("``` <img src=x> ` y"), "\\`\\`\\` &lt;img src=x> \\` y");
        assert_eq!(disable_links("\\` <img> `"), "\\\\` \\<img> \\`");
        assert_eq!(escape_markdown("- x"), "\\- x");
        assert_eq!(escape_markdown("> x"), "\\> x");
        assert_eq!(escape_markdown("12. x"), "12\\. x");
    }

    #[test]
    fn mentions_references_and_links_in_a_comment_are_disabled() {
        assert_eq!(escape_comment("@all `@me` a@b"), "@&#8203;all `@me` a@&#8203;b");
        assert_eq!(escape_comment("&#64;all"), "&amp;\\#&#8203;64;all");
        assert_eq!(escape_comment("fixes #12, GH-7"), "fixes \\#&#8203;12, GH-&#8203;7");
        assert_eq!(escape_comment("https://e/x WWW.e"), "https:&#8203;//e/x WWW&#8203;.e");
        assert_eq!(escape_comment("![x](//e) <!-- a -->"), "\\!\\[x\\](//e) &lt;\\!-- a -->");
    }

    #[test]
    fn a_fence_is_longer_than_any_in_its_code() {
        assert_eq!(to_code_block("a ``` b"), "````\na ``` b\n````");
    }
}
