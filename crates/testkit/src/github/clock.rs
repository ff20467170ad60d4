//! What time it is at the fake: [`Clock`].

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A clock that stands still until it is moved, or the real one.
#[derive(Debug)]
pub struct Clock(Time);

#[derive(Debug)]
enum Time {
    /// Since 1970.
    Virtual(Mutex<Duration>),
    Real,
}

impl Clock {
    /// Makes one that stands at the beginning of June 2026.
    pub fn stopped() -> Clock {
        Clock(Time::Virtual(Mutex::new(Duration::from_secs(1_780_272_000))))
    }

    /// Makes one that goes as the machine's does.
    pub fn real() -> Clock {
        Clock(Time::Real)
    }

    /// Gives the time since 1970.
    pub fn now(&self) -> Duration {
        match &self.0 {
            Time::Virtual(now) => *now.lock().unwrap(),
            Time::Real => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
        }
    }

    /// Moves the time on; the real time goes by itself.
    pub fn advance(&self, by: Duration) {
        match &self.0 {
            Time::Virtual(now) => *now.lock().unwrap() += by,
            Time::Real => {}
        }
    }
}
