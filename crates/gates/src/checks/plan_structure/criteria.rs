//! Checks acceptance criteria: they must exist, and be verifiable.

use super::milestones::look_at;
use crate::checks::plan_helpers::{at, on_plan};
use crate::item::Scope;
use crate::quote::quoted;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Words of praise that describe nothing observable.
const VAGUE: [&str; 22] = [
    "work", "works", "worked", "working", "good", "done", "complete", "completed", "fast", "clean",
    "robust", "stable", "better", "improved", "nice", "finished", "ok", "okay", "fine",
    "implemented", "ready", "correct",
];

/// Words that add no meaning.
const FILLERS: [&str; 25] = [
    "correctly", "properly", "fine", "well", "as", "expected", "intended", "fully", "all", "is",
    "are", "it", "the", "everything", "code", "feature", "looks", "and", "be", "should", "a",
    "very", "now", "smoothly", "must",
];

/// Maximum number of words of a vague criterion; a longer one is specific enough.
const MAX_VAGUE_WORDS: usize = 5;

/// Checks that a milestone has criteria.
pub(super) fn look_for_any(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    look_at(subject, scope, |_, milestone| {
        if milestone.criteria.is_empty() {
            let text =
                "Acceptance criteria missing. Need success conditions and verification steps.";
            CheckResult::Fail(text.to_owned())
        } else {
            CheckResult::Pass
        }
    })
}

/// Checks that no criterion is too vague to be verified.
pub(super) fn look_for_vague_ones(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let mut vague = Vec::new();
        for milestone in &plan.milestones {
            for criterion in milestone.criteria.iter().filter(|criterion| is_vague(&criterion.text))
            {
                let line = at(plan, criterion.line);
                vague.push(format!("{} in {}{line}", quoted(&criterion.text), milestone.id));
            }
        }
        CheckResult::under("These criteria cannot be verified", vague)
    })
}

/// Returns true if a criterion is similar to `works as expected`, or has an open end such as `etc`.
fn is_vague(text: &str) -> bool {
    // A command, a number or a name in code is verifiable.
    if text.contains('`') || text.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let lower = text.to_lowercase();
    let ending = lower.trim_end_matches(['.', ' ', ')', ']']);
    if ending.ends_with(" etc") || ending == "etc" || ending.ends_with("and so on") {
        return true;
    }
    let words: Vec<&str> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MAX_VAGUE_WORDS + 1)
        .collect();
    let rest: Vec<&str> = words.iter().copied().filter(|word| !FILLERS.contains(word)).collect();
    match (words.len() <= MAX_VAGUE_WORDS, rest.as_slice()) {
        (true, []) => !words.is_empty(),
        // `Login works`: a subject, and nothing observable.
        (true, [only]) => VAGUE.contains(only),
        (true, [_, last]) => {
            VAGUE.contains(last) && words.last().is_some_and(|w| w == last || FILLERS.contains(w))
        }
        _ => false,
    }
}
