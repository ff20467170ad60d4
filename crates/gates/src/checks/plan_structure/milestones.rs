//! Checks milestones: their existence, order, size, files and tests.

use std::collections::{HashMap, HashSet};

use crate::checks::Target;
use crate::checks::plan_helpers::{at, on_plan};
use crate::file_kinds::is_document;
use crate::item::Scope;
use crate::plan::{Milestone, Plan};
use crate::quote::{named, quoted};
use crate::result::{CheckResult, listed};
use crate::subject::Subject;

/// Maximum number of criteria that can be verified at once.
const MAX_CRITERIA: usize = 12;

/// Maximum number of files that can be reviewed as one change.
const MAX_FILES: usize = 20;

/// Maximum number of milestones; a larger plan fails and is not checked further.
const MAX_MILESTONES: usize = 500;

/// Returns a target for each milestone, up to `MAX_MILESTONES`.
pub(super) fn each(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let Some((plan, _)) = subject.plan else { return Vec::new() };
    let mut targets = Target::milestones(plan.milestones.iter(), |id| format!("{check} {id}"));
    targets.truncate(MAX_MILESTONES);
    targets
}

/// Checks all milestones with the id that a scope names.
pub(super) fn look_at(
    subject: &Subject<'_>,
    scope: &Scope,
    run: impl Fn(&Plan, &Milestone) -> CheckResult,
) -> CheckResult {
    on_plan(subject, |plan| {
        let Scope::Milestone(id) = scope else {
            return CheckResult::NotChecked(format!(
                "The scope {} is not a milestone.",
                quoted(&scope.to_string())
            ));
        };
        let mut found = plan.named(id).map(|milestone| run(plan, milestone)).peekable();
        if found.peek().is_none() {
            let id = named(id);
            return CheckResult::Fail(format!(
                "Milestone {id} is no longer in the plan, so it cannot be verified."
            ));
        }
        found.find(|seen| *seen != CheckResult::Pass).unwrap_or(CheckResult::Pass)
    })
}

/// Checks that there are milestones, each with a unique id.
pub(super) fn look_at_ids(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        if plan.milestones.is_empty() {
            return CheckResult::Fail("The plan has no milestones.".to_owned());
        }
        if plan.milestones.len() > MAX_MILESTONES {
            let count = plan.milestones.len();
            return CheckResult::Fail(format!(
                "The plan has {count} milestones, at most {MAX_MILESTONES}."
            ));
        }
        let mut first: HashMap<&str, &Milestone> = HashMap::new();
        let mut twice = Vec::new();
        for milestone in &plan.milestones {
            if let Some(other) = first.get(milestone.id.as_str()) {
                let (one, two) = (quoted(&other.title), quoted(&milestone.title));
                let line = at(plan, milestone.line);
                twice.push(format!("{} is {one} and {two}{line}", milestone.id));
            } else {
                first.insert(&milestone.id, milestone);
            }
        }
        let unread = plan.unread.iter().map(ToString::to_string).collect();
        match CheckResult::under("Milestones share an id", twice) {
            CheckResult::Pass => CheckResult::under("Parts of the plan are not read", unread),
            seen @ (CheckResult::Fail(_) | CheckResult::NotChecked(_)) => seen,
        }
    })
}

/// Checks that milestones depend on existing ones, and not on each other in a circle.
pub(super) fn look_at_order(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let known: HashSet<&str> = plan.milestones.iter().map(|m| m.id.as_str()).collect();
        let mut problems = Vec::new();
        for milestone in &plan.milestones {
            for id in milestone.needs.iter().filter(|id| !known.contains(id.as_str())) {
                let line = at(plan, milestone.line);
                problems.push(format!(
                    "{} depends on {}, which is not in the plan{line}",
                    milestone.id,
                    quoted(id)
                ));
            }
        }
        if let Some(circle) = circle(plan) {
            problems.push(format!("milestones depend on each other: {circle}"));
        }
        CheckResult::under("Invalid dependencies", problems)
    })
}

/// Returns a circle of milestones that depend on each other, as `M1 → M2 → M1`; `None` if there is
/// none.
fn circle(plan: &Plan) -> Option<String> {
    let mut waits: HashMap<&str, Vec<&str>> = HashMap::new();
    for milestone in &plan.milestones {
        let needs = milestone.needs.iter().map(String::as_str);
        waits.entry(&milestone.id).or_default().extend(needs);
    }
    // The path to the current milestone, each entry with the number of its dependencies that were
    // followed.
    let mut way: Vec<(&str, usize)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut visited: HashSet<&str> = HashSet::new();
    for start in plan.milestones.iter().map(|milestone| milestone.id.as_str()) {
        if visited.insert(start) {
            places.insert(start, 0);
            way.push((start, 0));
        }
        while let Some((id, followed)) = way.last_mut() {
            let need = waits.get(id).and_then(|needs| needs.get(*followed)).copied();
            let Some(need) = need else {
                places.remove(id);
                way.pop();
                continue;
            };
            *followed += 1;
            if let Some(begin) = places.get(need) {
                let mut told: Vec<&str> = way[*begin..].iter().map(|(id, _)| *id).collect();
                told.push(need);
                return Some(shortened(&told));
            }
            if waits.contains_key(need) && visited.insert(need) {
                places.insert(need, way.len());
                way.push((need, 0));
            }
        }
    }
    None
}

/// Formats a circle; a long one is truncated.
fn shortened(circle: &[&str]) -> String {
    const MAX: usize = 12;
    let told = circle.iter().take(MAX).copied().collect::<Vec<_>>().join(" → ");
    if circle.len() > MAX {
        format!("{told} → … ({} milestones)", circle.len() - 1)
    } else {
        told
    }
}

/// Checks that a milestone names files.
pub(super) fn look_for_files(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    look_at(subject, scope, |_, milestone| {
        if milestone.files.is_empty() {
            CheckResult::Fail(
                "No files named. The milestone does not state which files it touches.".to_owned(),
            )
        } else {
            CheckResult::Pass
        }
    })
}

/// Checks that a milestone, or one of its criteria, names tests. A milestone that only touches
/// documents needs none.
pub(super) fn look_for_tests(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    look_at(subject, scope, |_, milestone| {
        let in_criteria = milestone.criteria.iter().any(|criterion| names_a_test(&criterion.text));
        let is_documents =
            !milestone.files.is_empty() && milestone.files.iter().all(|f| is_document(f));
        if in_criteria || is_documents || !milestone.tests.is_empty() {
            CheckResult::Pass
        } else {
            CheckResult::Fail(
                "No tests named, neither for the milestone nor in its criteria.".to_owned(),
            )
        }
    })
}

fn names_a_test(text: &str) -> bool {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).any(|word| {
        word.contains("test")
            && !["latest", "attest", "contest", "protest", "testament"].contains(&word)
            || matches!(word, "spec" | "specs" | "benchmark" | "benchmarks" | "bench")
    })
}

/// Checks that no two milestones have the same title, and no two criteria of a milestone the same
/// text.
pub(super) fn look_for_duplicates(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let mut twice = Vec::new();
        let titles = plan.milestones.iter().filter(|milestone| !milestone.title.is_empty());
        for (one, two) in doubles(titles, |milestone| &milestone.title) {
            let line = at(plan, two.line);
            twice.push(format!("{} and {} are both {}{line}", one.id, two.id, quoted(&two.title)));
        }
        for milestone in &plan.milestones {
            for (_, two) in doubles(milestone.criteria.iter(), |criterion| &criterion.text) {
                let line = at(plan, two.line);
                twice.push(format!(
                    "{} has the criterion {} twice{line}",
                    milestone.id,
                    quoted(&two.text)
                ));
            }
        }
        CheckResult::under("Duplicates", twice)
    })
}

/// Returns each item whose text occurred before, with the first item that had it.
fn doubles<'a, T>(
    things: impl Iterator<Item = &'a T>,
    text: fn(&T) -> &str,
) -> Vec<(&'a T, &'a T)> {
    let mut first: HashMap<String, &T> = HashMap::new();
    let mut doubles = Vec::new();
    for thing in things {
        let words =
            text(thing).split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let folded = words.map(str::to_lowercase).collect::<Vec<_>>().join(" ");
        match first.get(&folded) {
            Some(one) if !folded.is_empty() => doubles.push((*one, thing)),
            _ => {
                first.insert(folded, thing);
            }
        }
    }
    doubles
}

/// Checks that no milestone is too large.
pub(super) fn look_at_size(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let mut large = Vec::new();
        for milestone in &plan.milestones {
            let counts = [
                (milestone.criteria.len(), MAX_CRITERIA, "criteria"),
                (milestone.files.len(), MAX_FILES, "files"),
            ];
            let over: Vec<String> = counts
                .into_iter()
                .filter(|(count, max, _)| count > max)
                .map(|(count, max, what)| format!("{count} {what}, at most {max}"))
                .collect();
            if !over.is_empty() {
                large.push(format!(
                    "{} has {}{}",
                    milestone.id,
                    listed(&over),
                    at(plan, milestone.line)
                ));
            }
        }
        CheckResult::under("Milestones are too large", large)
    })
}
