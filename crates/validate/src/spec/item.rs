//! Items below a heading about verification: [`Item`], and the [`label`] at the beginning of a
//! line.

/// A list item, or a line of text.
pub(super) struct Item {
    pub(super) text: String,
    /// The nesting depth of the item; 0 for a line of text.
    pub(super) depth: usize,
    /// True if only calls of known programs are commands: below a heading such as "Testing", where
    /// the text may also be a description.
    pub(super) is_loose: bool,
}

/// Returns the words in bold at the beginning of a line, and the text after them; `None` if there
/// is no such label.
pub(super) fn label(line: &str) -> Option<(&str, &str)> {
    let mark = ["**", "__"].into_iter().find(|mark| line.starts_with(mark))?;
    let (label, rest) = line[2..].split_once(mark)?;
    let rest = rest.trim_start();
    let is_label = label.trim_end().ends_with(':') || rest.is_empty() || rest.starts_with(':');
    is_label.then(|| (label, rest.trim_start_matches(':').trim_start()))
}
