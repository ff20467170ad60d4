//! Where a gate's state lies: [`Keep`] reads and changes it, one writer at a time.
//!
//! Two files change together, and a process can die between them. What stands beside the list says
//! nothing about items that are not on it or were not settled there, so it is written first: with
//! the list as it was before, the gate is as it was before.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay_change::state::{Held, Kind, StateError};
use assay_store::disk::{self, DiskError, Lock, Sure};

use crate::beside::{Beside, MadeFrom};
use crate::item::Verified;
use crate::list::List;
use crate::phase::Phase;
use crate::state::State;

/// A list that is longer is none of ours, in bytes.
const LONGEST: usize = 32 << 20;

/// How the names of files end that only assay writes.
const SEALED: &str = ".state.json";

/// Where the state of one gate lies.
#[derive(Debug, Clone)]
pub struct Keep {
    kind: Kind,
    folder: PathBuf,
    phase: Phase,
}

/// Why a gate's state cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// There is none.
    #[error(
        "there is no list for {phase} at `{path}`, so nothing was checked; \
         `assay gate decompose --phase {phase}` makes one"
    )]
    Missing {
        /// What it would be about.
        phase: Phase,
        /// Where it would lie.
        path: PathBuf,
    },
    /// It cannot be made sense of.
    #[error("`{path}` cannot be read, so it says nothing: {why}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// What stands beside the list has no authority, or cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The files of all gates in a folder as they are, to be put back should somebody change them.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<String, Vec<u8>>);

impl Keep {
    /// The state of a phase's gate in a folder. People and agents may write the list; what stands
    /// beside it says what was verified, and is sealed.
    pub fn new(kind: Kind, phase: Phase) -> Keep {
        Keep { folder: kind.path().to_owned(), kind, phase }
    }

    /// Gives the path of the list.
    pub fn list_path(&self) -> PathBuf {
        self.folder.join(format!("qr-{}.json", self.phase))
    }

    /// Gives the path of what stands beside it.
    pub fn beside_path(&self) -> PathBuf {
        self.folder.join(format!("qr-{}{SEALED}", self.phase))
    }

    /// Says whether there is a list.
    pub fn is_there(&self) -> bool {
        self.list_path().exists()
    }

    /// Reads the state.
    pub fn read(&self) -> Result<State, KeepError> {
        if !self.is_there() {
            return Err(self.missing());
        }
        // Where nothing can be written nobody else writes either.
        let _lock = self.lock().ok();
        let _held = self.hold()?;
        self.load()
    }

    /// Changes the state: reads it, has it changed and writes it, with nobody in between. Where the
    /// change fails nothing is written.
    pub fn change<T, E: From<KeepError>>(
        &self,
        change: impl FnOnce(&mut State) -> Result<T, E>,
    ) -> Result<T, E> {
        if !self.is_there() {
            return Err(self.missing().into());
        }
        let _lock = self.lock().map_err(KeepError::from)?;
        let mut held = self.hold()?;
        let before = self.load()?;
        let mut after = before.clone();
        let given = change(&mut after)?;
        self.store(&mut held, Some(&before), &after)?;
        Ok(given)
    }

    /// Writes a state where there is none, or in place of the one that is there.
    pub fn replace<E: From<KeepError>>(
        &self,
        make: impl FnOnce(Option<&State>) -> Result<State, E>,
    ) -> Result<State, E> {
        disk::make_folder(&self.folder).map_err(KeepError::from)?;
        let _lock = self.lock().map_err(KeepError::from)?;
        let mut held = self.hold()?;
        let before = if self.is_there() { Some(self.load()?) } else { None };
        let after = make(before.as_ref())?;
        self.store(&mut held, before.as_ref(), &after)?;
        Ok(after)
    }

    /// Takes down the files of all gates in the folder as they are.
    pub fn snapshot(&self) -> Result<Snapshot, KeepError> {
        let mut files = BTreeMap::new();
        for name in disk::names(&self.folder)? {
            if name.starts_with("qr-") {
                let bytes = disk::read(&self.folder.join(&name))?.unwrap_or_default();
                files.insert(name, bytes);
            }
        }
        Ok(Snapshot(files))
    }

    /// Puts the files back as they were, and says whether somebody had changed them.
    pub fn put_back(&self, snapshot: &Snapshot) -> Result<bool, KeepError> {
        disk::make_folder(&self.folder)?;
        let _lock = self.lock()?;
        let now = self.snapshot()?;
        if now == *snapshot {
            return Ok(false);
        }
        for name in now.0.keys().filter(|name| !snapshot.0.contains_key(*name)) {
            disk::remove_surely(&self.folder.join(name))?;
        }
        for (name, bytes) in &snapshot.0 {
            if name.ends_with(SEALED) {
                self.kind.seal_bytes(name, bytes)?;
            }
            disk::write(&self.folder.join(name), bytes, Sure::OnDisk)?;
        }
        Ok(true)
    }

    fn missing(&self) -> KeepError {
        KeepError::Missing { phase: self.phase, path: self.list_path() }
    }

    fn lock(&self) -> Result<Lock, DiskError> {
        disk::lock(&self.folder.join(format!(".qr-{}.lock", self.phase)))
    }

    /// Keeps other processes from what stands beside the list. Fails if that has no authority.
    fn hold(&self) -> Result<Held, KeepError> {
        Ok(self.kind.hold(&format!("qr-{}{SEALED}", self.phase))?)
    }

    fn load(&self) -> Result<State, KeepError> {
        let path = self.list_path();
        let text = text_of(&path)?.ok_or_else(|| self.missing())?;
        let list =
            List::read(self.phase, &text).map_err(|error| unreadable(&path, error.to_string()))?;
        let path = self.beside_path();
        let beside = match text_of(&path)? {
            Some(text) => Beside::read(self.phase, &text).map_err(|why| unreadable(&path, why))?,
            // Somebody wrote the list by hand, and nobody has verified it yet.
            None if list.items().all(|item| item.result == Verified::Todo) => {
                Beside::new(self.phase, MadeFrom::default())
            }
            None => {
                return Err(unreadable(
                    &path,
                    "it is missing, so nobody knows what was seen".into(),
                ));
            }
        };
        Ok(State { list, beside })
    }

    fn store(
        &self,
        held: &mut Held,
        before: Option<&State>,
        after: &State,
    ) -> Result<(), KeepError> {
        if before.map(|state| &state.beside) != Some(&after.beside) {
            held.change()?;
            let json = after.beside.to_json();
            disk::write(&self.beside_path(), json.as_bytes(), Sure::OnDisk)?;
        }
        if before.map(|state| &state.list) != Some(&after.list) {
            disk::write(&self.list_path(), after.list.to_json().as_bytes(), Sure::OnDisk)?;
        }
        Ok(())
    }
}

fn text_of(path: &Path) -> Result<Option<String>, KeepError> {
    let Some(bytes) = disk::read(path)? else { return Ok(None) };
    if bytes.len() > LONGEST {
        return Err(unreadable(path, format!("it is longer than {} MiB", LONGEST >> 20)));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| unreadable(path, "it is no text".to_owned()))?;
    Ok(Some(text))
}

fn unreadable(path: &Path, why: String) -> KeepError {
    KeepError::Unreadable { path: path.to_owned(), why }
}
