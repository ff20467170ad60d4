//! Invisible text, of any content.

use crate::language;

/// The minimum number of tags or selectors in a row; fewer may be an accident.
const MIN_TAGS: usize = 3;

/// The minimum number of zero-width characters in a row that can carry a message.
const MIN_RUN: usize = 8;

/// The maximum number of tags in a flag.
const MAX_FLAG: usize = 6;

/// Returns a description of the hidden text in a line; `None` if there is none.
pub(super) fn describe_hidden(line: &str, is_code: bool) -> Option<&'static str> {
    if line.is_ascii() {
        return None;
    }
    if has_tags(line) {
        return Some("It holds text in characters that are not shown.");
    }
    if is_code && changes_direction(line) {
        return Some(
            "It turns the direction of writing, so that it reads as other code than it is.",
        );
    }
    None
}

/// Returns true if a file is code, which has no need for text from right to left.
pub(super) fn is_code(path: &str) -> bool {
    const DATA: [&str; 9] = ["json", "yml", "yaml", "md", "html", "htm", "xml", "txt", "css"];
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_data = DATA.iter().any(|data| extension.eq_ignore_ascii_case(data));
    language::is_source(path) && !is_data
}

/// Returns true if a line changes the direction of writing. A line with letters from right to left
/// may do so, unless it overrides their direction.
fn changes_direction(line: &str) -> bool {
    let has = |test: fn(char) -> bool| line.chars().any(test);
    let runs_left = |c: char| matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}');
    let is_turn = |c: char| matches!(c, '\u{202a}'..='\u{202c}' | '\u{2066}'..='\u{2069}');
    has(|c| matches!(c, '\u{202d}' | '\u{202e}')) || has(is_turn) && !has(runs_left)
}

/// Returns true if a line has a run of invisible characters that encode letters or bytes. The flags
/// of some regions contain such characters too.
fn has_tags(line: &str) -> bool {
    let mut tags = 0;
    let mut run = 0;
    let mut of_flag = 0;
    for c in line.chars() {
        let is_tag = matches!(c, '\u{e0020}'..='\u{e007e}');
        let is_selector = matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
        let has_no_width =
            matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
        of_flag = match c {
            '\u{1f3f4}' => MAX_FLAG + 1,
            _ if is_tag && of_flag > 0 => of_flag - 1,
            _ => 0,
        };
        tags = if is_tag && of_flag == 0 || is_selector { tags + 1 } else { 0 };
        run = if has_no_width { run + 1 } else { 0 };
        if tags >= MIN_TAGS || run >= MIN_RUN {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_sequences_and_joiners_of_other_scripts_are_not_hidden_text() {
        for line in [
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} wins",
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
        ] {
            assert_eq!(describe_hidden(line, true), None, "{line}");
        }
    }

    #[test]
    fn invisible_and_reordering_characters_are_reported_as_hidden_text() {
        assert!(describe_hidden("a\u{e0068}\u{e0069}\u{e0021}", false).is_some());
        assert!(describe_hidden("😀\u{e0158}\u{e0155}\u{e0160}", false).is_some());
        assert!(describe_hidden("if x \u{202e}{ }", true).is_some());
        assert!(describe_hidden("if x \u{202e}{ }", false).is_none());
    }
}
