//! Quotes untrusted text in messages: [`quoted`], [`shown`].

use assay_base::text::{first_chars, truncate};
use assay_findings::write::escape::one_line;
use assay_rules::redact_text;

/// Maximum length of a quoted text, in characters.
const MAX_QUOTE: usize = 80;

/// Maximum length of a shown path or sentence, in characters.
const MAX_SHOWN: usize = 300;

/// Quotes a text for a message: on one line, truncated and redacted.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", cut(text, MAX_QUOTE).replace('`', "'"))
}

/// Returns an untrusted path or sentence for a message: on one line, truncated and redacted.
pub(crate) fn shown(text: &str) -> String {
    cut(text, MAX_SHOWN)
}

/// Returns a plain name without quotes, and any other name quoted.
pub(crate) fn named(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if id.chars().all(is_plain) && id.len() <= MAX_QUOTE { shown(id) } else { quoted(id) }
}

/// Truncates a text, and marks the cut. Credentials are redacted first, so that no part of one is
/// left.
fn cut(text: &str, max: usize) -> String {
    let head = first_chars(text, 4 * MAX_SHOWN);
    let clean = one_line(&redact_text(head));
    match head.len() < text.len() {
        // The mark also represents the text that was not examined.
        true => format!("{}…", first_chars(&clean, max).trim_end()),
        false => truncate(&clean, max),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_truncated_with_an_ellipsis() {
        assert_eq!(quoted(&"x".repeat(80)), format!("`{}`", "x".repeat(80)));
        assert_eq!(quoted(&"x".repeat(81)), format!("`{}…`", "x".repeat(80)));
        assert_eq!(shown(&"é".repeat(5_000)), format!("{}…", "é".repeat(300)));
        assert_eq!(quoted("a\n`b`"), "`a 'b'`");
    }

    #[test]
    fn secrets_in_quoted_text_are_redacted() {
        let token = "ghp_9fK2mQ7xR4tV8wZ1bN5cJ3dL6hP0sYaEuGiO";
        for text in [token, &format!("{}{token}", "a ".repeat(30)), "password = \"kT9vQ2mX7pLw\""] {
            for output in [quoted(text), shown(text)] {
                assert!(output.contains("[redacted]"), "{output}");
                assert!(!output.contains("kT9v") && !output.contains("mQ7xR4"), "{output}");
            }
        }
    }
}
