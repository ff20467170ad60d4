//! When a run has to be done: [`LoopDeadline`].

use std::time::Duration;

use assay_base::clock::Deadline;
use assay_validate::run::Breakdown;

/// When a run has to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoopDeadline(Option<(Deadline, u64)>);

impl LoopDeadline {
    pub(super) fn after(seconds: Option<u64>) -> LoopDeadline {
        let until = |seconds| Deadline::after(Duration::from_secs(seconds));
        LoopDeadline(seconds.map(|seconds| (until(seconds), seconds)))
    }

    /// Says so where it is over.
    pub(super) fn check(self) -> Result<(), Breakdown> {
        match self.0 {
            Some((end, seconds)) if end.has_passed() => {
                Err(Breakdown::Budget(format!("{seconds} s are over")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Gives no more time than there is.
    pub(super) fn within(self, time: Duration) -> Duration {
        let left = self.0.map(|(end, _)| end.left());
        left.map_or(time, |left| time.min(left.max(Duration::from_secs(1))))
    }
}
