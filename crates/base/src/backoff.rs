//! Exponential back-off: [`Backoff`] computes the delay before a retry.
//!
//! Waiting, counting retries and drawing random numbers are left to the caller, so that a delay
//! depends on arguments alone.

use std::time::Duration;

/// The shortest delay: a retry loop never spins.
const MIN_DELAY: Duration = Duration::from_millis(1);

/// Exponential back-off: delays that double from `first` up to `max`.
///
/// Jitter shortens a delay by a random part, so no delay exceeds `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    first: Duration,
    max: Duration,
    /// The part of a delay that is random, in percent, from 0 to 100.
    jitter: u32,
}

impl Backoff {
    /// Creates a back-off without jitter. A `first` above `max` counts as `max`.
    pub const fn new(first: Duration, max: Duration) -> Backoff {
        Backoff { first, max, jitter: 0 }
    }

    /// Makes up to `percent` of each delay random. More than 100 counts as 100.
    pub const fn with_jitter(self, percent: u32) -> Backoff {
        let jitter = if percent > 100 { 100 } else { percent };
        Backoff { jitter, ..self }
    }

    /// Returns the delay before the first retry, without jitter.
    pub fn first(&self) -> Duration {
        self.delay(0)
    }

    /// Returns the longest delay.
    pub fn max(&self) -> Duration {
        self.max.max(MIN_DELAY)
    }

    /// Returns the delay before the next retry, without jitter; `retries` is the number of retries
    /// so far.
    pub fn delay(&self, retries: u32) -> Duration {
        let factor = 1_u32.checked_shl(retries).unwrap_or(u32::MAX);
        self.first.saturating_mul(factor).min(self.max).max(MIN_DELAY)
    }

    /// Returns the delay before the next retry, shortened by jitter; `random` is any number.
    pub fn jittered_delay(&self, retries: u32, random: u64) -> Duration {
        let delay = self.delay(retries);
        let range = delay / 100 * self.jitter;
        (delay - range + random_part(range, random)).max(MIN_DELAY)
    }
}

/// Returns a part of a time, from zero to all of it, that `random` selects, in whole milliseconds.
pub fn random_part(time: Duration, random: u64) -> Duration {
    let millis = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    Duration::from_millis(millis.checked_add(1).map_or(random, |choices| random % choices))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANDOM: [u64; 6] = [0, 1, 499, 500, 123_456_789, u64::MAX];

    fn backoff() -> Backoff {
        Backoff::new(Duration::from_secs(1), Duration::from_secs(30))
    }

    #[test]
    fn a_delay_doubles_with_each_retry_up_to_the_maximum() {
        let delays: Vec<_> = (0..7).map(|retries| backoff().delay(retries).as_secs()).collect();
        assert_eq!(delays, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn no_delay_exceeds_the_maximum_or_is_zero() {
        let longest = Backoff::new(Duration::MAX, Duration::MAX).with_jitter(100);
        let zero = Backoff::new(Duration::ZERO, Duration::ZERO).with_jitter(50);
        let reversed = Backoff::new(Duration::from_secs(9), Duration::from_secs(5));
        for backoff in [backoff(), backoff().with_jitter(500), longest, zero, reversed] {
            for retries in [0, 1, 5, 30, 31, 32, 33, u32::MAX] {
                for random in RANDOM {
                    let delay = backoff.jittered_delay(retries, random);
                    assert!(!delay.is_zero(), "{backoff:?} {retries} {random}");
                    assert!(delay <= backoff.max(), "{backoff:?} {retries} {random}: {delay:?}");
                }
            }
        }
    }

    #[test]
    fn jitter_takes_no_more_than_its_part_of_a_delay() {
        let (plain, jittered) = (backoff(), backoff().with_jitter(25));
        for retries in 0..10 {
            let delay = plain.delay(retries);
            for random in RANDOM {
                let range = delay * 3 / 4..=delay;
                assert!(range.contains(&jittered.jittered_delay(retries, random)));
                assert_eq!(plain.jittered_delay(retries, random), delay);
            }
            assert_eq!(jittered.jittered_delay(retries, 0), delay * 3 / 4);
        }
    }

    #[test]
    fn a_random_number_selects_any_part_and_both_ends() {
        let parts = [0, 3, 4, 5].map(|random| random_part(Duration::from_millis(4), random));
        assert_eq!(parts.map(|part| part.as_millis()), [0, 3, 4, 0]);
        assert_eq!(random_part(Duration::ZERO, 7), Duration::ZERO);
    }
}
