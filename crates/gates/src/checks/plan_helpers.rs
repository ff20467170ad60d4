//! Helpers for checks of a plan: targets, locations, and lines without code.

use super::Target;
use crate::plan::{Fence, Plan};
use crate::result::CheckResult;
use crate::subject::Subject;

/// Returns the whole plan as the only target; empty if there is no plan.
pub(super) fn whole(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    subject.plan.map(|_| Target::whole(check)).into_iter().collect()
}

/// Runs a check on the plan; returns `NotChecked` if there is none.
pub(super) fn on_plan(
    subject: &Subject<'_>,
    run: impl FnOnce(&Plan) -> CheckResult,
) -> CheckResult {
    match subject.plan {
        Some((plan, _)) => run(plan),
        None => CheckResult::NotChecked("There is no plan.".to_owned()),
    }
}

/// Runs a check on a plan with milestones. Without milestones there is nothing that could pass, but
/// a failure is still reported.
pub(super) fn on_milestones(
    subject: &Subject<'_>,
    run: impl FnOnce(&Plan) -> CheckResult,
) -> CheckResult {
    on_plan(subject, |plan| match run(plan) {
        CheckResult::Pass if plan.milestones.is_empty() => {
            CheckResult::NotChecked("The plan has no milestones.".to_owned())
        }
        seen @ (CheckResult::Pass | CheckResult::Fail(_) | CheckResult::NotChecked(_)) => seen,
    })
}

/// Formats the line number of a location; empty if line numbers are unknown.
pub(super) fn at(plan: &Plan, line: u32) -> String {
    if plan.is_markdown && line > 0 { format!(" (line {line})") } else { String::new() }
}

/// Returns true if a line is in a closed code block.
pub(super) fn is_code(plan: &Plan, line: u32) -> bool {
    Fence::any_closed(&plan.fences, line)
}

/// Returns the lines of the plan that are not code, with their numbers.
pub(super) fn lines_of_text(plan: &Plan) -> impl Iterator<Item = (u32, &str)> {
    let numbered = (1..).zip(plan.text.split('\n'));
    numbered.filter(|(number, _)| !is_code(plan, *number))
}
