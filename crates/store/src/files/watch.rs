//! File system notifications that wake waiting agents: events of a queue's folder, and of the
//! folder of pauses.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use notify::event::{AccessKind, AccessMode, ModifyKind};
use notify::{Event, EventKind, RecursiveMode, Watcher};

use super::layout::is_task_file;
use crate::durable_fs;
use crate::queue::{QueueError, Waker, Watch};

/// The maximum number of edited files that are remembered; a scan finds the rest.
const MAX_EDITED_FILES: usize = 1_000;

/// The files that people edited in place, which does not change the modification time of their
/// folder.
#[derive(Debug, Clone, Default)]
pub(super) struct EditedFiles(Arc<Mutex<HashSet<PathBuf>>>);

impl EditedFiles {
    fn add(&self, path: &Path) {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if paths.len() < MAX_EDITED_FILES {
            paths.insert(path.to_owned());
        }
    }

    /// Returns the edited files of a folder and removes them from the set.
    pub(super) fn take(&self, folder: &Path) -> Vec<String> {
        let mut paths = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let inside = paths.extract_if(|path| path.parent() == Some(folder));
        let names = inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
        names.collect()
    }
}

/// Returns a watch on folders, from now on.
pub(super) fn watch(folders: &[PathBuf], edited: &EditedFiles) -> Result<Watch, QueueError> {
    Watch::new(|waker| {
        let edited = edited.clone();
        let watcher =
            notify::recommended_watcher(move |event: notify::Result<Event>| match event {
                Ok(event) => handle_event(&event, &edited, &waker),
                // Events were lost, so the waiting agent has to check the queue.
                Err(_) => waker.wake(),
            });
        let unwatchable = |error: notify::Error, path: &Path| {
            QueueError::from(durable_fs::with_path(path)(io::Error::other(error)))
        };
        let first = folders.first().map_or(Path::new("."), PathBuf::as_path);
        let mut watcher = watcher.map_err(|error| unwatchable(error, first))?;
        for folder in folders {
            let watched = watcher.watch(folder, RecursiveMode::NonRecursive);
            watched.map_err(|error| unwatchable(error, folder))?;
        }
        Ok(watcher)
    })
}

fn handle_event(event: &Event, edited: &EditedFiles, waker: &Waker) {
    let written = matches!(
        event.kind,
        EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Data(_))
    );
    // The queue's own writes are renamed into place from a temporary name, so they do not count as
    // edits.
    if written {
        event.paths.iter().filter(|path| is_task_path(path)).for_each(|path| edited.add(path));
    }
    let quiet = matches!(event.kind, EventKind::Access(AccessKind::Open(_) | AccessKind::Read))
        || event.paths.iter().all(|path| is_draft(path));
    if !quiet || event.need_rescan() {
        waker.wake();
    }
}

fn is_task_path(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(is_task_file)
}

/// Returns true if the path is that of a temporary file before its rename.
fn is_draft(path: &Path) -> bool {
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| name.starts_with('.') && name.ends_with(".tmp"))
}
