//! The clock of the fake: [`GitHubClock`].

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock that is stopped until it is advanced, or the real one.
#[derive(Debug)]
pub struct GitHubClock(Time);

#[derive(Debug)]
enum Time {
    /// The time since 1970.
    Virtual(Mutex<Duration>),
    Real,
}

impl GitHubClock {
    /// Creates a clock that is stopped at the beginning of June 2026.
    pub fn stopped() -> GitHubClock {
        GitHubClock(Time::Virtual(Mutex::new(Duration::from_secs(1_780_272_000))))
    }

    /// Creates a clock that follows the machine's clock.
    pub fn real() -> GitHubClock {
        GitHubClock(Time::Real)
    }

    /// Returns the time since 1970.
    pub fn now(&self) -> Duration {
        match &self.0 {
            Time::Virtual(now) => *now.lock().unwrap(),
            Time::Real => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        }
    }

    /// Advances the clock; has no effect on a real one.
    pub fn advance(&self, by: Duration) {
        match &self.0 {
            Time::Virtual(now) => *now.lock().unwrap() += by,
            Time::Real => {}
        }
    }
}
