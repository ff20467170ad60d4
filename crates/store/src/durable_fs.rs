//! Durable writes to files, for this crate and others.
//!
//! `write` replaces a file as a whole: a reader sees the old or the new content, never a part.
//! The content is written to a temporary file in the same folder and synced, the temporary file is
//! renamed, and the folder is synced. Files that lose their meaning when the machine restarts
//! (leases, heartbeats) are not synced (`Durability::PageCache`). A [`Lock`] excludes other
//! processes.
//!
//! Callers decide on the content of a file, and ensure that a path has one writer at a time.
//!
//! Tests can make any single write fail: at [`fault::point`] the crash suite aborts the process or
//! reports a full disk at the n-th write. In a release build the function does nothing.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The maximum number of files that `write_all` has open at a time.
const MAX_OPEN_FILES: usize = 64;

/// The error of an operation on a file or folder.
#[derive(Debug, thiserror::Error)]
#[error("cannot access `{path}`")]
pub struct DiskError {
    /// The path of the file or folder.
    pub path: PathBuf,
    /// The error of the operating system.
    pub source: io::Error,
}

impl DiskError {
    /// Returns true if a retry may succeed: the disk is full, over quota, read-only, or reports an
    /// I/O error.
    pub fn is_transient(&self) -> bool {
        use ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let kinds = [StorageFull, QuotaExceeded, ReadOnlyFilesystem];
        let is_broken = self.source.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error());
        kinds.contains(&self.source.kind()) || is_broken
    }
}

/// Returns a closure that adds `path` to an I/O error.
pub(crate) fn with_path(path: &Path) -> impl FnOnce(io::Error) -> DiskError {
    let path = path.to_owned();
    move |source| DiskError { path, source }
}

/// The durability of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// The write is synced and survives a crash of the machine.
    Fsync,
    /// The write is in the page cache only: it survives the process, not a crash of the machine.
    PageCache,
}

/// Replaces a file as a whole, or creates it. A path must have one writer at a time.
pub fn write(path: &Path, bytes: &[u8], durability: Durability) -> Result<(), DiskError> {
    let draft = draft_of(path);
    write_draft(&draft, bytes, durability).map_err(with_path(&draft))?;
    fault::point("rename").and_then(|()| fs::rename(&draft, path)).map_err(with_path(path))?;
    match durability {
        Durability::Fsync => sync_folder(path),
        Durability::PageCache => Ok(()),
    }
}

/// Writes several files as a whole and syncs them. Each file is renamed into place only after its
/// content is synced, and each folder is synced once, which is faster than one `write` per
/// file. After an error, some files may be in place and others not, but no file is there in part.
pub(crate) fn write_all(files: &[(PathBuf, String)]) -> Result<(), DiskError> {
    for some in files.chunks(MAX_OPEN_FILES) {
        let mut drafts = Vec::with_capacity(some.len());
        for (path, text) in some {
            let draft = draft_of(path);
            let file = create(&draft, text.as_bytes()).map_err(with_path(&draft))?;
            drafts.push((draft, file));
        }
        for (draft, file) in &drafts {
            fault::point("sync").and_then(|()| file.sync_data()).map_err(with_path(draft))?;
        }
        for ((path, _), (draft, _)) in some.iter().zip(&drafts) {
            fault::point("rename")
                .and_then(|()| fs::rename(draft, path))
                .map_err(with_path(path))?;
        }
    }
    let folders: BTreeSet<&Path> = files.iter().map(|(path, _)| folder_of(path)).collect();
    folders.into_iter().try_for_each(sync)
}

/// Appends to a file and syncs it. A process that dies during the write may leave a part of the
/// bytes, so readers must recognise an incomplete end. After any other error, the file gets its old
/// length back.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let is_new = !path.exists();
    fault::point("create").map_err(with_path(path))?;
    let open = OpenOptions::new().append(true).create(true).open(path);
    let mut file = open.map_err(with_path(path))?;
    let before = file.metadata().map_err(with_path(path))?.len();
    if let Err(error) = append_synced(&mut file, bytes) {
        let _ = file.set_len(before);
        return Err(with_path(path)(error));
    }
    if is_new { sync_folder(path) } else { Ok(()) }
}

fn append_synced(file: &mut File, bytes: &[u8]) -> io::Result<()> {
    fault::point("write")?;
    file.write_all(bytes)?;
    fault::point("sync")?;
    file.sync_data()
}

/// Creates or truncates a file and writes `bytes`, without syncing.
fn create(path: &Path, bytes: &[u8]) -> io::Result<File> {
    fault::point("create")?;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(path)?;
    fault::point("write")?;
    file.write_all(bytes)?;
    Ok(file)
}

fn write_draft(draft: &Path, bytes: &[u8], durability: Durability) -> io::Result<()> {
    let file = create(draft, bytes)?;
    match durability {
        Durability::Fsync => fault::point("sync").and_then(|()| file.sync_data()),
        Durability::PageCache => Ok(()),
    }
}

/// Returns the path of the temporary file for `path`. A path has one writer at a time, so one name
/// is enough, and a file that a crash left behind is overwritten.
fn draft_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

/// Renames a file. Fails if the new name exists.
pub(crate) fn rename_noreplace(from: &Path, to: &Path) -> Result<(), DiskError> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let rename = || match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some file systems and kernels do not support `NOREPLACE`.
        Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => match to.exists() {
            true => Err(ErrorKind::AlreadyExists.into()),
            false => fs::rename(from, to),
        },
        done => Ok(done?),
    };
    fault::point("rename").and_then(|()| rename()).map_err(with_path(from))
}

/// Removes a file. A missing file is a success.
pub fn remove(path: &Path) -> Result<(), DiskError> {
    match fault::point("remove").and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done.map_err(with_path(path)),
    }
}

/// Removes a file and syncs its folder, so that the file does not reappear after a crash of the
/// machine.
pub fn remove_synced(path: &Path) -> Result<(), DiskError> {
    remove(path)?;
    sync_folder(path)
}

/// Creates a folder and its missing parents, and syncs them.
pub fn make_folder(path: &Path) -> Result<(), DiskError> {
    if path.is_dir() {
        return Ok(());
    }
    make_folder(folder_of(path))?;
    match fault::point("folder").and_then(|()| fs::create_dir(path)) {
        // Another process created the folder first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_dir() => {}
        done => done.map_err(with_path(path))?,
    }
    sync_folder(path)
}

/// Syncs the folder of a file, which makes created, renamed and removed names durable.
pub(crate) fn sync_folder(path: &Path) -> Result<(), DiskError> {
    sync(folder_of(path))
}

fn sync(folder: &Path) -> Result<(), DiskError> {
    let sync = || File::open(folder)?.sync_all();
    fault::point("sync folder").and_then(|()| sync()).map_err(with_path(folder))
}

/// Returns the folder of a path, which is `.` for a bare name.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => path,
    }
}

/// Reads a file. Returns `None` if it does not exist.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, DiskError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(with_path(path)(error)),
    }
}

/// Returns the names in a folder that are valid UTF-8; none if the folder does not exist.
pub fn list_dir(folder: &Path) -> Result<Vec<String>, DiskError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(with_path(folder)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(with_path(folder))?;
        // This crate never writes a name that is not UTF-8, so such a file is not its own.
        names.extend(entry.file_name().into_string().ok());
    }
    Ok(names)
}

/// An exclusive lock on a file. The lock is released when it is dropped or its process dies.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// Waits until no other process holds the lock of a file, and acquires the lock.
///
/// The file is created if it does not exist, and its content is not changed. The file must never be
/// renamed or removed: a waiting process would then wait for the lock of another file.
pub fn lock(path: &Path) -> Result<Lock, DiskError> {
    let file = open_lock_file(path)?;
    file.lock().map_err(with_path(path))?;
    Ok(Lock { file })
}

/// Acquires the lock of a file. Returns `None` if another process holds the lock.
///
/// The same rules apply to the file as for [`lock`].
pub fn try_lock(path: &Path) -> Result<Option<Lock>, DiskError> {
    let file = open_lock_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Lock { file })),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(with_path(path)(error)),
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A child process that is just starting may have a copy of the descriptor, so closing the
        // file would not release the lock.
        let _ = self.file.unlock();
    }
}

/// Opens a file for locking, and creates it if it does not exist.
pub(crate) fn open_lock_file(path: &Path) -> Result<File, DiskError> {
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    open.map_err(with_path(path))
}

/// Fault points, at which tests of this crate and of others make a write fail or the process die.
#[doc(hidden)]
pub mod fault {
    #[cfg(any(test, debug_assertions))]
    pub use self::injection::{Fault, clear, inject, point};

    /// Returns Ok: release builds have no faults.
    #[cfg(not(any(test, debug_assertions)))]
    #[inline]
    pub fn point(_name: &str) -> std::io::Result<()> {
        Ok(())
    }

    #[cfg(any(test, debug_assertions))]
    mod injection {
        use std::cell::RefCell;
        use std::io;

        /// The fault at a write.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Fault {
            /// The process aborts, as if it had been killed.
            Die,
            /// The disk is full.
            Full,
            /// The disk cannot be written to.
            ReadOnly,
        }

        struct Injection {
            number: usize,
            fault: Fault,
            passed: Vec<String>,
        }

        thread_local! {
            static INJECTION: RefCell<Option<Injection>> = const { RefCell::new(None) };
        }

        /// Makes the write with the given number, and all later ones of this thread, fail.
        pub fn inject(number: usize, fault: Fault) {
            INJECTION.set(Some(Injection { number, fault, passed: Vec::new() }));
        }

        /// Lets writes succeed again, and returns the names of the fault points since [`inject`].
        pub fn clear() -> Vec<String> {
            INJECTION.take().map(|injection| injection.passed).unwrap_or_default()
        }

        /// Returns Ok, or fails if a test asked for a fault here.
        pub fn point(name: &str) -> io::Result<()> {
            INJECTION.with_borrow_mut(|injection| {
                let Some(injection) = injection else { return Ok(()) };
                injection.passed.push(name.to_owned());
                match injection.fault {
                    _ if injection.passed.len() < injection.number => Ok(()),
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
