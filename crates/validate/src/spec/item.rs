//! Items below a heading about verification: [`Item`], and the [`label`] that a line begins with.

/// An item of a list, or a line of text.
pub(super) struct Item {
    pub(super) text: String,
    /// How deep it is; a line of text is not.
    pub(super) depth: usize,
    /// Whether only calls of known programs are commands: below a heading such as "Testing", which
    /// may also hold descriptions.
    pub(super) is_loose: bool,
}

/// Returns the words in bold that a line begins with, and what stands behind them.
pub(super) fn label(line: &str) -> Option<(&str, &str)> {
    let mark = ["**", "__"].into_iter().find(|mark| line.starts_with(mark))?;
    let (label, rest) = line[2..].split_once(mark)?;
    let rest = rest.trim_start();
    let is_label = label.trim_end().ends_with(':') || rest.is_empty() || rest.starts_with(':');
    is_label.then(|| (label, rest.trim_start_matches(':').trim_start()))
}
