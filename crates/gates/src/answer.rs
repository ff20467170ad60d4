//! The JSON answers of gate commands, with the same content as the text: `ListAnswer`,
//! `GateAnswer`, `GuideAnswer`, and their schemas.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use crate::attempt::AttemptState;
use crate::gate_state::GateState;
use crate::gate_status::{Counts, GateOutcome, GateStatus, ItemStatus};
use crate::guide::Instruction;
use crate::item::{Item, ItemId, Severity};
use crate::phase::Phase;
use crate::sidecar::{ChecklistSource, JournalEntry, ReleasedItem};
use crate::verify::GateVerification;

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
    #[schemars(extend("enum" = GateOutcome::WORDS))]
    outcome: &'static str,
    /// The reasons why a person decides, or why the list is incomplete.
    reasons: Vec<String>,
    iteration: u32,
    loop_state: AttemptState,
    counts: Counts,
    items: Vec<ItemStatus>,
    /// The items that were added because there is more to verify than before.
    added: Vec<ItemId>,
    /// The items that were removed because their subject is no longer there.
    retired: Vec<ItemId>,
    /// The items that were not verified this time, each with the reason.
    unseen: Vec<UnseenItem>,
    /// The source of the initial items of the list.
    checklist: ChecklistSource,
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
    pub fn of(state: &GateState, was_there: bool) -> ListAnswer {
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
    pub fn of(phase: Phase, status: &GateStatus) -> GateAnswer {
        GateAnswer {
            phase,
            status: status.status(),
            outcome: status.outcome.word(),
            reasons: status.outcome.reasons().to_vec(),
            iteration: status.attempt.iteration,
            loop_state: status.attempt.state,
            counts: status.counts(),
            items: status.lines.clone(),
            added: Vec::new(),
            retired: Vec::new(),
            unseen: Vec::new(),
            checklist: status.checklist,
            released: status.released.clone(),
            altered: status.altered.clone(),
            journal: status.journal.clone(),
            is_unjudged: status.is_unjudged,
        }
    }

    /// Returns the answer for the result of a verification.
    pub fn of_verified(phase: Phase, gate: &GateVerification) -> GateAnswer {
        let unseen = gate.unseen.iter().cloned();
        GateAnswer {
            added: gate.added.clone(),
            retired: gate.retired.clone(),
            unseen: unseen.map(|(id, why)| UnseenItem { id, why }).collect(),
            ..GateAnswer::of(phase, &gate.status)
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
