//! The JSON answers of gate commands, with the same content as the text: `ListAnswer`,
//! `GateAnswer`, `GuideAnswer`, and their schemas.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use crate::attempt::LoopState;
use crate::beside::{Checklist, JournalEntry, ReleasedItem};
use crate::guide::Instruction;
use crate::item::{Item, ItemId, Severity};
use crate::phase::Phase;
use crate::standing::{Counts, Line, Outcome, Standing};
use crate::state::State;
use crate::verify::VerifiedGate;

/// The list of a gate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ListAnswer {
    phase: Phase,
    /// The number of items on the list.
    created: usize,
    /// True if the list existed before.
    was_there: bool,
    items: Vec<ListedItem>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ListedItem {
    #[serde(flatten)]
    item: Item,
    severity: Severity,
}

/// The status of a gate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GateAnswer {
    phase: Phase,
    #[schemars(extend("enum" = ["PASS", "FAIL"]))]
    status: &'static str,
    #[schemars(extend("enum" = ["pass", "fail", "open", "empty", "incomplete", "handed_over"]))]
    outcome: &'static str,
    /// The reasons why a person decides, or why the list is incomplete.
    reasons: Vec<String>,
    iteration: u32,
    loop_state: LoopState,
    counts: Counts,
    items: Vec<Line>,
    /// The items that were added because there is more to verify than before.
    added: Vec<ItemId>,
    /// The items that were removed because their subject is no longer there.
    retired: Vec<ItemId>,
    /// The items that were not verified this time, each with the reason.
    unseen: Vec<UnseenItem>,
    /// The source of the initial items of the list.
    checklist: Checklist,
    /// Items of earlier lists that a person released.
    released: Vec<ReleasedItem>,
    /// The differences between the list and its record, in words.
    altered: Vec<String>,
    /// Decisions of people about items, including those that have no effect any more.
    journal: Vec<JournalEntry>,
    /// True if no reader judges the change, because the configuration requires none.
    is_unjudged: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
struct UnseenItem {
    id: ItemId,
    why: String,
}

/// Instructions for the items that block a gate.
#[derive(Debug, Serialize, JsonSchema)]
pub struct GuideAnswer {
    phase: Phase,
    items: Vec<Instruction>,
}

impl ListAnswer {
    /// Returns the answer for a list.
    pub fn of(state: &State, was_there: bool) -> ListAnswer {
        let listed = |item: &Item| ListedItem {
            item: item.clone(),
            severity: state.note(&item.id).severity,
        };
        let items: Vec<ListedItem> = state.list.items().map(listed).collect();
        ListAnswer { phase: state.list.phase, created: items.len(), was_there, items }
    }
}

impl GateAnswer {
    /// Returns the answer for the status of a gate.
    pub fn of(phase: Phase, standing: &Standing) -> GateAnswer {
        let (outcome, reasons) = match &standing.outcome {
            Outcome::Pass => ("pass", Vec::new()),
            Outcome::Fail => ("fail", Vec::new()),
            Outcome::Open => ("open", Vec::new()),
            Outcome::Empty => ("empty", Vec::new()),
            Outcome::Incomplete(reasons) => ("incomplete", reasons.clone()),
            Outcome::HandedOver(reasons) => ("handed_over", reasons.clone()),
        };
        GateAnswer {
            phase,
            status: standing.status(),
            outcome,
            reasons,
            iteration: standing.attempt.iteration,
            loop_state: standing.attempt.state,
            counts: standing.counts(),
            items: standing.lines.clone(),
            added: Vec::new(),
            retired: Vec::new(),
            unseen: Vec::new(),
            checklist: standing.checklist,
            released: standing.released.clone(),
            altered: standing.altered.clone(),
            journal: standing.journal.clone(),
            is_unjudged: standing.is_unjudged,
        }
    }

    /// Returns the answer for the result of a verification.
    pub fn of_verified(phase: Phase, gate: &VerifiedGate) -> GateAnswer {
        let unseen = gate.unseen.iter().cloned();
        GateAnswer {
            added: gate.added.clone(),
            retired: gate.retired.clone(),
            unseen: unseen.map(|(id, why)| UnseenItem { id, why }).collect(),
            ..GateAnswer::of(phase, &gate.standing)
        }
    }
}

impl GuideAnswer {
    /// Returns the answer for the instructions of a gate.
    pub fn of(phase: Phase, instructions: &[Instruction]) -> GuideAnswer {
        GuideAnswer { phase, items: instructions.to_vec() }
    }
}

/// The names of the schemas.
pub const SCHEMAS: [&str; 3] = ["gate", "gate-list", "gate-guide"];

/// Returns the JSON schema with a name; `None` if there is none.
pub fn schema(name: &str) -> Option<Value> {
    // Items are deserialised from another form than they are serialised to.
    let generator = SchemaSettings::default().for_serialize().into_generator();
    let schema = match name {
        "gate" => generator.into_root_schema_for::<GateAnswer>(),
        "gate-list" => generator.into_root_schema_for::<ListAnswer>(),
        "gate-guide" => generator.into_root_schema_for::<GuideAnswer>(),
        _ => return None,
    };
    Some(schema.to_value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_has_the_fields_that_are_written() {
        let list = &schema("gate-list").unwrap()["$defs"]["ListedItem"]["properties"];
        for field in ["id", "scope", "check", "status", "finding", "severity"] {
            assert!(list.get(field).is_some(), "{field}: {list}");
        }
        assert!(list.get("result").is_none(), "{list}");
    }
}
