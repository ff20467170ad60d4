//! Finds the evidence for an assumption: [`find`].

use super::reasons::is_nothing;

/// Words before a statement of how an assumption was validated, or will be.
const STEMS: [&str; 11] = [
    "verified", "verify", "validated", "validate", "validation", "confirmed", "evidence",
    "checked", "measured", "tested", "proven",
];

/// Words that join such a word with the statement.
const JOINTS: [&str; 15] = [
    "by", "in", "with", "against", "on", "via", "from", "at", "through", "using", "during",
    "before", "per", "as", "when",
];

/// Texts of a cell that only tick an assumption off.
const TICKS: [&str; 20] = [
    "yes", "y", "no", "n", "true", "false", "ok", "done", "x", "✓", "✔", "✅", "❌", "[x]", "[ ]",
    "pending", "open", "unverified", "verified", "validated",
];

/// Returns the part of a text that states how it was validated, or will be; `None` if there is
/// none.
pub(super) fn find(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let found = STEMS.iter().flat_map(|stem| lower.match_indices(stem));
    let mut places: Vec<(usize, usize)> = found
        .map(|(at, stem)| (at, at + stem.len()))
        .filter(|(at, _)| is_said(&lower, *at))
        .collect();
    places.sort_unstable();
    places.into_iter().find_map(|(at, end)| shown(text, &lower, at, end)).or_else(|| source(text))
}

/// Returns the text of a table cell if it is more than a tick; `None` otherwise.
pub(super) fn in_cell(text: &str) -> Option<String> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let is_tick = TICKS.contains(&lower.as_str()) || is_nothing(text);
    (!is_tick && text.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_EVIDENCE)
        .then(|| text.to_owned())
}

/// Minimum number of letters and digits of evidence.
const MIN_EVIDENCE: usize = 3;

/// Returns true if a word is not a part of another and not negated: `unverified`, `not verified`.
fn is_said(lower: &str, at: usize) -> bool {
    let before = &lower[..at];
    if before.ends_with(char::is_alphanumeric) {
        return false;
    }
    let last = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let is_denied = matches!(last, "not" | "never" | "cannot" | "yet" | "no" | "without");
    !is_denied
}

/// Returns the text from a word on, if a statement follows it; `None` otherwise.
fn shown(text: &str, lower: &str, at: usize, end: usize) -> Option<String> {
    let rest = lower.get(end..)?;
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let rest = rest.trim_start_matches(['*', '_', ' ']);
    let way = match rest.strip_prefix([':', '–', '—', '-', '=']) {
        Some(way) => way,
        None => {
            let word = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
            JOINTS.contains(&word).then(|| &rest[word.len()..])?
        }
    };
    let way = way.split([')', ']']).next().unwrap_or("").trim();
    let is_way = in_cell(way.trim_matches(['*', '_', ' '])).is_some();
    is_way.then(|| text[at..].trim().trim_end_matches([')', ']']).to_owned())
}

/// Returns the text from `Source:` or `See` on, which names a place to look it up; `None` if there
/// is none.
fn source(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let marks = ["source:", "proof:", "derived:", "(see ", "see `", "see ["];
    let at = marks.iter().filter_map(|mark| Some((lower.find(mark)?, mark.len()))).min();
    let (at, length) = at?;
    in_cell(&text[at + length..]).map(|_| text[at..].trim_start_matches('(').trim().to_owned())
}
