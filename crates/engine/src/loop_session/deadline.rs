//! When a run has to be done: [`Deadline`].

use std::time::{Duration, Instant};

use assay_validate::run::Breakdown;

/// When a run has to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline(Option<(Instant, u64)>);

impl Deadline {
    pub(super) fn after(seconds: Option<u64>) -> Deadline {
        let until = |seconds| Instant::now().checked_add(Duration::from_secs(seconds));
        Deadline(seconds.and_then(|seconds| Some((until(seconds)?, seconds))))
    }

    /// Says so where it is over.
    pub(super) fn check(self) -> Result<(), Breakdown> {
        match self.0 {
            Some((end, seconds)) if Instant::now() >= end => {
                Err(Breakdown::Budget(format!("{seconds} s are over")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Gives no more time than there is.
    pub(super) fn within(self, time: Duration) -> Duration {
        let left = self.0.map(|(end, _)| end.saturating_duration_since(Instant::now()));
        left.map_or(time, |left| time.min(left.max(Duration::from_secs(1))))
    }
}
