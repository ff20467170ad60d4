//! Splits ids of criteria, such as `AC-2`, off their lines: [`split_id`].

/// Letters before the number of an id.
const ID_LETTERS: [&str; 7] = ["ac", "req", "fr", "nfr", "sc", "dod", "acc"];

/// Returns the id at the beginning of a line, such as `ac2` of `**AC-2** …`, and the text after it;
/// `None` if there is no id.
pub(super) fn split_id(line: &str) -> Option<(String, &str)> {
    let is_around = |c: char| matches!(c, '*' | '_' | '[' | '(' | ' ');
    let bare = line.trim_start_matches(is_around);
    let letters = bare.find(|c: char| !c.is_ascii_alphabetic())?;
    let name = bare[..letters].to_ascii_lowercase();
    let rest = bare[letters..].strip_prefix(['-', '_', ' ', '#']).unwrap_or(&bare[letters..]);
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let number = rest[..digits].trim_end_matches('.');
    let is_id = ID_LETTERS.contains(&name.as_str()) && !number.is_empty();
    let behind = &rest[number.len()..];
    let is_whole = !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    (is_id && is_whole).then(|| (format!("{name}{number}"), behind))
}
