//! Instructions for failed items: [`instructions`].

use schemars::JsonSchema;
use serde::Serialize;

use crate::checks;
use crate::gate_state::GateState;
use crate::gate_status::{GateStatus, ItemEffect};
use crate::headline::headline;
use crate::item::{ItemId, ItemResult, Scope};
use crate::sidecar::VerifiedBy;

/// The end of the finding for an item whose part of the plan is gone.
pub(crate) const GONE: &str = "is no longer in the plan; if the removal is intended, a person accepts it with \
     `assay gate decompose --again --phase PHASE --reason TEXT`.";

/// Instructions for fixing an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Instruction {
    /// The id of the item.
    pub id: ItemId,
    /// The text of the check.
    pub check: String,
    /// The defect in a few words.
    pub title: String,
    /// The scope of the item.
    pub scope: Scope,
    /// The finding, followed by the instruction.
    pub fix: String,
    /// The parts that the fix has to include.
    pub include: Vec<&'static str>,
}

/// Returns the instructions for the items that block a gate, and none for other items.
pub fn instructions(state: &GateState, status: &GateStatus) -> Vec<Instruction> {
    let blocking = status.lines.iter().filter(|line| line.effect == ItemEffect::Blocks);
    blocking
        .filter_map(|line| {
            let ItemResult::Fail(finding) = &line.item.result else { return None };
            let check = match state.note(&line.item.id).by {
                Some(VerifiedBy::Code(key)) => checks::named(&key),
                Some(VerifiedBy::Command(_)) | None => None,
            };
            let check = check.filter(|_| !finding.ends_with(GONE));
            let (what, include) = match check {
                Some(check) => (check.fix.told(&line.item.scope), check.fix.include.to_vec()),
                None => (String::new(), Vec::new()),
            };
            // The finding names the location. The fix follows it, so that the parts to include come
            // last.
            let fix = format!("{} {what}", finding.trim()).trim().to_owned();
            let (id, check) = (line.item.id.clone(), line.item.check.clone());
            let (title, scope) = (headline(&line.item), line.item.scope.clone());
            Some(Instruction { id, check, title, scope, fix, include })
        })
        .collect()
}
