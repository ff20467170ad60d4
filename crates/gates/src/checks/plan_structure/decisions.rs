//! Checks the knowledge that is lost with the author of a plan: reasons of decisions, and evidence
//! for assumptions.

use std::collections::HashSet;

use crate::checks::Target;
use crate::checks::plan_helpers::{at, on_plan, whole};
use crate::item::Scope;
use crate::plan::Decision;
use crate::quote::{named, quoted};
use crate::result::CheckResult;
use crate::subject::Subject;

/// Maximum number of decisions; a longer log fails and is not checked further.
const MAX_DECISIONS: usize = 500;

/// Returns a target for each decision, up to `MAX_DECISIONS`.
pub(super) fn each_decision(subject: &Subject<'_>) -> Vec<Target> {
    let Some((plan, _)) = subject.plan else { return Vec::new() };
    let mut seen = HashSet::new();
    let decisions = plan.decisions.iter().filter(|decision| seen.insert(decision.id.as_str()));
    let target = |decision: &Decision| Target {
        scope: Scope::Decision(decision.id.clone()),
        check: format!("Verify that decision {} has its reason", decision.id),
    };
    decisions.take(MAX_DECISIONS).map(target).collect()
}

/// Returns the whole plan as a target if it has more than `MAX_DECISIONS` decisions.
pub(super) fn too_many(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    let count = subject.plan.map_or(0, |(plan, _)| plan.decisions.len());
    if count > MAX_DECISIONS { whole(subject, check) } else { Vec::new() }
}

/// Checks that the plan has at most `MAX_DECISIONS` decisions.
pub(super) fn look_at_their_number(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| match plan.decisions.len() {
        count if count > MAX_DECISIONS => {
            CheckResult::Fail(format!("The plan has {count} decisions, at most {MAX_DECISIONS}."))
        }
        _ => CheckResult::Pass,
    })
}

/// Checks that a decision has a reason.
pub(super) fn look_for_a_reason(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let Scope::Decision(id) = scope else {
            return CheckResult::NotChecked(format!(
                "The scope {} is not a decision.",
                quoted(&scope.to_string())
            ));
        };
        let mut found = plan.decisions.iter().filter(|decision| decision.id == *id).peekable();
        if found.peek().is_none() {
            let id = named(id);
            return CheckResult::Fail(format!(
                "Decision {id} and its reason are no longer in the plan."
            ));
        }
        match found.find(|decision| decision.reason.is_empty()) {
            Some(decision) => {
                let (what, line) = (quoted(&decision.decision), at(plan, decision.line));
                CheckResult::Fail(format!(
                    "Reason missing: {what} does not say why it was decided{line}."
                ))
            }
            None => CheckResult::Pass,
        }
    })
}

/// Checks that all assumptions have evidence.
pub(super) fn look_at_assumptions(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let bare = plan.assumptions.iter().filter(|assumption| assumption.evidence.is_none());
        let told = bare.map(|one| format!("{}{}", quoted(&one.text), at(plan, one.line)));
        CheckResult::under("Assumptions are not validated", told.collect())
    })
}
