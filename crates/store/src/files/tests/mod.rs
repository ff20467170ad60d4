//! Tests of the file queue alone: files that people edit, and crashes.

mod crash;
mod dropped;
mod time;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_base::clock::Clock;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::FileQueue;
use crate::queue::{ClaimedTask, LeaseKind, Policy, Queue, QueuedTask, TaskResult};
use crate::task::{Moment, QueueName, Task};

const LONG: Duration = Duration::from_secs(3_600);

/// A queue in a temporary folder.
struct QueueFixture(TempDir);

impl QueueFixture {
    fn new() -> QueueFixture {
        QueueFixture(TempDir::new().unwrap())
    }

    fn open(&self) -> FileQueue {
        FileQueue::open(self.0.path(), policy(), &Clock::system()).unwrap()
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.0.path().join(inside)
    }

    /// Adds an old file, as if a person had written it some time ago.
    fn drop_in(&self, inside: &str, text: &str) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        make_old(&path);
    }

    fn json(&self, inside: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(inside)).unwrap()).unwrap()
    }

    /// Returns the names in a folder, without hidden files, sorted.
    fn names(&self, inside: &str) -> Vec<String> {
        let mut names = crate::durable_fs::list_dir(&self.path(inside)).unwrap();
        names.retain(|name| !name.starts_with('.'));
        names.sort();
        names
    }
}

fn policy() -> Policy {
    Policy { initial_backoff: Duration::ZERO, ..Policy::default() }
}

/// Moves the modification time of a file back by a minute.
fn make_old(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let minute_ago = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(60);
    file.set_modified(minute_ago).unwrap();
}

fn qa() -> QueueName {
    "qa".parse().unwrap()
}

fn task(id: &str) -> QueuedTask {
    let task = Task::new(
        id.parse().unwrap(),
        "review".parse().unwrap(),
        id,
        Moment::now(&Clock::system()),
    );
    QueuedTask { queue: qa(), task }
}

/// Returns the JSON of a task as a person may write it by hand.
fn task_json(id: &str, more: Value) -> String {
    let mut json = json!({
        "id": id, "type": "review", "status": "pending", "created_at": "2026-02-03T10:00:00Z",
        "title": id,
    });
    let fields = json.as_object_mut().unwrap();
    fields.extend(more.as_object().cloned().unwrap_or_default());
    json.to_string()
}

fn claim(queue: &FileQueue) -> Option<ClaimedTask> {
    let lease_kind = LeaseKind::ByTime(LONG);
    queue.claim(&qa(), &"qa-1".parse().unwrap(), lease_kind, 1).unwrap().pop()
}

fn claimed(queue: &FileQueue) -> Option<String> {
    claim(queue).map(|claimed| claimed.lease.task.to_string())
}

fn done(follow_ups: Vec<QueuedTask>) -> TaskResult {
    TaskResult::Completed { summary: "done".into(), context: Map::new(), follow_ups }
}
