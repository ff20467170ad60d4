//! The sidecar of a gate's list, `qr-{phase}.state.json`: [`Sidecar`].
//!
//! People and agents may write the list. The sidecar is sealed, so it decides. It has each item as
//! it was listed, its result and severity, the content of the last verification, and the contents
//! on which the item failed. If the list differs, [`crate::record`] uses the worse of the two.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::attempt::AttemptResult;
use crate::digest::Digest;
use crate::item::{ItemId, ItemResult, Severity};
use crate::phase::Phase;
use crate::plan_requirements::{PlanRequirements, REQUIREMENT};

/// The schema version that is read and written.
const SCHEMA_VERSION: &str = "2.0";

/// The sidecar of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sidecar {
    schema_version: String,
    phase: Phase,
    /// The inputs of the list.
    #[serde(rename = "made_from")]
    pub inputs: GateInputs,
    /// The number of the attempt, from 1.
    pub iteration: u32,
    /// The last complete verification; `None` if there is none.
    pub last: Option<LastVerification>,
    /// The contents on which complete verifications failed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub failed: BTreeSet<Digest>,
    /// The contents on which complete verifications passed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub passed: BTreeSet<Digest>,
    /// The records of the items, including those that are no longer on the list.
    pub items: BTreeMap<ItemId, ItemRecord>,
    /// Items of earlier lists that a person released.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub released: Vec<ReleasedItem>,
    /// Decisions of people about items, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub journal: Vec<JournalEntry>,
    /// The parties that wrote items, or the subject of the gate.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub authors: BTreeSet<String>,
    /// All requirements of the plan in any round since the gate was last passed.
    #[serde(default, skip_serializing_if = "PlanRequirements::is_empty")]
    pub bar: PlanRequirements,
    /// The digest of the list file that was overwritten last. If a file with this digest still
    /// exists, the overwrite did not happen: a process died, or the disk failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_over: Option<Digest>,
}

/// An item that a person removed from the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReleasedItem {
    /// The id of the item.
    pub id: ItemId,
    /// The text of the check.
    pub check: String,
    /// The finding; `None` if the item had not failed.
    #[serde(default)]
    pub finding: Option<String>,
    /// The reason why the item is not needed.
    pub reason: String,
    /// The name of the person.
    pub by: String,
}

/// A decision of a person about an item, which stays on record when its effect ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JournalEntry {
    /// The id of the item.
    pub item: String,
    /// The finding at the time of the decision; `None` if the item had not failed.
    pub finding: Option<String>,
    /// The kind of decision.
    pub decision: JournalDecision,
    /// The name of the person.
    pub by: String,
    /// The reason that the person gave.
    pub reason: String,
}

/// The kind of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JournalDecision {
    /// The failed item is accepted.
    Accepted,
    /// The item is removed from a list.
    Released,
}

impl JournalDecision {
    /// Returns the decision in its written form: `accepted` or `released`.
    pub fn word(self) -> &'static str {
        match self {
            JournalDecision::Accepted => "accepted",
            JournalDecision::Released => "released",
        }
    }
}

/// The inputs of a list, so that later steps use the same ones.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateInputs {
    /// The path of the plan, from the root; `None` if there is no plan.
    pub plan: Option<String>,
    /// The base revision of the change; `None` if there is no change.
    pub base: Option<String>,
    /// The source of the initial items.
    pub checklist: ChecklistSource,
}

/// The source of the initial items of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Checklist")]
pub enum ChecklistSource {
    /// The built-in items of the phase.
    #[default]
    BuiltIn,
    /// Only items that the caller provides.
    HandedIn,
}

/// A verification after which no item was open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastVerification {
    /// The digest of the verified content.
    pub content: Digest,
    /// The result of the verification.
    pub reviewed: AttemptResult,
}

/// The record of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemRecord {
    /// The position on the list, from 0; `None` if the item is no longer on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<usize>,
    /// The scope, as it is written on the list.
    #[serde(default)]
    pub scope: String,
    /// The check, as it is written on the list.
    #[serde(default)]
    pub check: String,
    /// The result of the last verification.
    #[serde(default)]
    pub result: ItemResult,
    /// The severity of the item.
    pub severity: Severity,
    /// The verifier of the item; `None` if it is neither a built-in check nor a command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<VerifiedBy>,
    /// The item that this one is a part of; `None` if it is no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<ItemId>,
    /// The last verification of the item; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<LastResult>,
    /// The contents on which the item failed. Content that comes back is in here once.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub failed_on: BTreeSet<Digest>,
    /// The contents on which a reader saw the item pass.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub held_on: BTreeSet<Digest>,
    /// The waiver of the failed item; `None` if no person accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Acceptance>,
    /// The number of the item's revisions.
    pub version: u32,
}

/// The last verification of an item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastResult {
    /// The digest of the verified content.
    pub content: Digest,
    /// True if the item passed.
    pub held: bool,
}

impl VerifiedBy {
    /// Returns true if the item is about a requirement that the plan had in an earlier round.
    pub(crate) fn is_requirement(&self) -> bool {
        matches!(self, VerifiedBy::Code(key) if key == REQUIREMENT)
    }
}

/// The verifier of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerifiedBy {
    /// A built-in check, by its key.
    Code(String),
    /// A configured command, by its name.
    Command(String),
}

/// A waiver: a person accepted a failed item, for one finding on one content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Acceptance {
    /// The reason that the person gave.
    pub reason: String,
    /// The name of the person.
    pub by: String,
    /// The accepted finding; the waiver does not apply to another one.
    pub finding: String,
    /// The digest of the content with the finding.
    pub content: Digest,
}

impl ItemRecord {
    /// Creates a record without a result.
    pub fn new(severity: Severity) -> ItemRecord {
        ItemRecord {
            place: None,
            scope: String::new(),
            check: String::new(),
            result: ItemResult::Todo,
            severity,
            by: None,
            parent: None,
            seen: None,
            failed_on: BTreeSet::new(),
            held_on: BTreeSet::new(),
            accepted: None,
            version: 1,
        }
    }

    /// Returns the number of contents on which the item failed.
    pub fn fails(&self) -> u32 {
        u32::try_from(self.failed_on.len()).unwrap_or(u32::MAX)
    }
}

impl Sidecar {
    /// Creates the sidecar of a new list.
    pub fn new(phase: Phase, inputs: GateInputs) -> Sidecar {
        let schema_version = SCHEMA_VERSION.to_owned();
        let (iteration, last) = (1, None);
        let (failed, items, released) = (BTreeSet::new(), BTreeMap::new(), Vec::new());
        Sidecar {
            schema_version,
            phase,
            inputs,
            iteration,
            last,
            failed,
            passed: BTreeSet::new(),
            items,
            released,
            journal: Vec::new(),
            authors: BTreeSet::new(),
            bar: PlanRequirements::default(),
            written_over: None,
        }
    }

    /// Returns a sidecar for another list in place of this one. For the same subject, the attempts
    /// stay counted, so that requesting new lists cannot continue forever.
    pub fn for_new_list(&self, inputs: GateInputs) -> Sidecar {
        let is_same = self.is_about(&inputs);
        let mut another = Sidecar { inputs, last: None, ..self.clone() };
        if !is_same {
            let requirements = another.bar.clone();
            another.reset();
            // Another plan is new work only if the gate was passed on the one before.
            if !self.has_passed() {
                another.bar = requirements;
            }
        }
        another
    }

    /// Returns the items that are on the list.
    pub(crate) fn listed(&self) -> impl Iterator<Item = (&ItemId, &ItemRecord)> {
        self.items.iter().filter(|(_, note)| note.place.is_some())
    }

    /// Returns true if a list with these inputs has the same subject.
    pub fn is_about(&self, inputs: &GateInputs) -> bool {
        self.inputs.plan == inputs.plan && self.inputs.base == inputs.base
    }

    /// Returns true if the last complete verification passed.
    pub fn has_passed(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.reviewed == AttemptResult::Pass)
    }

    /// Returns true if the gate was passed on other content than this.
    pub(crate) fn is_new_work(&self, attempt: &Digest) -> bool {
        let last = self.last.as_ref().filter(|last| last.reviewed == AttemptResult::Pass);
        last.is_some_and(|last| last.content != *attempt)
    }

    /// Returns true if the gate was not passed, and an item on the list failed, or has no result
    /// and is not verified by code.
    pub fn is_owing(&self) -> bool {
        let owes = |note: &ItemRecord| match (&note.result, &note.by) {
            (ItemResult::Fail(_), _) => true,
            (ItemResult::Todo, by) => !matches!(by, Some(VerifiedBy::Code(_))),
            (ItemResult::Pass, _) => false,
        };
        !self.has_passed() && self.listed().any(|(_, note)| owes(note))
    }

    /// Resets the counters of attempts and failures.
    pub fn reset(&mut self) {
        (self.iteration, self.last) = (1, None);
        self.failed.clear();
        self.released.clear();
        self.bar = PlanRequirements::default();
        for note in self.items.values_mut() {
            note.failed_on.clear();
        }
    }

    /// Parses the sidecar of a phase. Fails if its version or phase is another one.
    pub fn read(phase: Phase, text: &str) -> Result<Sidecar, String> {
        let sidecar: Sidecar = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if sidecar.schema_version != SCHEMA_VERSION {
            return Err(format!(
                "unknown schema_version `{}`: this version of assay reads \"{SCHEMA_VERSION}\"; \
                 remove the gate's two files and start with `assay gate decompose`",
                sidecar.schema_version
            ));
        }
        if sidecar.phase != phase {
            return Err(format!("wrong phase {}", sidecar.phase));
        }
        if sidecar.iteration == 0 {
            return Err("invalid iteration 0: iterations are counted from 1".to_owned());
        }
        Ok(sidecar)
    }

    /// Formats the sidecar as JSON.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("what is kept is JSON");
        text + "\n"
    }
}
