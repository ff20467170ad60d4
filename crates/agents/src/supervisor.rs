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
const SETTLED_IN: Duration = Duration::from_secs(60);

/// The number of consecutive early exits after which a worker is not restarted.
const MOST_DEATHS: u32 = 8;

/// The exit code of a worker that had to abandon a running task.
pub const MID_TASK: i32 = 3;

/// A worker to supervise.
pub struct Post {
    /// The name of the worker.
    pub name: String,
    /// The command that starts the worker.
    pub command: Command,
}

/// A supervisor of worker processes.
pub struct Supervisor {
    /// The workers.
    pub posts: Vec<Post>,
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
pub enum Over {
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
enum State {
    Running { companion: Arc<SupervisedChild>, since: Stopwatch, deaths: u32 },
    Resting { until: Deadline, deaths: u32 },
    Stopped,
    GivenUp,
}

impl Supervisor {
    /// Runs the workers until shutdown is requested, or until none is left.
    pub fn run(&self) -> Over {
        let (events, inbox) = mpsc::channel();
        let wake = events.clone();
        self.shutdown.on_request(move || drop(wake.send(Event::Stop)));
        let mut states: Vec<State> =
            (0..self.posts.len()).map(|at| self.start(at, 0, &events)).collect();
        let watchdog = Watchdog::start(self.queue.clone(), self.log.clone(), self.shutdown.clone());
        let mut next_look = Deadline::after(self.watchdog);
        while states.iter().any(|s| matches!(s, State::Running { .. } | State::Resting { .. })) {
            match wait(&inbox, &states, next_look) {
                Some(Event::Ended(at, status)) => {
                    self.note_end(at, status, &mut states[at]);
                    // The tasks of the ended worker can be recovered at once.
                    watchdog.look();
                }
                Some(Event::Stop) => self.stop_all(&mut states),
                None => {}
            }
            for (at, state) in states.iter_mut().enumerate() {
                match state {
                    State::Resting { until, deaths } if until.has_passed() => {
                        *state = self.start(at, *deaths, &events);
                    }
                    State::Running { .. }
                    | State::Resting { .. }
                    | State::Stopped
                    | State::GivenUp => {}
                }
            }
            if next_look.has_passed() {
                watchdog.look();
                next_look = Deadline::after(self.watchdog);
            }
        }
        match states.iter().any(|state| matches!(state, State::GivenUp)) {
            true => Over::GaveUp,
            false => Over::Stopped,
        }
    }

    fn start(&self, at: usize, deaths: u32, events: &Sender<Event>) -> State {
        let post = &self.posts[at];
        let companion = match post.command.spawn_supervised() {
            Ok(companion) => Arc::new(companion),
            Err(error) => {
                self.tell(Level::Error, &format!("{}: {}", post.name, chain(&error)));
                return self.rest(at, deaths);
            }
        };
        self.tell(Level::Info, &format!("Started {} (process {})", post.name, companion.id()));
        let (waited, events) = (companion.clone(), events.clone());
        // The receiver is gone once the supervisor has ended.
        thread::spawn(move || drop(events.send(Event::Ended(at, waited.wait()))));
        State::Running { companion, since: Stopwatch::start(), deaths }
    }

    fn note_end(&self, at: usize, status: std::io::Result<ExitStatus>, state: &mut State) {
        let name = &self.posts[at].name;
        let State::Running { since, deaths, .. } = state else { return };
        let lived = since.elapsed();
        let deaths = if lived >= SETTLED_IN { 0 } else { *deaths };
        *state = match status {
            Ok(status) if status.success() || self.shutdown.is_requested() => {
                self.tell(Level::Info, &format!("{name} has stopped"));
                State::Stopped
            }
            Ok(status) if status.code() == Some(MID_TASK) => {
                self.tell(Level::Warning, &format!("{name} left a task and is started again"));
                State::Resting { until: Deadline::after(Duration::ZERO), deaths }
            }
            Ok(status) => {
                self.tell(Level::Error, &format!("{name} died: {status}"));
                self.rest(at, deaths)
            }
            Err(error) => {
                self.tell(Level::Error, &format!("lost sight of {name}: {error}"));
                self.rest(at, deaths)
            }
        };
    }

    /// Schedules a restart with back-off, or gives the worker up after too many early exits.
    fn rest(&self, at: usize, deaths: u32) -> State {
        let name = &self.posts[at].name;
        if self.shutdown.is_requested() {
            return State::Stopped;
        }
        if deaths + 1 >= MOST_DEATHS {
            self.tell(
                Level::Error,
                &format!(
                    "{name} died {MOST_DEATHS} times soon after its start and is given up; \
                     logs/{name}.log may say why"
                ),
            );
            return State::GivenUp;
        }
        let rest = RESTART_BACKOFF.delay(deaths);
        self.tell(Level::Info, &format!("{name} is started again in {:.1} s", rest.as_secs_f64()));
        State::Resting { until: Deadline::after(rest), deaths: deaths + 1 }
    }

    fn stop_all(&self, states: &mut [State]) {
        self.tell(Level::Info, "Stopping: running tasks are finished or given back");
        for state in states {
            match state {
                State::Running { companion, .. } => companion.terminate(),
                State::Resting { .. } => *state = State::Stopped,
                State::Stopped | State::GivenUp => {}
            }
        }
    }

    fn tell(&self, level: Level, text: &str) {
        self.log.tell(level, text);
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
    fn look(&self) {
        let _ = self.0.try_send(());
    }
}

fn recover(queue: &dyn Queue, log: &Log) {
    match queue.recover() {
        Ok(recovered) => {
            for task in recovered {
                let held_by = task.held_by.as_deref().unwrap_or("nobody");
                let text = format!("{} waits again: {held_by} holds it no more", task.task);
                log.tell(Level::Warning, &text);
            }
        }
        Err(error) => log.tell(Level::Warning, &chain(&error)),
    }
}

/// Waits for the next event, or until a restart or a recovery is due.
fn wait(inbox: &Receiver<Event>, states: &[State], next_look: Deadline) -> Option<Event> {
    let rests = states.iter().filter_map(|state| match state {
        State::Resting { until, .. } => Some(*until),
        State::Running { .. } | State::Stopped | State::GivenUp => None,
    });
    let due = rests.chain([next_look]).min().expect("there is one at least");
    inbox.recv_timeout(due.left()).ok()
}
