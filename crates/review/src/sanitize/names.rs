//! Keeps untrusted text on one line: names of files, and lines that contain line breaks of other
//! kinds. The text after such a break would look like a line of our own.

use std::borrow::Cow;

/// The character that replaces a line break.
const LINE_BREAK_SYMBOL: &str = "\u{2424}";

/// Returns true if a name can be shown as it is.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.contains(|c: char| c.is_control() || is_line_break(c))
}

/// Returns true if a reader may interpret a character as the end of a line.
fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Replaces every line break in a line.
pub(crate) fn replace_line_breaks(line: &str) -> String {
    match line.contains(is_line_break) {
        true => line.replace(is_line_break, LINE_BREAK_SYMBOL),
        false => line.to_owned(),
    }
}

/// Replaces every line break other than `\n` in a text.
pub(crate) fn normalize_line_breaks(text: &str) -> Cow<'_, str> {
    let breaks_line = |c: char| is_line_break(c) && c != '\n';
    match text.contains(breaks_line) {
        true => Cow::Owned(text.replace("\r\n", "\n").replace(breaks_line, LINE_BREAK_SYMBOL)),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_inside_a_line_are_replaced() {
        assert_eq!(
            replace_line_breaks("a\r### FILE b\u{2028}c\td"),
            "a\u{2424}### FILE b\u{2424}c\td"
        );
        assert_eq!(normalize_line_breaks("a\r\nb\rc\n"), "a\nb\u{2424}c\n");
        assert!(is_plain("src/größe.rs") && !is_plain("a\nb") && !is_plain("a\u{1b}[2J"));
    }
}
