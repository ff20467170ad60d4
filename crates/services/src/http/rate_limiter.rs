//! A rate limiter for writes to a service: [`RateLimiter`], stored on disk and shared by all
//! processes of a user.
//!
//! Writes are sent one after the other, within the [`WriteLimits`] of the service. The times of past
//! writes are stored on disk for the next process, since the service still counts them after a
//! crash.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use assay_store::durable_fs::{self, DiskError, Durability, Lock};

use super::{Request, RequestEffect, Response, ServiceClock, Transport, TransportError};

/// The longest time span of a limit.
const HOUR: Duration = Duration::from_secs(60 * 60);

/// The writes that a service accepts: a few less than it allows, as a write may arrive later than
/// it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteLimits {
    /// The minimum interval between two writes.
    pub min_interval: Duration,
    /// The maximum number of writes per minute.
    pub per_minute: usize,
    /// The maximum number of writes per hour.
    pub per_hour: usize,
}

/// A rate limiter for writes, shared between processes.
#[derive(Debug, Clone)]
pub struct RateLimiter {
    folder: PathBuf,
    limits: WriteLimits,
}

impl RateLimiter {
    /// Creates a rate limiter that stores its state in a folder. The folder is created if it is
    /// missing.
    pub fn in_dir(folder: PathBuf, limits: WriteLimits) -> RateLimiter {
        RateLimiter { folder, limits }
    }

    /// Waits for the next free slot, and returns a lock that excludes other writers until it is
    /// dropped.
    fn acquire(&self, clock: &dyn ServiceClock) -> Result<Lock, TransportError> {
        let state_error = |error: DiskError| TransportError::Network {
            why: format!("cannot store the write-rate counter: {error}: {}", error.source),
            may_have_arrived: false,
        };
        durable_fs::make_folder(&self.folder).map_err(state_error)?;
        loop {
            let lock = durable_fs::lock(&self.folder.join("writes.lock")).map_err(state_error)?;
            let now = clock.now();
            let mut writes = self.recent_writes(now).map_err(state_error)?;
            let wait = self.limits.delay_before_next(&writes, now);
            if wait.is_zero() {
                writes.push(now);
                self.store(&writes).map_err(state_error)?;
                return Ok(lock);
            }
            // A process that waits for the lock could not report the reason of the wait.
            drop(lock);
            let why = format!("write rate limit: waiting for {} s", seconds(wait));
            clock.wait(wait, &why).map_err(|_| TransportError::RateLimited { wait })?;
        }
    }

    /// Returns the times of the writes within the last hour, the oldest first. Unreadable state
    /// counts as no writes: in the end, the service enforces its limits itself.
    fn recent_writes(&self, now: Duration) -> Result<Vec<Duration>, DiskError> {
        let bytes = durable_fs::read(&self.folder.join("writes.json"))?.unwrap_or_default();
        let millis: Vec<u64> = serde_json::from_slice(&bytes).unwrap_or_default();
        let writes = millis.into_iter().map(Duration::from_millis);
        // After the clock was set back, writes must not be blocked for longer than an hour.
        let mut writes: Vec<Duration> =
            writes.filter(|&at| at + HOUR > now && at < now + HOUR).collect();
        writes.sort_unstable();
        Ok(writes)
    }

    fn store(&self, writes: &[Duration]) -> Result<(), DiskError> {
        let millis: Vec<u128> = writes.iter().map(Duration::as_millis).collect();
        let text = serde_json::to_vec(&millis).expect("numbers are JSON");
        durable_fs::write(&self.folder.join("writes.json"), &text, Durability::PageCache)
    }
}

impl WriteLimits {
    /// Returns the delay before the next write.
    fn delay_before_next(&self, writes: &[Duration], now: Duration) -> Duration {
        let spans = [(Duration::from_secs(60), self.per_minute), (HOUR, self.per_hour)];
        let after_the_last = writes.last().map(|&last| last + self.min_interval);
        let in_spans = spans.iter().filter_map(|&(span, most)| {
            let first = writes.len().checked_sub(most)?;
            Some(writes[first] + span)
        });
        let earliest = after_the_last.into_iter().chain(in_spans).max().unwrap_or_default();
        earliest.saturating_sub(now)
    }
}

/// Returns a time in whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1_000).try_into().unwrap_or(u64::MAX)
}

/// A transport that limits the rate of writes.
pub(crate) struct RateLimitedTransport {
    pub(crate) inner: Arc<dyn Transport>,
    pub(crate) limiter: RateLimiter,
    pub(crate) clock: Arc<dyn ServiceClock>,
}

impl Transport for RateLimitedTransport {
    fn send(&self, request: &Request) -> Result<Response, TransportError> {
        let _lock = match request.effect {
            RequestEffect::Read => None,
            RequestEffect::Write => Some(self.limiter.acquire(&*self.clock)?),
        };
        self.inner.send(request)
    }

    fn address(&self) -> String {
        self.inner.address()
    }
}

#[cfg(test)]
mod tests {
    use assay_sandbox::{KeySource, Keys};
    use serde_json::json;

    use super::*;
    use crate::http::{Api, Authorization, Call, WaitRefused};

    const LIMITS: WriteLimits = crate::github::WRITE_LIMITS;

    /// A clock that refuses every wait.
    struct RefusingClock;

    impl ServiceClock for RefusingClock {
        fn now(&self) -> Duration {
            HOUR
        }

        fn wait(&self, _: Duration, _: &str) -> Result<(), WaitRefused> {
            Err(WaitRefused)
        }
    }

    /// A transport that accepts every request.
    struct AcceptingTransport;

    impl Transport for AcceptingTransport {
        fn send(&self, _: &Request) -> Result<Response, TransportError> {
            Ok(Response { status: 200, headers: Vec::new(), body: Vec::new() })
        }

        fn address(&self) -> String {
            "here".to_owned()
        }
    }

    #[test]
    fn a_write_that_may_not_wait_fails_with_a_rate_limit_error() {
        let folder = tempfile::tempdir().unwrap();
        let limiter = RateLimiter::in_dir(folder.path().to_owned(), LIMITS);
        let paced = RateLimitedTransport {
            inner: Arc::new(AcceptingTransport),
            limiter,
            clock: Arc::new(RefusingClock),
        };
        let (keys, clock) = (Arc::new(Keys::new(KeySource::None)), Arc::new(RefusingClock));
        let api = Api::new("GitHub", Arc::new(paced), keys, Authorization::Bearer, clock);
        let say = Call::post("/say", json!({}));
        assert_eq!(api.send(&say).unwrap().status, 200);
        let error = api.send(&say).unwrap_err();
        assert_eq!(
            error.to_string(),
            "GitHub rate limit: `POST /say` must wait for 1 s; retry later"
        );
        assert!(!error.is_outcome_unknown());
    }

    fn at(seconds: impl IntoIterator<Item = u64>) -> Vec<Duration> {
        seconds.into_iter().map(Duration::from_secs).collect()
    }

    #[test]
    fn writes_are_a_second_apart() {
        let now = Duration::from_millis(10_400);
        assert_eq!(LIMITS.delay_before_next(&[], now), Duration::ZERO);
        assert_eq!(LIMITS.delay_before_next(&at([10]), now), Duration::from_millis(600));
        assert_eq!(LIMITS.delay_before_next(&at([9]), now), Duration::ZERO);
    }

    #[test]
    fn writes_wait_when_the_minute_or_hour_quota_is_used_up() {
        let now = Duration::from_secs(100);
        let minute = LIMITS.delay_before_next(&vec![Duration::from_secs(90); 75], now);
        assert_eq!(minute, Duration::from_secs(50));
        let hour = LIMITS.delay_before_next(&at((0..480).map(|number| number / 5)), now);
        assert_eq!(hour, Duration::from_secs(3_500));
    }
}
