//! Components of Vue and Svelte: [`code`] keeps their scripts.

use std::sync::LazyLock;

use regex::Regex;

use super::BlankCopy;

/// The start tag of a script. A script of another type, such as JSON, is no code.
static SCRIPT: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)<script\b[^>]*>").expect("the pattern is valid"));

static OTHER_TYPE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\btype\s*=\s*["']?(application/(ld\+)?json|text/(x-template|html))"#)
        .expect("the pattern is valid")
});

/// Returns the scripts of a component, each at its place.
pub(super) fn code(text: &str) -> String {
    let mut copy = BlankCopy::new(text);
    let mut from = 0;
    while let Some(tag) = SCRIPT.find_at(text, from) {
        let end = find_end(text, tag.end());
        let is_empty = tag.as_str().ends_with("/>");
        if !is_empty && !OTHER_TYPE.is_match(tag.as_str()) {
            copy.keep(tag.end(), end);
        }
        from = if is_empty { tag.end() } else { end };
    }
    copy.into_text()
}

/// Returns the start of the end tag of a script, or the end of the text.
fn find_end(text: &str, from: usize) -> usize {
    let lower = text[from..].to_ascii_lowercase();
    lower.find("</script").map_or(text.len(), |at| from + at)
}
