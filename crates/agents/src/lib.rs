//! Workers, their supervisor, and the review, fix, review workflow.
//!
//! - [`worker`]: one agent. It waits for its queue, renews its lease, enforces the timeout and
//!   settles the task.
//! - [`supervisor`], [`instance_lock`], [`shutdown`]: one process for each worker, restarted when
//!   it fails; the locks that show which processes supervise and work in a folder, without the
//!   queue; shutdown by signals.
//! - [`task_handler`]: the table of task handlers, which `engine` fills. [`workflow`]: the handlers
//!   themselves.
//! - [`change_event`], [`notifier`]: events of a change, and the trait for notifications
//!   ([`notifier::Notifier`]).
//! - [`config`]: `agents.yaml`, `mcp-config.json` and the agents' part of `agent-framework.yaml`.
//!   [`log`]: the logs of agents.
//!
//! The caller supplies the queue, the reviews and the fixes.

pub mod change_event;
pub mod config;
pub mod instance_lock;
pub mod log;
pub mod notifier;
pub mod retry;
pub mod shutdown;
pub mod supervisor;
pub mod tail;
pub mod task_handler;
pub mod worker;
pub mod workflow;
