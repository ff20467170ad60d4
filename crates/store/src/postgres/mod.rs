//! The queue in PostgreSQL, for several machines: [`PgQueue`].
//!
//! An open task is two rows. The one in `assay_tasks` has its JSON and stays for good, so that a name
//! is never used twice; the one in `assay_line` is small, says who holds the task, and goes when the
//! task is over. So what is searched through stays small however much was done. Nothing is written to
//! the JSON when a task is claimed: who holds it is told from the line.
//!
//! Every operation is one statement, which is one transaction and one round trip. Those that change
//! a task compare the number of its claim in that statement. Whoever may be asked twice, because an
//! answer was lost with its connection, draws a random ticket that is stored with what it did, and
//! so knows its own work again.
//!
//! What becomes of a task is not decided here: see [`crate::steps`].

mod agents;
mod claim;
mod look;
mod pool;
mod prune;
mod push;
mod restore;
mod schema;
mod server;
mod settle;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use assay_base::clock::Clock;

use self::agents::Names;
use self::claim::{Desk, Lost};
use self::pool::{Patience, Pool};
use self::push::Room;
use self::server::Server;
use self::watch::Crier;
use crate::queue::{
    Addressed, Claimed, Count, Filter, Heartbeat, Lease, Listed, Policy, Presence, Queue,
    QueueError, Recovered, Seen, Settled, Settlement, Tenure, Watch, Who,
};
use crate::task::{AgentId, QueueName, TaskId};

/// Tasks in a PostgreSQL database.
pub struct PgQueue {
    pool: Arc<Pool>,
    policy: Policy,
    /// What tells notices for these tables from those for others in the same database.
    channel: Arc<str>,
    crier: Crier,
    room: Room,
    desk: Desk,
    lost: Lost,
    names: Names,
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
        let channel = pool.run(Patience::None, |conn, _| {
            schema::check(conn)?;
            let row = conn.query("SELECT current_schema()::text", &[])?;
            let schema: String = row.first().and_then(|row| row.get(0)).unwrap_or_default();
            Ok(watch::channel(&schema))
        })?;
        let channel: Arc<str> = channel.into();
        let crier = Crier::start(Arc::clone(&pool), Arc::clone(&channel));
        let (room, desk, lost, names) = Default::default();
        Ok(PgQueue { pool, policy, channel, crier, room, desk, lost, names })
    }

    /// Reaches a database and gives the version of its tables, if they are
    /// [up to date](PgQueue::migrate).
    pub fn version(url: &str, clock: &Clock) -> Result<i32, QueueError> {
        Pool::new(Server::parse(url)?, clock).run(Patience::None, |conn, _| schema::check(conn))
    }

    /// Makes the tables or brings them up to date, and gives the number of steps that it took. It
    /// does no harm to do it again, or twice at once.
    pub fn migrate(url: &str) -> Result<usize, QueueError> {
        schema::migrate(&Server::parse(url)?)
    }
}

impl Queue for PgQueue {
    fn push(&self, tasks: Vec<Addressed>) -> Result<(), QueueError> {
        PgQueue::push(self, tasks)
    }

    fn claim(
        &self,
        queue: &QueueName,
        agent: &AgentId,
        tenure: Tenure,
        at_most: usize,
    ) -> Result<Vec<Claimed>, QueueError> {
        PgQueue::claim(self, queue, agent, tenure, at_most)
    }

    fn renew(&self, lease: &Lease, time: Duration) -> Result<(), QueueError> {
        PgQueue::renew(self, lease, time)
    }

    fn settle(&self, lease: &Lease, settlement: Settlement) -> Result<Settled, QueueError> {
        let mut answers = PgQueue::settle_all(self, vec![(lease.clone(), settlement)]);
        answers.pop().expect("one is settled")
    }

    fn settle_all(
        &self,
        settlements: Vec<(Lease, Settlement)>,
    ) -> Vec<Result<Settled, QueueError>> {
        PgQueue::settle_all(self, settlements)
    }

    fn get(&self, id: &TaskId) -> Result<Listed, QueueError> {
        PgQueue::get(self, id)
    }

    fn list(&self, filter: &Filter) -> Result<Vec<Listed>, QueueError> {
        PgQueue::list(self, filter)
    }

    fn count(&self) -> Result<Vec<Count>, QueueError> {
        PgQueue::count(self)
    }

    fn cancel(&self, id: &TaskId, by: &str) -> Result<(), QueueError> {
        PgQueue::cancel(self, id, by)
    }

    fn retry(&self, id: &TaskId) -> Result<(), QueueError> {
        PgQueue::retry(self, id)
    }

    fn restore(&self, tasks: Vec<Addressed>) -> Result<usize, QueueError> {
        PgQueue::restore(self, tasks)
    }

    fn prune(&self, older_than: Duration) -> Result<usize, QueueError> {
        PgQueue::prune(self, older_than)
    }

    fn recover(&self) -> Result<Vec<Recovered>, QueueError> {
        PgQueue::recover(self)
    }

    fn watch(&self, queue: &QueueName) -> Result<Watch, QueueError> {
        PgQueue::watch(self, queue)
    }

    fn next_ready(&self, queue: &QueueName) -> Result<Option<Duration>, QueueError> {
        PgQueue::next_ready(self, queue)
    }

    fn join(&self, agent: &AgentId) -> Result<Box<dyn Presence>, QueueError> {
        PgQueue::join(self, agent)
    }

    fn beat(&self, heartbeat: &Heartbeat) -> Result<(), QueueError> {
        PgQueue::beat(self, heartbeat)
    }

    fn agents(&self) -> Result<Vec<Seen>, QueueError> {
        PgQueue::agents(self)
    }

    fn pause(&self, who: &Who) -> Result<(), QueueError> {
        PgQueue::pause(self, who)
    }

    fn resume(&self, who: &Who) -> Result<(), QueueError> {
        PgQueue::resume(self, who)
    }

    fn is_paused(&self, agent: &AgentId) -> Result<bool, QueueError> {
        PgQueue::is_paused(self, agent)
    }
}

/// A random number that tells one call from all others.
fn ticket() -> i64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).expect("the kernel has randomness");
    i64::from_ne_bytes(bytes)
}

/// A duration in the milliseconds that the server counts in.
fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX / 4)
}
