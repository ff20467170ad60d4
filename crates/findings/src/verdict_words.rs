//! The words of a verdict: [`structured_verdict`] decides whether they approve or ask for changes.
//!
//! A verdict is in a field of its own or in a sentence, so the reader of fields and the reader of
//! prose both split a text into [`Words`].

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The verdict in the reviewer's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Word")]
pub enum VerdictWord {
    /// The reviewer approves.
    Approve,
    /// The reviewer asks for changes.
    RequestChanges,
}

/// Returns true if the word of a verdict field asks for changes.
pub(crate) fn asks_for_changes(word: &str) -> bool {
    structured_verdict(word) == Some(VerdictWord::RequestChanges)
}

/// Returns true if a text is a word that rejects a change, and has no other word.
pub(crate) fn is_rejection(text: &str) -> bool {
    const WORDS: [&str; 26] = [
        "request_changes", "requests_changes", "changes_requested", "change_requested",
        "needs_changes", "needs_work", "needs_fix", "needs_revision", "not_ready", "not_approved",
        "unapproved", "un_approved", "rejected", "reject", "deny", "denied", "nack", "block",
        "blocked", "fail", "failed", "incomplete", "unsafe", "no_go", "incorrect",
        "patch_is_incorrect",
    ];
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    WORDS.contains(&bare.replace([' ', '-'], "_").as_str())
}

/// Parses the word of a verdict field; `None` if the word is no verdict.
pub(crate) fn structured_verdict(word: &str) -> Option<VerdictWord> {
    let words = Words::of(word);
    let refused = is_rejection(word)
        || words.changes(true).is_some()
        || words.any(&["fail", "failed", "block", "blocked", "reject", "rejected", "no"])
        || words.any(&NEGATIONS);
    if refused {
        return Some(VerdictWord::RequestChanges);
    }
    let at = words.approval().or_else(|| words.position(&["pass", "passed"]))?;
    (!words.is_conditional(at)).then_some(VerdictWord::Approve)
}

pub(crate) const NEGATIONS: [&str; 11] =
    ["no", "not", "none", "never", "without", "zero", "0", "cannot", "neither", "nor", "nothing"];

/// A word with its offset in its clause, in bytes.
pub(crate) struct ClauseWord<'c> {
    pub(crate) text: &'c str,
    pub(crate) at: usize,
}

impl ClauseWord<'_> {
    pub(crate) fn is_shouted(&self) -> bool {
        !self.text.bytes().any(|byte| byte.is_ascii_lowercase())
    }
}

/// The words of one clause.
pub(crate) struct Words<'c> {
    pub(crate) clause: &'c str,
    pub(crate) all: Vec<ClauseWord<'c>>,
    /// The words in lower case.
    pub(crate) lower: Vec<String>,
}

impl<'c> Words<'c> {
    pub(crate) fn of(clause: &'c str) -> Words<'c> {
        let between = |c: char| {
            c.is_whitespace() || matches!(c, ':' | '*' | '(' | ')' | '[' | ']' | '/' | '|')
        };
        let all: Vec<ClauseWord<'c>> = clause
            .split(between)
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_'))
            .filter(|word| !word.is_empty())
            .map(|text| ClauseWord { text, at: text.as_ptr() as usize - clause.as_ptr() as usize })
            .collect();
        let lower: Vec<String> =
            all.iter().map(|word| word.text.to_lowercase().replace('’', "'")).collect();
        Words { clause, all, lower }
    }

    /// Returns a word in lower case; empty if there is no such word.
    pub(crate) fn lower(&self, at: usize) -> &str {
        self.lower.get(at).map_or("", String::as_str)
    }

    pub(crate) fn any(&self, of: &[&str]) -> bool {
        self.lower.iter().any(|word| of.contains(&word.as_str()))
    }

    pub(crate) fn position(&self, of: &[&str]) -> Option<usize> {
        self.lower.iter().position(|word| of.contains(&word.as_str()))
    }

    pub(crate) fn is_conditional(&self, at: usize) -> bool {
        let by_another = self.lower(at + 1) == "by" && self.lower(at + 2) != "me";
        by_another
            || self.any(&[
                "if", "when", "once", "after", "unless", "until", "would", "could", "might",
                "will", "before", "should", "whether", "i'll", "i'd", "can", "pending", "provided",
                "subject", "except", "only",
            ])
    }

    pub(crate) fn approval(&self) -> Option<usize> {
        self.position(&["approve", "approved", "approves", "approving", "lgtm"])
    }

    pub(crate) fn changes(&self, is_conclusion: bool) -> Option<usize> {
        const WORDS: [&str; 10] = [
            "request_changes", "request-changes", "changes_requested", "needs_changes",
            "needs_fix", "not_approved", "do_not_approve", "unapproved", "disapprove",
            "disapproved",
        ];
        const PAIRS: [(&str, &str); 6] = [
            ("request", "changes"),
            ("requesting", "changes"),
            ("changes", "requested"),
            ("changes", "required"),
            ("changes", "needed"),
            ("needs", "changes"),
        ];
        // Words that reject in a conclusion, or in capitals.
        const REJECTIONS: [&str; 6] = ["reject", "rejected", "block", "blocked", "no-go", "denied"];
        (0..self.lower.len()).find(|at| {
            let (word, next) = (self.lower(*at), self.lower(at + 1));
            let concluded = matches!((word, next), ("fail" | "failed", _) | ("needs", "work"));
            WORDS.contains(&word)
                || PAIRS.contains(&(word, next))
                || is_conclusion && concluded
                || REJECTIONS.contains(&word) && (is_conclusion || self.all[*at].is_shouted())
        })
    }
}
