//! Misspelt keys: [`correct`] renames a key that is one slip away from a key of a finding or a
//! report, if the object has no such key.

use std::borrow::Cow;

use super::json::Json;
use super::keys::KEYS;

/// Keys of a report.
const REPORT_KEYS: [&str; 7] =
    ["findings", "issues", "issues_found", "reviewer", "verdict", "approved", "summary"];

/// Keys of a finding that decide how the finding is handled.
const FINDING_KEYS: [&str; 10] = [
    "severity", "title", "description", "why_it_matters", "file", "line", "line_number",
    "confidence", "evidence", "pre_existing",
];

/// Corrects the keys of all objects of a value; returns true if any was misspelt.
pub(super) fn correct(value: &mut Json<'_>) -> bool {
    let mut corrected = false;
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Json::Object(entries) => {
                corrected |= correct_object(entries);
                waiting.extend(entries.iter_mut().map(|(_, inner)| inner));
            }
            Json::Array(items) => waiting.extend(items),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Text(_) => {}
        }
    }
    corrected
}

fn correct_object(entries: &mut [(Cow<'_, str>, Json<'_>)]) -> bool {
    let mut corrected = false;
    for at in 0..entries.len() {
        let (key, value) = &entries[at];
        let Some(meant) = intended_key(key, value) else { continue };
        let is_there = entries.iter().any(|(other, _)| other.eq_ignore_ascii_case(meant));
        if !is_there {
            entries[at].0 = Cow::Borrowed(meant);
            corrected = true;
        }
    }
    corrected
}

/// Returns the correct spelling of a misspelt key, if the value is possible for that key.
fn intended_key(key: &str, value: &Json<'_>) -> Option<&'static str> {
    // The usual keys need no comparison.
    if KEYS.contains(&key) || !(3..=16).contains(&key.len()) || !key.is_ascii() {
        return None;
    }
    let names = REPORT_KEYS.iter().chain(&FINDING_KEYS);
    let mut near = names.filter(|name| accepts_value(name, value) && is_one_slip_away(key, name));
    let meant = near.next()?;
    near.next().is_none().then_some(*meant)
}

/// Returns true if a value is possible for a key.
fn accepts_value(key: &str, value: &Json<'_>) -> bool {
    match key {
        "findings" | "issues" | "issues_found" => {
            matches!(value, Json::Array(_) | Json::Object(_))
        }
        "evidence" => matches!(value, Json::Array(_) | Json::Text(_)),
        "line" | "line_number" | "confidence" => matches!(value, Json::Number(_) | Json::Text(_)),
        "pre_existing" | "approved" => matches!(value, Json::Bool(_)),
        _ => matches!(value, Json::Text(_)),
    }
}

/// Returns true if two words differ by one added, removed or replaced letter, or by two exchanged
/// letters. Upper and lower case make no difference.
fn is_one_slip_away(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let (short, long) = (short.as_bytes(), long.as_bytes());
    if long.len() - short.len() > 1 {
        return false;
    }
    let same = |(x, y): (&u8, &u8)| x.eq_ignore_ascii_case(y);
    let start = short.iter().zip(long).take_while(|pair| same(*pair)).count();
    let rest = (&short[start..], &long[start..]);
    let equal = |x: &[u8], y: &[u8]| x.eq_ignore_ascii_case(y);
    if short.len() < long.len() {
        return equal(rest.0, &rest.1[1..]);
    }
    match rest {
        ([], []) => false,
        ([_, x @ ..], [_, y @ ..]) if equal(x, y) => true,
        ([a, b, x @ ..], [c, d, y @ ..]) => {
            a.eq_ignore_ascii_case(d) && b.eq_ignore_ascii_case(c) && equal(x, y)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_an_added_missing_replaced_or_swapped_letter() {
        for key in ["severty", "sevverity", "sevexity", "sevreity", "SEVERTY", "severitys"] {
            assert!(is_one_slip_away(key, "severity"), "{key}");
        }
        for key in ["severity", "level", "sverty", "severityabc", "verity"] {
            assert!(!is_one_slip_away(key, "severity"), "{key}");
        }
    }

    #[test]
    fn a_misspelt_key_does_not_replace_the_correct_one() {
        let text = |text: &'static str| Json::Text(Cow::Borrowed(text));
        let mut value = Json::Object(vec![
            (Cow::Borrowed("severity"), text("P0")),
            (Cow::Borrowed("severit"), text("P3")),
        ]);
        assert!(!correct(&mut value));
    }
}
