//! Text: truncation, never within a character, and errors in one line.

/// Splits a text after at most `max` characters. The second part is empty if the text is no longer.
pub fn split_chars(text: &str, max: usize) -> (&str, &str) {
    // A text has at most as many characters as bytes.
    if text.len() <= max {
        return (text, "");
    }
    text.split_at(text.char_indices().nth(max).map_or(text.len(), |(end, _)| end))
}

/// Returns the first characters of a text, at most `max`.
pub fn first_chars(text: &str, max: usize) -> &str {
    split_chars(text, max).0
}

/// Returns the first characters of a text, at most `max`, and `…` in place of the rest.
pub fn truncate(text: &str, max: usize) -> String {
    match split_chars(text, max) {
        (whole, "") => whole.to_owned(),
        (kept, _) => format!("{}…", kept.trim_end()),
    }
}

/// Returns the whole characters within the first `max` bytes of a text.
pub fn first_bytes(text: &str, max: usize) -> &str {
    &text[..text.floor_char_boundary(max)]
}

/// Returns the whole characters within the last `max` bytes of a text.
pub fn last_bytes(text: &str, max: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max))..]
}

/// Returns a text in one line, with one blank between its words.
pub fn single_spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns an error and its causes in one line, such as `could not connect: connection refused`.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Quotes a path as one word of a shell, if necessary.
pub fn shell_word(path: &std::path::Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Characters of one, two, three and four bytes.
    const MIXED: &str = "aé表😀";

    #[test]
    fn characters_are_counted_and_not_bytes() {
        let kept: Vec<_> = (0..6).map(|max| first_chars(MIXED, max)).collect();
        assert_eq!(kept, ["", "a", "aé", "aé表", MIXED, MIXED]);
        assert_eq!(first_chars("", 3), "");
    }

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        let quoted = ["/tmp/a-b.c", "a b", "it's", ""].map(|path| shell_word(path.as_ref()));
        assert_eq!(quoted, ["/tmp/a-b.c", "'a b'", r"'it'\''s'", "''"]);
    }

    #[test]
    fn both_parts_of_a_split_make_the_text() {
        for max in 0..6 {
            let (kept, rest) = split_chars(MIXED, max);
            assert_eq!(format!("{kept}{rest}"), MIXED);
            assert_eq!(rest.is_empty(), max >= 4, "{max}");
        }
    }

    #[test]
    fn a_truncated_text_ends_with_a_mark_and_a_complete_one_does_not() {
        assert_eq!(truncate(MIXED, 4), MIXED);
        assert_eq!(truncate(MIXED, 3), "aé表…");
        assert_eq!(truncate(MIXED, 0), "…");
        assert_eq!(truncate("", 0), "");
    }

    #[test]
    fn truncation_removes_the_blank_before_the_mark() {
        assert_eq!(truncate("one two", 4), "one…");
        assert_eq!(truncate("one ", 4), "one ");
    }

    #[test]
    fn words_on_several_lines_are_joined_by_one_blank() {
        assert_eq!(single_spaced("\tfirst  second\r\n\n third "), "first second third");
        assert_eq!(single_spaced(" \n"), "");
    }

    #[test]
    fn bytes_are_cut_between_characters() {
        let first: Vec<_> = (0..12).map(|max| first_bytes(MIXED, max)).collect();
        let three = ["aé表"; 4];
        assert_eq!(first[..6], ["", "a", "a", "aé", "aé", "aé"]);
        assert_eq!(first[6..10], three);
        assert_eq!(first[10..], [MIXED; 2]);
        let last: Vec<_> = [0, 3, 4, 6, 7, 9, 10, 99].map(|max| last_bytes(MIXED, max)).into();
        assert_eq!(last, ["", "", "😀", "😀", "表😀", "é表😀", MIXED, MIXED]);
    }
}
