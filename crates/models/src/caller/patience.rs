//! The retry policy of model calls: [`Patience`].

use std::fmt;
use std::sync::mpsc;
use std::time::Duration;

use assay_base::backoff::{Backoff, random_part};

use crate::Failure;

/// A retry policy: the number of attempts, and the back-off between them.
pub struct Patience {
    attempts: u32,
    backoff: Backoff,
    pause: Box<dyn Fn(Duration) + Send + Sync>,
    chance: Box<dyn Fn() -> u64 + Send + Sync>,
}

/// The default number of attempts.
const ATTEMPTS: u32 = 4;

/// The longest delay before the first retry.
const FIRST_DELAY: Duration = Duration::from_secs(2);

/// The longest delay before any retry. A provider that asks for more is not asked again.
const MAX_DELAY: Duration = Duration::from_secs(120);

/// The random part of a delay, in percent.
const JITTER: u32 = 50;

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, max) = (self.backoff.first(), self.backoff.max());
        write!(f, "Patience({} attempts, {first:?} to {max:?})", self.attempts)
    }
}

impl Default for Patience {
    /// Returns the default policy: 4 attempts, with delays of at most 2 minutes.
    fn default() -> Patience {
        Patience::new(ATTEMPTS, MAX_DELAY)
    }
}

impl Patience {
    /// Creates a policy with a number of attempts and a longest delay.
    pub fn new(attempts: u32, longest: Duration) -> Patience {
        let (pause, chance) = (Box::new(pause), Box::new(chance));
        let backoff = Backoff::new(FIRST_DELAY, longest).with_jitter(JITTER);
        Patience { attempts, backoff, pause, chance }
    }

    /// Replaces the number of attempts.
    pub fn asking(self, attempts: u32) -> Patience {
        Patience { attempts, ..self }
    }

    /// Replaces the function that waits.
    #[cfg(test)]
    pub(super) fn pausing(mut self, pause: impl Fn(Duration) + Send + Sync + 'static) -> Patience {
        self.pause = Box::new(pause);
        self
    }

    /// Returns the delay before the next attempt; `None` if the failure is permanent, no attempt is
    /// left, or the delay is too long.
    pub(super) fn wait(&self, failure: &Failure, asked: u32, left: Duration) -> Option<Duration> {
        if !failure.class.is_passing() || asked >= self.attempts {
            return None;
        }
        let wait = match failure.wait {
            Some(told) if told > self.backoff.max() => return None,
            // A little more than requested, so that not all clients retry at the same moment.
            Some(told) => told + random_part(self.backoff.first() / 4, (self.chance)()),
            None => self.backoff.jittered_delay(asked.saturating_sub(1), (self.chance)()),
        };
        (wait < left).then_some(wait)
    }

    pub(super) fn pause(&self, time: Duration) {
        (self.pause)(time);
    }

    #[cfg(test)]
    pub(super) fn by_chance(mut self, chance: u64) -> Patience {
        self.chance = Box::new(move || chance);
        self
    }
}

/// Blocks the thread for a time.
fn pause(time: Duration) {
    let (_sender, receiver) = mpsc::channel::<()>();
    // Only the timeout can end this: the sender is alive and never sends.
    let _ = receiver.recv_timeout(time);
}

fn chance() -> u64 {
    // Without a random number, the delays are only spread less well.
    getrandom::u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Class;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn wait(class: Class, told: Option<u64>, asked: u32, left: Duration) -> Option<u128> {
        let failure = Failure { wait: told.map(Duration::from_secs), ..Failure::new(class, "") };
        let patience = Patience::default().by_chance(0);
        patience.wait(&failure, asked, left).map(|wait| wait.as_millis())
    }

    #[test]
    fn waits_double_until_there_were_enough_attempts() {
        let waits: Vec<_> = (1..5).map(|asked| wait(Class::Server, None, asked, HOUR)).collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), Some(4_000), None]);
    }

    #[test]
    fn chance_spreads_waits_and_never_beyond_the_longest() {
        let failure = Failure::new(Class::Overload, "");
        for chance in [1, 999, u64::MAX] {
            let patience = Patience::new(99, Duration::from_secs(5)).by_chance(chance);
            for asked in 1..40 {
                assert!(patience.wait(&failure, asked, HOUR).unwrap() <= Duration::from_secs(5));
            }
        }
    }

    #[test]
    fn a_provider_is_waited_for_as_it_asks_but_not_for_ever() {
        assert_eq!(wait(Class::RateLimit, Some(30), 1, HOUR), Some(30_000));
        assert_eq!(wait(Class::RateLimit, Some(121), 1, HOUR), None);
        assert_eq!(wait(Class::RateLimit, Some(30), 1, Duration::from_secs(20)), None);
    }

    #[test]
    fn who_is_asked_once_is_not_asked_again() {
        let patience = Patience::default().asking(1);
        assert_eq!(patience.wait(&Failure::new(Class::Server, ""), 1, HOUR), None);
    }

    #[test]
    fn what_does_not_pass_is_not_asked_again() {
        for class in [Class::Authentication, Class::CutOff, Class::Refusal, Class::TooLong] {
            assert_eq!(wait(class, None, 1, HOUR), None);
        }
    }
}
