//! Time for a store: one clock that only goes forward, and one for people.

use std::time::Duration;

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

use crate::task::Moment;

/// Where the kernel tells one start of the machine from the next.
#[cfg(target_os = "linux")]
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// What people call the time. It can be moved, so nothing is decided by it that must not be.
pub fn now() -> Moment {
    Moment(Timestamp::now())
}

/// The time since the machine was started, sleep included. Nobody can move it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uptime(i64);

impl Uptime {
    /// Reads the clock.
    pub fn now() -> Uptime {
        #[cfg(target_os = "linux")]
        let time = clock_gettime(ClockId::Boottime);
        #[cfg(not(target_os = "linux"))]
        let time = clock_gettime(ClockId::Monotonic);
        Uptime(time.tv_sec * 1_000 + time.tv_nsec / 1_000_000)
    }

    /// A time that was kept as milliseconds.
    pub fn from_millis(millis: i64) -> Uptime {
        Uptime(millis)
    }

    /// In milliseconds, to be kept.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// That much later.
    pub fn after(self, time: Duration) -> Uptime {
        Uptime(self.0.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))
    }

    /// How long it is until then; nothing if it has passed.
    pub fn until(self, later: Uptime) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }
}

/// Says which start of the machine this is: times since another one mean nothing.
pub fn boot_id() -> String {
    #[cfg(target_os = "linux")]
    let id = std::fs::read_to_string(BOOT_ID).ok();
    #[cfg(not(target_os = "linux"))]
    let id: Option<String> = None;
    id.map_or_else(|| "unknown".to_owned(), |id| id.trim().to_owned())
}
