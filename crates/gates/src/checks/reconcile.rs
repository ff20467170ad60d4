//! The checks of phase `reconcile`: each milestone of the plan is compared with the written code.

use super::{Check, Fix, Target};
use crate::item::{Scope, Severity};
use crate::quote::{named, quoted, shown};
use crate::reconcile::{Answer, CriterionResult, MilestoneResult, WHOLE_PLAN};
use crate::result::{CheckResult, listed};
use crate::subject::Subject;

const DELIVER: Fix = Fix {
    what: "Meet the named criteria, or ask a person to change the plan.",
    include: &["The file and line that show each criterion"],
};

pub(super) static CHECKS: [Check; 2] = [
    Check { key: "reconcile/milestone", severity: Severity::Must, targets, run, fix: DELIVER },
    Check {
        key: "reconcile/plan",
        severity: Severity::Must,
        targets: |subject| {
            let has_criteria = subject.plan.is_some_and(|(plan, _)| !plan.criteria.is_empty());
            let check = "Check that the criteria of the plan as a whole are met".to_owned();
            let target = Target { scope: Scope::Other(WHOLE_PLAN.to_owned()), check };
            has_criteria.then_some(target).into_iter().collect()
        },
        run: look_at_the_plan,
        fix: DELIVER,
    },
];

fn targets(subject: &Subject<'_>) -> Vec<Target> {
    let milestones = subject.plan.into_iter().flat_map(|(plan, _)| &plan.milestones);
    Target::milestones(milestones, |id| format!("Check that milestone {id} was delivered"))
}

/// Checks all milestones with an id: each must be delivered.
fn run(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let (Some(reconciled), Scope::Milestone(id)) = (subject.reconciled(), scope) else {
        return CheckResult::NotChecked(format!(
            "there is no plan for `{}`",
            shown(&scope.to_string())
        ));
    };
    let places = subject.places_of(id).iter();
    let found: Vec<&MilestoneResult> =
        places.filter_map(|at| reconciled.milestones.get(*at)).collect();
    if found.is_empty() {
        return CheckResult::Fail(format!(
            "Milestone {} is no longer in the plan; if that is intended, create a new list.",
            named(id)
        ));
    }
    if found.iter().any(|milestone| milestone.criteria.is_empty()) {
        return CheckResult::of(vec![format!("milestone {id} has no acceptance criteria")]);
    }
    seen_of(&found)
}

fn look_at_the_plan(subject: &Subject<'_>, scope: &Scope) -> CheckResult {
    let Some((reconciled, (plan, _))) = subject.reconciled().zip(subject.plan) else {
        return CheckResult::NotChecked(format!(
            "there is no plan for `{}`",
            shown(&scope.to_string())
        ));
    };
    seen_of(&reconciled.milestones.iter().skip(plan.milestones.len()).collect::<Vec<_>>())
}

/// Returns the combined result of the criteria of several milestones.
fn seen_of(found: &[&MilestoneResult]) -> CheckResult {
    let criteria = || found.iter().flat_map(|milestone| &milestone.criteria);
    let not_met = criteria().filter_map(|criterion| match &criterion.answer {
        Answer::NotMet { why } => Some(told(criterion, why)),
        Answer::Met { .. } | Answer::CannotTell { .. } => None,
    });
    let not_met: Vec<String> = not_met.collect();
    if !not_met.is_empty() {
        return CheckResult::of(not_met);
    }
    let open = criteria().filter_map(|criterion| match &criterion.answer {
        Answer::CannotTell { why } => Some(told(criterion, why)),
        Answer::Met { .. } | Answer::NotMet { .. } => None,
    });
    let open: Vec<String> = open.collect();
    match open.is_empty() {
        true => CheckResult::Pass,
        false => CheckResult::NotChecked(listed(&open)),
    }
}

fn told(criterion: &CriterionResult, why: &str) -> String {
    let (text, why) = (quoted(&criterion.text), shown(why));
    match criterion.line {
        0 => format!("{text}: {why}"),
        line => format!("{text} (line {line} of the plan): {why}"),
    }
}
