//! How much may be asked of GitHub: [`Limits`].

use std::collections::VecDeque;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);

/// Content that may be made in a minute and in an hour.
const WRITES: (usize, usize) = (80, 500);

/// How writing went, at its worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Busiest {
    /// The most attempts to write within a minute.
    pub minute: usize,
    /// The most attempts to write within an hour.
    pub hour: usize,
    /// The shortest time between two attempts to write; none if there were not two.
    pub gap: Option<Duration>,
    /// The attempts to write before a wait was over that GitHub had asked for.
    pub impatient: usize,
}

/// The limits of one GitHub, which all tokens share.
#[derive(Debug)]
pub(super) struct Limits {
    pub(super) rest: Window,
    pub(super) graphql: Window,
    /// Every attempt to write within the last hour.
    attempts: VecDeque<Duration>,
    busiest: Busiest,
    /// Before this nobody should write.
    wait_until: Duration,
}

/// Requests in an hour that begins with the first one.
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

    /// Begins another hour if the last one is over; says whether there is anything left.
    pub(super) fn is_open(&mut self, now: Duration) -> bool {
        if now >= self.reset {
            self.used = 0;
            // It is told in whole seconds, and must not come before it is told to.
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
            busiest: Busiest::default(),
            wait_until: Duration::ZERO,
        }
    }

    /// Notes an attempt to write; gives how long to wait if there were too many.
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
        if hour > WRITES.1 {
            let free = self.attempts[hour - WRITES.1 - 1] + HOUR;
            return Some((free.saturating_sub(now)).max(MINUTE));
        }
        (minute > WRITES.0).then_some(MINUTE)
    }

    /// Notes that GitHub asked for patience.
    pub(super) fn ask_for_patience(&mut self, until: Duration) {
        self.wait_until = self.wait_until.max(until);
    }

    pub(super) fn busiest(&self) -> Busiest {
        self.busiest
    }
}
