//! Normalises text for the comparison of labels: [`folded`].

/// Returns the words of a text in lower case with one blank between them, without the part from the
/// first bracket on.
pub(super) fn folded(text: &str) -> String {
    let text: String = text.chars().take(200).collect();
    let text = text.split('(').next().unwrap_or("").to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.join(" ")
}
