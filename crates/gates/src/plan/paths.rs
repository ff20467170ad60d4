//! Finds the files that a text names: [`in_code`], [`in_entry`].

use crate::file_kinds::names_a_file;

/// Maximum length of a path, in bytes; a longer text is prose.
const MAX_PATH: usize = 300;

/// Returns the file that a span of code certainly names; `None` if it may be something else.
pub(super) fn in_code(code: &str) -> Option<String> {
    cleaned(code).filter(|path| names_a_file(path) && !is_pattern(path))
}

/// Returns the files that an entry of a list of files names: its spans of code, or, without any,
/// its words that look like a path.
pub(super) fn in_entry(text: &str) -> Vec<String> {
    let coded: Vec<String> = spans(text).filter_map(in_list).collect();
    if !coded.is_empty() {
        return coded;
    }
    let words = text
        .split([' ', ',', ';', '\n', '\t'])
        .map(|word| word.trim_matches(['*', '(', ')', '[', ']']));
    words.filter(|word| word.contains(['/', '.'])).filter_map(in_list).collect()
}

/// Parses an entry of a list of files, which may also be a folder or a pattern.
fn in_list(text: &str) -> Option<String> {
    let path = cleaned(text)?;
    let is_path = path.contains('/') || in_code(&path).is_some() || is_pattern(&path);
    is_path.then_some(path)
}

/// Returns the spans of code in a text.
pub(crate) fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|span| !span.is_empty())
}

/// Returns true if a path is a pattern, or a placeholder for a path that is not known yet.
pub(crate) fn is_pattern(path: &str) -> bool {
    path.contains(['*', '{', '}', '<', '>', '$', '?']) || path.contains("...")
}

/// Removes lines, symbols and punctuation from a path; returns `None` if the text is no path in the
/// tree.
fn cleaned(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches(['.', ',', ';', ':']);
    let text = text.split("::").next().unwrap_or(text);
    let text = match text.rsplit_once(':') {
        Some((path, lines)) if lines.starts_with(|c: char| c.is_ascii_digit() || c == 'L') => path,
        _ => text,
    };
    let text = text.split('#').next().unwrap_or(text);
    let text = text.strip_prefix("./").unwrap_or(text);
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "()\"'=,;|\\@".contains(c);
    let is_path = !text.is_empty()
        && text.len() <= MAX_PATH
        && !text.contains(is_odd)
        && !text.contains("://")
        && !text.starts_with(['/', '~', '-', ':'])
        && text.contains(char::is_alphanumeric);
    is_path.then(|| text.to_owned())
}

/// Splits a line into clauses, each with its own statement about the files in it.
pub(super) fn clauses(line: &str) -> impl Iterator<Item = &str> {
    line.split(", ").flat_map(|part| part.split("; ")).flat_map(|part| part.split(". "))
}

/// Words of a clause that creates the files it names.
const NEW: [&str; 6] = ["new", "create", "creates", "created", "creating", "introduces"];

/// First words of a clause that changes the files it names.
const OLD: [&str; 18] = [
    "modify", "modifies", "edit", "edits", "update", "updates", "change", "changes", "extend",
    "extends", "refactor", "refactors", "delete", "deletes", "remove", "removes", "rename",
    "renames",
];

/// Returns true if a clause states that the files it names are new.
pub(super) fn says_new(text: &str) -> bool {
    let without_code: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let mut words = words(&without_code).peekable();
    let begins_with_add =
        words.peek().is_some_and(|word| ["add", "adds", "added"].contains(&word.as_str()));
    begins_with_add || words.any(|word| NEW.contains(&word.as_str()))
}

/// Returns true if a clause states that the files it names exist already.
pub(super) fn says_old(text: &str) -> bool {
    words(text).next().is_some_and(|first| OLD.contains(&first.as_str()))
}

/// Returns the words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase)
}
