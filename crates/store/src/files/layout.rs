//! Where everything is: the folder that a person can look into.

use std::path::{Path, PathBuf};

use crate::task::{AgentId, QueueName, TaskId};

/// How the name of a task's file ends.
const ENDING: &str = ".json";

/// How the name of the file ends that says why another one beside it is no task.
pub(super) const REASON: &str = ".reason.txt";

/// The name of what pauses all agents. No agent is called that: names have no dot in front.
const EVERYBODY: &str = ".all";

/// The folder of a queue on files.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    root: PathBuf,
}

impl Layout {
    pub(super) fn new(root: &Path) -> Layout {
        Layout { root: root.to_owned() }
    }

    /// The folders that are always there. That of the index is not: a queue does without.
    pub(super) fn folders(&self) -> [PathBuf; 9] {
        let inside = |name: &str| self.root.join(name);
        [
            self.queues(),
            inside("completed"),
            self.locks(),
            self.heartbeats(),
            self.pauses(),
            self.malformed(),
            self.intents(),
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

    /// The file of a task that is not completed.
    pub(super) fn waiting(&self, queue: &QueueName, id: &TaskId) -> PathBuf {
        self.queue(queue).join(file_name(id))
    }

    pub(super) fn archives(&self) -> PathBuf {
        self.root.join("completed")
    }

    pub(super) fn archive(&self, queue: &QueueName) -> PathBuf {
        self.archives().join(queue.as_str())
    }

    /// The file of a task that is completed.
    pub(super) fn completed(&self, queue: &QueueName, id: &TaskId) -> PathBuf {
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
        self.heartbeats().join(format!("{agent}{ENDING}"))
    }

    pub(super) fn pauses(&self) -> PathBuf {
        self.root.join("pause")
    }

    pub(super) fn pause(&self, agent: &AgentId) -> PathBuf {
        self.pauses().join(agent.as_str())
    }

    pub(super) fn pause_all(&self) -> PathBuf {
        self.pauses().join(EVERYBODY)
    }

    pub(super) fn malformed(&self) -> PathBuf {
        self.root.join("malformed")
    }

    pub(super) fn intents(&self) -> PathBuf {
        self.root.join("intents")
    }

    pub(super) fn intent(&self, id: &TaskId) -> PathBuf {
        self.intents().join(file_name(id))
    }

    /// The file for a person about an escalation that failed.
    pub(super) fn escalation(&self, id: &TaskId) -> PathBuf {
        self.root.join("escalations").join(file_name(id))
    }

    /// The file that an agent keeps locked for as long as it lives.
    pub(super) fn agent(&self, agent: &AgentId) -> PathBuf {
        self.root.join("agents").join(format!("{agent}.lock"))
    }

    /// The file whose kernel lock guards every change. It is never renamed or removed.
    pub(super) fn guard(&self) -> PathBuf {
        self.root.join("guard.lock")
    }

    pub(super) fn index(&self) -> PathBuf {
        self.root.join(".index").join("index.db")
    }

    pub(super) fn ignored(&self) -> PathBuf {
        self.root.join(".gitignore")
    }

    /// What is touched in a queue's folder to wake who waits there. It is no task's name.
    pub(super) fn notice(&self, queue: &QueueName) -> PathBuf {
        self.queue(queue).join(".notify")
    }
}

/// The name of a task's file.
pub(super) fn file_name(id: &TaskId) -> String {
    format!("{id}{ENDING}")
}

/// Says whether a name in a queue's folder can be that of a task's file.
pub(super) fn is_task_file(name: &str) -> bool {
    name.ends_with(ENDING) && !name.starts_with('.')
}
