//! Words of others in a sentence of ours: [`quoted`].

use assay_findings::write::plain::one_line;

/// Longer texts are quoted up to here.
const MAX_QUOTE: usize = 80;

/// Quotes a text for a sentence: on one line, not too long, and without what must not be repeated.
pub(crate) fn quoted(text: &str) -> String {
    let head: String = text.chars().take(4 * MAX_QUOTE).collect();
    let clean = one_line(&assay_rules::redact(&head)).replace('`', "'");
    let mut shown: String = clean.chars().take(MAX_QUOTE).collect();
    if shown.len() < clean.len() || head.len() < text.len() {
        shown.push('…');
    }
    format!("`{shown}`")
}

/// Gives a name as it is if it is a plain one, and quoted otherwise.
pub(crate) fn named(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if id.chars().all(is_plain) && id.len() <= MAX_QUOTE { id.to_owned() } else { quoted(id) }
}
