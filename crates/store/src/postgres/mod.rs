//! The queue in PostgreSQL, for several machines: [`PgQueue`].
//!
//! An open task is two rows. The row in `assay_tasks` has its JSON and stays until the task is
//! pruned, so that an id is not used twice. The row in `assay_line` is small, has the holder of the
//! task, and is deleted when the task is over. So the searched table stays small, however many
//! tasks were done. A claim writes nothing to the JSON: the holder is read from the row in
//! `assay_line`.
//!
//! Most operations are one statement, which is one transaction and one round trip. A statement that
//! changes a task compares its fence. An operation that may run twice, because a reply was lost
//! with its connection, stores a random ticket with its effect, and recognises its own effect by
//! it.
//!
//! The transitions of a task are not decided here: see [`crate::transitions`].

mod agents;
mod claim;
mod pool;
mod prune;
mod push;
mod queries;
mod restore;
mod schema;
mod server;
mod settle;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use assay_base::clock::Clock;

use self::agents::LocalAgents;
use self::claim::{ClaimCache, ExpiryTimer};
use self::pool::Pool;
use self::push::CapacityCache;
use self::watch::NotifySender;
use crate::queue::{
    AgentHealth, ClaimedTask, Heartbeat, Lease, LeaseKind, ListedTask, PauseTarget, Policy, Queue,
    QueueCounts, QueueError, QueueOverview, QueuedTask, RecoveredTask, Registration, SettleOutcome,
    TaskFilter, TaskResult, Watch,
};
use crate::task::{AgentId, QueueName, TaskId};

pub(crate) use self::pool::{CONNECT_BACKOFF, RETRY_TIMEOUT, RetryMode, is_unreachable};
pub(crate) use self::schema::create_schema;
pub(crate) use self::server::Server;

/// A queue in a PostgreSQL database.
pub struct PgQueue {
    pool: Arc<Pool>,
    policy: Policy,
    /// The NOTIFY channel, which distinguishes these tables from others in the same database.
    channel: Arc<str>,
    notify_sender: NotifySender,
    capacity: CapacityCache,
    claim_cache: ClaimCache,
    expiry_timer: ExpiryTimer,
    local_agents: LocalAgents,
}

impl fmt::Debug for PgQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PgQueue").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl PgQueue {
    /// Opens the queue in a database whose tables are [up to date](PgQueue::migrate).
    pub fn open(url: &str, policy: Policy, clock: &Clock) -> Result<PgQueue, QueueError> {
        let pool = Arc::new(Pool::new(Server::parse(url)?, clock));
        let channel = pool.run(RetryMode::Never, |conn, _| {
            schema::check(conn)?;
            let row = conn.query("SELECT current_schema()::text", &[])?;
            let schema: String = row.first().and_then(|row| row.get(0)).unwrap_or_default();
            Ok(watch::channel(&schema))
        })?;
        let channel: Arc<str> = channel.into();
        let notify_sender = NotifySender::start(Arc::clone(&pool), Arc::clone(&channel));
        let (capacity, claim_cache, expiry_timer, local_agents) = Default::default();
        Ok(PgQueue {
            pool,
            policy,
            channel,
            notify_sender,
            capacity,
            claim_cache,
            expiry_timer,
            local_agents,
        })
    }

    /// Connects to a database and returns the version of its tables. Fails unless they
    /// are [up to date](PgQueue::migrate).
    pub fn version(url: &str, clock: &Clock) -> Result<i32, QueueError> {
        Pool::new(Server::parse(url)?, clock).run(RetryMode::Never, |conn, _| schema::check(conn))
    }

    /// Creates the tables or brings them up to date, and returns the number of migrations that ran.
    /// The operation is idempotent and may run concurrently.
    pub fn migrate(url: &str) -> Result<usize, QueueError> {
        schema::migrate(&Server::parse(url)?)
    }
}

impl Queue for PgQueue {
    fn push(&self, tasks: Vec<QueuedTask>) -> Result<(), QueueError> {
        PgQueue::push(self, tasks)
    }

    fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        lease_kind: LeaseKind,
        at_most: usize,
    ) -> Result<Vec<ClaimedTask>, QueueError> {
        PgQueue::claim(self, queue, agent, lease_kind, at_most)
    }

    fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        PgQueue::renew(self, lease, time)
    }

    fn settle(&self, lease: &Lease, result: TaskResult) -> Result<SettleOutcome, QueueError> {
        let mut answers = PgQueue::settle_all(self, vec![(lease.clone(), result)]);
        answers.pop().expect("one is settled")
    }

    fn settle_all(
        &self,
        results: Vec<(Lease, TaskResult)>,
    ) -> Vec<Result<SettleOutcome, QueueError>> {
        PgQueue::settle_all(self, results)
    }

    fn get(&self, id: &TaskId) -> Result<ListedTask, QueueError> {
        PgQueue::get(self, id)
    }

    fn list(&self, filter: &TaskFilter) -> Result<Vec<ListedTask>, QueueError> {
        PgQueue::list(self, filter)
    }

    fn count(&self) -> Result<Vec<QueueCounts>, QueueError> {
        PgQueue::count(self)
    }

    fn overview(&self, most: usize) -> Result<QueueOverview, QueueError> {
        PgQueue::overview(self, most)
    }

    fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        PgQueue::cancel(self, id, by)
    }

    fn retry(&self, id: &TaskId) -> Result<(), QueueError> {
        PgQueue::retry(self, id)
    }

    fn restore(&self, tasks: Vec<QueuedTask>) -> Result<usize, QueueError> {
        PgQueue::restore(self, tasks)
    }

    fn prune(&self, older_than: Duration) -> Result<usize, QueueError> {
        PgQueue::prune(self, older_than)
    }

    fn recover(&self) -> Result<Vec<RecoveredTask>, QueueError> {
        PgQueue::recover(self)
    }

    fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError> {
        PgQueue::watch(self, queue)
    }

    fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError> {
        PgQueue::next_ready(self, queue)
    }

    fn join(&self, agent: &AgentId) -> Result<Box<dyn Registration>, QueueError> {
        PgQueue::join(self, agent)
    }

    fn record_heartbeat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError> {
        PgQueue::record_heartbeat(self, heartbeat)
    }

    fn agents(&self) -> Result<Vec<AgentHealth>, QueueError> {
        PgQueue::agents(self)
    }

    fn pause(&self, target: &PauseTarget) -> Result<(), QueueError> {
        PgQueue::pause(self, target)
    }

    fn resume(&self, target: &PauseTarget) -> Result<(), QueueError> {
        PgQueue::resume(self, target)
    }

    fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError> {
        PgQueue::is_paused(self, agent)
    }
}

/// Returns a random number that identifies one call.
fn ticket() -> i64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the kernel has randomness");
    i64::from_ne_bytes(bytes)
}

/// Returns a duration in milliseconds, the unit of the statements.
fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}
