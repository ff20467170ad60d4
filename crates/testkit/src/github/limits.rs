//! The rate limits of GitHub: [`Limits`].

use std::collections::VecDeque;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// The maximum number of writes in a minute and in an hour.
const MAX_WRITES: (usize, usize) = (80, 500);

/// The peak load of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PeakLoad {
    /// The maximum number of attempted writes within a minute.
    pub minute: usize,
    /// The maximum number of attempted writes within an hour.
    pub hour: usize,
    /// The shortest time between two attempted writes; `None` if there were fewer than two.
    pub gap: Option<Duration>,
    /// The number of attempted writes before a requested wait was over.
    pub impatient: usize,
}

/// The rate limits of one GitHub, which all tokens share.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) rest: Window,
    pub(super) graphql: Window,
    /// The times of all attempted writes within the last hour.
    attempts: VecDeque<Duration>,
    busiest: PeakLoad,
    /// The end of the wait that was requested last.
    wait_until: Duration,
}

/// The requests in an hour that begins with the first request.
#[derive(Debug)]
pub(super) struct Window {
    pub(super) limit: u64,
    pub(super) used: u64,
    pub(super) reset: Duration,
}

impl Window {
    fn new() -> Window {
        Window { limit: 5_000, used: 0, reset: Duration::ZERO }
    }

    /// Starts another hour if the last one is over. Returns true if there are requests left.
    pub(super) fn is_open(&mut self, now: Duration) -> bool {
        if now >= self.reset {
            self.used = 0;
            // The reset is sent in whole seconds, and must not be later than the sent value.
            self.reset = Duration::from_secs((now + HOUR).as_secs());
        }
        self.used < self.limit
    }

    pub(super) fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }
}

impl Limits {
    pub(super) fn new() -> Limits {
        Limits {
            rest: Window::new(),
            graphql: Window::new(),
            attempts: VecDeque::new(),
            busiest: PeakLoad::default(),
            wait_until: Duration::ZERO,
        }
    }

    /// Records an attempted write. Returns the wait if there were too many.
    pub(super) fn write(&mut self, now: Duration) -> Option<Duration> {
        if let Some(last) = self.attempts.back() {
            let gap = now.saturating_sub(*last);
            self.busiest.gap = Some(self.busiest.gap.map_or(gap, |known| known.min(gap)));
        }
        self.busiest.impatient += usize::from(now < self.wait_until);
        self.attempts.push_back(now);
        while self.attempts.front().is_some_and(|first| now.saturating_sub(*first) >= HOUR) {
            self.attempts.pop_front();
        }
        let hour = self.attempts.len();
        let is_recent = |at: &&Duration| now.saturating_sub(**at) < MINUTE;
        let minute = self.attempts.iter().rev().take_while(is_recent).count();
        self.busiest.minute = self.busiest.minute.max(minute);
        self.busiest.hour = self.busiest.hour.max(hour);
        if hour > MAX_WRITES.1 {
            let free = self.attempts[hour - MAX_WRITES.1 - 1] + HOUR;
            return Some((free.saturating_sub(now)).max(MINUTE));
        }
        (minute > MAX_WRITES.0).then_some(MINUTE)
    }

    /// Records that a wait until this time was requested.
    pub(super) fn limit_until(&mut self, until: Duration) {
        self.wait_until = self.wait_until.max(until);
    }

    pub(super) fn busiest(&self) -> PeakLoad {
        self.busiest
    }
}
