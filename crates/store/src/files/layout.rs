//! The paths of the file queue, in a folder that a person can read: `Layout`.

use std::path::{Path, PathBuf};

use crate::task::{AgentId, QueueName, TaskId};

/// The suffix of a task's file.
const TASK_SUFFIX: &str = ".json";

/// The suffix of the file with the reason why another file was set aside.
pub(super) const REASON: &str = ".reason.txt";

/// The name of the file that pauses all agents. No agent has this name: names do not begin with a
/// dot.
const PAUSE_ALL_FILE: &str = ".all";

/// The folder of a file queue.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn new(root: &Path) -> Layout {
        Layout { root: root.to_owned() }
    }

    /// Returns the folders that always exist. The folder of the index does not: a queue works
    /// without it.
    pub(super) fn folders(&self) -> [PathBuf; 9] {
        let inside = |name: &str| self.root.join(name);
        [
            self.queues(),
            inside("completed"),
            self.locks(),
            self.heartbeats(),
            self.pauses(),
            self.malformed(),
            self.write_ahead_records(),
            inside("escalations"),
            inside("agents"),
        ]
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn queues(&self) -> PathBuf {
        self.root.join("queues")
    }

    pub(super) fn queue(&self, queue: &QueueName) -> PathBuf {
        self.queues().join(queue.as_str())
    }

    /// Returns the path of a task that is not completed.
    pub(super) fn open_task(&self, queue: &QueueName, id: &TaskId) -> PathBuf {
        self.queue(queue).join(file_name(id))
    }

    pub(super) fn archives(&self) -> PathBuf {
        self.root.join("completed")
    }

    pub(super) fn archive(&self, queue: &QueueName) -> PathBuf {
        self.archives().join(queue.as_str())
    }

    /// Returns the path of a completed task.
    pub(super) fn completed_task(&self, queue: &QueueName, id: &TaskId) -> PathBuf {
        self.archive(queue).join(file_name(id))
    }

    pub(super) fn locks(&self) -> PathBuf {
        self.root.join("locks")
    }

    pub(super) fn lock(&self, id: &TaskId) -> PathBuf {
        self.locks().join(format!("{id}.lock"))
    }

    pub(super) fn heartbeats(&self) -> PathBuf {
        self.root.join("heartbeats")
    }

    pub(super) fn heartbeat(&self, agent: &AgentId) -> PathBuf {
        self.heartbeats().join(format!("{agent}{TASK_SUFFIX}"))
    }

    pub(super) fn pauses(&self) -> PathBuf {
        self.root.join("pause")
    }

    pub(super) fn pause(&self, agent: &AgentId) -> PathBuf {
        self.pauses().join(agent.as_str())
    }

    pub(super) fn pause_all(&self) -> PathBuf {
        self.pauses().join(PAUSE_ALL_FILE)
    }

    pub(super) fn malformed(&self) -> PathBuf {
        self.root.join("malformed")
    }

    pub(super) fn write_ahead_records(&self) -> PathBuf {
        self.root.join("intents")
    }

    pub(super) fn write_ahead_record(&self, id: &TaskId) -> PathBuf {
        self.write_ahead_records().join(file_name(id))
    }

    /// Returns the path of the copy of a failed escalation, for a person.
    pub(super) fn escalation(&self, id: &TaskId) -> PathBuf {
        self.root.join("escalations").join(file_name(id))
    }

    /// Returns the path of the file that an agent locks while it is alive.
    pub(super) fn agent_lock(&self, agent: &AgentId) -> PathBuf {
        self.root.join("agents").join(format!("{agent}.lock"))
    }

    /// Returns the path of the queue lock. The file is never renamed or removed.
    pub(super) fn queue_lock(&self) -> PathBuf {
        self.root.join("guard.lock")
    }

    pub(super) fn index(&self) -> PathBuf {
        self.root.join(".index").join("index.db")
    }

    pub(super) fn gitignore(&self) -> PathBuf {
        self.root.join(".gitignore")
    }

    /// Returns the path of the file that is written to wake agents that wait for a queue. The name
    /// is not that of a task.
    pub(super) fn wake_file(&self, queue: &QueueName) -> PathBuf {
        self.queue(queue).join(".notify")
    }
}

/// Returns the file name of a task.
pub(super) fn file_name(id: &TaskId) -> String {
    format!("{id}{TASK_SUFFIX}")
}

/// Returns true if a file name in a queue's folder can be that of a task.
pub(super) fn is_task_file(name: &str) -> bool {
    name.ends_with(TASK_SUFFIX) && !name.starts_with('.')
}
