//! Temporary folders that are removed when their owner is dropped or this process ends:
//! [`ScratchFolder`].
//!
//! A process that ends by a signal drops nothing. So folders are registered here, and
//! [`remove_all`] removes those that are left.
//!
//! [`ScratchRegistration`] is the registration alone, for folders that git creates and removes,
//! such as its work trees.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;

/// The folders to remove when the process ends.
static REGISTERED: Mutex<Folders> =
    Mutex::new(Folders { paths: BTreeSet::new(), is_closed: false });

struct Folders {
    paths: BTreeSet<PathBuf>,
    /// True if the process is ending, so that no folder can be created any more.
    is_closed: bool,
}

fn registered() -> MutexGuard<'static, Folders> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every scratch folder of this process, which is about to end. No folder can be created
/// afterwards.
pub(crate) fn remove_all() {
    let mut folders = registered();
    folders.is_closed = true;
    for path in std::mem::take(&mut folders.paths) {
        remove(&path);
    }
}

/// The maximum number of attempts to remove a folder.
const MAX_ATTEMPTS: usize = 10;

/// Removes a folder to which a thread of this process may be writing. The folder is renamed first,
/// so that later writes fail. A write that was under way can still add a file, so the removal is
/// retried. A folder that cannot be removed stays.
fn remove(path: &Path) {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".removed");
    let renamed = path.with_file_name(name);
    remove_with_retries(&renamed);
    match fs::rename(path, &renamed) {
        Ok(()) => remove_with_retries(&renamed),
        Err(_) => remove_with_retries(path),
    }
}

fn remove_with_retries(path: &Path) {
    for _ in 0..MAX_ATTEMPTS {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            Ok(()) | Err(_) => return,
        }
    }
}

/// A temporary folder that only this user can read. It is removed when the value is dropped, or
/// when the process shuts down.
#[derive(Debug)]
pub struct ScratchFolder {
    folder: TempDir,
    note: ScratchRegistration,
}

impl ScratchFolder {
    /// Creates a folder in the system's folder for temporary files.
    pub fn new(prefix: &str) -> io::Result<ScratchFolder> {
        ScratchFolder::make(|| Self::builder(prefix, &mut tempfile::Builder::new()).tempdir())
    }

    /// Creates a folder in another folder.
    pub fn new_in(prefix: &str, parent: &Path) -> io::Result<ScratchFolder> {
        ScratchFolder::make(|| {
            Self::builder(prefix, &mut tempfile::Builder::new()).tempdir_in(parent)
        })
    }

    fn builder<'b, 'p>(
        prefix: &'p str,
        builder: &'b mut tempfile::Builder<'p, 'p>,
    ) -> &'b mut tempfile::Builder<'p, 'p> {
        builder.prefix(prefix).permissions(Permissions::from_mode(0o700))
    }

    fn make(make: impl FnOnce() -> io::Result<TempDir>) -> io::Result<ScratchFolder> {
        let mut folders = registered();
        if folders.is_closed {
            return Err(shutting_down_error());
        }
        let folder = make()?;
        folders.paths.insert(folder.path().to_owned());
        let note = ScratchRegistration(vec![folder.path().to_owned()]);
        Ok(ScratchFolder { folder, note })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Cancels the removal, and returns the path of the folder.
    pub fn keep(self) -> PathBuf {
        let ScratchFolder { folder, note } = self;
        drop(note);
        folder.keep()
    }
}

impl AsRef<Path> for ScratchFolder {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}

/// The registration of folders that are removed if the process shuts down. Otherwise the owner of
/// the registration removes them.
#[derive(Debug)]
pub struct ScratchRegistration(Vec<PathBuf>);

impl ScratchRegistration {
    /// Registers folders that another program, such as git, creates. Fails if the process is
    /// shutting down.
    pub fn new(paths: impl IntoIterator<Item = PathBuf>) -> io::Result<ScratchRegistration> {
        let paths: Vec<PathBuf> = paths.into_iter().collect();
        let mut folders = registered();
        if folders.is_closed {
            return Err(shutting_down_error());
        }
        folders.paths.extend(paths.iter().cloned());
        Ok(ScratchRegistration(paths))
    }
}

impl Drop for ScratchRegistration {
    fn drop(&mut self) {
        let mut folders = registered();
        for path in &self.0 {
            folders.paths.remove(path);
        }
    }
}

fn shutting_down_error() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "assay is shutting down")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_to_which_a_thread_writes_is_removed() {
        for _ in 0..50 {
            let parent = tempfile::tempdir().unwrap();
            let folder = parent.path().join("draft");
            fs::create_dir(&folder).unwrap();
            let (start_sender, start_receiver) = std::sync::mpsc::channel();
            let writer = std::thread::spawn({
                let folder = folder.clone();
                move || {
                    for n in 0..100_000 {
                        if fs::write(folder.join(n.to_string()), "x").is_err() {
                            return;
                        }
                        let _ = start_sender.send(());
                    }
                }
            });
            start_receiver.recv().unwrap();
            remove(&folder);
            writer.join().unwrap();
            assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
        }
    }
}
