//! Seals: records, outside of the work tree, of the state that this machine wrote.
//!
//! A seal is a small file in the state home with the digest of one unit of state. A unit that is
//! written once is sealed before it is moved to its place ([`StateKind::seal_bytes`],
//! [`StateKind::seal_draft`]), so that a crash in between leaves a seal without a unit. A unit that
//! changes is locked during the change ([`StateKind::lock_unit`]): its seal is *open* until the
//! [`UnitLock`] unit is dropped. An open seal that no process holds is the result of a crash, and
//! the unit is accepted as it is.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use assay_base::hash::short_hash;

use super::folder::write_atomically;
use super::{FOLDER, RefusalReason, State, StateError, with_path};

/// The text in a seal instead of a digest while the unit changes.
const UNSEALED_MARK: &str = "open";

/// The name of the folder in the state home for the seals of a work tree.
const SEALS_FOLDER: &str = "seals";

/// Suffixes of the files of a SQLite database that determine its content. The shared memory is
/// rebuilt from the log.
const DATABASE_SIDECAR_SUFFIXES: [&str; 2] = ["-wal", "-journal"];

/// A kind of state, such as `.assay/runs`, whose folder was checked.
#[derive(Debug, Clone)]
pub struct StateKind {
    state: State,
    path: PathBuf,
    /// The path with all links resolved, for a folder that the user named; otherwise `None`.
    named: Option<PathBuf>,
}

impl StateKind {
    pub(super) fn new(state: State, path: PathBuf, named: Option<PathBuf>) -> StateKind {
        StateKind { state, path, named }
    }

    /// Returns the path of the kind's folder or file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder of the work tree in the state home for state of this name, see
    /// [`State::home_folder`].
    pub fn home_folder(&self, name: &str) -> Result<PathBuf, StateError> {
        self.state.home_folder(name)
    }

    /// Returns the path of the kind as seals record it, with all links resolved.
    pub fn recorded_path(&self) -> PathBuf {
        self.recorded_unit_path(&self.path)
    }

    /// Creates the folder, and `.assay/` with its ignore file around it.
    pub fn create(&self) -> Result<(), StateError> {
        if self.named.is_none() {
            self.state.create()?;
        }
        fs::create_dir_all(&self.path).map_err(with_path(&self.path))
    }

    /// Returns the names in the folder, sorted; empty if there is no folder.
    pub fn names(&self) -> Result<Vec<String>, StateError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(with_path(&self.path)(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(with_path(&self.path))?;
            names.extend(entry.file_name().into_string().ok());
        }
        names.sort();
        Ok(names)
    }

    /// Returns the path of a unit that this machine wrote; `None` if there is no such unit. Fails
    /// if the unit is not trusted.
    pub fn check(&self, unit: &str) -> Result<Option<PathBuf>, StateError> {
        let path = self.unit(unit);
        let Some(digest) = self.digest(&path)? else { return Ok(None) };
        match self.read_seal(&path)?.as_deref() {
            Some(sealed) if sealed == digest || sealed == UNSEALED_MARK => Ok(Some(path)),
            Some(_) => Err(self.refusal(&path, RefusalReason::Changed)),
            None => Err(self.refusal(&path, RefusalReason::Unsealed)),
        }
    }

    /// Seals a file that is about to be written with these bytes.
    pub fn seal_bytes(&self, unit: &str, bytes: &[u8]) -> Result<(), StateError> {
        let mut digest = blake3::Hasher::new();
        add(&mut digest, b"file", bytes);
        self.write_seal(&self.unit(unit), &digest.finalize().to_hex())
    }

    /// Seals a unit that is about to be created from a draft, before the draft is renamed.
    pub fn seal_draft(&self, unit: &str, draft: &Path) -> Result<(), StateError> {
        match self.digest(draft)? {
            Some(digest) => self.write_seal(&self.unit(unit), &digest),
            None => Ok(()),
        }
    }

    /// Seals a unit as it is, for a user who checked it. Returns false if there is no such unit.
    pub fn adopt(&self, unit: &str) -> Result<bool, StateError> {
        let path = self.unit(unit);
        let _lock = self.lock()?;
        let Some(digest) = self.digest(&path)? else { return Ok(false) };
        self.write_seal(&path, &digest)?;
        Ok(true)
    }

    /// Locks a unit that changes over time, against other processes, until the value is dropped.
    /// Fails if the unit is not trusted.
    pub fn lock_unit(&self, unit: &str) -> Result<UnitLock, StateError> {
        let path = self.unit(unit);
        let lock = match self.lock() {
            Ok(lock) => Some(lock),
            // A missing unit can be read without a seal.
            Err(StateError::NoHome { .. }) if path.symlink_metadata().is_err() => None,
            Err(error) => return Err(error),
        };
        let has_existed = self.check(unit)?.is_some();
        Ok(UnitLock { kind: self.clone(), path, has_existed, is_changing: false, _lock: lock })
    }

    /// Returns the label of a unit that this machine sealed, even if the unit is gone; `None` if it
    /// has no label.
    pub fn label(&self, unit: &str) -> Result<Option<String>, StateError> {
        match self.seal_lines(&self.unit(unit)) {
            Ok(lines) => Ok(lines.into_iter().nth(2)),
            // Without a state home nothing was ever sealed.
            Err(StateError::NoHome { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the seals of this work tree whose units are gone, except those with a label: a label
    /// means that the unit is expected.
    pub fn prune(&self) {
        let Ok(folder) = self.state.home_folder(SEALS_FOLDER) else { return };
        let seals = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for seal in seals.filter(|path| path.extension().is_none()) {
            let text = fs::read_to_string(&seal).unwrap_or_default();
            let mut lines = text.lines().skip(1);
            let (unit, label) = (lines.next().map(PathBuf::from), lines.next());
            let is_gone = unit.is_some_and(|unit| unit.symlink_metadata().is_err());
            if is_gone && label.is_none() {
                let _ = fs::remove_file(seal);
            }
        }
    }

    fn unit(&self, unit: &str) -> PathBuf {
        if unit.is_empty() { self.path.clone() } else { self.path.join(unit) }
    }

    fn refusal(&self, path: &Path, reason: RefusalReason) -> StateError {
        StateError::Refused { path: self.state.display_path(path), reason }
    }

    /// Locks this kind of state; waits until no other process holds a unit of it.
    fn lock(&self) -> Result<File, StateError> {
        let folder = self.state.home_folder(SEALS_FOLDER)?;
        let path = folder.join(format!("{}.lock", self.name_of(&self.path)));
        let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = open.map_err(with_path(&path))?;
        file.lock().map_err(with_path(&path))?;
        Ok(file)
    }

    /// Returns the path of a unit as it is recorded, with the links in the root resolved.
    fn recorded_unit_path(&self, path: &Path) -> PathBuf {
        let below = path.strip_prefix(&self.path).unwrap_or(Path::new(""));
        let kind = match &self.named {
            Some(named) => named.clone(),
            None => {
                let name = self.path.file_name().unwrap_or_default();
                self.state.real_root.join(FOLDER).join(name)
            }
        };
        if below.as_os_str().is_empty() { kind } else { kind.join(below) }
    }

    fn name_of(&self, path: &Path) -> String {
        short_hash(self.recorded_unit_path(path).as_os_str().as_encoded_bytes(), 32)
    }

    fn seal_path(&self, path: &Path) -> Result<PathBuf, StateError> {
        Ok(self.state.home_folder(SEALS_FOLDER)?.join(self.name_of(path)))
    }

    fn read_seal(&self, path: &Path) -> Result<Option<String>, StateError> {
        Ok(self.seal_lines(path)?.into_iter().next())
    }

    /// Returns the lines of a seal: the digest, the path, and the label if there is one; empty if
    /// there is no seal.
    fn seal_lines(&self, path: &Path) -> Result<Vec<String>, StateError> {
        let seal = self.seal_path(path)?;
        match fs::read_to_string(&seal) {
            Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(with_path(&seal)(error)),
        }
    }

    /// Writes the digest of a unit; the label of the seal stays.
    fn write_seal(&self, path: &Path, digest: &str) -> Result<(), StateError> {
        let label = self.seal_lines(path)?.into_iter().nth(2);
        self.write_seal_with(path, digest, label.as_deref())
    }

    fn write_seal_with(
        &self,
        path: &Path,
        digest: &str,
        label: Option<&str>,
    ) -> Result<(), StateError> {
        let seal = self.seal_path(path)?;
        let mut text = format!("{digest}\n{}\n", self.recorded_unit_path(path).display());
        if let Some(label) = label {
            text += label;
            text.push('\n');
        }
        write_atomically(&seal, text.as_bytes()).map_err(with_path(&seal))
    }

    /// Returns the digest of a unit; `None` if there is none. Fails if there is a link in the unit
    /// or in the path to it.
    fn digest(&self, path: &Path) -> Result<Option<String>, StateError> {
        let above = path.ancestors().skip(1).take_while(|above| above.starts_with(&self.path));
        for above in above {
            if above.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
                return Err(self.refusal(above, RefusalReason::Link));
            }
        }
        let mut digest = blake3::Hasher::new();
        let has_existed = self.add_path(&mut digest, path, b"file")?;
        for (number, sidecar) in sidecar_paths(path).enumerate() {
            // An open connection leaves an empty log.
            if sidecar.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == 0) {
                continue;
            }
            let has_sidecar = self.add_path(&mut digest, &sidecar, &number.to_le_bytes())?;
            if has_sidecar && !has_existed {
                // A new database would use the log as its own.
                return Err(self.refusal(&sidecar, RefusalReason::Unsealed));
            }
        }
        Ok(has_existed.then(|| digest.finalize().to_hex().to_string()))
    }

    /// Adds a file or a folder to a digest. Returns false if there is none.
    fn add_path(
        &self,
        digest: &mut blake3::Hasher,
        path: &Path,
        name: &[u8],
    ) -> Result<bool, StateError> {
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(with_path(path)(error)),
        };
        if found.is_file() {
            add(digest, name, &fs::read(path).map_err(with_path(path))?);
            return Ok(true);
        }
        if !found.is_dir() {
            return Err(self.refusal(path, RefusalReason::Link));
        }
        add(digest, name, b"folder");
        let entries = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let mut names: Vec<_> =
            entries.map_err(with_path(path))?.into_iter().map(|entry| entry.file_name()).collect();
        names.sort();
        for name in names {
            self.add_path(digest, &path.join(&name), name.as_encoded_bytes())?;
        }
        add(digest, b"", b"");
        Ok(true)
    }
}

/// Returns the paths of the additional files of a SQLite database; none for other files.
pub(super) fn sidecar_paths(path: &Path) -> impl Iterator<Item = PathBuf> {
    let is_database = path.extension().is_some_and(|end| end == "db");
    let ends = DATABASE_SIDECAR_SUFFIXES.iter().filter(move |_| is_database);
    ends.map(|end| {
        let mut sidecar = path.as_os_str().to_owned();
        sidecar.push(end);
        PathBuf::from(sidecar)
    })
}

/// Adds a name and bytes to a digest, each with its length.
fn add(digest: &mut blake3::Hasher, name: &[u8], bytes: &[u8]) {
    for part in [name, bytes] {
        digest.update(&(part.len() as u64).to_le_bytes());
        digest.update(part);
    }
}

/// A unit of state, locked against other processes.
#[derive(Debug)]
pub struct UnitLock {
    kind: StateKind,
    path: PathBuf,
    has_existed: bool,
    is_changing: bool,
    _lock: Option<File>,
}

impl UnitLock {
    /// Returns the path of the unit.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the unit existed when it was locked.
    pub fn has_existed(&self) -> bool {
        self.has_existed
    }

    /// Marks the unit as changing. Dropping the value seals the unit in its new state.
    pub fn mark_changing(&mut self) -> Result<(), StateError> {
        if !self.is_changing {
            self.kind.write_seal(&self.path, UNSEALED_MARK)?;
            self.is_changing = true;
        }
        Ok(())
    }

    /// Marks the unit as changing, and sets or removes the label of its seal. The label outlives
    /// the unit, see [`StateKind::label`].
    pub fn mark_changing_with_label(&mut self, label: Option<&str>) -> Result<(), StateError> {
        self.kind.write_seal_with(&self.path, UNSEALED_MARK, label)?;
        self.is_changing = true;
        Ok(())
    }

    /// Seals the unit in its current state.
    pub fn seal(&mut self) -> Result<(), StateError> {
        self.is_changing = false;
        match self.kind.digest(&self.path)? {
            Some(digest) => self.kind.write_seal(&self.path, &digest),
            None => Ok(()),
        }
    }
}

impl Drop for UnitLock {
    fn drop(&mut self) {
        if self.is_changing {
            // A seal that cannot be written stays open, as after a crash.
            let _ = self.seal();
        }
    }
}
