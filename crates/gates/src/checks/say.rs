//! How a check tells what it saw: in one line, with few words from the plan and all numbers.

use super::Target;
use crate::plan::{Fence, Plan};
use crate::result::CheckResult;
use crate::subject::Subject;

/// Returns the one target that is the whole plan.
pub(super) fn whole(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    subject.plan.map(|_| Target::whole(check)).into_iter().collect()
}

/// Looks at the plan, where there is one.
pub(super) fn on_plan(
    subject: &Subject<'_>,
    look: impl FnOnce(&Plan) -> CheckResult,
) -> CheckResult {
    match subject.plan {
        Some((plan, _)) => look(plan),
        None => CheckResult::NotChecked("There is no plan to look at.".to_owned()),
    }
}

/// Looks at what a plan has done. Where it has no milestones there is nothing of which anything could
/// hold, but what is wrong is told.
pub(super) fn on_milestones(
    subject: &Subject<'_>,
    look: impl FnOnce(&Plan) -> CheckResult,
) -> CheckResult {
    on_plan(subject, |plan| match look(plan) {
        CheckResult::Pass if plan.milestones.is_empty() => {
            CheckResult::NotChecked("The plan has no milestones.".to_owned())
        }
        seen @ (CheckResult::Pass | CheckResult::Fail(_) | CheckResult::NotChecked(_)) => seen,
    })
}

/// Tells on which line something stands, where lines are known.
pub(super) fn at(plan: &Plan, line: u32) -> String {
    if plan.is_markdown && line > 0 { format!(" (line {line})") } else { String::new() }
}

/// Returns true if a line is one of code, in a block that is closed.
pub(super) fn is_code(plan: &Plan, line: u32) -> bool {
    Fence::any_closed(&plan.fences, line)
}

/// Returns the lines of the plan that are not code, with their numbers.
pub(super) fn lines_of_text(plan: &Plan) -> impl Iterator<Item = (u32, &str)> {
    let numbered = (1..).zip(plan.text.split('\n'));
    numbered.filter(|(number, _)| !is_code(plan, *number))
}
