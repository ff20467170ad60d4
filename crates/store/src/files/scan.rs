//! The import of files that people add to a queue's folder, edit or remove.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::index::{FileVersion, ScanRecord, changed};
use super::layout::{REASON, file_name, is_task_file};
use super::transaction::QueueTransaction;
use crate::durable_fs::{self, Durability};
use crate::queue::QueueError;
use crate::task::{MAX_STORED, Moment, Priority, QueueName, Task, TaskId};

/// The minimum age of an invalid file before it is set aside: a younger one may still be
/// incomplete.
const MIN_INVALID_AGE: Duration = Duration::from_secs(2);

/// The granularity of file timestamps. A folder that was changed so recently may change again
/// without a new timestamp.
const TIMESTAMP_GRANULARITY: Duration = Duration::from_millis(50);

/// The age of a scan at which the next one is due, also if the folder seems unchanged.
const MAX_SCAN_AGE: Duration = Duration::from_secs(30);

/// The inverse of the maximum share of time that scans take: 20 for 5 %.
const SCAN_TIME_DIVISOR: i64 = 20;

/// The maximum number of waiting tasks whose dependencies are counted again at each scan.
const MAX_RECOUNTED: usize = 1_000;

/// The condition for a scan of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScanMode {
    /// The folder may have changed, and the last scan was long enough ago for `SCAN_TIME_DIVISOR`.
    Throttled,
    /// The folder may have changed.
    IfChanged,
}

/// The result of importing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Import {
    Done,
    /// The file may still be incomplete.
    Incomplete,
}

impl QueueTransaction<'_> {
    /// Imports all files of all queues.
    pub(super) fn import_all(&mut self) -> Result<(), QueueError> {
        for queue in self.queues()? {
            let scanned = self.scan_folder(&queue);
            self.skip_unreadable(&queue, scanned)?;
        }
        Ok(())
    }

    /// Skips a queue whose folder cannot be read, and writes the reason: other queues continue.
    pub(super) fn skip_unreadable(
        &mut self,
        queue: &QueueName,
        scanned: Result<(), QueueError>,
    ) -> Result<(), QueueError> {
        let folder = self.layout.queue(queue);
        match scanned {
            Err(QueueError::File(error)) if fs::read_dir(&folder).is_err() => {
                let name = format!("{queue}{REASON}");
                let text = format!(
                    "{} cannot read the folder: {}\n",
                    Moment::now(self.clock),
                    error.source
                );
                let place = self.layout.malformed().join(name);
                let _ = durable_fs::write(&place, text.as_bytes(), Durability::PageCache);
                Ok(())
            }
            other => other,
        }
    }

    /// Imports changed files of all queues.
    pub(super) fn scan_all(&mut self) -> Result<(), QueueError> {
        for queue in self.queues()? {
            let scanned = self.scan(&queue, ScanMode::IfChanged);
            self.skip_unreadable(&queue, scanned)?;
        }
        Ok(())
    }

    /// Returns the metadata of a queue's folder, or `None` if the folder does not exist.
    pub(super) fn folder(&self, queue: &QueueName) -> Result<Option<Metadata>, QueueError> {
        let path = self.layout.queue(queue);
        match fs::metadata(&path) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(durable_fs::with_path(&path)(error).into()),
        }
    }

    /// Scans a queue's folder if that is due.
    pub(super) fn scan(&mut self, queue: &QueueName, mode: ScanMode) -> Result<(), QueueError> {
        let Some(folder) = self.folder(queue)? else { return Ok(()) };
        let now = self.clock.uptime();
        let due = self.index.last_scan(queue)?.is_none_or(|record| {
            let since = record.at.until(now);
            let rested = i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
                >= SCAN_TIME_DIVISOR * record.took;
            let differs = record.changed != changed(&folder) || since >= MAX_SCAN_AGE;
            differs && (mode == ScanMode::IfChanged || rested)
        });
        if due { self.scan_folder(queue) } else { Ok(()) }
    }

    fn scan_folder(&mut self, queue: &QueueName) -> Result<(), QueueError> {
        let started = self.clock.uptime();
        let path = self.layout.queue(queue);
        let folder = fs::metadata(&path).map_err(durable_fs::with_path(&path))?;
        let settled = self.import_changes(queue)?;
        for id in self.index.ids_with_open_dependencies(queue, MAX_RECOUNTED)? {
            self.recount_open_dependencies(&id)?;
        }
        let quiet = folder.modified().ok().and_then(|at| self.clock.since(at));
        let trusted =
            settled == Import::Done && quiet.is_some_and(|quiet| quiet > TIMESTAMP_GRANULARITY);
        let took = started.until(self.clock.uptime()).as_millis();
        let record = ScanRecord {
            changed: if trusted { changed(&folder) } else { 0 },
            at: started,
            took: i64::try_from(took).unwrap_or(i64::MAX),
        };
        self.index.set_last_scan(queue, record)
    }

    /// Compares a folder with the index and imports the differences.
    fn import_changes(&mut self, queue: &QueueName) -> Result<Import, QueueError> {
        let known = self.index.files(queue)?;
        let folder = self.layout.queue(queue);
        let names = durable_fs::list_dir(&folder)?.into_iter().filter(|name| is_task_file(name));
        let names: HashSet<String> = names.collect();
        for gone in known.keys().filter(|name| !names.contains(*name)) {
            self.unindex(queue, gone)?;
        }
        let mut all = Import::Done;
        for name in &names {
            let Ok(file) = fs::symlink_metadata(folder.join(name)) else {
                continue;
            };
            if known.get(name) != Some(&FileVersion::of(&file))
                && self.import_file(queue, name)? == Import::Incomplete
            {
                all = Import::Incomplete;
            }
        }
        Ok(all)
    }

    pub(super) fn unindex(&mut self, queue: &QueueName, file: &str) -> Result<(), QueueError> {
        if let Some(entry) = self.index.find_by_file(queue, file)? {
            let waiting = self.index.dependents(&entry.id)?;
            self.index.remove(&entry.id)?;
            self.index.remove_blocks(&entry.id)?;
            waiting.iter().try_for_each(|id| self.recount_open_dependencies(id))?;
        }
        Ok(())
    }

    /// Imports a file, or removes it from the index if it is gone. A file that is not a task is set
    /// aside with the reason.
    pub(super) fn import_file(
        &mut self,
        queue: &QueueName,
        name: &str,
    ) -> Result<Import, QueueError> {
        let path = self.layout.queue(queue).join(name);
        let Ok(file) = fs::symlink_metadata(&path) else {
            self.unindex(queue, name)?;
            return Ok(Import::Done);
        };
        let wrong = match read_task(&path, &file) {
            Ok(task) => match self.find_duplicate(queue, name, &task.id)? {
                None => {
                    self.unindex(queue, name)?;
                    self.index_task(queue, name, &file, &task)?;
                    self.update_dependents(&task.id)?;
                    return Ok(Import::Done);
                }
                Some(find_duplicate) => find_duplicate,
            },
            Err(wrong) => wrong,
        };
        let quiet = file.modified().ok().and_then(|at| self.clock.since(at));
        if quiet.is_some_and(|quiet| quiet < MIN_INVALID_AGE) && file.is_file() {
            return Ok(Import::Incomplete);
        }
        self.unindex(queue, name)?;
        self.quarantine(&path, name, &wrong)?;
        Ok(Import::Done)
    }

    /// Returns the reason why a file duplicates an existing task, or `None` if it does not.
    fn find_duplicate(
        &self,
        queue: &QueueName,
        name: &str,
        id: &TaskId,
    ) -> Result<Option<String>, QueueError> {
        if let Some(archive) = self.find_archived(id)? {
            return Ok(Some(format!("task `{id}` is already completed, in `{archive}`")));
        }
        let listed = self.index.get(id)?;
        let other = listed.filter(|entry| (&entry.queue, entry.file.as_str()) != (queue, name));
        let named = file_name(id);
        let shadowed = name != named && self.may_be_in_own_file(queue, id);
        Ok(match other {
            Some(entry) if self.layout.queue(&entry.queue).join(&entry.file).is_file() => {
                Some(format!("task `{id}` already exists, in `{}/{}`", entry.queue, entry.file))
            }
            _ if shadowed => Some(format!("task `{id}` already exists, in `{queue}/{named}`")),
            _ => None,
        })
    }

    /// Moves an entry that is not usable to `malformed/`, with the reason in a second file.
    pub(super) fn quarantine(
        &mut self,
        path: &Path,
        name: &str,
        reason: &str,
    ) -> Result<(), QueueError> {
        let folder = self.layout.malformed();
        let place = |number: usize| match number {
            1 => folder.join(name),
            _ => folder.join(format!("{number}-{name}")),
        };
        let free = (1..).map(place).find(|place| fs::symlink_metadata(place).is_err());
        let place = free.expect("some number is free");
        let moved = durable_fs::rename_noreplace(path, &place);
        let stays = match &moved {
            Ok(()) => String::new(),
            Err(error) => format!("; the file stays at `{}`: {}", path.display(), error.source),
        };
        let mut reason_path = place.into_os_string();
        reason_path.push(REASON);
        let text = format!("{} {reason}{stays}\n", Moment::now(self.clock));
        // An entry that cannot be moved, or whose reason cannot be written, must not block other
        // tasks.
        let _ = durable_fs::write(Path::new(&reason_path), text.as_bytes(), Durability::PageCache);
        Ok(())
    }

    /// Returns the files of a queue that are not valid tasks and were not set aside yet, each with
    /// the reason.
    pub(super) fn incomplete_files(
        &self,
        queue: &QueueName,
    ) -> Result<Vec<(String, String)>, QueueError> {
        let known = self.index.files(queue)?;
        let folder = self.layout.queue(queue);
        let names = durable_fs::list_dir(&folder)?.into_iter();
        let mut incomplete = Vec::new();
        for name in names.filter(|name| is_task_file(name) && !known.contains_key(name)) {
            let path = folder.join(&name);
            let Ok(file) = fs::symlink_metadata(&path) else { continue };
            if let Err(wrong) = read_task(&path, &file) {
                incomplete.push((format!("{queue}/{name}"), wrong));
            }
        }
        incomplete.sort();
        Ok(incomplete)
    }
}

/// Reads a task from an untrusted file.
pub(super) fn read_task(path: &Path, file: &fs::Metadata) -> Result<Task, String> {
    if !file.is_file() {
        return Err("not a regular file; links are not followed".to_owned());
    }
    if file.len() > MAX_STORED as u64 {
        return Err(format!("the file has {} bytes; the limit is {MAX_STORED}", file.len()));
    }
    let bytes = fs::read(path).map_err(|error| format!("cannot read the file: {error}"))?;
    let task = Task::parse(&bytes).map_err(|error| error.to_string())?;
    match task.priority == Priority::ESCALATION && !task.kind.is_escalation() {
        true => Err("priority 0 is reserved for escalations".to_owned()),
        false => Ok(task),
    }
}

impl QueueTransaction<'_> {
    /// Returns true if the folder of a queue has to be scanned again soon.
    pub(super) fn needs_rescan(&self, queue: &QueueName) -> Result<bool, QueueError> {
        Ok(self.index.last_scan(queue)?.is_some_and(|record| record.changed == 0))
    }
}
