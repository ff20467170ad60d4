//! Words on a line: [`is_word`].

/// Returns true if a part of a line is a whole word, and not a part of a longer one.
pub fn is_word(line: &str, start: usize, end: usize) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let word = &line[start..end];
    let joins = |outside: Option<char>, inside: Option<char>| {
        outside.is_some_and(is_letter) && inside.is_some_and(is_letter)
    };
    !joins(line[..start].chars().next_back(), word.chars().next())
        && !joins(line[end..].chars().next(), word.chars().next_back())
}
