//! The clock of a client, which limits its waits: [`ServiceClock`], with the implementation
//! [`Patience`] and fakes in tests.

use std::time::Duration;

use assay_base::clock::Clock;
use assay_base::shutdown::Shutdown;

/// The error for a wait that was refused: it exceeds the maximum, or the clock was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotWaited;

/// The clock of a client.
///
/// The time does not run backwards, unless a person sets the system clock. A wait that succeeds is
/// never shorter than requested.
pub trait ServiceClock: Send + Sync {
    /// Returns the time since 1970.
    fn now(&self) -> Duration;

    /// Waits, and reports the reason. Fails if the wait exceeds the maximum.
    fn wait(&self, time: Duration, why: &str) -> Result<(), NotWaited>;
}

/// A callback that gets the reason of each wait.
type Told = Box<dyn Fn(&str) + Send + Sync>;

/// The system clock, with a maximum time for each wait.
pub struct Patience {
    clock: Clock,
    most: Duration,
    told: Told,
    end: Shutdown,
}

impl Patience {
    /// Creates a clock that waits at most `most` at a time, and calls `told` with the reason of
    /// each wait.
    pub fn new(
        clock: &Clock,
        most: Duration,
        told: impl Fn(&str) + Send + Sync + 'static,
    ) -> Patience {
        let clock = clock.clone();
        Patience { clock, most, told: Box::new(told), end: Shutdown::default() }
    }

    /// Ends the current wait and refuses all later ones.
    pub fn end(&self) {
        self.end.request();
    }
}

impl ServiceClock for Patience {
    fn now(&self) -> Duration {
        let since = self.clock.now().as_duration();
        Duration::try_from(since).unwrap_or_default()
    }

    fn wait(&self, time: Duration, why: &str) -> Result<(), NotWaited> {
        if time > self.most {
            return Err(NotWaited);
        }
        (self.told)(why);
        match self.end.wait(time) {
            true => Err(NotWaited),
            false => Ok(()),
        }
    }
}
