//! The clock of a client, which limits its waits: [`ServiceClock`], with the implementation
//! [`SystemClock`] and fakes in tests.

use std::time::Duration;

use assay_base::clock::Clock;
use assay_base::shutdown::Shutdown;

/// The error for a wait that was refused: it exceeds the maximum, or the clock was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitRefused;

/// The clock of a client.
///
/// The time does not run backwards, unless a person sets the system clock. A wait that succeeds is
/// never shorter than requested.
pub trait ServiceClock: Send + Sync {
    /// Returns the time since 1970.
    fn now(&self) -> Duration;

    /// Waits, and reports the reason. Fails if the wait exceeds the maximum.
    fn wait(&self, time: Duration, why: &str) -> Result<(), WaitRefused>;
}

/// A callback that gets the reason of each wait.
type OnWait = Box<dyn Fn(&str) + Send + Sync>;

/// The system clock, with a maximum time for each wait.
pub struct SystemClock {
    clock: Clock,
    max_wait: Duration,
    on_wait: OnWait,
    shutdown: Shutdown,
}

impl SystemClock {
    /// Creates a clock that waits at most `max_wait` at a time, and calls `on_wait` with the reason
    /// of each wait.
    pub fn new(
        clock: &Clock,
        max_wait: Duration,
        on_wait: impl Fn(&str) + Send + Sync + 'static,
    ) -> SystemClock {
        let clock = clock.clone();
        SystemClock { clock, max_wait, on_wait: Box::new(on_wait), shutdown: Shutdown::default() }
    }

    /// Ends the current wait and refuses all later ones.
    pub fn cancel(&self) {
        self.shutdown.request();
    }
}

impl ServiceClock for SystemClock {
    fn now(&self) -> Duration {
        let since = self.clock.now().as_duration();
        Duration::try_from(since).unwrap_or_default()
    }

    fn wait(&self, time: Duration, why: &str) -> Result<(), WaitRefused> {
        if time > self.max_wait {
            return Err(WaitRefused);
        }
        (self.on_wait)(why);
        match self.shutdown.wait(time) {
            true => Err(WaitRefused),
            false => Ok(()),
        }
    }
}
