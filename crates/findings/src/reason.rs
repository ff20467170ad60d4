//! Reasons that people state: for a decision in a plan, an accepted item, a sign-off.
//!
//! Code cannot distinguish a good reason from a bad one. It can detect a text that states nothing:
//! `because`, `n/a`, `TBD`, a dash, or the words of the decision repeated. [`is_reason`] and
//! [`is_reason_for`] decide that, for every command and gate that asks for a reason.

use std::collections::HashSet;

/// Words that link, affirm or replace a text that is not written yet, and state no reason.
const FILLER: &[&str] = &[
    "a", "accept", "accepted", "all", "am", "an", "and", "are", "as", "at", "be", "because",
    "been", "being", "but", "by", "can", "decided", "decision", "did", "do", "does", "done", "due",
    "etc", "fine", "for", "from", "given", "good", "had", "has", "have", "he", "i", "if", "in",
    "into", "is", "it", "its", "just", "justification", "lgtm", "like", "me", "my", "na", "no",
    "none", "not", "nothing", "of", "off", "ok", "okay", "on", "or", "order", "our", "pending",
    "please", "rationale", "reason", "reasoning", "reasons", "said", "say", "says", "she",
    "should", "simply", "since", "so", "some", "something", "such", "sure", "tba", "tbc", "tbd",
    "than", "that", "the", "their", "them", "then", "they", "this", "thus", "to", "todo",
    "unknown", "us", "want", "wanted", "was", "we", "were", "what", "whatever", "why", "will",
    "with", "would", "yes", "you", "your",
];

/// Returns true if a text states a reason: at least one word that is neither filler, nor a number,
/// nor a single letter.
pub fn is_reason(text: &str) -> bool {
    content_words(text).next().is_some()
}

/// Returns true if a text states a reason for `subject`: [`is_reason`], with a word that `subject`
/// does not have.
pub fn is_reason_for(subject: &str, text: &str) -> bool {
    let said: HashSet<String> = content_words(subject).collect();
    content_words(text).any(|word| !said.contains(&word))
}

/// Returns the words of a text in lower case, without those that state nothing.
fn content_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words = words.map(|word| word.trim_matches('\'').to_lowercase());
    words.filter(|word| {
        // One character can be a whole word in scripts without letters.
        let is_long = word.chars().count() > 1 || !word.is_ascii();
        let is_spelt = word.chars().any(char::is_alphabetic);
        is_long && is_spelt && !FILLER.contains(&word.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::{is_reason, is_reason_for};

    #[test]
    fn a_text_that_states_nothing_is_no_reason() {
        for text in [
            "", " ", "because", "Because.", "**because**", "just because", "because because",
            "because it is", "since", "so that", "due to", "in order to", "as it is", "n/a", "N/A",
            "TBD", "todo", "none", "-", "—", "...", "?", "x", "1", "42", "reason: n/a", "`TBD`",
            "ok", "yes", "because of the reason", "I said so", "because we decided this",
        ] {
            assert!(!is_reason(text), "`{text}`");
        }
    }

    #[test]
    fn a_text_with_a_ground_is_a_reason() {
        for text in [
            "Simplicity",
            "Nothing has to be configured",
            "because it halves the latency",
            "known, next release",
            "later",
            "there is no such file",
            "ADR-7",
            "für Kunden ohne Netz",
            "速",
            "PCI audit",
            "the vendor's limit is 10 MB",
            "because users asked",
        ] {
            assert!(is_reason(text), "`{text}`");
        }
    }

    #[test]
    fn a_repeated_decision_is_not_a_reason_for_itself() {
        assert!(!is_reason_for("Use Postgres", "because we use Postgres"));
        assert!(!is_reason_for("The name is an argument", "the argument is a name"));
        assert!(is_reason_for("Use Postgres", "because Postgres has LISTEN"));
        assert!(is_reason_for("", "users asked"));
    }
}
