//! How a check tells what it saw: in one line, with few words from the plan and all numbers.

use super::{Seen, Target};
use crate::plan::{Fence, Plan};
use crate::subject::Subject;

/// So many places are told; the others are counted.
const MAX_TOLD: usize = 10;

/// Returns the one target that is the whole plan.
pub(super) fn whole(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    subject.plan.map(|_| Target::whole(check)).into_iter().collect()
}

/// Looks at the plan, where there is one.
pub(super) fn on_plan(subject: &Subject<'_>, look: impl FnOnce(&Plan) -> Seen) -> Seen {
    match subject.plan {
        Some((plan, _)) => look(plan),
        None => Seen::Unseen("There is no plan to look at.".to_owned()),
    }
}

/// Looks at what a plan has done. Where it has no milestones there is nothing of which anything could
/// hold, but what is wrong is told.
pub(super) fn on_milestones(subject: &Subject<'_>, look: impl FnOnce(&Plan) -> Seen) -> Seen {
    on_plan(subject, |plan| match look(plan) {
        Seen::Holds if plan.milestones.is_empty() => {
            Seen::Unseen("The plan has no milestones.".to_owned())
        }
        seen @ (Seen::Holds | Seen::Fails(_) | Seen::Unseen(_)) => seen,
    })
}

/// Returns the first of some texts, and how many others there are.
pub(super) fn listed(texts: &[String]) -> String {
    let mut told = texts.iter().take(MAX_TOLD).cloned().collect::<Vec<_>>().join("; ");
    if texts.len() > MAX_TOLD {
        told.push_str(&format!("; and {} more", texts.len() - MAX_TOLD));
    }
    told
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
