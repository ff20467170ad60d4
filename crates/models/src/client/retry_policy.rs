//! The retry policy of model calls: [`RetryPolicy`].

use std::fmt;
use std::num::NonZeroU32;
use std::sync::mpsc;
use std::time::Duration;

use assay_base::backoff::{Backoff, random_part};

use crate::Failure;

/// A retry policy: the number of attempts, and the back-off between them.
pub struct RetryPolicy {
    attempts: u32,
    backoff: Backoff,
    pause: Box<dyn Fn(Duration) + Send + Sync>,
    random: Box<dyn Fn() -> u64 + Send + Sync>,
}

/// The default number of attempts of a call, the first included.
pub const DEFAULT_ATTEMPTS: NonZeroU32 = NonZeroU32::new(4).expect("4 is not zero");

/// The longest delay before the first retry.
const FIRST_DELAY: Duration = Duration::from_secs(2);

/// The longest delay before any retry. A provider that asks for more is not asked again.
const MAX_DELAY: Duration = Duration::from_secs(120);

/// The random part of a delay, in percent.
const JITTER_PERCENT: u32 = 50;

impl fmt::Debug for RetryPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, max) = (self.backoff.first(), self.backoff.max());
        write!(f, "RetryPolicy({} attempts, {first:?} to {max:?})", self.attempts)
    }
}

impl Default for RetryPolicy {
    /// Returns the default policy: 4 attempts, with delays of at most 2 minutes.
    fn default() -> RetryPolicy {
        RetryPolicy::new(DEFAULT_ATTEMPTS.get(), MAX_DELAY)
    }
}

impl RetryPolicy {
    /// Creates a policy with a number of attempts and a longest delay.
    pub fn new(attempts: u32, longest: Duration) -> RetryPolicy {
        let (pause, random) = (Box::new(pause), Box::new(random));
        let backoff = Backoff::new(FIRST_DELAY, longest).with_jitter(JITTER_PERCENT);
        RetryPolicy { attempts, backoff, pause, random }
    }

    /// Replaces the number of attempts.
    pub fn with_attempts(self, attempts: u32) -> RetryPolicy {
        RetryPolicy { attempts, ..self }
    }

    /// Replaces the function that waits.
    #[cfg(test)]
    pub(super) fn with_pause(
        mut self,
        pause: impl Fn(Duration) + Send + Sync + 'static,
    ) -> RetryPolicy {
        self.pause = Box::new(pause);
        self
    }

    /// Returns the delay before the next attempt; `None` if the failure is permanent, no attempt is
    /// left, or the delay is too long.
    pub(super) fn retry_delay(
        &self,
        failure: &Failure,
        asked: u32,
        left: Duration,
    ) -> Option<Duration> {
        if !failure.class.is_transient() || asked >= self.attempts {
            return None;
        }
        let wait = match failure.wait {
            Some(requested) if requested > self.backoff.max() => return None,
            // A little more than requested, so that not all clients retry at the same moment.
            Some(requested) => requested + random_part(self.backoff.first() / 4, (self.random)()),
            None => self.backoff.jittered_delay(asked.saturating_sub(1), (self.random)()),
        };
        (wait < left).then_some(wait)
    }

    pub(super) fn pause(&self, time: Duration) {
        (self.pause)(time);
    }

    #[cfg(test)]
    pub(super) fn with_random(mut self, random: u64) -> RetryPolicy {
        self.random = Box::new(move || random);
        self
    }
}

/// Blocks the thread for a time.
fn pause(time: Duration) {
    let (_sender, receiver) = mpsc::channel::<()>();
    // Only the timeout can end this: the sender is alive and never sends.
    let _ = receiver.recv_timeout(time);
}

fn random() -> u64 {
    // Without a random number, the delays are only spread less well.
    getrandom::u64().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FailureClass;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn retry_delay(
        class: FailureClass,
        requested: Option<u64>,
        asked: u32,
        left: Duration,
    ) -> Option<u128> {
        let failure =
            Failure { wait: requested.map(Duration::from_secs), ..Failure::new(class, "") };
        let retry_policy = RetryPolicy::default().with_random(0);
        retry_policy.retry_delay(&failure, asked, left).map(|wait| wait.as_millis())
    }

    #[test]
    fn delays_double_until_the_attempts_are_used_up() {
        let waits: Vec<_> =
            (1..5).map(|asked| retry_delay(FailureClass::Server, None, asked, HOUR)).collect();
        assert_eq!(waits, [Some(1_000), Some(2_000), Some(4_000), None]);
    }

    #[test]
    fn a_random_delay_never_exceeds_the_maximum() {
        let failure = Failure::new(FailureClass::Overload, "");
        for random in [1, 999, u64::MAX] {
            let retry_policy = RetryPolicy::new(99, Duration::from_secs(5)).with_random(random);
            for asked in 1..40 {
                assert!(
                    retry_policy.retry_delay(&failure, asked, HOUR).unwrap()
                        <= Duration::from_secs(5)
                );
            }
        }
    }

    #[test]
    fn a_requested_delay_beyond_the_limit_or_the_remaining_time_ends_the_retries() {
        assert_eq!(retry_delay(FailureClass::RateLimit, Some(30), 1, HOUR), Some(30_000));
        assert_eq!(retry_delay(FailureClass::RateLimit, Some(121), 1, HOUR), None);
        assert_eq!(
            retry_delay(FailureClass::RateLimit, Some(30), 1, Duration::from_secs(20)),
            None
        );
    }

    #[test]
    fn a_policy_with_one_attempt_never_retries() {
        let retry_policy = RetryPolicy::default().with_attempts(1);
        assert_eq!(
            retry_policy.retry_delay(&Failure::new(FailureClass::Server, ""), 1, HOUR),
            None
        );
    }

    #[test]
    fn permanent_failures_are_not_retried() {
        for class in [
            FailureClass::Authentication,
            FailureClass::CutOff,
            FailureClass::Refusal,
            FailureClass::TooLong,
        ] {
            assert_eq!(retry_delay(class, None, 1, HOUR), None);
        }
    }
}
