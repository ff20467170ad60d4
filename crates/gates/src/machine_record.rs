//! The record of a plan's gate that is stored with the machine's seals: [`MachineRecord`].
//!
//! The files of a gate may be in any folder (`--state-dir`), so a new folder would be a new gate.
//! This record is outside of the work tree and is found by phase and plan. Every folder, new or
//! old, has to meet the requirements that any other folder recorded, until the gate is passed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assay_change::state::{StateError, StateKind};
use assay_store::durable_fs::{self, Durability};
use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Digester};
use crate::phase::Phase;
use crate::plan::Plan;
use crate::plan_requirements::{PlanRequirements, REQUIREMENT};
use crate::sidecar::{ItemRecord, Sidecar, VerifiedBy};
use crate::store_error::StoreError;

/// The schema version that is read and written.
const SCHEMA_VERSION: &str = "1.0";

/// The folder of these records in the state home.
const FOLDER: &str = "gate-bars";

/// The record of one phase's gate on one plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MachineRecord {
    schema_version: String,
    phase: Phase,
    /// The path of the plan, from the root; `None` for a gate without a plan.
    pub plan: Option<String>,
    /// All requirements of the plan in any round.
    pub bar: PlanRequirements,
    /// The contents on which verifications of the plan passed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub passed: BTreeSet<Digest>,
    /// The sidecars with open requirements, by their folder.
    pub folders: BTreeMap<String, Sidecar>,
}

impl MachineRecord {
    fn new(phase: Phase, plan: Option<String>) -> MachineRecord {
        MachineRecord {
            schema_version: SCHEMA_VERSION.to_owned(),
            phase,
            plan,
            bar: PlanRequirements::default(),
            passed: BTreeSet::new(),
            folders: BTreeMap::new(),
        }
    }

    /// Returns true if a person accepted that the plan does without a requirement, given the text
    /// of its check.
    pub fn is_accepted(&self, check: &str) -> bool {
        let is_it = |note: &ItemRecord| {
            note.by == Some(VerifiedBy::Code(REQUIREMENT.to_owned()))
                && note.check == check
                && note.accepted.is_some()
        };
        self.folders.values().any(|sidecar| sidecar.items.values().any(is_it))
    }
}

/// The records of one phase in one work tree.
#[derive(Debug, Clone)]
pub(crate) struct MachineRecords<'k> {
    kind: &'k StateKind,
    phase: Phase,
}

impl<'k> MachineRecords<'k> {
    pub(crate) fn new(kind: &'k StateKind, phase: Phase) -> MachineRecords<'k> {
        MachineRecords { kind, phase }
    }

    /// Returns the folder of the records; `None` if there is no state home, so that nothing was
    /// ever recorded.
    fn folder(&self) -> Result<Option<PathBuf>, StoreError> {
        match self.kind.home_folder(FOLDER) {
            Ok(folder) => Ok(Some(folder)),
            Err(StateError::NoHome { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn name(&self, plan: Option<&str>) -> String {
        let digest = Digester::default().part(plan.unwrap_or_default()).finish().short();
        format!("{}.{digest}.json", self.phase)
    }

    /// Reads the record of a plan's gate, and those of plans that share its criteria, such as
    /// copies.
    pub(crate) fn read(
        &self,
        at: Option<&str>,
        plan: Option<&Plan>,
    ) -> Result<Vec<MachineRecord>, StoreError> {
        let Some(folder) = self.folder()? else { return Ok(Vec::new()) };
        let requirements = plan.map(PlanRequirements::of).unwrap_or_default();
        let records = self.related(&folder, at, &requirements)?;
        Ok(records.into_iter().map(|(_, record)| record).collect())
    }

    /// Removes the record of a plan's gate, which was passed, and the related records.
    pub(crate) fn clear(
        &self,
        at: Option<&str>,
        requirements: &PlanRequirements,
    ) -> Result<(), StoreError> {
        let Some(folder) = self.folder()? else { return Ok(()) };
        let _lock = durable_fs::lock(&folder.join(format!("{}.lock", self.phase)))?;
        for (path, _) in self.related(&folder, at, requirements)? {
            durable_fs::remove_synced(&path)?;
        }
        Ok(())
    }

    /// Returns the records of a plan and of those that share its criteria.
    fn related(
        &self,
        folder: &Path,
        at: Option<&str>,
        requirements: &PlanRequirements,
    ) -> Result<Vec<(PathBuf, MachineRecord)>, StoreError> {
        let (own, prefix) = (self.name(at), format!("{}.", self.phase));
        let mut records = Vec::new();
        for name in durable_fs::list_dir(folder)? {
            if !name.starts_with(&prefix) || !name.ends_with(".json") {
                continue;
            }
            let path = folder.join(&name);
            let record = self.read_file(&path)?;
            let record = record.filter(|record| name == own || record.bar.is_kin(requirements));
            records.extend(record.map(|record| (path, record)));
        }
        Ok(records)
    }

    /// Changes the record of a plan's gate. An empty record is removed.
    pub(crate) fn change(
        &self,
        plan: Option<&str>,
        change: impl FnOnce(&mut MachineRecord),
    ) -> Result<(), StoreError> {
        let Some(folder) = self.folder()? else { return Ok(()) };
        let path = folder.join(self.name(plan));
        let _lock = durable_fs::lock(&folder.join(format!("{}.lock", self.phase)))?;
        let before = self.read_file(&path)?;
        let is_there = before.is_some();
        let mut record =
            before.unwrap_or_else(|| MachineRecord::new(self.phase, plan.map(str::to_owned)));
        change(&mut record);
        if record.bar.is_empty() && record.folders.is_empty() && record.passed.is_empty() {
            return if is_there { Ok(durable_fs::remove_synced(&path)?) } else { Ok(()) };
        }
        let json = serde_json::to_string_pretty(&record).expect("a record is JSON");
        Ok(durable_fs::write(&path, (json + "\n").as_bytes(), Durability::Fsync)?)
    }

    fn read_file(&self, path: &Path) -> Result<Option<MachineRecord>, StoreError> {
        let Some(bytes) = durable_fs::read(path)? else { return Ok(None) };
        let unreadable = |why: String| StoreError::Unreadable { path: path.to_owned(), why };
        let record: MachineRecord =
            serde_json::from_slice(&bytes).map_err(|error| unreadable(error.to_string()))?;
        match record.schema_version == SCHEMA_VERSION && record.phase == self.phase {
            true => Ok(Some(record)),
            false => Err(unreadable("the schema_version or the phase does not match".to_owned())),
        }
    }
}
