//! Durable writes: how files are changed, in this crate and in others.
//!
//! A file appears whole or not at all: it is written beside its place, brought to the disk, renamed,
//! and the folder is brought to the disk as well. Where the machine itself has to go down for a file
//! to matter no more (locks, signs of life), nothing waits for the disk. A [`Lock`] keeps others away
//! meanwhile.
//!
//! What is in a file, and who may write it, is left to others: one path has one writer at a time.
//!
//! Tests can make any single write fail: at [`fault::point`] the crash suite lets the process die
//! or the disk be full at the n-th write. In a release build the function does nothing.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// So many files are open at the same time at the most.
const OPEN_AT_ONCE: usize = 64;

/// A file or folder could not be used.
#[derive(Debug, thiserror::Error)]
#[error("could not use `{path}`")]
pub struct DiskError {
    /// The file or folder.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl DiskError {
    /// Returns true if the disk may take what it refused later: it is full, or cannot be written to now.
    pub fn is_passing(&self) -> bool {
        use ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let kinds = [StorageFull, QuotaExceeded, ReadOnlyFilesystem];
        let is_broken = self.source.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
        kinds.contains(&self.source.kind()) || is_broken
    }
}

/// Gives an error the path that it is about.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> DiskError {
    let path = path.to_owned();
    move |source| DiskError { path, source }
}

/// How sure a write has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sure {
    /// It survives the machine.
    OnDisk,
    /// It survives the process.
    InMemory,
}

/// Writes a file whole, in place of one that is there. Two must not write the same file at a time.
pub fn write(path: &Path, bytes: &[u8], sure: Sure) -> Result<(), DiskError> {
    let draft = draft_of(path);
    write_draft(&draft, bytes, sure).map_err(at(&draft))?;
    fault::point("rename").and_then(|()| fs::rename(&draft, path)).map_err(at(path))?;
    match sure {
        Sure::OnDisk => sync_folder(path),
        Sure::InMemory => Ok(()),
    }
}

/// Writes several files whole, so that they survive the machine. Each takes its place only when it
/// is on the disk, and each folder is brought there once, which is quicker than one after the other.
/// What fails leaves some in their places and some not, but none in part.
pub(crate) fn write_all(files: &[(PathBuf, String)]) -> Result<(), DiskError> {
    for some in files.chunks(OPEN_AT_ONCE) {
        let mut drafts = Vec::with_capacity(some.len());
        for (path, text) in some {
            let draft = draft_of(path);
            let file = create(&draft, text.as_bytes()).map_err(at(&draft))?;
            drafts.push((draft, file));
        }
        for (draft, file) in &drafts {
            fault::point("sync").and_then(|()| file.sync_data()).map_err(at(draft))?;
        }
        for ((path, _), (draft, _)) in some.iter().zip(&drafts) {
            fault::point("rename").and_then(|()| fs::rename(draft, path)).map_err(at(path))?;
        }
    }
    let folders: BTreeSet<&Path> = files.iter().map(|(path, _)| folder_of(path)).collect();
    folders.into_iter().try_for_each(sync)
}

/// Adds to the end of a file, so that it survives the machine. A process that dies on the way may
/// leave a part of it: whoever reads the file has to know where something ends. What fails otherwise
/// is taken back.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let is_new = !path.exists();
    fault::point("create").map_err(at(path))?;
    let open = OpenOptions::new().append(true).create(true).open(path);
    let mut file = open.map_err(at(path))?;
    let before = file.metadata().map_err(at(path))?.len();
    if let Err(error) = append_surely(&mut file, bytes) {
        let _ = file.set_len(before);
        return Err(at(path)(error));
    }
    if is_new { sync_folder(path) } else { Ok(()) }
}

fn append_surely(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    fault::point("write")?;
    file.write_all(bytes)?;
    fault::point("sync")?;
    file.sync_data()
}

/// Creates a file with something in it.
fn create(path: &Path, bytes: &[u8]) -> io::Result<File> {
    fault::point("create")?;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    fault::point("write")?;
    file.write_all(bytes)?;
    Ok(file)
}

fn write_draft(draft: &Path, bytes: &[u8], sure: Sure) -> io::Result<()> {
    let file = create(draft, bytes)?;
    match sure {
        Sure::OnDisk => fault::point("sync").and_then(|()| file.sync_data()),
        Sure::InMemory => Ok(()),
    }
}

/// Where a file is written before it takes its place. There is one writer at a time, so one name is
/// enough, and what a crash left behind is written over.
fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Renames a file, unless there is another one under the new name already.
pub(crate) fn rename_new(from: &Path, to: &Path) -> Result<(), DiskError> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let rename = || match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems do not know this, and some kernels.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => match to.exists() {
            true => Err(ErrorKind::AlreadyExists.into()),
            false => fs::rename(from, to),
        },
        done => Ok(done?),
    };
    fault::point("rename").and_then(|()| rename()).map_err(at(from))
}

/// Removes a file, if it is there.
pub fn remove(path: &Path) -> Result<(), DiskError> {
    match fault::point("remove").and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done.map_err(at(path)),
    }
}

/// Removes a file, and makes sure that it does not come back when the machine goes down.
pub fn remove_surely(path: &Path) -> Result<(), DiskError> {
    remove(path)?;
    sync_folder(path)
}

/// Makes a folder with all above it, as far as they are not there, so that they survive the machine.
pub fn make_folder(path: &Path) -> Result<(), DiskError> {
    if path.is_dir() {
        return Ok(());
    }
    make_folder(folder_of(path))?;
    match fault::point("folder").and_then(|()| fs::create_dir(path)) {
        // Somebody else was quicker.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
        done => done.map_err(at(path))?,
    }
    sync_folder(path)
}

/// Brings to the disk what became of the names in a file's folder.
pub(crate) fn sync_folder(path: &Path) -> Result<(), DiskError> {
    sync(folder_of(path))
}

fn sync(folder: &Path) -> Result<(), DiskError> {
    let sync = || File::open(folder)?.sync_all();
    fault::point("sync folder").and_then(|()| sync()).map_err(at(folder))
}

/// The folder that a file is in, which is the current one for a bare name.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// Reads a file, if it is there.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

/// Lists the names in a folder, but for those that are no text; none where there is no folder.
pub fn names(folder: &Path) -> Result<Vec<String>, DiskError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at(folder)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(at(folder))?;
        // We never write a name that is no text, so whatever it is, it is not ours.
        names.extend(entry.file_name().into_string().ok());
    }
    Ok(names)
}

/// Keeps others from whatever a file's lock stands for, until it is dropped or its process dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Waits until nobody else has a file locked, and locks it.
///
/// The file is made if it is not there, and what is in it is left alone. It must never be renamed or
/// removed: who waits for it would then wait for another one.
pub fn lock(path: &Path) -> Result<Lock, DiskError> {
    let file = open_to_lock(path)?;
    file.lock().map_err(at(path))?;
    Ok(Lock { file })
}

/// Locks a file, unless somebody else has it locked.
///
/// Of the file, the same holds as for [`lock`].
pub fn try_lock(path: &Path) -> Result<Option<Lock>, DiskError> {
    let file = open_to_lock(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(at(path)(error)),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would not free it while a child that is just starting has a copy.
        let _ = self.file.unlock();
    }
}

/// Opens a file whose lock stands for something.
pub(crate) fn open_to_lock(path: &Path) -> Result<File, DiskError> {
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    open.map_err(at(path))
}

/// Fault points, at which tests of this crate and of others make a write fail or the process die.
#[doc(hidden)]
pub mod fault {
    #[cfg(any(test, debug_assertions))]
    pub use self::due::{Fault, at, none, point};

    /// Goes on.
    #[cfg(not(any(test, debug_assertions)))]
    #[inline]
    pub fn point(_name: &str) -> std::io::Result<()> {
        Ok(())
    }

    #[cfg(any(test, debug_assertions))]
    mod due {
        use std::cell::RefCell;
        use std::io;

        /// What happens at a write.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fault {
            /// The process is gone at once, as if it had been killed.
            Die,
            /// The disk is full.
            Full,
            /// The disk cannot be written to.
            ReadOnly,
        }

        struct Due {
            number: usize,
            fault: Fault,
            seen: Vec<String>,
        }

        thread_local! {
            static DUE: RefCell<Option<Due>> = const { RefCell::new(None) };
        }

        /// Lets the write with that number, and all behind it, fail on this thread.
        pub fn at(number: usize, fault: Fault) {
            DUE.set(Some(Due { number, fault, seen: Vec::new() }));
        }

        /// Lets writes succeed again, and says which there were since [`at`].
        pub fn none() -> Vec<String> {
            DUE.take().map(|due| due.seen).unwrap_or_default()
        }

        /// Goes on, or fails as a test wants it.
        pub fn point(name: &str) -> io::Result<()> {
            DUE.with_borrow_mut(|due| {
                let Some(due) = due else { return Ok(()) };
                due.seen.push(name.to_owned());
                match due.fault {
                    _ if due.seen.len() < due.number => Ok(()),
                    Fault::Die => std::process::abort(),
                    Fault::Full => Err(io::ErrorKind::StorageFull.into()),
                    Fault::ReadOnly => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
                }
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_in_the_current_folder() {
        let folders = ["a", "a/b", "/a", "/"].map(|path| folder_of(Path::new(path)));
        assert_eq!(folders, [".", "a", "/", "/"].map(Path::new));
    }
}
