//! The status of agents: the supervisor and workers of a repository, and the agents and tasks that
//! the queue has. `StatusReader` reads all of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_agents::instance_lock::{InstanceLock, SupervisorInfo, WorkerInfo};
use assay_store::queue::{AgentHealth, AgentState, Queue, QueueCounts, QueueError, Watch};
use serde::Serialize;

use crate::agent_team::locks_folder;
use crate::config::agents::AgentSettings;
use crate::environment::Environment;
use crate::queues;

/// The workers of a repository and their tasks.
#[derive(Serialize)]
pub struct AgentStatus {
    /// The supervisor of this repository; `None` if no agents run here.
    pub supervisor: Option<SupervisorInfo>,
    /// The workers of this repository, from the lock files of this machine.
    pub workers: Vec<WorkerInfo>,
    /// The workers and tasks that the queue has, or the reason why the queue is unreadable.
    #[serde(flatten)]
    pub queue: QueueStatus,
}

/// The workers and tasks that the queue has, or the reason why the queue is unreadable.
#[derive(Serialize)]
#[serde(untagged)]
pub enum QueueStatus {
    /// The workers of all machines, and the tasks.
    Known {
        /// The workers of all machines, each with its last heartbeat.
        agents: Vec<AgentHealth>,
        /// The number of tasks of each queue.
        queues: Vec<QueueCounts>,
    },
    /// The queue cannot be read.
    Unreadable {
        /// The text of the error.
        unreadable: String,
    },
}

/// A reader of the status of agents; the queue stays open between reads.
pub struct StatusReader {
    root: PathBuf,
    settings: AgentSettings,
    /// The open queue; `None` until the queue can be reached.
    queue: Option<Arc<dyn Queue>>,
}

impl StatusReader {
    /// Creates a reader for the repository around a folder.
    pub fn new(environment: &Environment, folder: &Path) -> anyhow::Result<StatusReader> {
        let root = queues::root(folder)?;
        let settings = AgentSettings::on_disk(environment, &root)?;
        Ok(StatusReader { root, settings, queue: None })
    }

    fn queue(&mut self) -> anyhow::Result<Arc<dyn Queue>> {
        if let Some(queue) = &self.queue {
            return Ok(queue.clone());
        }
        let queue: Arc<dyn Queue> = queues::open_to_read(&self.root, &self.settings)?.into();
        Ok(self.queue.insert(queue).clone())
    }

    /// Reads the status. An error of the queue becomes part of the status, beside the supervisor
    /// and the workers of this machine.
    pub fn read(&mut self) -> anyhow::Result<AgentStatus> {
        let locks = locks_folder(self.settings.configuration.environment(), &self.root)?;
        let (supervisor, workers) =
            (InstanceLock::supervisor(&locks), InstanceLock::workers(&locks));
        let read = self.queue().and_then(|queue| Ok((queue.agents()?, queue.count()?)));
        let queue = match read {
            Ok((agents, queues)) => QueueStatus::Known { agents, queues },
            Err(error) if error.chain().any(|cause| cause.is::<QueueError>()) => {
                let unreadable = assay_rules::redact(&format!("{error:#}")).into_owned();
                QueueStatus::Unreadable { unreadable }
            }
            Err(error) => return Err(error),
        };
        Ok(AgentStatus { supervisor, workers, queue })
    }

    /// Returns a watch that wakes when the queue changes; a watch that never wakes if the queue is
    /// not open.
    pub fn watch(&self) -> Watch {
        let queue = &self.settings.configuration.workflow.reviewer;
        let watch = self.queue.as_ref().and_then(|open| open.watch(queue).ok());
        watch.unwrap_or_else(Watch::none)
    }
}

/// Returns true if a worker ended before the supervisor was started. Without a supervisor, returns
/// true if the worker was stopped on request.
pub fn is_of_earlier_start(seen: &AgentHealth, supervisor: Option<&SupervisorInfo>) -> bool {
    let ended_earlier = match supervisor {
        Some(holder) => seen.heartbeat.at < holder.since,
        None => seen.heartbeat.state == AgentState::Stopped,
    };
    !seen.alive && ended_earlier
}

/// Returns the state of a worker as a word for the user.
pub fn state_text(seen: &AgentHealth) -> &'static str {
    match (seen.alive, seen.heartbeat.state, seen.paused) {
        (_, AgentState::Stopped, _) => "stopped",
        (false, _, _) => "gone",
        (true, AgentState::Working, true) => "working, then paused",
        (true, AgentState::Working, false) => "working",
        (true, AgentState::Stopping, _) => "stopping",
        (true, AgentState::Idle | AgentState::Paused, true) => "paused",
        (true, AgentState::Idle | AgentState::Paused, false) => "idle",
    }
}

#[cfg(test)]
mod tests {
    use assay_store::queue::Heartbeat;
    use assay_store::task::Moment;
    use assay_testkit::Repository;

    use super::*;

    fn moment(time: &str) -> Moment {
        format!("2026-02-03T{time}:00Z").parse().unwrap()
    }

    fn seen(state: AgentState, alive: bool, paused: bool) -> AgentHealth {
        let heartbeat = Heartbeat {
            agent: "qa".parse().unwrap(),
            queue: "qa".parse().unwrap(),
            state,
            task: None,
            since: moment("10:00"),
            at: moment("10:00"),
            every_seconds: 30,
            host: "build7".into(),
            pid: 7,
            version: "0".into(),
        };
        AgentHealth { heartbeat, alive, paused }
    }

    #[test]
    fn a_worker_that_does_not_answer_is_shown_as_gone_unless_it_was_stopped() {
        let words = [
            seen(AgentState::Working, false, false),
            seen(AgentState::Stopped, false, true),
            seen(AgentState::Working, true, true),
            seen(AgentState::Idle, true, true),
            seen(AgentState::Stopping, true, true),
        ];
        let words = words.each_ref().map(state_text);
        assert_eq!(words, ["gone", "stopped", "working, then paused", "paused", "stopping"]);
    }

    #[test]
    fn a_worker_is_of_an_earlier_start_if_its_heartbeat_is_older_than_the_supervisor() {
        let supervisor = |time| SupervisorInfo { pid: 6, since: moment(time), agents: Vec::new() };
        let gone = seen(AgentState::Working, false, false);
        assert!(is_of_earlier_start(&gone, Some(&supervisor("10:01"))));
        assert!(!is_of_earlier_start(&gone, Some(&supervisor("09:59"))));
        assert!(!is_of_earlier_start(&gone, None));
        assert!(is_of_earlier_start(&seen(AgentState::Stopped, false, false), None));
        let alive = seen(AgentState::Stopped, true, false);
        assert!(!is_of_earlier_start(&alive, Some(&supervisor("10:01"))));
    }

    #[test]
    fn a_repository_without_agents_has_an_empty_status_and_gets_no_queue() {
        let repository = Repository::new();
        let mut reader = StatusReader::new(&Environment::default(), repository.path()).unwrap();
        let status = reader.read().unwrap();
        assert!(status.supervisor.is_none() && status.workers.is_empty());
        assert!(matches!(status.queue, QueueStatus::Known { agents, .. } if agents.is_empty()));
        assert!(!repository.path().join(queues::FOLDER).exists());
    }
}
