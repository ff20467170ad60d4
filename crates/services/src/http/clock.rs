//! Time as a client sees it: [`ServiceClock`], kept by [`Patience`] and by tests.

use std::time::Duration;

use assay_base::clock::Clock;
use assay_base::shutdown::Shutdown;

/// Somebody does not wait that long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotWaited;

/// Time as a client sees it.
///
/// It does not run backwards by more than a person moves it, and it never waits shorter than it was
/// asked to and says that it did.
pub trait ServiceClock: Send + Sync {
    /// Gives the time since 1970.
    fn now(&self) -> Duration;

    /// Waits, and tells whoever looks on why. Refuses where that is longer than anybody waits.
    fn wait(&self, time: Duration, why: &str) -> Result<(), NotWaited>;
}

/// Who is told why something waits.
type Told = Box<dyn Fn(&str) + Send + Sync>;

/// The time of this machine, and how long somebody waits at a time.
pub struct Patience {
    clock: Clock,
    most: Duration,
    told: Told,
    end: Shutdown,
}

impl Patience {
    /// Waits so long at the most, and tells why each time.
    pub fn new(
        clock: &Clock,
        most: Duration,
        told: impl Fn(&str) + Send + Sync + 'static,
    ) -> Patience {
        let clock = clock.clone();
        Patience { clock, most, told: Box::new(told), end: Shutdown::default() }
    }

    /// Ends all waiting, now and from now on.
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
