//! The time: the one module that reads a clock.
//!
//! [`Clock`] returns the time of day and the uptime of the machine. The program creates one clock
//! and passes it down; a test passes a [`ManualClock`] and moves it. [`Stopwatch`] and [`Deadline`]
//! measure waits for the operating system (a process, a socket, a channel), which no test can
//! shorten.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;
use rustix::time::{ClockId, clock_gettime};

/// The time of day and the uptime of the machine. All clones return the same time.
#[derive(Clone, Default)]
pub struct Clock(Option<Arc<Mutex<Times>>>);

/// The times of a clock that only tests move.
struct Times {
    now: Timestamp,
    uptime: Uptime,
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Clock(manual)" } else { "Clock(system)" })
    }
}

impl Clock {
    /// Returns the clock of this machine.
    pub fn system() -> Clock {
        Clock(None)
    }

    /// Returns the time of day. The system time can be set back, so no code relies on its order.
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Some(times) => lock(times).now,
            #[expect(clippy::disallowed_methods, reason = "this is the module that reads clocks")]
            None => Timestamp::now(),
        }
    }

    /// Returns the time since `then`, such as the last change of a file; `None` if `then` is in the
    /// future.
    pub fn since(&self, then: SystemTime) -> Option<Duration> {
        SystemTime::from(self.now()).duration_since(then).ok()
    }

    /// Returns the time since the machine was started, sleep included. The uptime never goes back.
    pub fn uptime(&self) -> Uptime {
        match &self.0 {
            Some(times) => lock(times).uptime,
            None => Uptime::of_machine(),
        }
    }
}

fn lock(times: &Mutex<Times>) -> MutexGuard<'_, Times> {
    times.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A clock whose time changes only when a test moves it.
#[derive(Clone)]
pub struct ManualClock(Arc<Mutex<Times>>);

impl ManualClock {
    /// Creates a clock at a time of day, with an uptime of one day.
    pub fn at(now: Timestamp) -> ManualClock {
        ManualClock(Arc::new(Mutex::new(Times { now, uptime: Uptime::from_millis(86_400_000) })))
    }

    /// Returns the clock to pass down.
    pub fn clock(&self) -> Clock {
        Clock(Some(Arc::clone(&self.0)))
    }

    /// Moves the time of day and the uptime forward.
    pub fn advance(&self, time: Duration) {
        let mut times = lock(&self.0);
        times.now = times.now.saturating_add(time).unwrap_or(Timestamp::MAX);
        times.uptime = times.uptime.after(time);
    }
}

/// The time since the machine was started, sleep included, in milliseconds. The uptimes of
/// different starts cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uptime(i64);

impl Uptime {
    fn of_machine() -> Uptime {
        #[cfg(target_os = "linux")]
        let time = clock_gettime(ClockId::Boottime);
        #[cfg(not(target_os = "linux"))]
        let time = clock_gettime(ClockId::Monotonic);
        Uptime(time.tv_sec * 1_000 + time.tv_nsec / 1_000_000)
    }

    /// Returns the uptime that was stored as milliseconds.
    pub fn from_millis(millis: i64) -> Uptime {
        Uptime(millis)
    }

    /// Returns the milliseconds to store.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the uptime `time` later; saturates at the largest uptime.
    pub fn after(self, time: Duration) -> Uptime {
        Uptime(self.0.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns the time from this uptime until `later`, or zero if `later` is not later.
    pub fn until(self, later: Uptime) -> Duration {
        Duration::from_millis(u64::try_from(later.0.saturating_sub(self.0)).unwrap_or(0))
    }
}

/// A stopwatch for elapsed time.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the measurement.
    pub fn start() -> Stopwatch {
        Stopwatch(monotonic())
    }

    /// Returns the time since the start.
    pub fn elapsed(self) -> Duration {
        monotonic().saturating_duration_since(self.0)
    }

    /// Returns the deadline `time` after the start.
    pub fn deadline(self, time: Duration) -> Deadline {
        Deadline(self.0 + time.min(MAX_DEADLINE))
    }
}

/// The end of a wait for the operating system. The earlier of two deadlines is the lesser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Deadline(Instant);

/// The longest wait: a hundred years. A deadline after a longer wait is a hundred years away, so
/// that adding the wait to an `Instant` cannot overflow.
const MAX_DEADLINE: Duration = Duration::from_secs(100 * 365 * 86_400);

impl Deadline {
    /// Returns the deadline `time` from now.
    pub fn after(time: Duration) -> Deadline {
        Deadline(monotonic() + time.min(MAX_DEADLINE))
    }

    /// Returns the time that is left; zero once the deadline has passed.
    pub fn left(self) -> Duration {
        self.0.saturating_duration_since(monotonic())
    }

    /// Returns true once the deadline has passed.
    pub fn has_passed(self) -> bool {
        monotonic() >= self.0
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the module that reads clocks")]
fn monotonic() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_stands_still_until_it_is_moved() {
        let manual = ManualClock::at(Timestamp::UNIX_EPOCH);
        let clock = manual.clock();
        let (now, uptime) = (clock.now(), clock.uptime());
        assert_eq!((clock.now(), clock.uptime()), (now, uptime));
        manual.advance(Duration::from_secs(90));
        assert_eq!(clock.now().as_second(), 90);
        assert_eq!(uptime.until(clock.uptime()), Duration::from_secs(90));
        assert_eq!(clock.since(SystemTime::UNIX_EPOCH), Some(Duration::from_secs(90)));
        assert_eq!(clock.since(SystemTime::UNIX_EPOCH + Duration::from_secs(91)), None);
        manual.advance(Duration::MAX);
        assert_eq!(clock.now(), Timestamp::MAX);
    }

    #[test]
    fn the_uptime_of_the_machine_does_not_go_back() {
        let clock = Clock::system();
        let first = clock.uptime();
        assert!(first <= clock.uptime() && first.as_millis() > 0);
        assert_eq!(first.after(Duration::from_secs(2)).until(first), Duration::ZERO);
    }

    #[test]
    fn a_deadline_has_passed_if_no_time_is_left() {
        let (over, long) = (Deadline::after(Duration::ZERO), Deadline::after(Duration::MAX));
        assert!(over.has_passed() && over.left().is_zero());
        assert!(!long.has_passed() && long.left() > Duration::from_secs(3_600));
        assert_eq!(over.min(long), over);
    }
}
