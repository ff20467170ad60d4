//! A running agent: [`Worker`] claims tasks from its queue, one after the other.
//!
//! An idle worker waits for a wake-up of its queue, and polls only as often as it sends heartbeats.
//! A task runs in its own thread, while the main thread renews the lease, enforces the timeout and
//! handles the shutdown.
//!
//! A worker that must abandon a running task ends its process ([`WorkerExit::TaskAbandoned`]). The
//! task may hang in a model call or a program, and only the end of the process surely ends that.
//! The supervisor restarts the worker.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use assay_base::clock::{Clock, Deadline, Stopwatch};
use assay_base::shutdown::Shutdown;
use assay_findings::write::escape::chain;
use assay_store::queue::{
    AgentState, AttemptFailure, ClaimedTask, Heartbeat, Lease, LeaseKind, Queue, QueueError,
    Registration, RetryLimit, SettleOutcome, TaskResult, Watch,
};
use assay_store::task::{AgentId, Moment, Task, TaskId};

use crate::config::roster::AgentConfig;
use crate::log::{Level, Log, TaskLog};
use crate::notifier::{Notification, Notifiers};
use crate::retry::{QUEUE_BACKOFF, retry_with_backoff};
use crate::task_handler::{HandlerError, HandlerRegistry, Job, TaskOutcome};

/// A callback with the reason why a worker waits for its queue; `None` when the wait is over.
pub type OnWait = Box<dyn Fn(Option<&str>) + Send + Sync>;

/// A running agent.
pub struct Worker {
    /// The queue of the worker's tasks.
    pub queue: Arc<dyn Queue>,
    /// The configuration of the agent.
    pub agent: Arc<AgentConfig>,
    /// The name of this replica of the agent.
    pub name: AgentId,
    /// The task handlers.
    pub handlers: Arc<HandlerRegistry>,
    /// The log of the worker.
    pub log: Arc<Log>,
    /// The receivers of notifications.
    pub notifiers: Notifiers,
    /// The callback with the reason why the worker waits for its queue.
    pub on_wait: OnWait,
    /// The clock of heartbeats.
    pub clock: Clock,
    /// The shutdown token.
    pub shutdown: Shutdown,
    /// The duration of a lease that is not renewed.
    pub lease: Duration,
    /// The time that a running task has to finish after a shutdown request.
    pub grace: Duration,
    /// The host name of the machine.
    pub host: String,
    /// The version of the program.
    pub version: String,
}

/// The reason why a worker ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerExit {
    /// Shutdown was requested. A running task was finished or given back, if the queue could be
    /// reached.
    ShutdownRequested,
    /// The worker had to abandon a task whose thread still runs, so the process must end.
    TaskAbandoned,
}

/// An event that wakes a working worker.
enum Event {
    /// The outcome of the task with this lease.
    Done(Lease, Box<Result<TaskOutcome, HandlerError>>),
    Stop,
}

/// The state after one turn of a worker.
enum TaskEnd {
    /// The task is settled, or there was none.
    Settled,
    /// The task is settled or lost, and its thread still runs.
    StillRunning,
}

/// The mutable state of a running worker: last heartbeat and event channel.
struct WorkerState {
    /// The state in the last heartbeat, and the time at which the worker entered it.
    last_heartbeat: Cell<(AgentState, Moment)>,
    events: Sender<Event>,
    inbox: Receiver<Event>,
}

impl WorkerState {
    fn new(clock: &Clock) -> WorkerState {
        let (events, inbox) = mpsc::channel();
        let last_heartbeat = Cell::new((AgentState::Idle, Moment::now(clock)));
        WorkerState { last_heartbeat, events, inbox }
    }
}

impl Worker {
    /// Works until shutdown is requested.
    pub fn run(&self) -> Result<WorkerExit, QueueError> {
        let Some(_registration) = self.join()? else { return Ok(WorkerExit::ShutdownRequested) };
        let watch = self.watch();
        let waker = watch.waker();
        let worker_state = WorkerState::new(&self.clock);
        let events = worker_state.events.clone();
        self.shutdown.on_request(move || {
            let _ = events.send(Event::Stop);
            waker.wake();
        });
        self.write_log(Level::Info, &format!("Polling queue: {}", self.agent.queue));
        let ended = self.run_until_shutdown(&watch, &worker_state)?;
        self.send_heartbeat(&worker_state, AgentState::Stopped, None);
        if ended == WorkerExit::ShutdownRequested {
            self.write_log(Level::Info, "Stopped");
        }
        Ok(ended)
    }

    /// Registers the worker under its name, as soon as the queue can be reached. Returns `None` if
    /// shutdown is requested before.
    fn join(&self) -> Result<Option<Box<dyn Registration>>, QueueError> {
        let on_retry = |error: &QueueError, wait: Duration| {
            let (why, seconds) = (chain(error), wait.as_secs());
            self.write_log(Level::Warning, &format!("{why}; retrying in {seconds} s"));
            (self.on_wait)(Some(&why));
        };
        retry_with_backoff(&self.shutdown, QueueError::is_transient, on_retry, || {
            self.queue.join(&self.name)
        })
    }

    /// Returns a watch on the queue. If the queue cannot be watched, such as when the machine
    /// watches too many folders already, the worker polls at its `poll_interval`.
    fn watch(&self) -> Watch {
        self.queue.watch(&self.agent.queue).unwrap_or_else(|error| {
            let (why, every) = (chain(&error), self.agent.poll_interval.as_secs());
            self.write_log(Level::Warning, &format!("{why}; polling the queue every {every} s"));
            Watch::none()
        })
    }

    fn run_until_shutdown(
        &self,
        watch: &Watch,
        worker_state: &WorkerState,
    ) -> Result<WorkerExit, QueueError> {
        let mut retries = 0;
        while !self.shutdown.is_requested() {
            match self.poll_once(watch, worker_state) {
                Ok(TaskEnd::Settled) => {
                    (self.on_wait)(None);
                    retries = 0;
                }
                Ok(TaskEnd::StillRunning) if self.shutdown.is_requested() => {
                    return Ok(WorkerExit::ShutdownRequested);
                }
                Ok(TaskEnd::StillRunning) => return Ok(WorkerExit::TaskAbandoned),
                Err(error) if error.is_transient() => {
                    let delay = QUEUE_BACKOFF.delay(retries);
                    let seconds = delay.as_secs();
                    let why = chain(&error);
                    self.write_log(Level::Warning, &format!("{why}; retrying in {seconds} s"));
                    (self.on_wait)(Some(&why));
                    watch.wait(delay);
                    retries += 1;
                }
                Err(error) => {
                    self.write_log(Level::Error, &chain(&error));
                    return Err(error);
                }
            }
        }
        Ok(WorkerExit::ShutdownRequested)
    }

    /// Works on the next task, or waits for one.
    fn poll_once(&self, watch: &Watch, worker_state: &WorkerState) -> Result<TaskEnd, QueueError> {
        if self.queue.is_paused(&self.name)? || self.queue.is_paused(&self.agent.id)? {
            if worker_state.last_heartbeat.get().0 != AgentState::Paused {
                self.write_log(Level::Info, "Paused");
            }
            self.send_heartbeat(worker_state, AgentState::Paused, None);
            watch.wait(self.agent.poll_interval);
            return Ok(TaskEnd::Settled);
        }
        if worker_state.last_heartbeat.get().0 == AgentState::Paused {
            self.write_log(Level::Info, "Resumed");
        }
        let lease_kind = LeaseKind::WhileAlive(self.lease);
        tracing::debug!(agent = %self.name, queue = %self.agent.queue, "asking for a task");
        let claimed = self.queue.claim(&self.agent.queue, &self.name, lease_kind, 1)?;
        let Some(claimed) = claimed.into_iter().next() else {
            self.notifiers.iter().for_each(|notifier| notifier.deliver_pending(&self.log));
            self.send_heartbeat(worker_state, AgentState::Idle, None);
            let rested = self.queue.next_ready(&self.agent.queue)?;
            let longest = self.agent.poll_interval;
            watch.wait(rested.map_or(longest, |rested| rested.min(longest)));
            return Ok(TaskEnd::Settled);
        };
        self.write_log(Level::Info, &format!("Found task: {}", claimed.task.id));
        self.send_heartbeat(worker_state, AgentState::Working, Some(&claimed.task.id));
        self.work(claimed, worker_state)
    }

    /// Works on a task until it is settled or abandoned.
    fn work(
        &self,
        claimed: ClaimedTask,
        worker_state: &WorkerState,
    ) -> Result<TaskEnd, QueueError> {
        let ClaimedTask { lease, task } = claimed;
        let log = self.log.for_task(&task);
        let started = Stopwatch::start();
        log.info(&format!("Starting {}", describe(&task)));
        self.start(&lease, &task, worker_state.events.clone());
        let mut until = started.deadline(self.agent.timeout);
        let mut ends = AbandonReason::TimedOut;
        let mut next_heartbeat = started.deadline(self.heartbeat_interval());
        loop {
            match worker_state.inbox.recv_timeout(until.min(next_heartbeat).left()) {
                // An earlier task that was abandoned has ended: that does not concern this task.
                Ok(Event::Done(of, _)) if of != lease => {}
                Ok(Event::Done(_, outcome)) => {
                    let took = started.elapsed();
                    return self
                        .settle(&lease, &task, *outcome, took, &log)
                        .map(|()| TaskEnd::Settled);
                }
                Ok(Event::Stop) => {
                    // The grace period begins now, which may be long after the wait began.
                    let last = Deadline::after(self.grace);
                    if until > last {
                        (until, ends) = (last, AbandonReason::Stopped);
                    }
                    log.info("The agent stops once the task is finished");
                    self.send_heartbeat(worker_state, AgentState::Stopping, Some(&task.id));
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    if until.has_passed() {
                        // The next holder of the task must not find a program of this worker still
                        // writing.
                        assay_sandbox::stop_all();
                        // The thread of the task still runs, also if the task could not be settled,
                        // so this process must end.
                        if let Err(error) = self.abandon(&lease, &ends, &log) {
                            log.error(&chain(&error));
                        }
                        return Ok(TaskEnd::StillRunning);
                    }
                    next_heartbeat = Deadline::after(self.heartbeat_interval());
                    match self.queue.renew(&lease, self.lease) {
                        Ok(()) => {}
                        Err(error) if error.is_transient() => log.warning(&chain(&error)),
                        Err(error) => {
                            log.warning(&format!("Lost the lease of the task: {error}"));
                            assay_sandbox::stop_all();
                            return Ok(TaskEnd::StillRunning);
                        }
                    }
                    self.send_heartbeat(
                        worker_state,
                        worker_state.last_heartbeat.get().0,
                        Some(&task.id),
                    );
                }
            }
        }
    }

    /// Runs a task in its own thread.
    fn start(&self, lease: &Lease, task: &Task, events: Sender<Event>) {
        let lease = lease.clone();
        let (task, agent, name) = (task.clone(), self.agent.clone(), self.name.clone());
        let (handlers, log, notifiers) =
            (self.handlers.clone(), self.log.clone(), Arc::clone(&self.notifiers));
        thread::spawn(move || {
            let log = log.for_task(&task);
            let (agent, worker) = (agent.as_ref(), &name);
            let job = Job { task: &task, queue: &agent.queue, agent, worker, log: &log };
            let span = task_span(&job);
            let work = || {
                let outcome = handlers.find(&task.kind, agent)?.handle(&job)?;
                if let Some(notification) = Notification::of(&task, agent, &outcome) {
                    notifiers
                        .iter()
                        .try_for_each(|notifier| notifier.store(&notification, &log))?;
                }
                Ok(outcome)
            };
            let caught = catch_unwind(AssertUnwindSafe(|| span.in_scope(work)));
            let outcome = caught.unwrap_or_else(|_| {
                Err(HandlerError::permanent(
                    "the task panicked: this is a bug in assay; report it with the log",
                ))
            });
            if let Err(error) = &outcome {
                span.record("otel.error", tracing::field::display(error));
            }
            drop(span);
            // The receiver ignores the outcome of an abandoned task.
            let _ = events.send(Event::Done(lease, Box::new(outcome)));
        });
    }

    fn settle(
        &self,
        lease: &Lease,
        task: &Task,
        outcome: Result<TaskOutcome, HandlerError>,
        took: Duration,
        log: &TaskLog<'_>,
    ) -> Result<(), QueueError> {
        let (kind, seconds) = (capitalised(task.kind.as_str()), took.as_secs_f64());
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(failed) => {
                log.error(&format!("{kind} failed ({seconds:.1}s): {failed}"));
                return self.fail(lease, &failed, log);
            }
        };
        let TaskOutcome { summary, context, follow_ups, .. } = outcome.clone();
        let names: Vec<String> =
            follow_ups.iter().map(|next| format!("{} for {}", next.task.id, next.queue)).collect();
        let settled =
            self.persist(lease, &TaskResult::Completed { summary, context, follow_ups })?;
        if settled.is_none() {
            log.warning("Lost the lease of the task; its result is discarded");
            return Ok(());
        }
        log.info(&format!("{kind} completed ({seconds:.1}s)"));
        for name in names {
            log.info(&format!("Queued {name}"));
        }
        if let Some(notification) = Notification::of(task, &self.agent, &outcome) {
            self.notifiers.iter().for_each(|notifier| notifier.notify_settled(&notification, log));
        }
        Ok(())
    }

    fn fail(
        &self,
        lease: &Lease,
        failed: &HandlerError,
        log: &TaskLog<'_>,
    ) -> Result<(), QueueError> {
        let retry_limit = match failed.is_transient {
            true => RetryLimit::AtMost(Some(self.agent.max_retries)),
            false => RetryLimit::Never,
        };
        let failure = AttemptFailure { error: failed.error.clone(), retry_limit };
        match self.persist(lease, &TaskResult::Failed(failure))? {
            Some(SettleOutcome::Retry { after }) => {
                log.info(&format!("Retrying in {} s", after.as_secs()));
            }
            Some(SettleOutcome::Failed { escalation: Some(id) }) => {
                log.error(&format!("Gave up; {id} escalates the task to a person"));
            }
            Some(SettleOutcome::Failed { escalation: None }) => log.error("Gave up"),
            Some(
                SettleOutcome::Completed
                | SettleOutcome::AlreadyCompleted
                | SettleOutcome::Released,
            ) => {}
            None => log.warning("Lost the lease of the task"),
        }
        Ok(())
    }

    /// Settles a task that timed out or is interrupted by a shutdown, while its thread still runs.
    fn abandon(
        &self,
        lease: &Lease,
        end: &AbandonReason,
        log: &TaskLog<'_>,
    ) -> Result<(), QueueError> {
        match end {
            AbandonReason::TimedOut => {
                let seconds = self.agent.timeout.as_secs();
                let error = format!("the task took longer than {seconds} s; see `timeout`");
                log.error(&format!("Aborted: {error}"));
                self.fail(lease, &HandlerError::transient(error), log)
            }
            AbandonReason::Stopped => {
                let reason = "the agent was stopped".to_owned();
                log.info("Released the task, since the agent is stopping");
                self.persist(lease, &TaskResult::Released { reason }).map(|_| ())
            }
        }
    }

    /// Settles a task, and retries while the queue cannot be reached and the lease has not expired.
    /// During a shutdown there is one more attempt. Returns `None` if the lease is lost.
    fn persist(
        &self,
        lease: &Lease,
        what: &TaskResult,
    ) -> Result<Option<SettleOutcome>, QueueError> {
        let until = Deadline::after(self.lease);
        let mut retries = 0;
        let mut is_last = self.shutdown.is_requested();
        loop {
            match self.queue.settle(lease, what.clone()) {
                Ok(settled) => return Ok(Some(settled)),
                Err(QueueError::NotHeld { .. }) => return Ok(None),
                Err(error) if error.is_transient() && !is_last && !until.has_passed() => {
                    let why = chain(&error);
                    self.write_log(Level::Warning, &why);
                    (self.on_wait)(Some(&why));
                    is_last = self.shutdown.wait(QUEUE_BACKOFF.delay(retries));
                    retries += 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the interval between two heartbeats.
    fn heartbeat_interval(&self) -> Duration {
        self.agent.poll_interval.min(self.lease / 3).max(Duration::from_millis(100))
    }

    /// Sends a heartbeat. A failure is logged and has no other effect.
    fn send_heartbeat(&self, worker_state: &WorkerState, state: AgentState, task: Option<&TaskId>) {
        let (last, since) = worker_state.last_heartbeat.get();
        let at = Moment::now(&self.clock);
        let since = if last == state { since } else { at };
        worker_state.last_heartbeat.set((state, since));
        let heartbeat = Heartbeat {
            agent: self.name.clone(),
            queue: self.agent.queue.clone(),
            state,
            task: task.cloned(),
            since,
            at,
            every_seconds: self.heartbeat_interval().as_secs().max(1),
            host: self.host.clone(),
            pid: std::process::id(),
            version: self.version.clone(),
        };
        tracing::trace!(agent = %self.name, ?state, "sending a heartbeat");
        if let Err(error) = self.queue.record_heartbeat(&heartbeat) {
            self.write_log(
                Level::Warning,
                &format!("Cannot send the heartbeat: {}", chain(&error)),
            );
        }
    }

    fn write_log(&self, level: Level, text: &str) {
        self.log.record(level, text);
    }
}

/// The reason why a task is abandoned.
enum AbandonReason {
    TimedOut,
    Stopped,
}

/// Returns the span of a task.
fn task_span(job: &Job<'_>) -> tracing::Span {
    let task = job.task;
    tracing::info_span!(
        "task",
        otel.name = format!("task {}", task.kind.as_str()),
        otel.kind = "consumer",
        otel.error = tracing::field::Empty,
        assay.task.id = %task.id,
        assay.task.kind = task.kind.as_str(),
        assay.agent.name = %job.worker,
        messaging.destination.name = %job.queue,
    )
}

/// Returns a description of a task for the log, such as `review of PR #456`.
fn describe(task: &Task) -> String {
    match task.context.get("pr_number").filter(|number| number.is_u64() || number.is_string()) {
        Some(number) => {
            let number = number.as_str().map_or_else(|| number.to_string(), str::to_owned);
            format!("{} of PR #{number}", task.kind)
        }
        None => format!("{}: {}", task.kind, task.title),
    }
}

fn capitalised(notification: &str) -> String {
    let mut chars = notification.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).map(|c| if c == '_' { ' ' } else { c }).collect()
}
