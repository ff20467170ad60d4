//! Writing so that nothing is lost: every change of a file goes through here.
//!
//! A file appears whole or not at all: it is written beside its place, brought to the disk, renamed,
//! and the folder is brought to the disk as well. Where the machine itself has to go down for a file
//! to matter no more (locks, signs of life), nothing waits for the disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::queue::QueueError;

/// Gives an error the path that it is about.
pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> QueueError {
    let path = path.to_owned();
    move |source| QueueError::File { path, source }
}

/// How sure a write has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sure {
    /// It survives the machine.
    OnDisk,
    /// It survives the process.
    InMemory,
}

/// Writes a file whole, in place of one that is there.
pub(super) fn write(path: &Path, bytes: &[u8], sure: Sure) -> Result<(), QueueError> {
    let draft = draft_of(path);
    write_draft(&draft, bytes, sure).map_err(at(&draft))?;
    fault::point("rename").and_then(|()| fs::rename(&draft, path)).map_err(at(path))?;
    match sure {
        Sure::OnDisk => sync_folder(path),
        Sure::InMemory => Ok(()),
    }
}

fn write_draft(draft: &Path, bytes: &[u8], sure: Sure) -> io::Result<()> {
    fault::point("create")?;
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(draft)?;
    fault::point("write")?;
    file.write_all(bytes)?;
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

/// Renames a file within its folder.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), QueueError> {
    fault::point("rename").and_then(|()| fs::rename(from, to)).map_err(at(from))
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<(), QueueError> {
    match fault::point("remove").and_then(|()| fs::remove_file(path)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done.map_err(at(path)),
    }
}

/// Removes a file, and makes sure that it does not come back when the machine goes down.
pub(super) fn remove_surely(path: &Path) -> Result<(), QueueError> {
    remove(path)?;
    sync_folder(path)
}

/// Makes a folder with all above it, if it is not there.
pub(super) fn make_folder(path: &Path) -> Result<(), QueueError> {
    if path.is_dir() {
        return Ok(());
    }
    fault::point("folder").and_then(|()| fs::create_dir_all(path)).map_err(at(path))?;
    sync_folder(path)
}

/// Brings to the disk what became of the names in a file's folder.
fn sync_folder(path: &Path) -> Result<(), QueueError> {
    let folder = path.parent().unwrap_or(path);
    let sync = || File::open(folder)?.sync_all();
    fault::point("sync folder").and_then(|()| sync()).map_err(at(folder))
}

/// Reads a file, if it is there.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, QueueError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(at(path)(error)),
    }
}

/// Lists the names in a folder; none where there is no folder.
pub(super) fn names(folder: &Path) -> Result<Vec<String>, QueueError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(at(folder)(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(at(folder))?;
        // A name that is no text is none that a task could have.
        names.extend(entry.file_name().into_string().ok());
    }
    Ok(names)
}

/// Where tests let a write fail, or the process die.
#[cfg(not(test))]
pub(super) mod fault {
    use std::io;

    #[inline]
    pub(in crate::files) fn point(_name: &str) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod fault {
    use std::cell::RefCell;
    use std::io;

    /// What happens at a write.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(in crate::files) enum Fault {
        /// The process is gone at once, as if it had been killed.
        Die,
        /// The disk is full.
        Full,
        /// The disk cannot be written to.
        ReadOnly,
    }

    thread_local! {
        static DUE: RefCell<Option<(usize, Fault)>> = const { RefCell::new(None) };
        static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    /// Lets the write with that number, and all behind it, fail on this thread.
    pub(in crate::files) fn at(number: usize, fault: Fault) {
        DUE.set(Some((number, fault)));
        SEEN.take();
    }

    /// Lets writes succeed again, and says which there were.
    pub(in crate::files) fn none() -> Vec<String> {
        DUE.set(None);
        SEEN.take()
    }

    pub(in crate::files) fn point(name: &str) -> io::Result<()> {
        let number = SEEN.with_borrow_mut(|seen| {
            seen.push(name.to_owned());
            seen.len()
        });
        match DUE.with_borrow(|due| *due) {
            Some((due, fault)) if number >= due => match fault {
                Fault::Die => std::process::abort(),
                Fault::Full => Err(io::ErrorKind::StorageFull.into()),
                Fault::ReadOnly => Err(io::ErrorKind::ReadOnlyFilesystem.into()),
            },
            _ => Ok(()),
        }
    }
}
