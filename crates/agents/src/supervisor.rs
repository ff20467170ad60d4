//! The supervisor of workers: [`Supervisor`] starts each worker in its own process, restarts a
//! worker that failed, and recovers tasks whose holder is gone.

use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread;
use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::clock::{Deadline, Stopwatch};
use assay_base::shutdown::Shutdown;
use assay_findings::write::escape::chain;
use assay_sandbox::{Command, SupervisedChild};
use assay_store::queue::Queue;

use crate::log::{Level, Log};

/// Delays before a worker that exited early is started again.
const RESTART_BACKOFF: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(60));

/// The run time after which an exit of a worker no longer counts as early.
const STABLE_AFTER: Duration = Duration::from_secs(60);

/// The number of consecutive early exits after which a worker is not restarted.
const MAX_EARLY_EXITS: u32 = 8;

/// The exit code of a worker that had to abandon a running task.
pub const EXIT_TASK_ABANDONED: i32 = 3;

/// A worker to supervise.
pub struct WorkerSpec {
    /// The name of the worker.
    pub name: String,
    /// The command that starts the worker.
    pub command: Command,
}

/// A supervisor of worker processes.
pub struct Supervisor {
    /// The workers.
    pub workers: Vec<WorkerSpec>,
    /// The queue of the workers' tasks.
    pub queue: Arc<dyn Queue>,
    /// The interval between two recoveries of tasks whose holder is gone.
    pub watchdog: Duration,
    /// The log of the supervisor.
    pub log: Arc<Log>,
    /// The shutdown token.
    pub shutdown: Shutdown,
}

/// The reason why the supervisor ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SupervisorExit {
    /// All workers ended, on request or by themselves.
    Stopped,
    /// At least one worker was given up after too many early exits.
    GaveUp,
}

enum Event {
    Ended(usize, std::io::Result<ExitStatus>),
    Stop,
}

/// The state of a supervised worker.
enum ProcessState {
    Running { companion: Arc<SupervisedChild>, since: Stopwatch, early_exits: u32 },
    BackingOff { until: Deadline, early_exits: u32 },
    Stopped,
    GivenUp,
}

impl Supervisor {
    /// Runs the workers until shutdown is requested, or until none is left.
    pub fn run(&self) -> SupervisorExit {
        let (events, inbox) = mpsc::channel();
        let wake = events.clone();
        self.shutdown.on_request(move || drop(wake.send(Event::Stop)));
        let mut states: Vec<ProcessState> =
            (0..self.workers.len()).map(|at| self.start(at, 0, &events)).collect();
        let watchdog = Watchdog::start(self.queue.clone(), self.log.clone(), self.shutdown.clone());
        let mut next_recovery = Deadline::after(self.watchdog);
        while states
            .iter()
            .any(|s| matches!(s, ProcessState::Running { .. } | ProcessState::BackingOff { .. }))
        {
            match wait(&inbox, &states, next_recovery) {
                Some(Event::Ended(at, status)) => {
                    self.handle_exit(at, status, &mut states[at]);
                    // The tasks of the ended worker can be recovered at once.
                    watchdog.request_recovery();
                }
                Some(Event::Stop) => self.stop_all(&mut states),
                None => {}
            }
            for (at, state) in states.iter_mut().enumerate() {
                match state {
                    ProcessState::BackingOff { until, early_exits } if until.has_passed() => {
                        *state = self.start(at, *early_exits, &events);
                    }
                    ProcessState::Running { .. }
                    | ProcessState::BackingOff { .. }
                    | ProcessState::Stopped
                    | ProcessState::GivenUp => {}
                }
            }
            if next_recovery.has_passed() {
                watchdog.request_recovery();
                next_recovery = Deadline::after(self.watchdog);
            }
        }
        match states.iter().any(|state| matches!(state, ProcessState::GivenUp)) {
            true => SupervisorExit::GaveUp,
            false => SupervisorExit::Stopped,
        }
    }

    fn start(&self, at: usize, early_exits: u32, events: &Sender<Event>) -> ProcessState {
        let worker = &self.workers[at];
        let companion = match worker.command.spawn_supervised() {
            Ok(companion) => Arc::new(companion),
            Err(error) => {
                self.write_log(Level::Error, &format!("{}: {}", worker.name, chain(&error)));
                return self.schedule_restart(at, early_exits);
            }
        };
        self.write_log(
            Level::Info,
            &format!("Started {} (process {})", worker.name, companion.id()),
        );
        let (waited, events) = (companion.clone(), events.clone());
        // The receiver is gone once the supervisor has ended.
        thread::spawn(move || drop(events.send(Event::Ended(at, waited.wait()))));
        ProcessState::Running { companion, since: Stopwatch::start(), early_exits }
    }

    fn handle_exit(
        &self,
        at: usize,
        status: std::io::Result<ExitStatus>,
        state: &mut ProcessState,
    ) {
        let name = &self.workers[at].name;
        let ProcessState::Running { since, early_exits, .. } = state else { return };
        let run_time = since.elapsed();
        let early_exits = if run_time >= STABLE_AFTER { 0 } else { *early_exits };
        *state = match status {
            Ok(status) if status.success() || self.shutdown.is_requested() => {
                self.write_log(Level::Info, &format!("{name} has stopped"));
                ProcessState::Stopped
            }
            Ok(status) if status.code() == Some(EXIT_TASK_ABANDONED) => {
                self.write_log(
                    Level::Warning,
                    &format!("{name} abandoned a task; restarting the agent"),
                );
                ProcessState::BackingOff { until: Deadline::after(Duration::ZERO), early_exits }
            }
            Ok(status) => {
                self.write_log(Level::Error, &format!("{name} exited unexpectedly: {status}"));
                self.schedule_restart(at, early_exits)
            }
            Err(error) => {
                self.write_log(
                    Level::Error,
                    &format!("cannot read the exit status of {name}: {error}"),
                );
                self.schedule_restart(at, early_exits)
            }
        };
    }

    /// Schedules a restart with back-off, or gives the worker up after too many early exits.
    fn schedule_restart(&self, at: usize, early_exits: u32) -> ProcessState {
        let name = &self.workers[at].name;
        if self.shutdown.is_requested() {
            return ProcessState::Stopped;
        }
        if early_exits + 1 >= MAX_EARLY_EXITS {
            self.write_log(
                Level::Error,
                &format!(
                    "{name} exited {MAX_EARLY_EXITS} times soon after its start; giving up; see \
                     logs/{name}.log"
                ),
            );
            return ProcessState::GivenUp;
        }
        let rest = RESTART_BACKOFF.delay(early_exits);
        self.write_log(Level::Info, &format!("restarting {name} in {:.1} s", rest.as_secs_f64()));
        ProcessState::BackingOff { until: Deadline::after(rest), early_exits: early_exits + 1 }
    }

    fn stop_all(&self, states: &mut [ProcessState]) {
        self.write_log(Level::Info, "Stopping: running tasks are finished or given back");
        for state in states {
            match state {
                ProcessState::Running { companion, .. } => companion.terminate(),
                ProcessState::BackingOff { .. } => *state = ProcessState::Stopped,
                ProcessState::Stopped | ProcessState::GivenUp => {}
            }
        }
    }

    fn write_log(&self, level: Level, text: &str) {
        self.log.record(level, text);
    }
}

/// A thread that recovers tasks whose holder is gone. It is separate, so that an unreachable queue
/// does not delay a shutdown.
struct Watchdog(SyncSender<()>);

impl Watchdog {
    fn start(queue: Arc<dyn Queue>, log: Arc<Log>, shutdown: Shutdown) -> Watchdog {
        let (sender, asked) = mpsc::sync_channel(1);
        // The thread ends with the supervisor, or with the process if the queue cannot be reached
        // at that time.
        thread::spawn(move || {
            for () in asked {
                // During a shutdown, recovery is left to the next supervisor.
                if !shutdown.is_requested() {
                    recover(&*queue, &log);
                }
            }
        });
        Watchdog(sender)
    }

    /// Requests a recovery soon. Requests that are not served yet coalesce.
    fn request_recovery(&self) {
        let _ = self.0.try_send(());
    }
}

fn recover(queue: &dyn Queue, log: &Log) {
    match queue.recover() {
        Ok(recovered) => {
            for task in recovered {
                let held_by = task.held_by.as_deref().unwrap_or("its agent");
                let text =
                    format!("{} is pending again: {held_by} no longer holds its lease", task.task);
                log.record(Level::Warning, &text);
            }
        }
        Err(error) => log.record(Level::Warning, &chain(&error)),
    }
}

/// Waits for the next event, or until a restart or a recovery is due.
fn wait(
    inbox: &Receiver<Event>,
    states: &[ProcessState],
    next_recovery: Deadline,
) -> Option<Event> {
    let rests = states.iter().filter_map(|state| match state {
        ProcessState::BackingOff { until, .. } => Some(*until),
        ProcessState::Running { .. } | ProcessState::Stopped | ProcessState::GivenUp => None,
    });
    let due = rests.chain([next_recovery]).min().expect("there is one at least");
    inbox.recv_timeout(due.left()).ok()
}
