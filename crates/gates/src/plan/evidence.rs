//! Whether an assumption was validated: [`find`] looks for what shows it.

use super::reasons::is_nothing;

/// The words after which it says how an assumption was validated, or will be.
const STEMS: [&str; 11] = [
    "verified", "verify", "validated", "validate", "validation", "confirmed", "evidence",
    "checked", "measured", "tested", "proven",
];

/// The words that join such a word with the way.
const JOINTS: [&str; 15] = [
    "by", "in", "with", "against", "on", "via", "from", "at", "through", "using", "during",
    "before", "per", "as", "when",
];

/// The texts of a cell that ticks an assumption off and shows nothing.
const TICKS: [&str; 20] = [
    "yes", "y", "no", "n", "true", "false", "ok", "done", "x", "✓", "✔", "✅", "❌", "[x]", "[ ]",
    "pending", "open", "unverified", "verified", "validated",
];

/// Returns the part of a text that tells how it was validated, or how it will be.
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

/// Returns what a cell of a table tells, if that is more than a tick.
pub(super) fn in_cell(text: &str) -> Option<String> {
    let text = text.trim();
    let lower = text.to_lowercase();
    let is_tick = TICKS.contains(&lower.as_str()) || is_nothing(text);
    (!is_tick && text.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_EVIDENCE)
        .then(|| text.to_owned())
}

/// Fewer letters tell nothing.
const MIN_EVIDENCE: usize = 3;

/// Returns true if a word is one of its own and not denied: `unverified`, `not verified`.
fn is_said(lower: &str, at: usize) -> bool {
    let before = &lower[..at];
    if before.ends_with(char::is_alphanumeric) {
        return false;
    }
    let last = before.trim_end().rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    let is_denied = matches!(last, "not" | "never" | "cannot" | "yet" | "no" | "without");
    !is_denied
}

/// Returns the text from a word on, if a way follows it.
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

/// Returns what stands behind `Source:` or `See`, which shows where it can be looked up.
fn source(text: &str) -> Option<String> {
    let lower = text.to_ascii_lowercase();
    let marks = ["source:", "proof:", "derived:", "(see ", "see `", "see ["];
    let at = marks.iter().filter_map(|mark| Some((lower.find(mark)?, mark.len()))).min();
    let (at, length) = at?;
    in_cell(&text[at + length..]).map(|_| text[at..].trim_start_matches('(').trim().to_owned())
}
