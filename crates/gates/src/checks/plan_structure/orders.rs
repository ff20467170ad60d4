//! Orders to reviewers in the text of a plan: [`look`].

use assay_rules::injection_in;

use crate::checks::say::{at, on_plan};
use crate::item::Scope;
use crate::quote::quoted;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Looks for words that address a reviewer. Models are not asked about such a plan.
pub(super) fn look(subject: &Subject<'_>, _: &Scope) -> CheckResult {
    on_plan(subject, |plan| {
        let found = injection_in(&plan.text);
        let told = found
            .iter()
            .map(|order| format!("{}{}", quoted(&order.shown), at(plan, order.lines.start())));
        CheckResult::under("The plan gives orders to whoever reviews it", told.collect())
    })
}
