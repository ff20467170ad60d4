//! Checks faults that a formatter would find, and conflict markers.

use std::collections::BTreeMap;

use crate::checks::markers::markers;
use crate::checks::plan_helpers::{at, lines_of_text, on_plan, whole};
use crate::checks::{Target, whitespace};
use crate::item::Scope;
use crate::quote::quoted;
use crate::result::{CheckResult, listed};
use crate::subject::Subject;

/// Returns the whole plan as a target if it is Markdown: JSON has no layout to check.
pub(super) fn whole_markdown(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let is_markdown = subject.plan.is_some_and(|(plan, _)| plan.is_markdown);
    if is_markdown { whole(subject, check) } else { Vec::new() }
}

/// Checks that the plan has no conflict markers. Between fences they are an example.
pub(super) fn look_for_conflicts(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let found = markers(lines_of_text(plan), true).into_iter();
        let told = found.map(|(number, line)| format!("{}{}", quoted(line), at(plan, number)));
        CheckResult::under("Merge conflict markers are left", told.collect())
    })
}

/// Checks that no heading is more than one level below the one before.
pub(super) fn look_at_headings(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let pairs = plan.headings.iter().zip(plan.headings.iter().skip(1));
        let skips = pairs.filter(|(before, heading)| heading.level > before.level + 1);
        let told = skips.map(|(before, heading)| {
            let (text, line) = (quoted(&heading.text), at(plan, heading.line));
            format!("{text} goes from level {} to {}{line}", before.level, heading.level)
        });
        CheckResult::under("Headings skip a level", told.collect())
    })
}

/// Checks that all fences are closed.
pub(super) fn look_at_fences(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let open = plan.fences.iter().filter(|fence| !fence.is_closed);
        let told = open.map(|fence| format!("line {}", fence.first));
        CheckResult::under("Fences are not closed", told.collect())
    })
}

/// Checks that no line has invisible white space, and counts those that have.
pub(super) fn look_at_white_space(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let mut faults: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (number, line) in lines_of_text(plan) {
            if let Some(fault) = whitespace::fault("plan.md", line) {
                faults.entry(fault).or_default().push(number.to_string());
            }
        }
        let told = faults.into_iter();
        let told =
            told.map(|(what, lines)| format!("{} with {what} ({})", lines.len(), listed(&lines)));
        CheckResult::under("Stray white space in lines", told.collect())
    })
}
