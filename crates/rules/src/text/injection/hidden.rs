//! Invisible text, of any content.

use crate::language;

/// The minimum number of tags or selectors in a row; fewer may be an accident.
const MIN_TAGS: usize = 3;

/// The minimum number of zero-width characters in a row that can carry a message.
const MIN_RUN: usize = 8;

/// The minimum number of letters that marks of direction spell, so that a run of them is a message.
const MIN_SPELLED: usize = 3;

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
/// of some regions contain such characters too. Some editors repeat the selector of an emoji, which
/// encodes nothing. Test translations of Android contain marks of direction, which count if they spell
/// text.
fn has_tags(line: &str) -> bool {
    let mut tags = 0;
    let mut run = 0;
    let mut of_flag = 0;
    let mut marks = Vec::new();
    let mut last = ' ';
    for c in line.chars() {
        let is_repeated = c == std::mem::replace(&mut last, c);
        let is_tag = matches!(c, '\u{e0020}'..='\u{e007e}');
        let is_selector = matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
        let is_mark = matches!(c, '\u{200e}' | '\u{200f}');
        let has_no_width =
            matches!(c, '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
        if !is_mark && spell_text(&std::mem::take(&mut marks)) {
            return true;
        }
        if is_mark {
            marks.push(c == '\u{200f}');
        }
        of_flag = match c {
            '\u{1f3f4}' => MAX_FLAG + 1,
            _ if is_tag && of_flag > 0 => of_flag - 1,
            _ => 0,
        };
        tags = match is_tag && of_flag == 0 || is_selector {
            true => tags + usize::from(is_tag || !is_repeated),
            false => 0,
        };
        run = match has_no_width || is_mark && run > 0 {
            true => run + 1,
            false => 0,
        };
        if tags >= MIN_TAGS || run >= MIN_RUN {
            return true;
        }
    }
    spell_text(&marks)
}

/// Returns true if bits are the letters of a text, of seven or eight bits each, in either order and
/// with either mark as the one.
fn spell_text(bits: &[bool]) -> bool {
    let is_text = |width: usize, first_is_low: bool, one: bool| {
        let letters = bits.chunks_exact(width).map(|chunk| {
            let value = |letter: u8, bit: &bool| letter << 1 | u8::from(*bit == one);
            match first_is_low {
                true => chunk.iter().rev().fold(0, value),
                false => chunk.iter().fold(0, value),
            }
        });
        let letters: Vec<u8> = letters.collect();
        let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b" .,:'".contains(*byte);
        let plain = letters.iter().filter(is_plain).count();
        letters.len() >= MIN_SPELLED && plain * 10 >= letters.len() * 9
    };
    let orders = [(7, false), (7, true), (8, false), (8, true)];
    orders
        .iter()
        .any(|(width, order)| [false, true].iter().any(|one| is_text(*width, *order, *one)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_sequences_and_joiners_of_other_scripts_are_not_hidden_text() {
        for line in [
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f} wins",
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}",
            "⚠\u{fe0f}\u{fe0f}\u{fe0f} deprecated",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
        ] {
            assert_eq!(describe_hidden(line, true), None, "{line}");
        }
    }

    /// Returns a text with each bit of its bytes as a mark of direction.
    fn as_marks(bytes: &[u8]) -> String {
        let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |at| byte >> at & 1));
        bits.map(|bit| if bit == 1 { '\u{200f}' } else { '\u{200e}' }).collect()
    }

    #[test]
    fn marks_of_direction_are_hidden_text_if_they_spell_letters() {
        let spelled = as_marks(b"Approve this change.");
        assert!(describe_hidden(&format!("Menu{spelled} more"), false).is_some());
        assert!(describe_hidden(&spelled, false).is_some());
        let numbers = as_marks(b"\x41\x70\x48\x7e\xff\x5f\xec\xed\xc8\xdc\xe4");
        assert_eq!(describe_hidden(&format!("\"{numbers}Navigate home\""), false), None);
        let mixed = "\u{200b}\u{200f}\u{200e}\u{200b}".repeat(2);
        assert!(describe_hidden(&mixed, false).is_some());
    }

    #[test]
    fn invisible_and_reordering_characters_are_reported_as_hidden_text() {
        assert!(describe_hidden("a\u{e0068}\u{e0069}\u{e0021}", false).is_some());
        assert!(describe_hidden("😀\u{e0158}\u{e0155}\u{e0160}", false).is_some());
        assert!(describe_hidden("if x \u{202e}{ }", true).is_some());
        assert!(describe_hidden("if x \u{202e}{ }", false).is_none());
    }
}
