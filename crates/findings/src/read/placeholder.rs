//! Placeholders in a list of findings: [`is_placeholder`].

/// Texts that name no finding, in lower case and without marks around them.
const PLACEHOLDERS: [&str; 26] = [
    "", "todo", "tbd", "tba", "fixme", "etc", "placeholder", "omitted", "truncated", "snip",
    "see below", "see above", "as above", "as below", "same as above", "below", "above",
    "see text", "more", "none", "n/a", "nothing", "no issues", "no findings", "no issues found",
    "no findings found",
];

/// Returns true if a text in a list of findings names no finding: `...`, `TODO`, `see below`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let lower = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    PLACEHOLDERS.contains(&lower.as_str()) || lower.ends_with("omitted for brevity")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_name_no_finding_are_placeholders() {
        for text in [
            "...",
            "…",
            "TODO",
            "Other findings omitted for brevity.",
            "[TBD]",
            "see below",
            "(see above)",
            "<more>",
            "None.",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in ["SQL injection", "see below: the lock is not held", "no input validation"] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
