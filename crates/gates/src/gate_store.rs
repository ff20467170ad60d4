//! The store of a gate's state: [`GateStore`] reads and changes it, with one writer at a time.
//!
//! Two files change together, and a process can die between the writes. The sidecar decides
//! ([`crate::record`]), since only assay writes it, and it is written first. It has the digest of
//! the list that is about to be replaced: if that list still exists, a crash left it, and the write
//! is completed. Any other difference was made by another program or a person, and is reported.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_change::state::{StateKind, UnitLock};
use assay_store::durable_fs::{self, DiskError, Durability, Lock};

use crate::digest::{Digest, Digester};
use crate::gate_state::GateState;
use crate::item::ItemResult;
use crate::list::List;
use crate::machine_record::MachineRecords;
use crate::phase::Phase;
use crate::sidecar::{GateInputs, Sidecar};
use crate::store_error::StoreError;

/// Maximum size of a list, in bytes.
const MAX_FILE_BYTES: usize = 32 << 20;

/// The ending of the names of files that only assay writes.
const SIDECAR_SUFFIX: &str = ".state.json";

/// The label of a sealed file whose gate was not passed: its deletion is noticed.
const OPEN_LABEL: &str = "owing";

/// The treatment of a gate whose files were deleted before it was passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IfDeleted {
    /// Fail, and create nothing in their place.
    Refuse,
    /// Create a new list: a person releases the items of the deleted one.
    Release,
}

/// The store of one gate's state: the list and its sidecar.
#[derive(Debug, Clone)]
pub struct GateStore {
    kind: StateKind,
    folder: PathBuf,
    phase: Phase,
}

/// The content of the files of all gates in a folder, for restoring them after a change by another
/// process.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, Vec<u8>>);

impl GateStore {
    /// Returns the store of a phase's gate in a folder. People and agents may write the list; the
    /// sidecar records the verifications, and is sealed.
    pub fn new(kind: StateKind, phase: Phase) -> GateStore {
        GateStore { folder: kind.path().to_owned(), kind, phase }
    }

    /// Returns the path of the list.
    pub fn list_path(&self) -> PathBuf {
        self.folder.join(format!("qr-{}.json", self.phase))
    }

    /// Returns the path of the sidecar.
    pub fn sidecar_path(&self) -> PathBuf {
        self.folder.join(format!("qr-{}{SIDECAR_SUFFIX}", self.phase))
    }

    /// Returns true if the list exists.
    pub fn exists(&self) -> bool {
        self.list_path().exists()
    }

    /// Returns true if the list exists, or existed and the gate was not passed.
    pub fn was_made(&self) -> bool {
        let is_labelled =
            || self.kind.label(&self.sidecar_name()).map_or(true, |label| label.is_some());
        self.exists() || self.sidecar_path().exists() || is_labelled()
    }

    /// Reads the state. Fails if there is no list.
    pub fn read(&self) -> Result<GateState, StoreError> {
        let is_listed = self.exists();
        self.read_if_any()?.filter(|_| is_listed).ok_or_else(|| self.missing_error())
    }

    /// Reads the state; returns `None` if there is none. Without a list, the items are those in the
    /// sidecar.
    pub fn read_if_any(&self) -> Result<Option<GateState>, StoreError> {
        if !self.folder.exists() && !self.was_made() {
            return Ok(None);
        }
        // If this process cannot write the lock, no other process writes either.
        let _lock = self.lock().ok();
        let _held = self.lock_sidecar()?;
        self.load()
    }

    /// Reads, changes and writes the state under a lock. If the change fails, nothing is written.
    pub fn change<T, E: From<StoreError>>(
        &self,
        change: impl FnOnce(&mut GateState) -> Result<T, E>,
    ) -> Result<T, E> {
        if !self.exists() {
            return Err(self.missing_error().into());
        }
        let _lock = self.lock().map_err(StoreError::from)?;
        let mut held = self.lock_sidecar()?;
        let before = self.load()?.ok_or_else(|| self.missing_error())?;
        let mut after = before.clone();
        let given = change(&mut after)?;
        self.store(&mut held, Some(&before), &mut after)?;
        Ok(given)
    }

    /// Writes a new state, in place of the existing one if there is one.
    pub fn replace<E: From<StoreError>>(
        &self,
        lost: IfDeleted,
        make: impl FnOnce(Option<&GateState>) -> Result<GateState, E>,
    ) -> Result<GateState, E> {
        durable_fs::make_folder(&self.folder).map_err(StoreError::from)?;
        let _lock = self.lock().map_err(StoreError::from)?;
        let mut held = self.lock_sidecar()?;
        let before = match (self.load(), lost) {
            (Err(StoreError::Deleted { .. }), IfDeleted::Release) => None,
            (before, IfDeleted::Release | IfDeleted::Refuse) => before?,
        };
        let mut after = make(before.as_ref())?;
        self.store(&mut held, before.as_ref(), &mut after)?;
        Ok(after)
    }

    /// Takes a snapshot of the files of all gates in the folder.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let mut files = BTreeMap::new();
        for name in durable_fs::list_dir(&self.folder)? {
            if name.starts_with("qr-") {
                let bytes = durable_fs::read(&self.folder.join(&name))?.unwrap_or_default();
                files.insert(name, bytes);
            }
        }
        Ok(Snapshot(files))
    }

    /// Restores the files of a snapshot. Returns true if another process had changed them.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<bool, StoreError> {
        durable_fs::make_folder(&self.folder)?;
        let _lock = self.lock()?;
        let now = self.snapshot()?;
        if now == *snapshot {
            return Ok(false);
        }
        for name in now.0.keys().filter(|name| !snapshot.0.contains_key(*name)) {
            durable_fs::remove_synced(&self.folder.join(name))?;
        }
        for (name, bytes) in &snapshot.0 {
            if name.ends_with(SIDECAR_SUFFIX) {
                self.kind.seal_bytes(name, bytes)?;
            }
            durable_fs::write(&self.folder.join(name), bytes, Durability::Fsync)?;
        }
        Ok(true)
    }

    /// Returns the machine records of this phase, which are stored with the machine's seals.
    pub(crate) fn machine_records(&self) -> MachineRecords<'_> {
        MachineRecords::new(&self.kind, self.phase)
    }

    /// Returns the name of the folder in the machine records.
    pub(crate) fn recorded_folder(&self) -> String {
        self.kind.recorded_path().display().to_string()
    }

    /// Writes the machine record: the open requirements of the gate, or that it was passed.
    fn write_machine_record(&self, sidecar: &Sidecar) -> Result<(), StoreError> {
        let folder = self.recorded_folder();
        let plan = sidecar.inputs.plan.as_deref();
        if sidecar.has_passed() {
            // A list that passed contained the items of all others.
            return self.machine_records().clear(plan, &sidecar.bar);
        }
        self.machine_records().change(plan, |record| {
            record.bar = sidecar.bar.clone();
            match sidecar.is_owing() {
                true => drop(record.folders.insert(folder, sidecar.clone())),
                false => drop(record.folders.remove(&folder)),
            }
        })
    }

    fn missing_error(&self) -> StoreError {
        StoreError::Missing { phase: self.phase, path: self.list_path() }
    }

    fn lock(&self) -> Result<Lock, DiskError> {
        durable_fs::lock(&self.folder.join(format!(".qr-{}.lock", self.phase)))
    }

    /// Locks the sidecar against other processes. Fails if its seal is invalid.
    fn lock_sidecar(&self) -> Result<UnitLock, StoreError> {
        Ok(self.kind.lock_unit(&self.sidecar_name())?)
    }

    /// Returns the name of the sealed file.
    fn sidecar_name(&self) -> String {
        format!("qr-{}{SIDECAR_SUFFIX}", self.phase)
    }

    fn load(&self) -> Result<Option<GateState>, StoreError> {
        let (path, sidecar_path) = (self.list_path(), self.sidecar_path());
        let written = text_of(&path)?;
        let list = match &written {
            Some(text) => Some(
                List::read(self.phase, text)
                    .map_err(|error| unreadable(&path, error.to_string()))?,
            ),
            None => None,
        };
        if let Some(text) = text_of(&sidecar_path)? {
            let sidecar =
                Sidecar::read(self.phase, &text).map_err(|why| unreadable(&sidecar_path, why))?;
            let list = list.unwrap_or(List::new(self.phase));
            let is_unfinished =
                written.is_some() && sidecar.written_over == written.as_deref().map(digest_of);
            return Ok(Some(match is_unfinished {
                true => GateState::of_unfinished(list, sidecar),
                false => GateState::new(list, sidecar),
            }));
        }
        if self.kind.label(&self.sidecar_name())?.is_some() {
            return Err(StoreError::Deleted { phase: self.phase, path: sidecar_path });
        }
        let Some(list) = list else { return Ok(None) };
        // A person wrote the list by hand, and it has not been verified yet.
        if list.items().all(|item| item.result == ItemResult::Todo) {
            return Ok(Some(GateState::new(list, Sidecar::new(self.phase, GateInputs::default()))));
        }
        Err(unreadable(
            &sidecar_path,
            "the file is missing, so the results of the list are unknown; restore the file, or \
             remove the list and run `assay gate decompose`"
                .into(),
        ))
    }

    fn store(
        &self,
        held: &mut UnitLock,
        before: Option<&GateState>,
        after: &mut GateState,
    ) -> Result<(), StoreError> {
        after.write_down();
        let path = self.list_path();
        let written = text_of(&path)?;
        let json = after.list.to_json();
        let is_as_written = written.as_deref() == Some(&json)
            || before.is_some_and(|before| before.altered.is_empty() && before.list == after.list)
                && written.is_some();
        if !is_as_written {
            after.sidecar.written_over = written.as_deref().map(digest_of);
        }
        if before.map(|state| &state.sidecar) != Some(&after.sidecar) {
            self.write_machine_record(&after.sidecar)?;
            held.mark_changing_with_label(after.sidecar.is_owing().then_some(OPEN_LABEL))?;
            let sidecar = after.sidecar.to_json();
            durable_fs::write(&self.sidecar_path(), sidecar.as_bytes(), Durability::Fsync)?;
        }
        if !is_as_written {
            durable_fs::write(&path, json.as_bytes(), Durability::Fsync)?;
        }
        Ok(())
    }
}

/// Returns the digest of a list file.
fn digest_of(text: &str) -> Digest {
    Digester::default().part(text).finish()
}

fn text_of(path: &Path) -> Result<Option<String>, StoreError> {
    let Some(bytes) = durable_fs::read(path)? else { return Ok(None) };
    if bytes.len() > MAX_FILE_BYTES {
        return Err(unreadable(
            path,
            format!("the file is larger than {} MiB", MAX_FILE_BYTES >> 20),
        ));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| unreadable(path, "the file is not valid UTF-8".to_owned()))?;
    Ok(Some(text))
}

fn unreadable(path: &Path, why: String) -> StoreError {
    StoreError::Unreadable { path: path.to_owned(), why }
}
