//! Holds a gate to the highest requirements that this machine recorded for its plan, in any folder.

use crate::digest::Digest;
use crate::gate::{Gate, GateError, NewItem, add};
use crate::gate_state::GateState;
use crate::item::{Item, ItemId, ItemResult, Severity};
use crate::list::{List, ListError};
use crate::machine_record::MachineRecord;
use crate::plan_requirements::{PlanRequirements, REQUIREMENT, Requirement, RequirementKind};
use crate::sidecar::{ItemRecord, Sidecar, VerifiedBy};

/// Items of a gate in another folder that are required here as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignItems {
    /// The folder with the files of that gate.
    pub folder: String,
    /// The items that were added to this list.
    pub items: Vec<ItemId>,
}

impl Gate<'_> {
    /// Reads this machine's records for the gate of the plan.
    pub(crate) fn recorded(&self) -> Result<Vec<MachineRecord>, GateError> {
        let plan = self.subject.plan;
        let (at, plan) = (plan.map(|(_, at)| at), plan.map(|(plan, _)| plan));
        Ok(self.store.machine_records().read(at, plan)?)
    }

    /// Adds the items that gates of the same plan in other folders still require, and adds
    /// their requirements.
    pub(crate) fn join(
        &self,
        state: &mut GateState,
        records: &[MachineRecord],
    ) -> Vec<ForeignItems> {
        let own = self.store.recorded_folder();
        let mut joined = Vec::new();
        for record in records {
            state.sidecar.bar.raise(&record.bar);
            for (folder, other) in record.folders.iter().filter(|(folder, _)| **folder != own) {
                let items = join_items(state, other);
                if !items.is_empty() {
                    joined.push(ForeignItems { folder: folder.clone(), items });
                }
            }
        }
        joined
    }

    /// Joins the records of other folders. Resets the requirements if the gate was passed on this
    /// content, or if the content is new work after a pass.
    pub(crate) fn join_before(
        &self,
        state: &mut GateState,
        records: &[MachineRecord],
        attempt: &Digest,
    ) -> Vec<ForeignItems> {
        let joined = self.join(state, records);
        if state.sidecar.is_new_work(attempt) || state.sidecar.passed.contains(attempt) {
            state.sidecar.bar = PlanRequirements::default();
        }
        joined
    }

    /// Returns the other folders with an unfinished gate of the same plan.
    pub(crate) fn folders_elsewhere(&self, records: &[MachineRecord]) -> Vec<String> {
        let own = self.store.recorded_folder();
        let folders = records.iter().flat_map(|record| record.folders.keys());
        folders.filter(|folder| **folder != own).cloned().collect()
    }

    /// Returns the state that a list in a new folder replaces: that of the same gate in another
    /// folder; `None` if there is none.
    pub(crate) fn begun_elsewhere(&self, records: &[MachineRecord]) -> Option<GateState> {
        let own = self.store.recorded_folder();
        let mut others = records.iter().flat_map(|record| &record.folders);
        let (_, other) = others.find(|(folder, _)| **folder != own)?;
        Some(GateState::of_unfinished(List::new(self.phase), other.clone()))
    }

    /// Returns a text for each requirement of an earlier round that the plan no longer has, unless
    /// a person accepted its removal.
    pub fn removed(&self) -> Result<Vec<String>, GateError> {
        let Some((plan, _)) = self.subject.plan else { return Ok(Vec::new()) };
        let mut removed = Vec::new();
        let (records, look) = (self.recorded()?, self.subject.attempt(self.phase));
        // Content on which a verification passed is accepted, even if the plan had other
        // requirements in between.
        if records.iter().any(|record| record.passed.contains(&look)) {
            return Ok(removed);
        }
        for record in records {
            let missing = record.bar.missing(plan).into_iter();
            let missing = missing.filter(|one| !record.is_accepted(&one.check()));
            removed.extend(missing.map(Requirement::removal));
        }
        Ok(removed)
    }

    /// Records a verification of the plan. A failed one adds the requirements of the plan.
    pub fn record_look(&self, passed: bool) -> Result<(), GateError> {
        let Some((plan, at)) = self.subject.plan else { return Ok(()) };
        let records = self.recorded()?;
        let (kept, requirements) = (self.store.machine_records(), PlanRequirements::of(plan));
        if !passed {
            kept.change(Some(at), |record| {
                records.iter().for_each(|other| record.bar.raise(&other.bar));
                record.bar.raise(&requirements);
            })?;
        } else if records.iter().all(|record| record.folders.is_empty()) {
            // A gate with files in a folder is passed by verifying those.
            kept.clear(Some(at), &requirements)?;
            let passed = records.into_iter().flat_map(|record| record.passed);
            kept.change(Some(at), |record| {
                record.passed.extend(passed);
                record.passed.insert(self.subject.attempt(self.phase));
            })?;
        }
        Ok(())
    }

    /// Adds the requirements of the current plan, and an item for each requirement that is gone.
    pub(crate) fn hold_to_requirements(
        &self,
        state: &mut GateState,
        number: &mut usize,
    ) -> Result<Vec<ItemId>, ListError> {
        let Some((plan, _)) = self.subject.plan else { return Ok(Vec::new()) };
        state.sidecar.bar.raise(&PlanRequirements::of(plan));
        // A gate on the plan itself asks for a better plan, not for the same one.
        if self.phase.is_of_a_plan() {
            return Ok(Vec::new());
        }
        let missing: Vec<Requirement> =
            state.sidecar.bar.missing(plan).into_iter().cloned().collect();
        let mut added = Vec::new();
        for requirement in &missing {
            if is_listed(state, requirement) {
                continue;
            }
            let by = Some(VerifiedBy::Code(REQUIREMENT.to_owned()));
            let (scope, check) = (requirement.scope(), requirement.check());
            let item = NewItem::new(scope, check, Severity::Must, by);
            added.push(add(state, item, None, number)?);
        }
        Ok(added)
    }
}

/// Returns true if a list has an item that fails because of a missing requirement.
fn is_listed(state: &GateState, requirement: &Requirement) -> bool {
    let check = requirement.check();
    let is_of_the_milestone = |item: &Item| {
        requirement.kind == RequirementKind::Milestone
            && item.scope == requirement.scope()
            && matches!(state.note(&item.id).by, Some(VerifiedBy::Code(_)))
    };
    state.list.items().any(|item| item.check == check || is_of_the_milestone(item))
}

/// Adds the items of another gate of the plan that only a reader verifies and that have not passed.
fn join_items(state: &mut GateState, other: &Sidecar) -> Vec<ItemId> {
    let mut joined = Vec::new();
    let is_owed = |note: &ItemRecord| note.by.is_none() && note.result != ItemResult::Pass;
    for (id, note) in other.listed().filter(|(_, note)| is_owed(note)) {
        let scope = note.scope.as_str().into();
        let is_known = |item: &Item| item.scope == scope && item.check == note.check;
        let is_released = state.sidecar.released.iter().any(|one| one.check == note.check);
        if is_released || state.list.items().any(is_known) {
            continue;
        }
        let id = free_id(state, id);
        state.sidecar.items.insert(id.clone(), ItemRecord { place: None, ..note.clone() });
        let (check, result) = (note.check.clone(), note.result.clone());
        state.list.put(Item { id: id.clone(), scope, check, result });
        joined.push(id);
    }
    joined
}

/// Returns the id of an item of another list, or the next number if this list uses the id.
fn free_id(state: &GateState, id: &ItemId) -> ItemId {
    let is_used = state.list.get(id).is_some() || state.sidecar.items.contains_key(id);
    match is_used {
        true => ItemId::numbered(state.list.phase, state.next_number()),
        false => id.clone(),
    }
}
