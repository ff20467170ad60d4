//! Parses decisions in running text: their ids, their texts and their reasons.

use assay_findings::reason::is_reason_for;

use super::Decision;
use super::names::tidy;

/// A decision under construction.
#[derive(Debug, Default)]
pub(super) struct DecisionText {
    pub(super) id: Option<String>,
    pub(super) text: String,
    pub(super) reason: String,
    pub(super) line: u32,
}

/// The prefixes of decision ids.
const PREFIXES: [&str; 6] = ["DL", "ADR", "DEC", "DR", "AD", "D"];

/// The labels of a reason, which are also the names of its field in JSON.
pub(super) const REASON_LABELS: [&str; 8] = [
    "reasoning chain", "reasoning", "rationale", "reasons", "reason", "justification", "why",
    "because",
];

/// The phrases that begin a reason in a sentence.
const REASON_WORDS: [&str; 10] = [
    " because ", " since ", " so that ", " due to ", " in order to ", " to avoid ", " to keep ",
    " as it ", " as this ", " given that ",
];

/// Minimum number of words of a decision; a single word is only its subject.
const MIN_DECISION: usize = 2;

/// Minimum number of words of a reason.
const MIN_GROUND: usize = 3;

/// Texts in place of a reason that is not written yet.
const NOTHING: [&str; 12] =
    ["", "-", "–", "—", "?", "n/a", "na", "none", "tbd", "todo", "unknown", "..."];

/// Returns true if a text has no content: a dash, `TBD`, `n/a`.
pub(super) fn is_nothing(text: &str) -> bool {
    let plain = text.trim().trim_matches(['*', '_', '(', ')', '[', ']', '`', '?']).trim();
    let plain = plain.strip_suffix('.').unwrap_or(plain);
    plain.len() < 12 && NOTHING.contains(&plain.to_ascii_lowercase().as_str())
}

/// Splits the id off the beginning of a decision, as in `DL-001: Use X`; returns `None` if there is
/// none.
pub(super) fn split_id(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start_matches(['*', '_', '`', '[', '(', ' ']);
    let prefix = PREFIXES.iter().find(|prefix| text.starts_with(**prefix))?;
    let rest = &text[prefix.len()..];
    let number = rest.trim_start_matches(['-', '_', ' ', '#']);
    let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
    if end == 0 || end > 6 || number[end..].starts_with(char::is_alphanumeric) {
        return None;
    }
    let id = text[..text.len() - number.len() + end].replace([' ', '#', '_'], "-");
    let after = number[end..].trim_start_matches(['*', '_', '`', ']', ')', ' ']);
    let after = after.trim_start_matches([':', '.', '–', '—', '-', '|']).trim_start();
    Some((tidy(&id.replace("--", "-")), after))
}

/// Returns true if a text begins with the id of a decision and a mark after it, like a title:
/// `DL-001: Use X`.
pub(super) fn has_a_name_with_a_mark(text: &str) -> bool {
    let Some((_, rest)) = split_id(text) else { return false };
    let name = text[..text.len() - rest.len()].trim_end();
    name.ends_with([':', '.', '–', '—', '-', '|']) && !rest.is_empty()
}

/// Returns true if a heading announces a reason.
pub(super) fn is_reason_name(text: &str) -> bool {
    let name = text.trim().trim_end_matches(':');
    name.len() < 40 && REASON_LABELS.iter().any(|label| name.eq_ignore_ascii_case(label))
}

/// Returns the text after a label such as `Decision:` or `**Reason:**`; `None` if there is no
/// label.
pub(super) fn after_label<'a>(text: &'a str, labels: &[&str]) -> Option<&'a str> {
    let text = text.trim_start_matches(['*', '_', ' ']);
    let label = labels.iter().find(|label| {
        text.get(..label.len()).is_some_and(|start| start.eq_ignore_ascii_case(label))
    })?;
    let rest = text[label.len()..].trim_start_matches(['*', '_', ' ']);
    let rest = rest.strip_prefix([':', '–', '—'])?;
    Some(rest.trim_start_matches(['*', '_', ' ']))
}

/// Returns the reason of a line that begins with a label for it; `None` for other lines.
pub(super) fn labelled_reason(text: &str) -> Option<&str> {
    after_label(text, &REASON_LABELS)
}

impl DecisionText {
    /// Parses a decision, with its id and its reason if there are any.
    pub(super) fn read(text: &str, line: u32) -> DecisionText {
        let (id, rest) = match split_id(text) {
            Some((id, rest)) => (Some(id), rest),
            None => (None, text),
        };
        let rest = after_label(rest, &["decision", "decided"]).unwrap_or(rest);
        let (text, reason) = split_reason(rest);
        DecisionText { id, text: text.to_owned(), reason: reason.to_owned(), line }
    }

    /// Adds text that belongs to the decision: a reason, or text that may contain one.
    pub(super) fn add(&mut self, text: &str) {
        if let Some(decision) = after_label(text, &["decision", "decided"]) {
            let (decision, reason) = split_reason(decision);
            push(&mut self.text, decision);
            push(&mut self.reason, reason);
        } else if let Some(reason) = labelled_reason(text) {
            push(&mut self.reason, reason);
        } else {
            let (decision, reason) = split_reason(text);
            if self.text.is_empty() {
                push(&mut self.text, decision);
            }
            push(&mut self.reason, reason);
        }
    }

    /// Uses the sentence after an emphasised one as the reason, if no reason is labelled: `**No
    /// shim.** It would double the paths`.
    pub(super) fn take_the_ground_behind(&mut self, lead: &str, text: &str) {
        let Some(ground) = text.strip_prefix(lead).filter(|_| self.reason.is_empty()) else {
            return;
        };
        let is_sentence = lead.ends_with(['.', '!']) || ground.starts_with(['.', '!']);
        let ground = ground.trim_start_matches(['.', '!', ' ']).trim();
        let says_both = lead.split_whitespace().count() >= MIN_DECISION
            && ground.split_whitespace().count() >= MIN_GROUND;
        if is_sentence && says_both && !ground.ends_with('?') && !is_nothing(ground) {
            let id = self.id.take();
            let decision = DecisionText::read(lead, self.line);
            *self = DecisionText { id: id.or(decision.id), reason: ground.to_owned(), ..decision };
        }
    }

    /// Adds text that is a reason as a whole.
    pub(super) fn add_reason(&mut self, text: &str) {
        push(&mut self.reason, text);
    }

    /// Returns the decision. A decision without an id gets a numbered one.
    pub(super) fn finish(self, number: usize) -> Decision {
        let is_given = is_reason_for(&self.text, &self.reason);
        let reason = if is_given { self.reason } else { String::new() };
        let id = self.id.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("D{number}"));
        Decision { id, decision: self.text, reason, line: self.line }
    }
}

fn push(text: &mut String, more: &str) {
    let more = more.trim();
    if !more.is_empty() && !is_nothing(more) {
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(more);
    }
}

/// Splits a text where its reason begins. A second sentence alone is no reason: code cannot decide
/// that it is one.
fn split_reason(text: &str) -> (&str, &str) {
    let lower = text.to_ascii_lowercase();
    let labelled = REASON_LABELS.iter().filter_map(|label| {
        let at =
            lower.match_indices(label).map(|(at, _)| at).find(|at| is_label(&lower, *at, label))?;
        Some((at, at + label.len()))
    });
    if let Some((at, end)) = labelled.min() {
        let reason = text[end..].trim_start_matches(['*', '_', ':', ' ']);
        return (trimmed(&text[..at]), reason.trim());
    }
    let said = REASON_WORDS.iter().filter_map(|word| lower.find(word));
    let dashed = [" — ", " – ", " - ", " -- "].iter().filter_map(|dash| lower.find(dash));
    match said.chain(dashed).min() {
        Some(at) => {
            let reason = text[at..].trim_start_matches([' ', '—', '–', '-']);
            (trimmed(&text[..at]), reason.trim())
        }
        None => (text.trim(), ""),
    }
}

/// Returns true if a word is a label: a whole word with a colon after it.
fn is_label(lower: &str, at: usize, label: &str) -> bool {
    let starts = !lower[..at].ends_with(char::is_alphanumeric);
    let after = lower[at + label.len()..].trim_start_matches(['*', '_']);
    starts && after.starts_with(':')
}

fn trimmed(text: &str) -> &str {
    text.trim().trim_end_matches(['(', '*', '_', ',', ';', ' '])
}
