//! Agents in the database: registrations, heartbeats, pauses.
//!
//! An agent has its name while it refreshes its row, every ten seconds. An agent that died leaves a
//! row that is valid for thirty seconds at most. On the machine of the agent there is no need to
//! wait: the row identifies the process, and a process that joins or recovers there sees that it is
//! gone. A row is replaced only together with its instance, a random number. So of two processes
//! that replace a dead agent only one succeeds, and an agent that was suspended for too long
//! notices that it lost its name and claims nothing more.

use std::collections::HashMap;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use postgres::types::Json;

use super::pool::{Pool, RetryMode};
use super::watch::ALL_WATCHES;
use super::{PgQueue, ticket};
use crate::boot::boot_id;
use crate::queue::{AgentHealth, Heartbeat, PauseTarget, QueueError, Registration};
use crate::task::AgentId;

/// The interval at which a registration is refreshed. A row is valid for three times as long.
const REFRESH_INTERVAL: Duration = Duration::from_secs(10);

const JOIN: &str = "INSERT INTO assay_agents AS a
        (name, instance, alive_until, host, place, pid, born)
    VALUES ($1::text, $2::int8, now() + interval '30 seconds', $3::text, $4::text, $5::int8, $6::text)
    ON CONFLICT (name) DO UPDATE SET instance = excluded.instance, joined = now(),
        alive_until = excluded.alive_until, host = excluded.host, place = excluded.place,
        pid = excluded.pid, born = excluded.born
    WHERE a.alive_until <= now() OR a.instance = $2::int8";

/// The names of this process's agents, each with a flag that is true if another process took the
/// name.
#[derive(Default)]
pub(super) struct LocalAgents(Mutex<HashMap<AgentId, Arc<AtomicBool>>>);

impl LocalAgents {
    /// Fails if another process has taken the name of the agent.
    pub(super) fn check_not_displaced(&self, agent: &AgentId) -> Result<(), QueueError> {
        let displaced = self.lock().get(agent).is_some_and(|lost| lost.load(Ordering::Relaxed));
        if displaced {
            let holder =
                "another process took the name while this agent sent no heartbeat".to_owned();
            return Err(QueueError::AgentRunning { agent: agent.clone(), holder });
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<AgentId, Arc<AtomicBool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A registration, which a thread refreshes.
struct PgRegistration {
    pool: Arc<Pool>,
    agent: AgentId,
    instance: i64,
    lost: Arc<AtomicBool>,
    /// The channel that ends the thread when it is dropped.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Registration for PgRegistration {}

impl Drop for PgRegistration {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.lost.store(false, Ordering::Relaxed);
        // If the server cannot be reached, the row expires by itself.
        let _ = self.pool.run(RetryMode::Never, |conn, _| {
            Ok(conn.execute(
                "DELETE FROM assay_agents WHERE name = $1::text AND instance = $2::int8",
                &[&self.agent.as_str(), &self.instance],
            )?)
        });
    }
}

/// The identity of a process, by which another process on the same machine can check if it is
/// alive.
struct ProcessIdentity {
    host: String,
    /// The boot id and the PID namespace. Empty if they cannot be read.
    namespace: String,
    pid: i64,
    /// The start time, which distinguishes the process from a later one with the same pid.
    start_time: String,
}

impl ProcessIdentity {
    fn current() -> ProcessIdentity {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let pid_namespace = fs::read_link("/proc/self/ns/pid")
            .map(|pid_namespace| pid_namespace.display().to_string());
        let namespace = pid_namespace
            .map(|pid_namespace| format!("{} {pid_namespace}", boot_id()))
            .unwrap_or_default();
        let pid = std::process::id();
        ProcessIdentity {
            host,
            namespace,
            start_time: start_time(pid.into()).unwrap_or_default(),
            pid: pid.into(),
        }
    }

    /// Returns true if the process is known to have ended, seen from `namespace`.
    fn has_ended(&self, namespace: &str) -> bool {
        !namespace.is_empty()
            && self.namespace == namespace
            && start_time(self.pid).as_deref() != Some(&self.start_time)
    }
}

/// Returns the start time of a process, or `None` if it does not run.
fn start_time(pid: i64) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program name may contain any character; the fields after its closing bracket do not.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    let start_time = fields.nth(18)?;
    (!matches!(state, "Z" | "X" | "x")).then(|| start_time.to_owned())
}

impl PgQueue {
    /// Registers an agent under its name, and ends the leases that an earlier agent of that name
    /// held.
    pub(super) fn join(&self, agent: &AgentId) -> Result<Box<dyn Registration>, QueueError> {
        self.remove_dead_agents()?;
        let (instance, own) = (ticket(), ProcessIdentity::current());
        let joined = self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let values = (agent.as_str(), own.host.as_str(), own.namespace.as_str());
            Ok(conn.execute(
                JOIN,
                &[&values.0, &instance, &values.1, &values.2, &own.pid, &own.start_time],
            )?)
        })?;
        if joined == 0 {
            return Err(QueueError::AgentRunning {
                agent: agent.clone(),
                holder: self.describe_holder(agent)?,
            });
        }
        self.recover_from(agent)?;
        let lost = Arc::new(AtomicBool::new(false));
        self.local_agents.lock().insert(agent.clone(), Arc::clone(&lost));
        let (stop, stopped) = channel();
        let (pool, name, displaced) = (Arc::clone(&self.pool), agent.clone(), Arc::clone(&lost));
        let refresh = move || {
            while stopped.recv_timeout(REFRESH_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                let refreshed = pool.run(RetryMode::Never, |conn, _| {
                    Ok(conn.execute(
                        "UPDATE assay_agents SET alive_until = now() + interval '30 seconds'
                         WHERE name = $1::text AND instance = $2::int8",
                        &[&name.as_str(), &instance],
                    )?)
                });
                if let Ok(rows) = refreshed {
                    displaced.store(rows == 0, Ordering::Relaxed);
                }
            }
        };
        let thread =
            std::thread::Builder::new().name(format!("presence of {agent}")).spawn(refresh);
        let thread = thread.map_err(|error| QueueError::Database {
            message: format!("cannot start the thread that renews the registration: {error}"),
        })?;
        let (pool, agent) = (Arc::clone(&self.pool), agent.clone());
        let (stop, thread) = (Some(stop), Some(thread));
        Ok(Box::new(PgRegistration { pool, agent, instance, lost, stop, thread }))
    }

    /// Returns a description of the process that has a name.
    fn describe_holder(&self, agent: &AgentId) -> Result<String, QueueError> {
        let rows = self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            Ok(conn.query(
                "SELECT pid, host FROM assay_agents WHERE name = $1::text",
                &[&agent.as_str()],
            )?)
        })?;
        Ok(match rows.first() {
            Some(row) => format!("process {} on {}", row.get::<_, i64>(0), row.get::<_, &str>(1)),
            None => "the process has just ended".to_owned(),
        })
    }

    /// Removes the registrations of this machine's agents whose processes have ended.
    pub(super) fn remove_dead_agents(&self) -> Result<(), QueueError> {
        let namespace = ProcessIdentity::current().namespace;
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let rows = conn.query(
                "SELECT name, instance, pid, born FROM assay_agents WHERE place = $1::text",
                &[&namespace],
            )?;
            for row in rows {
                let (name, instance): (&str, i64) = (row.get(0), row.get(1));
                let (host, namespace) = (String::new(), namespace.clone());
                let process =
                    ProcessIdentity { host, namespace, pid: row.get(2), start_time: row.get(3) };
                if process.has_ended(&process.namespace) {
                    conn.execute(
                        "DELETE FROM assay_agents WHERE name = $1::text AND instance = $2::int8",
                        &[&name, &instance],
                    )?;
                }
            }
            Ok(())
        })
    }

    /// Stores the heartbeat of an agent.
    pub(super) fn record_heartbeat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError> {
        self.pool.run(RetryMode::Never, |conn, _| {
            conn.execute(
                "INSERT INTO assay_heartbeats (agent, body) VALUES ($1::text, $2::json)
                 ON CONFLICT (agent) DO UPDATE SET body = excluded.body",
                &[&heartbeat.agent.as_str(), &Json(heartbeat)],
            )?;
            Ok(())
        })
    }

    /// Returns the status of all agents.
    pub(super) fn agents(&self) -> Result<Vec<AgentHealth>, QueueError> {
        self.remove_dead_agents()?;
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            let rows = conn.query(
                "SELECT h.body, COALESCE(a.alive_until > now(), false),
                     EXISTS (SELECT FROM assay_pauses WHERE who IN (h.agent, '*'))
                 FROM assay_heartbeats h LEFT JOIN assay_agents a ON a.name = h.agent
                 ORDER BY h.agent",
                &[],
            )?;
            let seen = rows.iter().map(|row| {
                let Json(heartbeat) = row.try_get(0)?;
                Ok(AgentHealth { heartbeat, alive: row.get(1), paused: row.get(2) })
            });
            seen.collect()
        })
    }

    /// Stops an agent, or all, from claiming tasks.
    pub(super) fn pause(&self, target: &PauseTarget) -> Result<(), QueueError> {
        let name = match target {
            PauseTarget::Agent(agent) => agent.as_str(),
            PauseTarget::All => ALL_WATCHES,
        };
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            conn.execute(
                "INSERT INTO assay_pauses (who) VALUES ($1::text) ON CONFLICT DO NOTHING",
                &[&name],
            )?;
            Ok(())
        })?;
        self.notify_now(ALL_WATCHES)
    }

    /// Lets an agent, or all, claim tasks again.
    pub(super) fn resume(&self, target: &PauseTarget) -> Result<(), QueueError> {
        let name = match target {
            PauseTarget::Agent(agent) => Some(agent.as_str()),
            PauseTarget::All => None,
        };
        self.pool.run(RetryMode::UntilRestarted, |conn, _| {
            conn.execute(
                "DELETE FROM assay_pauses WHERE $1::text IS NULL OR who = $1::text",
                &[&name],
            )?;
            Ok(())
        })?;
        self.notify_now(ALL_WATCHES)
    }

    /// Returns true if an agent must not claim tasks.
    pub(super) fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError> {
        // There are no retries here: a worker checks this before each task and has its own
        // back-off, during which it can be shut down.
        self.pool.run(RetryMode::Never, |conn, _| {
            let rows = conn.query(
                "SELECT FROM assay_pauses WHERE who IN ($1::text, '*')",
                &[&agent.as_str()],
            )?;
            Ok(!rows.is_empty())
        })
    }
}
