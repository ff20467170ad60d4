//! Finds instructions to reviewers in the text of a plan: [`look`].

use assay_rules::find_injections;

use crate::checks::plan_helpers::{at, on_plan};
use crate::item::Scope;
use crate::quote::quoted;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Checks that the plan has no instructions to a reviewer (prompt injection). Such a plan is not
/// sent to models.
pub(super) fn look(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let found = find_injections(&plan.text);
        let told = found
            .iter()
            .map(|order| format!("{}{}", quoted(&order.shown), at(plan, order.lines.start())));
        CheckResult::under("The plan contains instructions to its reviewers", told.collect())
    })
}
