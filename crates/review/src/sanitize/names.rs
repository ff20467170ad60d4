//! Text from outside that has to stay on its line: names of files, and lines with breaks of other
//! kinds in them. What follows such a break would pose as a line of ours.

use std::borrow::Cow;

/// What stands in the place of a break.
const BREAK: &str = "\u{2424}";

/// Says whether a name can be shown as it is.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.contains(|c: char| c.is_control() || breaks(c))
}

/// Says whether somebody who reads may take a character for the end of a line.
fn breaks(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Puts a sign in the place of every break in a line.
pub(crate) fn on_one_line(line: &str) -> String {
    match line.contains(breaks) {
        true => line.replace(breaks, BREAK),
        false => line.to_owned(),
    }
}

/// Does the same for every line of a text.
pub(crate) fn with_plain_lines(text: &str) -> Cow<'_, str> {
    let breaks_line = |c: char| breaks(c) && c != '\n';
    match text.contains(breaks_line) {
        true => Cow::Owned(text.replace("\r\n", "\n").replace(breaks_line, BREAK)),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_line_ends_it() {
        assert_eq!(on_one_line("a\r### FILE b\u{2028}c\td"), "a\u{2424}### FILE b\u{2424}c\td");
        assert_eq!(with_plain_lines("a\r\nb\rc\n"), "a\nb\u{2424}c\n");
        assert!(is_plain("src/größe.rs") && !is_plain("a\nb") && !is_plain("a\u{1b}[2J"));
    }
}
