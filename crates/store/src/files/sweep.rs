//! The import of files that people add to a queue's folder, edit or remove.

use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;

use super::desk::Desk;
use super::index::{Stamp, Swept, changed};
use super::layout::{REASON, file_name, is_task_file};
use crate::disk::{self, Sure};
use crate::queue::QueueError;
use crate::task::{MAX_STORED, Moment, Priority, QueueName, Task, TaskId};

/// The minimum age of an invalid file before it is set aside: a younger one may still be
/// incomplete.
const YOUNG: Duration = Duration::from_secs(2);

/// The granularity of file timestamps. A folder that was changed so recently may change again
/// without a new timestamp.
const STEP: Duration = Duration::from_millis(50);

/// The age of a scan at which the next one is due, also if the folder seems unchanged.
const IN_ANY_CASE: Duration = Duration::from_secs(30);

/// The inverse of the maximum share of time that scans take: 20 for 5 %.
const SHARE: i64 = 20;

/// The maximum number of waiting tasks whose dependencies are counted again at each scan.
const COUNTED_ANEW: usize = 1_000;

/// The condition for a scan of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// The folder may have changed, and the last scan was long enough ago for `SHARE`.
    InPassing,
    /// The folder may have changed.
    Closely,
}

/// The result of importing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    In,
    /// The file may still be incomplete.
    NotYet,
}

impl Desk<'_> {
    /// Imports all files of all queues.
    pub(super) fn fill(&mut self) -> Result<(), QueueError> {
        for queue in self.queues()? {
            let swept = self.sweep_all(&queue);
            self.pass_over(&queue, swept)?;
        }
        Ok(())
    }

    /// Skips a queue whose folder cannot be read, and writes the reason: other queues continue.
    fn pass_over(
        &mut self,
        queue: &QueueName,
        looked: Result<(), QueueError>,
    ) -> Result<(), QueueError> {
        let folder = self.layout.queue(queue);
        match looked {
            Err(QueueError::File(error)) if fs::read_dir(&folder).is_err() => {
                let name = format!("{queue}{REASON}");
                let told = format!(
                    "{} the folder cannot be read: {}\n",
                    Moment::now(self.clock),
                    error.source
                );
                let place = self.layout.malformed().join(name);
                let _ = disk::write(&place, told.as_bytes(), Sure::InMemory);
                Ok(())
            }
            other => other,
        }
    }

    /// Imports changed files of all queues.
    pub(super) fn look_everywhere(&mut self) -> Result<(), QueueError> {
        for queue in self.queues()? {
            let looked = self.look(&queue, Look::Closely);
            self.pass_over(&queue, looked)?;
        }
        Ok(())
    }

    /// Returns the metadata of a queue's folder, or `None` if the folder does not exist.
    pub(super) fn folder(&self, queue: &QueueName) -> Result<Option<Metadata>, QueueError> {
        let path = self.layout.queue(queue);
        match fs::metadata(&path) {
            Ok(folder) => Ok(Some(folder)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(disk::at(&path)(error).into()),
        }
    }

    /// Scans a queue's folder if that is due.
    pub(super) fn look(&mut self, queue: &QueueName, how: Look) -> Result<(), QueueError> {
        let Some(folder) = self.folder(queue)? else { return Ok(()) };
        let now = self.clock.uptime();
        let due = self.index.swept(queue)?.is_none_or(|swept| {
            let since = swept.at.until(now);
            let rested = i64::try_from(since.as_millis()).unwrap_or(i64::MAX) >= SHARE * swept.took;
            let differs = swept.changed != changed(&folder) || since >= IN_ANY_CASE;
            differs && (how == Look::Closely || rested)
        });
        if due { self.sweep_all(queue) } else { Ok(()) }
    }

    fn sweep_all(&mut self, queue: &QueueName) -> Result<(), QueueError> {
        let started = self.clock.uptime();
        let path = self.layout.queue(queue);
        let folder = fs::metadata(&path).map_err(disk::at(&path))?;
        let settled = self.sweep(queue)?;
        for id in self.index.waiting(queue, COUNTED_ANEW)? {
            self.count_open(&id)?;
        }
        let quiet = folder.modified().ok().and_then(|at| self.clock.since(at));
        let trusted = settled == Taken::In && quiet.is_some_and(|quiet| quiet > STEP);
        let took = started.until(self.clock.uptime()).as_millis();
        let swept = Swept {
            changed: if trusted { changed(&folder) } else { 0 },
            at: started,
            took: i64::try_from(took).unwrap_or(i64::MAX),
        };
        self.index.set_swept(queue, swept)
    }

    /// Compares a folder with the index and imports the differences.
    fn sweep(&mut self, queue: &QueueName) -> Result<Taken, QueueError> {
        let known = self.index.files(queue)?;
        let folder = self.layout.queue(queue);
        let names = disk::names(&folder)?.into_iter().filter(|name| is_task_file(name));
        let names: HashSet<String> = names.collect();
        for gone in known.keys().filter(|name| !names.contains(*name)) {
            self.forget(queue, gone)?;
        }
        let mut all = Taken::In;
        for name in &names {
            let Ok(file) = fs::symlink_metadata(folder.join(name)) else {
                continue;
            };
            if known.get(name) != Some(&Stamp::of(&file))
                && self.take_in(queue, name)? == Taken::NotYet
            {
                all = Taken::NotYet;
            }
        }
        Ok(all)
    }

    pub(super) fn forget(&mut self, queue: &QueueName, file: &str) -> Result<(), QueueError> {
        if let Some(entry) = self.index.in_file(queue, file)? {
            let waiting = self.index.waiting_for(&entry.id)?;
            self.index.remove(&entry.id)?;
            self.index.unblock(&entry.id)?;
            waiting.iter().try_for_each(|id| self.count_open(id))?;
        }
        Ok(())
    }

    /// Imports a file, or removes it from the index if it is gone. A file that is not a task is set
    /// aside with the reason.
    pub(super) fn take_in(&mut self, queue: &QueueName, name: &str) -> Result<Taken, QueueError> {
        let path = self.layout.queue(queue).join(name);
        let Ok(file) = fs::symlink_metadata(&path) else {
            self.forget(queue, name)?;
            return Ok(Taken::In);
        };
        let wrong = match read_task(&path, &file) {
            Ok(task) => match self.twin(queue, name, &task.id)? {
                None => {
                    self.forget(queue, name)?;
                    self.list(queue, name, &file, &task)?;
                    self.tell_dependents(&task.id)?;
                    return Ok(Taken::In);
                }
                Some(twin) => twin,
            },
            Err(wrong) => wrong,
        };
        let quiet = file.modified().ok().and_then(|at| self.clock.since(at));
        if quiet.is_some_and(|quiet| quiet < YOUNG) && file.is_file() {
            return Ok(Taken::NotYet);
        }
        self.forget(queue, name)?;
        self.set_aside(&path, name, &wrong)?;
        Ok(Taken::In)
    }

    /// Returns the reason why a file duplicates an existing task, or `None` if it does not.
    fn twin(
        &self,
        queue: &QueueName,
        name: &str,
        id: &TaskId,
    ) -> Result<Option<String>, QueueError> {
        if let Some(archive) = self.archived(id)? {
            return Ok(Some(format!("task `{id}` is already completed, in `{archive}`")));
        }
        let listed = self.index.get(id)?;
        let other = listed.filter(|entry| (&entry.queue, entry.file.as_str()) != (queue, name));
        let named = file_name(id);
        let shadowed = name != named && self.may_be_in_its_file(queue, id);
        Ok(match other {
            Some(entry) if self.layout.queue(&entry.queue).join(&entry.file).is_file() => {
                Some(format!("task `{id}` is already there, in `{}/{}`", entry.queue, entry.file))
            }
            _ if shadowed => Some(format!("task `{id}` is already there, in `{queue}/{named}`")),
            _ => None,
        })
    }

    /// Moves an entry that is not usable to `malformed/`, with the reason in a second file.
    pub(super) fn set_aside(
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
        let moved = disk::rename_new(path, &place);
        let stays = match &moved {
            Ok(()) => String::new(),
            Err(error) => format!("; it stays at `{}`: {}", path.display(), error.source),
        };
        let mut beside = place.into_os_string();
        beside.push(REASON);
        let told = format!("{} {reason}{stays}\n", Moment::now(self.clock));
        // An entry that cannot be moved, or whose reason cannot be written, must not block other
        // tasks.
        let _ = disk::write(Path::new(&beside), told.as_bytes(), Sure::InMemory);
        Ok(())
    }

    /// Returns the files of a queue that are not valid tasks and were not set aside yet, each with
    /// the reason.
    pub(super) fn doubtful(&self, queue: &QueueName) -> Result<Vec<(String, String)>, QueueError> {
        let known = self.index.files(queue)?;
        let folder = self.layout.queue(queue);
        let names = disk::names(&folder)?.into_iter();
        let mut doubtful = Vec::new();
        for name in names.filter(|name| is_task_file(name) && !known.contains_key(name)) {
            let path = folder.join(&name);
            let Ok(file) = fs::symlink_metadata(&path) else { continue };
            if let Err(wrong) = read_task(&path, &file) {
                doubtful.push((format!("{queue}/{name}"), wrong));
            }
        }
        doubtful.sort();
        Ok(doubtful)
    }
}

/// Reads a task from an untrusted file.
pub(super) fn read_task(path: &Path, file: &fs::Metadata) -> Result<Task, String> {
    if !file.is_file() {
        return Err("it is no file; links are not followed".to_owned());
    }
    if file.len() > MAX_STORED as u64 {
        return Err(format!("it has {} bytes, and may have {MAX_STORED}", file.len()));
    }
    let bytes = fs::read(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let task = Task::parse(&bytes).map_err(|error| error.to_string())?;
    match task.priority == Priority::ESCALATION && !task.kind.is_escalation() {
        true => Err("it has priority 0, which is for escalations".to_owned()),
        false => Ok(task),
    }
}

impl Desk<'_> {
    /// Returns true if the folder of a queue has to be scanned again soon.
    pub(super) fn is_unsettled(&self, queue: &QueueName) -> Result<bool, QueueError> {
        Ok(self.index.swept(queue)?.is_some_and(|swept| swept.changed == 0))
    }
}
