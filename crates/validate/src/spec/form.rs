//! Recognises criteria by their form, below any heading: an id such as `AC-2`, a scenario, or a
//! sentence that is a claim about tests.

use super::claim::TestClaim;
use super::id::split_id;

/// Returns the id at the beginning of a line, with a mark around or behind it, as in `AC-2: …`;
/// `None` if there is none.
pub(super) fn introduced_by_id(line: &str) -> Option<String> {
    let (id, behind) = split_id(line)?;
    let is_marked = line.trim_start().starts_with(['*', '_', '[', '('])
        || behind.trim_start().starts_with([':', '.', ')', ']', '–', '—', '-', '|']);
    let says = behind.contains(char::is_alphanumeric);
    (is_marked && says).then_some(id)
}

/// Returns true if a text is a sentence of a scenario, `Given …, when …, then …`, or begins with
/// the title of one.
pub(super) fn is_scenario(text: &str) -> bool {
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let begins = |word: &str| words.first().is_some_and(|first| first == word);
    let has = |word: &str| words.iter().any(|it| it == word);
    (begins("given") && has("then")) || (begins("when") && has("then")) || begins_scenario(text)
}

/// Returns true if a text begins with the title of a scenario.
pub(super) fn begins_scenario(text: &str) -> bool {
    let lower = text.trim_start_matches(['*', '_', ' ', '#']).to_lowercase();
    ["scenario:", "scenario outline:", "scenario template:"]
        .iter()
        .any(|title| lower.starts_with(title))
}

/// Returns true if a whole text is a claim that tests or commands pass.
pub(super) fn is_claim(text: &str) -> bool {
    match TestClaim::read(text) {
        Some(TestClaim::Named { says_pass, .. }) => says_pass,
        Some(TestClaim::All { .. }) => true,
        None => false,
    }
}

/// Splits the lines of a feature into scenarios, each on one line, with the number of its first
/// line from 0. Steps without a scenario are a scenario of their own.
pub(super) fn scenarios(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut is_told = false;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '@']) {
            continue;
        }
        let lower = line.to_lowercase();
        if lower.starts_with("feature:") || lower.starts_with("rule:") {
            is_told = false;
            continue;
        }
        let is_step = ["given ", "when ", "then ", "and ", "but ", "* "]
            .iter()
            .any(|step| lower.starts_with(step));
        match found.last_mut().filter(|_| is_told) {
            Some((_, scenario)) if !begins_scenario(line) => {
                scenario.push_str(", ");
                scenario.push_str(line);
            }
            _ if begins_scenario(line) || is_step => {
                found.push((at, line.to_owned()));
                is_told = true;
            }
            // The description of a feature contains nothing testable.
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_introduces_a_line_only_with_a_mark_behind_it() {
        for (line, id) in [
            ("AC2: x", "ac2"),
            ("**AC-2** x", "ac2"),
            ("[AC-2.1] x", "ac2.1"),
            ("FR-001: x", "fr001"),
            ("AC 3 – x", "ac3"),
        ] {
            assert_eq!(introduced_by_id(line).as_deref(), Some(id), "{line}");
        }
        for line in ["AC-2 is about logins", "AC adapter: 5 V", "AC-2:", "Act 2: x", "ac2x: y"] {
            assert_eq!(introduced_by_id(line), None, "{line}");
        }
    }

    #[test]
    fn a_feature_has_one_criterion_for_each_scenario() {
        let feature = "Feature: Login\n  As a guest\n\n  @slow\n  Scenario: a\n    Given b\n    Then c\n\n  Scenario: d\n    Then e\n";
        assert_eq!(
            scenarios(feature),
            [(4, "Scenario: a, Given b, Then c".to_owned()), (8, "Scenario: d, Then e".to_owned())]
        );
        assert_eq!(scenarios("Given a\nThen b"), [(0, "Given a, Then b".to_owned())]);
    }
}
